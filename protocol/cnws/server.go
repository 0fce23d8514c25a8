package cnws

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
	"cloudburst/internal/xmlsafe"
)

// Publisher keeps the list of who wants to be told.
//
// A Result that is false is a refusal, and its Description says why. An [*Error]
// gives the answer a status of its own; any other error is answered 500 with a
// sentence that tells a stranger nothing. A Result that is true promises that the
// subscription is done or safely written down, also when it was there before.
// Methods find the request with [RequestFrom], for the caller's address.
type Publisher interface {
	Subscribe(ctx context.Context, s Subscribe) (Result, error)
}

// Subscriber hears of changes.
type Subscriber interface {
	// Changed reports whether changes of this resource are wanted. With false and
	// no error the publisher takes the subscriber off its list; so it does after
	// an error, but for an [*Error] with Status 0, whose Msg goes along with wanted.
	// The publisher waits for it: be quick.
	//
	// A publisher may ask for consent by a Change that looks like any other, before
	// it has answered the subscription.
	Changed(ctx context.Context, c Change) (wanted bool, err error)
}

// SubscriberFunc is a function as a [Subscriber].
type SubscriberFunc func(ctx context.Context, c Change) (wanted bool, err error)

// Changed calls f.
func (f SubscriberFunc) Changed(ctx context.Context, c Change) (bool, error) { return f(ctx, c) }

// Handler is a publisher's door, a subscriber's notificationURL, or both at one
// address. It serves any path. Answers are results with status 200; a body that is
// no document of this protocol is answered 400, one that is too large 413, one
// that is not XML or is encoded 415, other methods than POST 405.
type Handler struct {
	Publisher  Publisher    // nil: nobody can subscribe here
	Subscriber Subscriber   // nil: changes are answered false
	MaxBytes   int64        // of a request; 0: [MaxBytes]
	Log        *slog.Logger // gets what callers are not told; nil is silent
}

// RequestFrom is the HTTP request that a method of [Publisher] or [Subscriber] is
// called for; nil outside. Its body is spent.
func RequestFrom(ctx context.Context) *http.Request { return wirehttp.RequestFrom(ctx) }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodPost {
		head.Set("Allow", http.MethodPost)
		plain(w, http.StatusMethodNotAllowed, "This address is for programs: it speaks the change notification web service of 2003 and takes a POST of an XML document, "+h.takes()+".")
		return
	}
	charset, refusal := acceptable(r.Header)
	if refusal != "" {
		// The body is not read: the connection is of no more use.
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
		h.unreadable(w, r, err, limit)
		return
	}
	result, err := h.do(wirehttp.WithRequest(r.Context(), r), d)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	h.answer(w, r, result)
}

// takes says what may be posted.
func (h *Handler) takes() string {
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
		return Result{Description: "Nobody can subscribe here; this address only takes notifications."}, nil
	case d.Change != nil && h.Subscriber != nil:
		wanted, err := h.Subscriber.Changed(ctx, *d.Change)
		if e, ok := errors.AsType[*Error](err); ok && e.Status == 0 {
			return Result{Status: wanted, Description: e.Msg}, nil
		}
		return Result{Status: wanted}, err
	case d.Change != nil:
		// spec:cnws-2003#unsubscribe-by-false
		return Result{Description: "This address wants no notifications."}, nil
	}
	return Result{Description: "A result answers a request and is none; send " + h.takes() + "."}, nil
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
	// Nobody is left to tell when the caller has gone.
	_, _ = w.Write(body)
}

// refuse turns the error of a role into its answer.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if f, ok := errors.AsType[*FieldError](err); ok {
		h.answer(w, r, Result{Description: f.Msg})
		return
	}
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		if h.Log != nil {
			h.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
		}
		plain(w, http.StatusInternalServerError, "Something went wrong on this server. Please try again later.")
		return
	case e.Status == 0:
		h.answer(w, r, Result{Description: e.Msg})
		return
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	plain(w, e.Status, e.Msg)
}

// unreadable answers a body that cannot be acted on. A field that is wrong is a
// refusal in the protocol's own form; anything else is not the protocol.
func (h *Handler) unreadable(w http.ResponseWriter, r *http.Request, err error, limit int64) {
	tooLarge, large := errors.AsType[*http.MaxBytesError](err)
	syntax, isSyntax := errors.AsType[*SyntaxError](err)
	field, isField := errors.AsType[*FieldError](err)
	switch {
	case large, errors.Is(err, xmlsafe.ErrTooLarge):
		if large {
			limit = tooLarge.Limit
		}
		w.Header().Set("Connection", "close")
		plain(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("The document is larger than the %d bytes accepted here.", limit))
	case isField:
		h.answer(w, r, Result{Description: field.Msg})
	case isSyntax && syntax.Line > 0:
		plain(w, http.StatusBadRequest, fmt.Sprintf("This is no document of the change notification web service: in line %d, %s.", syntax.Line, syntax.Msg))
	case isSyntax:
		plain(w, http.StatusBadRequest, "This is no document of the change notification web service: "+syntax.Msg+".")
	default:
		plain(w, http.StatusBadRequest, "The document did not arrive whole.")
	}
}

// acceptable checks the headers of a body and gives its charset, or why it is
// refused. A missing type and text/plain are accepted, as many authors cannot set
// it; forms are not, since any web page can make a visitor's browser send one.
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
