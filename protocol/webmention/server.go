package webmention

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"

	"cloudburst/internal/wirehttp"
)

// Backend implements the receiver. An [*Error] sets the status and the message of the response.
// Any other error becomes status 500 with a sentence that reveals nothing of the error.
type Backend interface {
	// Receive accepts a request that has passed [Request.Check]. It checks that the target
	// accepts webmentions, and stores the request durably. It must not wait for the source,
	// which is verified afterwards. status is the URL of a page with the state of the webmention;
	// "": there is none. The request's client address is in the request of [RequestFrom].
	//
	// spec:webmention-2017#target-accepted
	// spec:webmention-2017#verify-later
	Receive(ctx context.Context, q Request) (status string, err error)
}

// Handler is the endpoint of a receiver. It can be mounted at any path. Bodies are limited to
// [MaxForm] bytes; set timeouts in the http.Server. Cookies are ignored.
type Handler struct {
	Backend Backend
	Log     *slog.Logger // internal failures; nil: no log
}

// RequestFrom returns the HTTP request on whose behalf a [Backend] is called. It is nil outside of
// such a call.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

const about = `This is a Webmention endpoint. Programs send it a form with POST:
    source: URL of the page that has the link
    target: URL of the page here that it links to

The source is read afterwards, and the author of the target decides what is shown.
The protocol is described at https://www.w3.org/TR/webmention/
`

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wirehttp.ServeForms(w, r, about, h.post)
}

// post answers 201 with the status URL in Location, or 202 if there is none.
//
// spec:webmention-2017#answer
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	q, err := ReadRequest(r)
	status := ""
	if err == nil {
		status, err = h.Backend.Receive(wirehttp.WithRequest(r.Context(), r), q)
	}
	switch {
	case err != nil:
		h.refuse(w, r, err)
	case status == "":
		wirehttp.WriteText(w, http.StatusAccepted, "Accepted. The source is read next.\n")
	default:
		w.Header().Set("Location", status)
		wirehttp.WriteText(w, http.StatusCreated, "Accepted. The source is read next; "+status+" shows the state.\n")
	}
}

// refuse responds with an error in plain text.
//
// spec:webmention-2017#answer-error
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
		}
		e = &Error{Status: http.StatusInternalServerError, Msg: "Something went wrong on this server. Please try again later."}
	}
	wirehttp.Refuse(w, cmp.Or(e.Status, http.StatusBadRequest), e.RetryAfter, e.Msg+"\n")
}
