package rsscloud

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/internal/wirehttp"
)

// Backend implements the operations of a cloud. A refusal is a Result without success and a
// nil error, or a [*FieldError]. An [*Error] sets the status of the response. Any other
// error becomes status 500 with a sentence that reveals nothing of the error. Methods get
// the request, for the client address, from [RequestFrom].
//
// A Result with success promises that the operation is done or durably stored.
type Backend interface {
	// Ping processes the ping of a feed that changed.
	Ping(ctx context.Context, p PingRequest) (Result, error)
	// PleaseNotify adds or renews a registration.
	PleaseNotify(ctx context.Context, g Registration) (Result, error)
	// Cancel ends a registration.
	Cancel(ctx context.Context, g Registration) (Result, error)
}

// PingRequest reports that a feed changed.
type PingRequest struct {
	URL  string // absolute, http or https
	Hops int    // hubs that the ping has passed through; 0: sent by an author
}

// Handler serves the REST endpoints of a cloud: pings at /rsscloud/ping and /ping,
// registrations at /rsscloud/pleaseNotify and /pleaseNotify, cancellations at
// /rsscloud/cancel. A ping at /ping may also have its form in the query string. Bodies are limited to [MaxForm] bytes; set timeouts in the http.Server.
// Web pages of any origin may call the endpoints, which ignore cookies.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // internal failures; nil: no log
	// OnInvalid is called for each request that is invalid and does not reach the Backend.
	// err is a [*FieldError] or an [*Error]. OnInvalid may be nil.
	OnInvalid func(ctx context.Context, err error)
	// Page writes the response to a ping by GET if the client prefers text/html. status is 400 for a
	// refusal that the documents return with status 200. If Page is nil, the client gets a document.
	Page func(w http.ResponseWriter, r *http.Request, status int, result Result)
}

// Endpoints returns the paths that a [Handler] serves.
func Endpoints() []string {
	// spec:rsscloud-2009#endpoint-ping
	// spec:rsscloud-2009#endpoint-please-notify
	// spec:cloudburst#endpoint-short
	return []string{"/rsscloud/ping", "/ping", "/rsscloud/pleaseNotify", "/pleaseNotify", "/rsscloud/cancel"}
}

// RequestFrom returns the HTTP request on whose behalf a method of [Backend] or a function
// of [Subscriber] is called. It is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

func withRequest(r *http.Request) context.Context {
	return wirehttp.WithRequest(r.Context(), r)
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/rsscloud/ping", "/ping":
		h.serve(w, r, route{element: ResultElement, example: "curl -d url=http://example.com/rss.xml", do: h.ping, byQuery: r.URL.Path == "/ping"})
	case "/rsscloud/pleaseNotify", "/pleaseNotify":
		h.serve(w, r, route{element: NotifyResultElement, example: examplePleaseNotify, do: h.pleaseNotify})
	case "/rsscloud/cancel":
		h.serve(w, r, route{element: NotifyResultElement, example: examplePleaseNotify, do: h.cancel})
	default:
		http.NotFound(w, r)
	}
}

const examplePleaseNotify = "curl -d 'notifyProcedure=&port=80&path=/updated&protocol=http-post&url1=http://example.com/rss.xml'"

type route struct {
	element string // root element of the response
	example string
	do      func(context.Context, Form) (Result, error)
	byQuery bool // accepts a form in the query string, by GET or by a POST with an empty body
}

// methods lists the accepted HTTP methods. HEAD is not among them, because it must have no effect.
func (d route) methods() string {
	if d.byQuery {
		return "GET, POST, OPTIONS"
	}
	return "POST, OPTIONS"
}

// accepts reports whether r may have a form.
func (d route) accepts(r *http.Request) bool {
	return r.Method == http.MethodPost || d.byQuery && r.Method == http.MethodGet && r.URL.RawQuery != ""
}

// form reads the form of a request. Old programs send it in the query string.
//
// spec:cloudburst#ping-query
func (d route) form(r *http.Request) (Form, error) {
	if d.byQuery && r.URL.RawQuery != "" && (r.Method == http.MethodGet || hasNoBody(r)) {
		return ParseForm([]byte(r.URL.RawQuery))
	}
	return ReadForm(r)
}

// hasNoBody reports whether the body of r is empty. A chunked body has no length, so hasNoBody reads
// its first byte, and leaves it in the body.
func hasNoBody(r *http.Request) bool {
	if r.ContentLength >= 0 || r.Body == nil {
		return r.ContentLength == 0
	}
	body := bufio.NewReader(r.Body)
	_, err := body.Peek(1) // reading the body returns other errors again
	r.Body = struct {
		io.Reader
		io.Closer
	}{body, r.Body}
	return errors.Is(err, io.EOF)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, d route) {
	// spec:cloudburst#cors
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "Retry-After, "+OutcomeHeader)
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	switch {
	case d.accepts(r):
	case r.Method == http.MethodOptions:
		head.Set("Allow", d.methods())
		head.Set("Access-Control-Allow-Methods", d.methods())
		head.Set("Access-Control-Allow-Headers", "Accept, Content-Type, Prefer, "+HopsHeader)
		head.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		head.Set("Allow", d.methods())
		wirehttp.WriteText(w, http.StatusMethodNotAllowed, fmt.Sprintf("This URL is for programs: send a POST with a form. For example:\n\n    %s %s\n", d.example, selfURL(r)))
		return
	}
	head.Add("Vary", "Accept")
	page := h.Page != nil && r.Method == http.MethodGet && prefersHTML(r.Header)
	json, ok := wantsJSON(r.Header)
	if !ok && !page {
		// Check this before the request has any effect: a client that cannot read the response must
		// not cause an effect.
		wirehttp.WriteText(w, http.StatusNotAcceptable, "The response is text/xml or application/json, and the Accept header of this request allows neither. Nothing was done.\n")
		return
	}
	result, err := Result{}, error(nil)
	form, err := d.form(r)
	if err == nil {
		result, err = d.do(withRequest(r), form)
	} else {
		h.reportInvalid(withRequest(r), err)
	}
	status := http.StatusOK
	if err != nil {
		result, status = h.refuse(head, r, err)
	}
	if page {
		if status == http.StatusOK && !result.Success {
			status = http.StatusBadRequest
		}
		h.Page(w, r, status, result)
		return
	}
	write(w, status, result, d.element, json)
}

func (h *Handler) ping(ctx context.Context, f Form) (Result, error) {
	u, err := f.PingURL()
	if err != nil {
		h.reportInvalid(ctx, err)
		return Result{}, err
	}
	return h.Backend.Ping(ctx, PingRequest{URL: u, Hops: Hops(RequestFrom(ctx).Header)})
}

func (h *Handler) pleaseNotify(ctx context.Context, f Form) (Result, error) {
	g, err := f.Registration()
	if err != nil {
		h.reportInvalid(ctx, err)
		return Result{}, err
	}
	return h.Backend.PleaseNotify(ctx, g)
}

// spec:cloudburst#cancel
func (h *Handler) cancel(ctx context.Context, f Form) (Result, error) {
	g, err := f.registrationFor("cancel")
	if err != nil {
		h.reportInvalid(ctx, err)
		return Result{}, err
	}
	return h.Backend.Cancel(ctx, g)
}

func (h *Handler) reportInvalid(ctx context.Context, err error) {
	if h.OnInvalid != nil {
		h.OnInvalid(ctx, err)
	}
}

// refuse converts an error to its response.
func (h *Handler) refuse(head http.Header, r *http.Request, err error) (Result, int) {
	if f, ok := errors.AsType[*FieldError](err); ok {
		return Result{Msg: f.Msg}, http.StatusOK
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
		}
		return Result{Msg: "Something went wrong on this server. Please try again later."}, http.StatusInternalServerError
	}
	wirehttp.SetRetryAfter(head, e.RetryAfter)
	status := cmp.Or(e.Status, http.StatusOK)
	if status == http.StatusRequestEntityTooLarge {
		// The body was not read to its end, so the connection cannot be reused.
		head.Set("Connection", "close")
	}
	return Result{Msg: e.Msg}, status
}

func write(w http.ResponseWriter, status int, r Result, element string, json bool) {
	kind, body := "text/xml; charset=utf-8", []byte(nil)
	if json {
		kind, body = "application/json; charset=utf-8", r.JSON()
	} else {
		body = r.XML(element)
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	// A write error means that the client has disconnected.
	_, _ = w.Write(body)
}

// selfURL returns the URL of this endpoint as the client wrote it. If the host is not safe in a
// shell command, it returns the path only.
func selfURL(r *http.Request) string {
	scheme := "http://"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https://"
	}
	if r.Host == "" || strings.ContainsFunc(r.Host, func(c rune) bool { return !isAlnum(c) && !strings.ContainsRune(".-_:[]", c) }) {
		return r.URL.Path
	}
	return scheme + r.Host + r.URL.Path
}

// Hops returns the value of [HopsHeader]: 0 if the header is missing, more than [MaxHops]
// if it is invalid.
func Hops(h http.Header) int {
	// spec:cloudburst#hops
	s := strings.TrimSpace(h.Get(HopsHeader))
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > MaxHops {
		return MaxHops + 1
	}
	return n
}
