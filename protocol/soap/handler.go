package soap

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

// Def describes a parameter or a result.
type Def struct {
	// Name is an XML name without a colon. A result without one is called
	// "return".
	Name string
	// Type is a simple type of XML Schema: "string", "int", "long",
	// "boolean", "double", "dateTime", "base64Binary" and so on, with "[]"
	// behind for a list of them. Empty means "string" for a parameter, and
	// no result for a result.
	Type string
	// Fields makes it a structure; Type is then left empty.
	Fields []Def
	// Optional keeps a parameter out of the [WSDL], which knows no optional
	// ones; it is taken when it comes.
	Optional bool
}

// Method is a procedure that can be called.
type Method struct {
	// Name is what clients call, such as "pleaseNotify".
	Name string
	// Help is a plain text for people, shown in the [WSDL].
	Help string
	// Params are in order; values that fit what they declare are turned into
	// it.
	Params []Def
	Result Def
	// Do runs the method. The params are in the order of Params, bound as
	// [Call.Bind] says: nil for a missing one, missing ones at the end left
	// out. Errors: a [*Fault] is answered as it is, one that wraps
	// [ErrParams] with its text, any other as [Handler.FaultOf] says.
	Do func(ctx context.Context, params []any) (any, error)
}

// Service is a list of methods at one address.
type Service struct {
	// Name is an XML name without a colon; empty means "Service".
	Name string
	// Namespace is a URI that names the service for all time.
	Namespace string
	// Location is the URL that clients send calls to. When it is empty a
	// [Handler] says where it was asked.
	Location string
	// Help is a plain text for people.
	Help    string
	Methods []Method
}

func (s Service) method(name string) *Method {
	for _, same := range []func(string) bool{
		func(n string) bool { return n == name },
		func(n string) bool { return strings.EqualFold(n, name) },
	} {
		for i := range s.Methods {
			if m := &s.Methods[i]; m.Do != nil && same(m.Name) {
				return m
			}
		}
	}
	return nil
}

// Handler answers calls sent by HTTP POST, and GET with the query "wsdl" with
// the service's description. Whatever cannot be answered is a fault, with the
// status that the package comment names; or 413 for a body that is too large,
// 415 for a Content-Type that is not XML and for any Content-Encoding. Other
// requests are refused with 405.
type Handler struct {
	Service Service
	// FaultOf turns the error of a method into what its caller may know.
	// When it is nil or gives nil, the caller gets a Server fault with a
	// neutral sentence, and the error is logged.
	FaultOf func(error) *Fault
	// MaxBytes limits the body of a request; zero means 256 KiB.
	MaxBytes int64
	// Log gets what callers are not told; nil means silence.
	Log *slog.Logger
}

type callKey struct{}

// RequestFrom gives the HTTP request that carried the call, for its remote
// address and headers. Its body is spent. It is nil when the call did not
// come through [Handler.ServeHTTP].
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// CallFrom gives the call as it came in, for methods that want names, types
// or the namespace. It is the zero Call outside of a method.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// Call runs one call as if it had come over the wire. The error is always a
// [*Fault].
func (h *Handler) Call(ctx context.Context, c Call) (any, error) {
	r, err := h.respond(ctx, c)
	if err != nil {
		return nil, err
	}
	return r.Result(), nil
}

func (h *Handler) respond(ctx context.Context, c Call) (Response, error) {
	m := h.Service.method(c.Name)
	if m == nil {
		return Response{}, &Fault{Code: CodeClient, String: fmt.Sprintf("There is no method %.100s here.", c.Name)}
	}
	v, err := m.Do(context.WithValue(ctx, callKey{}, c), m.bind(c))
	if err != nil {
		return Response{}, h.fault(ctx, c.Name, err)
	}
	// spec:soap11-2000#rpc-response
	r := Response{Name: c.Name + "Response", Namespace: c.Namespace, Version: c.Version, Literal: c.Literal}
	if v != nil || m.Result.Type != "" || m.Result.Fields != nil {
		r.Params = []Param{m.result(v)}
	}
	return r, nil
}

// fault is the one place that turns errors of methods into faults.
func (h *Handler) fault(ctx context.Context, method string, err error) *Fault {
	if f := asFault(err); f != nil {
		return f
	}
	if h.FaultOf != nil {
		if f := h.FaultOf(err); f != nil {
			return f
		}
	}
	if errors.Is(err, ErrParams) {
		return &Fault{Code: CodeClient, String: strings.TrimPrefix(err.Error(), "soap: ")}
	}
	h.log().ErrorContext(ctx, "method failed", "method", method, "err", err)
	return &Fault{Code: CodeServer, String: "The method failed, and the server's log says why."}
}

func (h *Handler) log() *slog.Logger {
	if h.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return h.Log
}

// ServeHTTP answers one call, or the question for the WSDL.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.EqualFold(r.URL.RawQuery, "wsdl"):
		s := h.Service
		if s.Location == "" {
			s.Location = location(r)
		}
		reply(w, http.StatusOK, "text/xml; charset=utf-8", WSDL(s))
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		reply(w, http.StatusMethodNotAllowed, "text/plain; charset=utf-8",
			[]byte("This address speaks SOAP: POST an envelope to it.\nWith ?wsdl behind it, it describes what can be called.\n"))
	}
}

func location(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return scheme + r.Host + r.URL.EscapedPath()
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	charset, version, refusal := acceptable(r.Header)
	if refusal != "" {
		// The body is not read: the connection is of no more use.
		w.Header().Set("Connection", "close")
		h.refuse(w, http.StatusUnsupportedMediaType, version, &Fault{Code: CodeClient, String: refusal})
		return
	}
	limit := h.MaxBytes
	if limit <= 0 {
		limit = 256 << 10
	}
	call, err := Decoder{MaxBytes: limit, Charset: charset}.Call(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		if call.Version == V12 {
			version = V12
		}
		status, f := parseFault(err, version)
		h.refuse(w, status, version, f)
		return
	}
	ctx := wirehttp.WithRequest(r.Context(), r)
	answer, err := h.respond(ctx, call)
	var body []byte
	if err == nil {
		if body, err = answer.Marshal(); err != nil {
			err = h.fault(ctx, call.Name, fmt.Errorf("result cannot be written: %w", err))
		}
	}
	if f := asFault(err); f != nil {
		h.refuse(w, f.status(call.Version), call.Version, f)
		return
	}
	reply(w, http.StatusOK, contentType(call.Version), body)
}

func (h *Handler) refuse(w http.ResponseWriter, status int, v Version, f *Fault) {
	reply(w, status, contentType(v), f.Marshal(v))
}

// parseFault says how a body that is no call is answered.
func parseFault(err error, v Version) (status int, f *Fault) {
	if f := asFault(err); f != nil {
		return f.status(v), f
	}
	f = &Fault{Code: CodeClient}
	var syntax *SyntaxError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		f.String = fmt.Sprintf("The call is larger than the %d bytes accepted here.", tooLarge.Limit)
		return http.StatusRequestEntityTooLarge, f
	case errors.As(err, &syntax):
		f.String = fmt.Sprintf("The call cannot be read: in line %d, %s.", syntax.Line, syntax.Msg)
		return f.status(v), f
	}
	f.String = "The call did not arrive whole."
	return http.StatusBadRequest, f
}

// acceptable checks the headers of a body and gives its charset and the
// version they speak of, or why it is refused. A missing type and text/plain
// are accepted as many authors cannot set it; forms are not, since any web
// page can make a visitor's browser send one.
func acceptable(h http.Header) (charset string, v Version, refusal string) {
	value := h.Get("Content-Type")
	name, _, _ := strings.Cut(value, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "application/soap+xml" {
		v = V12
	}
	if e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); e != "" && e != "identity" {
		return "", v, fmt.Sprintf("The Content-Encoding %.40q is not accepted; send the call as it is.", e)
	}
	switch name {
	case "text/xml", "application/xml", "application/soap+xml":
		return xmlsafe.Charset(value), v, ""
	case "", "text/plain":
		return "", v, ""
	}
	return "", v, fmt.Sprintf("The Content-Type %.60q is not accepted; send text/xml.", name)
}

func contentType(v Version) string {
	if v == V12 {
		return "application/soap+xml; charset=utf-8"
	}
	return "text/xml; charset=utf-8"
}

func reply(w http.ResponseWriter, status int, contentType string, body []byte) {
	head := w.Header()
	head.Set("Content-Type", contentType)
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// Nobody is left to tell when writing fails.
	_, _ = w.Write(body)
}
