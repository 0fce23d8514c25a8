package xmlrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
	"cloudburst/internal/xmlsafe"
)

// Method is a procedure that clients can call.
type Method struct {
	// Name is the method's name on the wire, for example "rssCloud.ping".
	Name string
	// Help is a plain text for people. system.methodHelp returns it.
	Help string
	// Signature lists the forms of the call for system.methodSignature. Each form is the
	// type of the result followed by the types of the parameters, for example {"boolean",
	// "string", "int"}. Calls are not checked against it. Nil is reported as "undef", which
	// means not declared.
	Signature [][]string
	// Do runs the method. The package comment lists the types of params and of the result. A
	// [*Fault] is sent unchanged. For an error that wraps [ErrParams] or [ErrLogin], its text and
	// the matching fault code are sent. [Handler.FaultOf] converts any other error.
	Do func(ctx context.Context, params []any) (any, error)
}

// Handler serves calls sent by HTTP POST. It implements system.listMethods,
// system.methodHelp, system.methodSignature and system.multicall itself.
//
// The response to a valid call has status 200, even if the call failed: the failure is a
// fault. An invalid call is a fault too, with status 413 if it is too large, 415 for a
// Content-Type that is not XML or for any Content-Encoding, 400 if it is incomplete, and
// 200 otherwise. Other HTTP methods than POST get status 405.
type Handler struct {
	// Methods are selected by their exact name. If two methods have the same name, the first is
	// used.
	Methods []Method
	// FaultOf converts the error of a method into a fault for the client. If FaultOf is nil
	// or returns nil, the client gets CodeApp with a neutral sentence, and the error is
	// logged.
	FaultOf func(error) *Fault
	// MaxBytes limits the body of a request; zero means 256 KiB.
	MaxBytes int64
	// Log gets the internal errors. Nil means no log.
	Log *slog.Logger
}

// RequestFrom returns the HTTP request that carried the call, for its remote address and
// headers. Its body has been read. It is nil if the call did not come through
// [Handler.ServeHTTP].
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

type headerKey struct{}

// HeaderFrom returns the header of the HTTP response to the call. A method may add fields
// to it. It is nil if the call did not come through [Handler.ServeHTTP].
func HeaderFrom(ctx context.Context) http.Header {
	h, _ := ctx.Value(headerKey{}).(http.Header)
	return h
}

// Call runs one call without HTTP. The error is always a [*Fault].
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

// fault converts the errors of methods into faults.
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
	text := strings.ReplaceAll(err.Error(), "xmlrpc: ", "")
	switch {
	case errors.Is(err, ErrParams):
		return &Fault{Code: CodeParams, String: text}
	case errors.Is(err, ErrLogin):
		return &Fault{Code: CodeLogin, String: text}
	}
	h.log().ErrorContext(ctx, "method failed", "method", method, "err", err)
	return &Fault{Code: CodeApp, String: "The method failed; the server's log has the reason."}
}

func (h *Handler) log() *slog.Logger {
	return cmp.Or(h.Log, slog.New(slog.DiscardHandler))
}

// ServeHTTP serves one call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuseMethod(w)
		return
	}
	charset, refusal := acceptable(r.Header)
	if refusal != "" {
		// The body stays unread, so the connection cannot be reused.
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

// parseFault returns the response to an invalid call. The status is 200 for a syntax error,
// because HTTP itself did not fail.
//
// spec:xmlrpc-1999#http-status
func parseFault(err error) (status int, f *Fault) {
	status, f = http.StatusOK, &Fault{Code: CodeParse}
	var syntax *SyntaxError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		f.String = fmt.Sprintf("The call is larger than the %s accepted here.", text.SizeWords(tooLarge.Limit))
		return http.StatusRequestEntityTooLarge, f
	case !errors.As(err, &syntax):
		f.String = "The call arrived incomplete."
		return http.StatusBadRequest, f
	case errors.Is(err, ErrEncoding):
		f.Code = CodeEncoding
	case errors.Is(err, ErrInvalid):
		f.Code = CodeInvalid
	}
	f.String = fmt.Sprintf("The call cannot be read: in line %d, %s.", syntax.Line, syntax.Msg)
	return status, f
}

// acceptable checks the headers of a body and returns its charset or the reason of the refusal. A
// missing type and text/plain are accepted, because many programs cannot set the type. Forms are
// rejected, because any web page can make a visitor's browser send a form.
func acceptable(h http.Header) (charset, refusal string) {
	if e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); e != "" && e != "identity" {
		return "", fmt.Sprintf("The Content-Encoding %.40q is not accepted; send the call without Content-Encoding.", e)
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
	const text = "This is an XML-RPC endpoint: POST a methodCall to it, as text/xml.\n" +
		"The method system.listMethods lists the methods.\n"
	head := w.Header()
	head.Set("Allow", http.MethodPost)
	head.Set("Content-Type", "text/plain; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(http.StatusMethodNotAllowed)
	// A write error means that the client has disconnected.
	_, _ = w.Write([]byte(text))
}

// reply sends a document with its length, as the specification requires.
//
// spec:xmlrpc-1999#response
func reply(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head.Set("Content-Type", "text/xml; charset=utf-8")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
