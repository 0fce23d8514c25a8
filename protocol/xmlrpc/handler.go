package xmlrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/wirehttp"
	"cloudburst/internal/xmlsafe"
)

// Method is a procedure that can be called.
type Method struct {
	// Name is what clients call, such as "rssCloud.ping".
	Name string
	// Help is a plain text for people, given by system.methodHelp.
	Help string
	// Signature lists the forms of the call for system.methodSignature: the
	// type of the result, then those of the parameters, as in
	// {"boolean", "string", "int"}. It is not enforced. Nil is answered as
	// "not declared".
	Signature [][]string
	// Do runs the method. The params are as the package comment lists; the
	// result is anything that can be written. Errors: a [*Fault] is answered
	// as it is, one that wraps [ErrParams] or [ErrLogin] with its text and
	// the code for it, any other as [Handler.FaultOf] says.
	Do func(ctx context.Context, params []any) (any, error)
}

// Handler answers calls sent by HTTP POST. It answers system.listMethods,
// system.methodHelp, system.methodSignature and system.multicall by itself.
//
// A call that was understood is answered with HTTP 200, also when it failed:
// that is a fault. What never was a call is a fault too, with the HTTP status
// that says why: 413 too large, 415 for a Content-Type that is not XML and
// for any Content-Encoding. Other HTTP methods are refused with 405.
type Handler struct {
	// Methods are looked up by their exact name; the first one counts.
	Methods []Method
	// FaultOf turns the error of a method into what its caller may know.
	// When it is nil or gives nil, the caller gets CodeApp and a neutral
	// sentence, and the error is logged.
	FaultOf func(error) *Fault
	// MaxBytes limits the body of a request; zero means 256 KiB.
	MaxBytes int64
	// Log gets what callers are not told; nil means silence.
	Log *slog.Logger
}

// RequestFrom gives the HTTP request that carried the call, for its remote
// address and headers. Its body is spent. It is nil when the call did not
// come through [Handler.ServeHTTP].
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

type headerKey struct{}

// HeaderFrom gives the header of the HTTP response to the call. A method may add fields to
// it. It is nil when the call did not come through [Handler.ServeHTTP].
func HeaderFrom(ctx context.Context) http.Header {
	h, _ := ctx.Value(headerKey{}).(http.Header)
	return h
}

// Call runs one call as if it had come over the wire. The error is always a
// [*Fault].
func (h *Handler) Call(ctx context.Context, c Call) (any, error) {
	v, err := h.dispatch(ctx, c)
	if err != nil {
		return nil, h.fault(ctx, c.Method, err)
	}
	return v, nil
}

func (h *Handler) dispatch(ctx context.Context, c Call) (any, error) {
	for i := range h.Methods {
		if m := &h.Methods[i]; m.Name == c.Method && m.Do != nil {
			return m.Do(ctx, c.Params)
		}
	}
	if m := h.system(c.Method); m != nil {
		return m.Do(ctx, c.Params)
	}
	return nil, &Fault{Code: CodeNoMethod,
		String: fmt.Sprintf("There is no method %.100s here. Call system.listMethods for a list.", c.Method)}
}

// fault is the one place that turns errors of methods into faults.
func (h *Handler) fault(ctx context.Context, method string, err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	if h.FaultOf != nil {
		if f := h.FaultOf(err); f != nil {
			return f
		}
	}
	text := strings.TrimPrefix(err.Error(), "xmlrpc: ")
	switch {
	case errors.Is(err, ErrParams):
		return &Fault{Code: CodeParams, String: text}
	case errors.Is(err, ErrLogin):
		return &Fault{Code: CodeLogin, String: text}
	}
	h.log().ErrorContext(ctx, "method failed", "method", method, "err", err)
	return &Fault{Code: CodeApp, String: "The method failed, and the server's log says why."}
}

func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

// ServeHTTP answers one call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuseMethod(w)
		return
	}
	charset, refusal := acceptable(r.Header)
	if refusal != "" {
		// The body is not read: the connection is of no more use.
		w.Header().Set("Connection", "close")
		reply(w, http.StatusUnsupportedMediaType, MarshalFault(&Fault{Code: CodeInvalid, String: refusal}))
		return
	}
	body := http.MaxBytesReader(w, r.Body, h.maxBytes())
	call, err := Decoder{MaxBytes: h.maxBytes(), Charset: charset}.Call(body)
	if err != nil {
		status, f := parseFault(err)
		reply(w, status, MarshalFault(f))
		return
	}
	ctx := wirehttp.WithRequest(r.Context(), r)
	ctx = context.WithValue(ctx, headerKey{}, w.Header())
	v, err := h.dispatch(ctx, call)
	if err != nil {
		reply(w, http.StatusOK, MarshalFault(h.fault(ctx, call.Method, err)))
		return
	}
	b, err := MarshalResponse(v)
	if err != nil {
		h.log().ErrorContext(ctx, "result cannot be written", "method", call.Method, "err", err)
		b = MarshalFault(&Fault{Code: CodeInternal, String: "The method's result cannot be sent by XML-RPC."})
	}
	reply(w, http.StatusOK, b)
}

func (h *Handler) maxBytes() int64 {
	if h.MaxBytes > 0 {
		return h.MaxBytes
	}
	return 256 << 10
}

// parseFault says how a body that is no call is answered. Not being a call is
// no trouble of HTTP's, hence 200.
// spec:xmlrpc-1999#status
func parseFault(err error) (status int, f *Fault) {
	status, f = http.StatusOK, &Fault{Code: CodeParse}
	var syntax *SyntaxError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		f.String = fmt.Sprintf("The call is larger than the %d bytes accepted here.", tooLarge.Limit)
		return http.StatusRequestEntityTooLarge, f
	case !errors.As(err, &syntax):
		f.String = "The call did not arrive whole."
		return http.StatusBadRequest, f
	case errors.Is(err, ErrEncoding):
		f.Code = CodeEncoding
	case errors.Is(err, ErrInvalid):
		f.Code = CodeInvalid
	}
	f.String = fmt.Sprintf("The call cannot be read: in line %d, %s.", syntax.Line, syntax.Msg)
	return status, f
}

// acceptable checks the headers of a body and gives its charset, or why it is
// refused. A missing type and text/plain are accepted as many authors cannot
// set it; forms are not, since any web page can make a visitor's browser send
// one.
func acceptable(h http.Header) (charset, refusal string) {
	if e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); e != "" && e != "identity" {
		return "", fmt.Sprintf("The Content-Encoding %.40q is not accepted; send the call as it is.", e)
	}
	value := h.Get("Content-Type")
	name, _, _ := strings.Cut(value, ";")
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "text/xml", "application/xml":
		return xmlsafe.Charset(value), ""
	case "", "text/plain":
		return "", ""
	}
	return "", fmt.Sprintf("The Content-Type %.60q is not accepted; send text/xml.", name)
}

func refuseMethod(w http.ResponseWriter) {
	const text = "This address speaks XML-RPC: POST a methodCall to it, as text/xml.\n" +
		"The method system.listMethods tells what can be called.\n"
	head := w.Header()
	head.Set("Allow", http.MethodPost)
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusMethodNotAllowed)
	// Nobody is left to tell when writing fails.
	_, _ = w.Write([]byte(text))
}

// reply sends a document. The length is set as the specification asks.
// spec:xmlrpc-1999#response
func reply(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
