package rsscloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"cloudburst/internal/wirehttp"
)

// Backend is what a cloud does, in its own words. A refusal is a Result without
// success and a nil error. An [*Error] gives the answer a status of its own, a
// [*FieldError] is a refusal too, and any other error is answered 500 with a
// sentence that tells a stranger nothing. Methods find the request with
// [RequestFrom], for the caller's address.
//
// An answer with success promises that the thing is done or safely written down.
type Backend interface {
	// Ping hears that the feed with this URL changed; hops is how many hubs the
	// news has passed through.
	Ping(ctx context.Context, p PingRequest) (Result, error)
	// PleaseNotify adds or renews a registration.
	PleaseNotify(ctx context.Context, g Registration) (Result, error)
	// Cancel ends a registration.
	Cancel(ctx context.Context, g Registration) (Result, error)
}

// PingRequest says that a feed changed.
type PingRequest struct {
	URL  string // absolute, http or https
	Hops int    // hubs that the news has passed through; 0 from an author
}

// Handler serves the REST doors of a cloud: pings at /rsscloud/ping and /ping,
// registrations at /rsscloud/pleaseNotify and /pleaseNotify, cancellations at
// /rsscloud/cancel. Bodies are limited to [MaxForm] bytes; limits of time are the
// business of the http.Server. The doors may be called from any web page and look
// at no cookie.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // what went wrong inside; nil is silent
	// Unread hears of each request that the Backend does not, because it cannot be read:
	// err is a [*FieldError] or an [*Error]. Nil: nobody does.
	OnInvalid func(ctx context.Context, err error)
}

// Doors are the paths that a [Handler] serves.
func Endpoints() []string {
	// spec:rsscloud-2009#door-ping
	// spec:rsscloud-2009#door-please-notify
	// spec:cloudburst#door-short
	return []string{"/rsscloud/ping", "/ping", "/rsscloud/pleaseNotify", "/pleaseNotify", "/rsscloud/cancel"}
}

// RequestFrom is the HTTP request that a [Backend]'s method or a [Subscriber]'s
// function is called for; nil outside.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

func withRequest(r *http.Request) context.Context {
	return wirehttp.WithRequest(r.Context(), r)
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/rsscloud/ping", "/ping":
		h.serve(w, r, door{ResultElement, "curl -d url=http://example.com/rss.xml", h.ping})
	case "/rsscloud/pleaseNotify", "/pleaseNotify":
		h.serve(w, r, door{NotifyResultElement, "curl -d 'notifyProcedure=&port=80&path=/updated&protocol=http-post&url1=http://example.com/rss.xml'", h.pleaseNotify})
	case "/rsscloud/cancel":
		h.serve(w, r, door{NotifyResultElement, "curl -d 'notifyProcedure=&port=80&path=/updated&protocol=http-post&url1=http://example.com/rss.xml'", h.cancel})
	default:
		http.NotFound(w, r)
	}
}

type door struct {
	element string // root of the answer
	example string
	do      func(context.Context, Form) (Result, error)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, d door) {
	// spec:cloudburst#cors
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "Retry-After")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions:
		head.Set("Allow", "POST, OPTIONS")
		head.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		head.Set("Access-Control-Allow-Headers", "Accept, Content-Type, "+HopsHeader)
		head.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		head.Set("Allow", "POST, OPTIONS")
		plain(w, http.StatusMethodNotAllowed, fmt.Sprintf("This address is for programs: it takes a POST with a form. For example:\n\n    %s %s\n", d.example, selfURL(r)))
		return
	}
	head.Add("Vary", "Accept")
	json, ok := wantsJSON(r.Header)
	if !ok {
		// Before anything is done: who cannot read the answer must not be half served.
		plain(w, http.StatusNotAcceptable, "The answer comes as text/xml or application/json, and the Accept header of this request allows neither. Nothing was done.\n")
		return
	}
	result, err := Result{}, error(nil)
	form, err := ReadForm(r)
	if err == nil {
		result, err = d.do(withRequest(r), form)
	} else {
		h.unread(withRequest(r), err)
	}
	status := http.StatusOK
	if err != nil {
		result, status = h.refuse(head, r, err)
	}
	write(w, status, result, d.element, json)
}

func (h *Handler) ping(ctx context.Context, f Form) (Result, error) {
	u, err := f.PingURL()
	if err != nil {
		h.unread(ctx, err)
		return Result{}, err
	}
	return h.Backend.Ping(ctx, PingRequest{URL: u, Hops: Hops(RequestFrom(ctx).Header)})
}

func (h *Handler) pleaseNotify(ctx context.Context, f Form) (Result, error) {
	g, err := f.Registration()
	if err != nil {
		h.unread(ctx, err)
		return Result{}, err
	}
	return h.Backend.PleaseNotify(ctx, g)
}

// spec:cloudburst#cancel
func (h *Handler) cancel(ctx context.Context, f Form) (Result, error) {
	g, err := f.Registration()
	if err != nil {
		h.unread(ctx, err)
		return Result{}, err
	}
	return h.Backend.Cancel(ctx, g)
}

func (h *Handler) unread(ctx context.Context, err error) {
	if h.OnInvalid != nil {
		h.OnInvalid(ctx, err)
	}
}

// refuse turns an error into its answer.
func (h *Handler) refuse(head http.Header, r *http.Request, err error) (Result, int) {
	if f, ok := errors.AsType[*FieldError](err); ok {
		return Result{Msg: f.Msg}, http.StatusOK
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
		}
		return Result{Msg: "Something went wrong on this server. Please try again later."}, http.StatusInternalServerError
	}
	if e.RetryAfter > 0 {
		head.Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	status := e.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status == http.StatusRequestEntityTooLarge {
		// The rest of the body is not waited for.
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
	// Nobody is left to tell when the caller has gone.
	_, _ = w.Write(body)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// selfURL is this door as the caller names it, when the name is harmless in a
// line of shell.
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

// Hops is what the header says about hubs passed; 0 when it says nothing, more
// than [MaxHops] when it cannot be read.
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
