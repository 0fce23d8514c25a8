package cnws

import (
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

// Publisher stores the subscribers of resources.
//
// A Result with Status false is a refusal with its reason in Description. An [*Error] sets the
// status of the response. Any other error becomes status 500 with a sentence that reveals nothing
// of the error. A Result with Status true promises that the subscription is durably stored, even if
// it existed before. Methods get the request, for the client address, from [RequestFrom].
type Publisher interface {
	Subscribe(ctx context.Context, s Subscribe) (Result, error)
}

// Subscriber receives changes.
type Subscriber interface {
	// Changed reports whether changes of this resource are wanted. If wanted is false and err is
	// nil, the publisher ends the subscription. An error also ends the subscription, except that an
	// [*Error] with Status 0 sends wanted with Msg as the description. Changed should return
	// quickly, because the publisher waits.
	//
	// Before a publisher responds to a subscription, it may send a Change to ask for consent. That
	// Change looks like any other.
	Changed(ctx context.Context, c Change) (wanted bool, err error)
}

// SubscriberFunc is a function that implements [Subscriber].
type SubscriberFunc func(ctx context.Context, c Change) (wanted bool, err error)

// Changed calls f.
func (f SubscriberFunc) Changed(ctx context.Context, c Change) (bool, error) { return f(ctx, c) }

// Handler is a publisher's endpoint, a subscriber's notificationURL, or both at one URL. It
// serves any path. A message is answered by a result with status 200. Other statuses are
// 400 for a body that is not a document of this protocol, 413 for a body that is too large,
// 415 for an encoded body or one of another type than XML, and 405 for other methods than
// POST.
type Handler struct {
	Publisher  Publisher    // nil: subscriptions are refused
	Subscriber Subscriber   // nil: changes are answered with false
	MaxBytes   int64        // limit of a request in bytes; 0: [MaxBytes]
	Log        *slog.Logger // internal failures; nil: no log
}

// RequestFrom returns the HTTP request on whose behalf a method of [Publisher] or
// [Subscriber] is called, with the body already read. It is nil outside of these calls.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		head.Set("Allow", http.MethodPost)
		plain(w, http.StatusMethodNotAllowed, "This URL is for programs: it implements the change notification web service of 2003 and accepts a POST of an XML document, "+h.accepted()+".")
		return
	}
	charset, refusal := acceptable(r.Header)
	if refusal != "" {
		// The body stays unread, so the connection cannot be reused.
		head.Set("Connection", "close")
		plain(w, http.StatusUnsupportedMediaType, refusal)
		return
	}
	limit := h.MaxBytes
	if limit <= 0 {
		limit = MaxBytes
	}
	d, err := Decoder{MaxBytes: limit, Charset: charset}.Document(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		h.refuseInvalid(w, r, err, limit)
		return
	}
	result, err := h.do(wirehttp.WithRequest(r.Context(), r), d)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, r, result)
}

// accepted names, for a message to the client, the kinds of message that this endpoint accepts.
func (h *Handler) accepted() string {
	switch {
	case h.Publisher == nil:
		return "resourceChange"
	case h.Subscriber == nil:
		return "subscribe"
	}
	return "subscribe or resourceChange"
}

func (h *Handler) do(ctx context.Context, d Document) (Result, error) {
	switch {
	case d.Subscribe != nil && h.Publisher != nil:
		return h.Publisher.Subscribe(ctx, *d.Subscribe)
	case d.Subscribe != nil:
		return Result{Description: "This URL accepts notifications only, no subscriptions."}, nil
	case d.Change != nil && h.Subscriber != nil:
		wanted, err := h.Subscriber.Changed(ctx, *d.Change)
		if e, ok := errors.AsType[*Error](err); ok && e.Status == 0 {
			return Result{Status: wanted, Description: e.Msg}, nil
		}
		return Result{Status: wanted}, err
	case d.Change != nil:
		// spec:cnws-2003#unsubscribe-by-false
		return Result{Description: "This URL accepts no notifications."}, nil
	}
	return Result{Description: "A result is a response, not a request; send " + h.accepted() + "."}, nil
}

// answer writes a result.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, result Result) {
	body, err := result.Marshal()
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", ContentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	// A write error means that the client has disconnected.
	_, _ = w.Write(body)
}

// refuse writes the response to an error of a Publisher or Subscriber.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if f, ok := errors.AsType[*FieldError](err); ok {
		h.answer(w, r, Result{Description: f.Msg})
		return
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
		}
		plain(w, http.StatusInternalServerError, "Something went wrong on this server. Please try again later.")
		return
	case e.Status == 0:
		h.answer(w, r, Result{Description: e.Msg})
		return
	}
	wirehttp.SetRetryAfter(w.Header(), e.RetryAfter)
	plain(w, e.Status, e.Msg)
}

// refuseInvalid writes the response to an invalid body. An invalid field is a refusal in the
// protocol's own form; anything else is an HTTP error.
func (h *Handler) refuseInvalid(w http.ResponseWriter, r *http.Request, err error, limit int64) {
	tooLarge, large := errors.AsType[*http.MaxBytesError](err)
	syntax, isSyntax := errors.AsType[*SyntaxError](err)
	field, isField := errors.AsType[*FieldError](err)
	switch {
	case large, errors.Is(err, xmlsafe.ErrTooLarge):
		if large {
			limit = tooLarge.Limit
		}
		w.Header().Set("Connection", "close")
		plain(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The document is larger than the %s accepted here.", text.SizeWords(limit)))
	case isField:
		h.answer(w, r, Result{Description: field.Msg})
	case isSyntax && syntax.Line > 0:
		plain(w, http.StatusBadRequest, fmt.Sprintf("This is not a document of the change notification web service: in line %d, %s.", syntax.Line, syntax.Msg))
	case isSyntax:
		plain(w, http.StatusBadRequest, "This is not a document of the change notification web service: "+syntax.Msg+".")
	default:
		plain(w, http.StatusBadRequest, "The document arrived incomplete.")
	}
}

// acceptable checks the headers of a body and returns its charset or the reason of the refusal. A
// missing type and text/plain are accepted, because many programs cannot set the type. Forms are
// rejected, because any web page can make a visitor's browser send a form.
func acceptable(h http.Header) (charset, refusal string) {
	value := h.Get("Content-Type")
	name, _, _ := strings.Cut(value, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	if e := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding"))); e != "" && e != "identity" {
		return "", fmt.Sprintf("The Content-Encoding %.40q is not accepted; send the document as it is.", e)
	}
	switch name {
	case "text/xml", "application/xml":
		return xmlsafe.Charset(value), ""
	case "", "text/plain":
		return "", ""
	}
	return "", fmt.Sprintf("The Content-Type %.60q is not accepted; send text/xml.", name)
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}
