package soap

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

// Def describes a parameter or a result.
type Def struct {
	// Name is an XML name without a colon. The default for a result is "return".
	Name string
	// Type is a simple type of XML Schema: "string", "int", "long", "boolean", "double",
	// "dateTime", "base64Binary" and so on. A suffix "[]" makes it a list. An empty type
	// means "string" for a parameter, and no result for a result.
	Type string
	// Fields makes the value a structure. Type must be empty then.
	Fields []Def
	// Optional leaves a parameter out of the [WSDL], which has no optional parameters. Calls may
	// still contain the parameter, by its name or position.
	Optional bool
}

// Method is a procedure that clients can call.
type Method struct {
	// Name is the method's name on the wire, for example "pleaseNotify". A call may write it in
	// another case, and as the name of an XML-RPC procedure, with a prefix and a dot.
	Name string
	// Help is a plain text for people, shown in the [WSDL].
	Help string
	// Params are the parameters in order. Values are converted to the declared types where
	// possible.
	Params []Def
	Result Def
	// Do runs the method. params are in the order of Params, as [Call.Bind] returns them: a missing
	// parameter is nil, and missing parameters at the end are omitted. A [*Fault] is sent as it is.
	// An error that wraps [ErrParams] is sent with its text. [Handler.FaultOf] converts any other
	// error.
	Do func(ctx context.Context, params []any) (any, error)
}

// Service is a list of methods at one URL.
type Service struct {
	// Name is an XML name without a colon; "" means "Service".
	Name string
	// Namespace is a permanent URI that identifies the service.
	Namespace string
	// Location is the URL that clients send calls to. If it is empty, a [Handler] uses the
	// URL of the request.
	Location string
	// Help is a plain text for people.
	Help    string
	Methods []Method
}

func (s Service) method(name string) *Method {
	for _, same := range []func(string) bool{
		func(n string) bool { return n == name },
		func(n string) bool { return strings.EqualFold(n, name) },
		func(n string) bool { return strings.EqualFold(n, name[strings.LastIndexByte(name, '.')+1:]) },
	} {
		for i := range s.Methods {
			if m := &s.Methods[i]; m.Do != nil && same(m.Name) {
				return m
			}
		}
	}
	return nil
}

// Handler serves calls sent by HTTP POST. A GET with the query "wsdl" returns the service's
// description. Every error is a fault, with the status in the package comment, or with 413
// for a body that is too large and 415 for a Content-Type that is not XML or for any
// Content-Encoding. Other requests get status 405.
type Handler struct {
	Service Service
	// FaultOf converts the error of a method into a fault for the client. If FaultOf is nil
	// or returns nil, the client gets a Server fault with a neutral sentence, and the error
	// is logged.
	FaultOf func(error) *Fault
	// MaxBytes limits the body of a request; zero means 256 KiB.
	MaxBytes int64
	// Log gets the internal errors. Nil means no log.
	Log *slog.Logger
}

type callKey struct{}

// RequestFrom returns the HTTP request that carried the call, for its remote address and
// headers. Its body has been read. It is nil if the call did not come through
// [Handler.ServeHTTP].
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// CallFrom returns the original call, for methods that use its names, types or namespace.
// It is the zero Call outside of a method.
func CallFrom(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// Call runs one call without HTTP. An error is always a [*Fault].
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

// fault converts the errors of methods into faults.
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
		return &Fault{Code: CodeClient, String: strings.ReplaceAll(err.Error(), "soap: ", "")}
	}
	h.log().ErrorContext(ctx, "method failed", "method", method, "err", err)
	return &Fault{Code: CodeServer, String: "The method failed; the server's log has the reason."}
}

func (h *Handler) log() *slog.Logger {
	return cmp.Or(h.Log, slog.New(slog.DiscardHandler))
}

// ServeHTTP serves one call, or the WSDL.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && IsDescription(r):
		s := h.Service
		if s.Location == "" {
			s.Location = location(r)
		}
		reply(w, http.StatusOK, "text/xml; charset=utf-8", WSDL(s))
	default:
		allow := http.MethodPost
		if IsDescription(r) {
			allow = "GET, HEAD, POST"
		}
		w.Header().Set("Allow", allow)
		reply(w, http.StatusMethodNotAllowed, "text/plain; charset=utf-8",
			[]byte("This address speaks SOAP: POST an envelope to it.\nWith ?wsdl behind it, it describes what can be called.\n"))
	}
}

// IsDescription reports whether the URL of r is that of the service's description, which can be read
// by GET and HEAD. Without the query "wsdl", the URL only accepts calls by POST.
func IsDescription(r *http.Request) bool { return strings.EqualFold(r.URL.RawQuery, "wsdl") }

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
		// The body stays unread, so the connection cannot be reused.
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

// parseFault returns the response to an invalid call.
func parseFault(err error, v Version) (status int, f *Fault) {
	if f := asFault(err); f != nil {
		return f.status(v), f
	}
	f = &Fault{Code: CodeClient}
	var syntax *SyntaxError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		f.String = fmt.Sprintf("The call is larger than the %s accepted here.", text.SizeWords(tooLarge.Limit))
		return http.StatusRequestEntityTooLarge, f
	case errors.As(err, &syntax):
		f.String = fmt.Sprintf("The call cannot be read: in line %d, %s.", syntax.Line, syntax.Msg)
		return f.status(v), f
	}
	f.String = "The call arrived incomplete."
	return http.StatusBadRequest, f
}

// acceptable checks the headers of a body and returns its charset and SOAP version, or the reason
// of the refusal. A missing type and text/plain are accepted, because many programs cannot set the
// type. Forms are rejected, because any web page can make a visitor's browser send a form.
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
	// A write error means that the client has disconnected.
	_, _ = w.Write(body)
}
