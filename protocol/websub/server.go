package websub

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

// Backend is what a hub does, in its own words. Errors are an [*Error], whose status
// and sentence are the answer; any other is answered 500 with a sentence that tells a
// stranger nothing. Methods find the request with [RequestFrom], for the caller's
// address.
//
// nil promises that the thing is done or safely written down. It does not wait for the
// callback, which is asked afterwards.
//
// spec:websub-2018#hub-answer-independent
type Backend interface {
	// Subscribe will ask the callback, and then add or renew the subscription.
	Subscribe(ctx context.Context, s Subscription) error
	// Unsubscribe will ask the callback, and then end the subscription.
	Unsubscribe(ctx context.Context, s Subscription) error
	// Publish hears that topics changed and says of each what came of it: as many
	// errors as there are urls, nil for those that were accepted. The urls have
	// passed [CheckURL], and none comes twice.
	Publish(ctx context.Context, urls []string) []error
}

// Handler is the door of a hub; it may be mounted at any path. Bodies are limited to
// [MaxForm] bytes; limits of time are the business of the http.Server. It looks at no
// cookie.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // what went wrong inside; nil is silent
}

// RequestFrom is the HTTP request that a method of a [Backend] or of [Callbacks] is
// called for; nil outside.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

func withRequest(r *http.Request) context.Context {
	return wirehttp.WithRequest(r.Context(), r)
}

const about = `This is a WebSub hub. It is for programs, which send it a form with POST.

To be sent what changes at a topic:
    hub.mode=subscribe, hub.callback, hub.topic; if you like, hub.lease_seconds and hub.secret
To be sent no more:
    hub.mode=unsubscribe, hub.callback, hub.topic
To tell it that a topic changed:
    hub.mode=publish, hub.url (once or more)

The protocol is described at https://www.w3.org/TR/websub/
`

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const methods = "GET, HEAD, POST, OPTIONS"
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case http.MethodPost:
		h.post(w, r)
	case http.MethodGet, http.MethodHead:
		plain(w, http.StatusOK, about)
	case http.MethodOptions:
		head.Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
	default:
		head.Set("Allow", methods)
		plain(w, http.StatusMethodNotAllowed, about)
	}
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	ctx := withRequest(r)
	q, err := ReadRequest(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	switch q.Mode {
	case ModeSubscribe:
		err = h.Backend.Subscribe(ctx, q.Subscription)
	case ModeUnsubscribe:
		err = h.Backend.Unsubscribe(ctx, q.Subscription)
	default:
		h.publish(ctx, w, r, q.URLs)
		return
	}
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	// spec:websub-2018#hub-answer-202
	plain(w, http.StatusAccepted, "Accepted. The callback will be asked now whether it wants this.\n")
}

// publish answers 204 when all topics were accepted, 202 with the others' names when
// some were, and with the gravest error when none was.
func (h *Handler) publish(ctx context.Context, w http.ResponseWriter, r *http.Request, urls []string) {
	var good []string
	var refused []refusedURL
	for _, u := range urls {
		if err := CheckURL("hub.url", u); err != nil {
			refused = append(refused, refusedURL{u, h.errorOf(r, err)})
			continue
		}
		good = append(good, u)
	}
	accepted := 0
	if len(good) > 0 {
		results := h.Backend.Publish(ctx, good)
		for i, u := range good {
			switch {
			case i >= len(results):
				refused = append(refused, refusedURL{u, h.errorOf(r, errors.New("the backend gave no result"))})
			case results[i] != nil:
				refused = append(refused, refusedURL{u, h.errorOf(r, results[i])})
			default:
				accepted++
			}
		}
	}
	switch {
	case len(refused) == 0:
		w.WriteHeader(http.StatusNoContent)
	case accepted > 0:
		plain(w, http.StatusAccepted, fmt.Sprintf("Accepted %d of %d.\n%s", accepted, len(urls), refusals(refused)))
	default:
		e := gravest(refused)
		e.Msg = strings.TrimSuffix(refusals(refused), "\n")
		h.refuse(w, r, &e)
	}
}

type refusedURL struct {
	url string
	err *Error
}

// refusals names what was refused, a line for each.
func refusals(list []refusedURL) string {
	if len(list) == 1 && list[0].err.Status == http.StatusBadRequest {
		return list[0].err.Msg + "\n" // it names the URL already
	}
	var b strings.Builder
	for _, r := range list {
		u := r.url
		if len(u) > 200 {
			u = u[:200] + "…"
		}
		fmt.Fprintf(&b, "Refused %s: %s\n", strings.ToValidUTF8(printable(u), "\uFFFD"), r.err.Msg)
	}
	return b.String()
}

// gravest has the highest status, which is the one that says try again, and the
// longest wait.
func gravest(list []refusedURL) Error {
	var e Error
	for _, r := range list {
		e.Status = max(e.Status, r.err.Status)
		e.RetryAfter = max(e.RetryAfter, r.err.RetryAfter)
	}
	return e
}

// errorOf is err as it may be shown; what is nobody else's business is logged.
func (h *Handler) errorOf(r *http.Request, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Status == 0 {
			e = &Error{Status: http.StatusBadRequest, Msg: e.Msg, RetryAfter: e.RetryAfter}
		}
		return e
	}
	if h.Log != nil {
		h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	}
	return &Error{Status: http.StatusInternalServerError, Msg: "Something went wrong on this server. Please try again later."}
}

// refuse answers with an error in plain words.
//
// spec:websub-2018#hub-answer-error
// spec:websub-2018#hub-answer-error-text
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := h.errorOf(r, err)
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	if e.Status == http.StatusRequestEntityTooLarge {
		// The rest of the body is not waited for.
		w.Header().Set("Connection", "close")
	}
	plain(w, e.Status, e.Msg+"\n")
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	// Nobody is left to tell when the caller has gone.
	_, _ = w.Write([]byte(text))
}

// printable is s with a question mark for each control character.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
