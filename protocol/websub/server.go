package websub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"cloudburst/internal/wirehttp"
)

// Backend implements the operations of a hub. An [*Error] sets the status and the message
// of the response. Any other error becomes status 500 with a sentence that reveals nothing
// of the error. Methods get the request, for the client address, from [RequestFrom].
//
// A nil error promises that the operation is done or durably stored. Methods must not wait
// for the callback, which is verified afterwards.
//
// spec:websub-2018#hub-answer-independent
type Backend interface {
	// Subscribe verifies the callback later and then adds or renews the subscription.
	Subscribe(ctx context.Context, s Subscription) error
	// Unsubscribe verifies the callback later and then ends the subscription.
	Unsubscribe(ctx context.Context, s Subscription) error
	// Publish accepts the changed topics. The result has one error per URL, nil for an
	// accepted one. The urls have passed [CheckURL] and have no duplicates.
	Publish(ctx context.Context, urls []string) []error
}

// Handler is the endpoint of a hub. It can be mounted at any path. Bodies are limited to
// [MaxForm] bytes; set timeouts in the http.Server. Cookies are ignored.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // internal failures; nil: no log
}

// RequestFrom returns the HTTP request on whose behalf a method of [Backend] or [Callbacks]
// is called. It is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

func withRequest(r *http.Request) context.Context {
	return wirehttp.WithRequest(r.Context(), r)
}

const about = `This is a WebSub hub. Programs send it a form with POST.

To subscribe to a topic:
    hub.mode=subscribe, hub.callback, hub.topic; optionally hub.lease_seconds and hub.secret
To unsubscribe:
    hub.mode=unsubscribe, hub.callback, hub.topic
To announce that a topic changed:
    hub.mode=publish, hub.url (once or more)

The protocol is described at https://www.w3.org/TR/websub/
`

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wirehttp.ServeForms(w, r, about, h.post)
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
	wirehttp.WriteText(w, http.StatusAccepted, "Accepted. The callback will be asked now whether it wants this.\n")
}

// publish responds with 204 if all topics were accepted. If only some were accepted, it responds
// with 202 and the refused topics; if none was accepted, with the most severe error.
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
				refused = append(refused, refusedURL{u, h.errorOf(r, errors.New("the backend returned no result"))})
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
		wirehttp.WriteText(w, http.StatusAccepted, fmt.Sprintf("Accepted %d of %d.\n%s", accepted, len(urls), refusals(refused)))
	default:
		e := mostSevere(refused)
		e.Msg = strings.TrimSuffix(refusals(refused), "\n")
		h.refuse(w, r, &e)
	}
}

type refusedURL struct {
	url string
	err *Error
}

// refusals returns a line for each refused URL.
func refusals(list []refusedURL) string {
	if len(list) == 1 && list[0].err.Status == http.StatusBadRequest {
		return list[0].err.Msg + "\n" // the message already contains the URL
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

// mostSevere returns an error for all refusals together: the highest status, but one that permits a
// retry if any of them does, and the longest Retry-After.
func mostSevere(list []refusedURL) Error {
	var e Error
	for _, r := range list {
		e.Status = max(e.Status, r.err.Status)
		e.RetryAfter = max(e.RetryAfter, r.err.RetryAfter)
	}
	return e
}

// errorOf returns err as it may be sent to the client. Internal errors are logged and
// replaced.
func (h *Handler) errorOf(r *http.Request, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Status == 0 {
			e = &Error{Status: http.StatusBadRequest, Msg: e.Msg, RetryAfter: e.RetryAfter}
		}
		return e
	}
	if h.Log != nil {
		h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
	}
	return &Error{Status: http.StatusInternalServerError, Msg: "Something went wrong on this server. Please try again later."}
}

// refuse responds with an error in plain text.
//
// spec:websub-2018#hub-answer-error
// spec:websub-2018#hub-answer-error-text
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e := h.errorOf(r, err)
	wirehttp.Refuse(w, e.Status, e.RetryAfter, e.Msg+"\n")
}

// printable replaces each control character of s by a question mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
