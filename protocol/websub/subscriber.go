package websub

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed/discover"
	"cloudburst/internal/text"
	"cloudburst/internal/wirehttp"
)

// Callbacks stores the subscriptions of a subscriber. Each subscription has a token: the
// last segment of the path of its callback's URL (see [NewToken]). Methods get the request
// from [RequestFrom].
type Callbacks interface {
	// Confirm confirms a subscription or its end if a request with exactly this topic and
	// mode is pending. After a nil error the subscription is active for c.Lease.
	// [ErrNotWanted] means that no such request is pending. Any other error becomes status
	// 503, which the hub treats as a refusal.
	Confirm(ctx context.Context, c Confirmation) error
	// Denied reports that the hub denies the subscription. The sender is not authenticated:
	// anyone who knows the callback's URL can send this.
	Denied(ctx context.Context, d Denial)
	// Wanted returns the topic and secret of a callback. [ErrNotWanted] means that its
	// deliveries are not wanted, or no longer wanted. After any other error the hub tries
	// again later.
	Wanted(ctx context.Context, token string) (Wanted, error)
	// Deliver stores a delivery. A nil error means that it is stored durably, not that it
	// is processed. Return quickly, because the hub waits. The errors are the same
	// as for Wanted.
	Deliver(ctx context.Context, d Delivery) error
}

// Rejecter is an optional interface of Callbacks. Rejected is called for each delivery that
// is ignored because of its signature. err is [ErrUnsigned], [ErrMethod] or [ErrSignature].
type Rejecter interface {
	Rejected(ctx context.Context, token string, err error)
}

// Confirmation is a request by which a hub verifies that this subscriber sent a request.
type Confirmation struct {
	Token string
	Mode  string        // ModeSubscribe or ModeUnsubscribe
	Topic string        // topic, exactly as received
	Lease time.Duration // for ModeSubscribe: the granted lease; 0: not specified
}

// Denial is a hub's message that it denies a subscription.
type Denial struct {
	Token  string
	Topic  string
	Reason string // as sent by the hub; may be empty
}

// Wanted is the topic and secret of one callback.
type Wanted struct {
	Topic  string
	Secret string // "": deliveries are not signed
}

// Delivery is received content.
type Delivery struct {
	Token       string
	Topic       string // the topic of the callback
	Self        string // URL in the Link header that the topic declares as its own, which may differ from Topic; without the header: Topic
	Hub         string // the hub in the Link header; "": none
	ContentType string // as sent by the hub
	Body        []byte // exactly as received; may be empty
	// Verified reports that the signature was checked. Only Body is signed.
	Verified bool
}

// Subscriber is the http.Handler of callbacks. It serves any path, so it can be mounted at
// the path of the callbacks' URLs.
type Subscriber struct {
	Callbacks Callbacks
	MaxBody   int64        // limit of a delivery in bytes; 0: MaxContent
	Log       *slog.Logger // ignored deliveries and internal failures; nil: no log
}

// ServeHTTP serves one request of a hub.
func (s *Subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// spec:websub-2018#confirmation-nosniff
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet:
		s.verification(w, r)
	case http.MethodPost:
		s.delivery(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		wirehttp.WriteText(w, http.StatusMethodNotAllowed, "This is the callback of a WebSub subscriber; it takes GET and POST.\n")
	}
}

func tokenOf(r *http.Request) string {
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// verification answers a hub's GET.
func (s *Subscriber) verification(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		wirehttp.WriteText(w, http.StatusBadRequest, "The query is invalid.\n")
		return
	}
	mode, topic, challenge := last(q, "hub.mode"), last(q, "hub.topic"), last(q, "hub.challenge")
	switch {
	case topic == "":
		wirehttp.WriteText(w, http.StatusBadRequest, "This is the callback of a WebSub subscriber; a verification needs hub.mode, hub.topic and hub.challenge.\n")
	case mode == ModeDenied:
		s.Callbacks.Denied(withRequest(r), Denial{Token: tokenOf(r), Topic: topic, Reason: printable(text.Clip(strings.ToValidUTF8(last(q, "hub.reason"), "\uFFFD"), 1000))})
		wirehttp.WriteText(w, http.StatusOK, "")
	case mode != ModeSubscribe && mode != ModeUnsubscribe:
		wirehttp.WriteText(w, http.StatusNotFound, "There is no such mode.\n")
	case !isEchoable(challenge):
		wirehttp.WriteText(w, http.StatusBadRequest, "hub.challenge must be 1 to "+strconv.Itoa(MaxChallenge)+" printable characters of ASCII.\n")
	default:
		c := Confirmation{Token: tokenOf(r), Mode: mode, Topic: topic}
		// spec:websub-2018#verification-lease-unsubscribe
		if mode == ModeSubscribe {
			c.Lease = leaseOf(last(q, "hub.lease_seconds"))
		}
		s.confirm(w, r, c, challenge)
	}
}

// spec:websub-2018#subscriber-confirms-pending
// spec:websub-2018#subscriber-rejects-404
// spec:websub-2018#confirmation-safe-type
func (s *Subscriber) confirm(w http.ResponseWriter, r *http.Request, c Confirmation, challenge string) {
	switch err := s.Callbacks.Confirm(withRequest(r), c); {
	case errors.Is(err, ErrNotWanted):
		wirehttp.WriteText(w, http.StatusNotFound, "This subscriber did not request that.\n")
	case err != nil:
		s.log(r, slog.LevelError, "verification failed", "err", err)
		wirehttp.WriteText(w, http.StatusServiceUnavailable, "This cannot be answered now.\n")
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(challenge)))
		wirehttp.WriteText(w, http.StatusOK, challenge)
	}
}

// last returns the last value of a parameter. The hub appends its parameters, so earlier values of
// the same name belong to the callback's own query.
func last(q url.Values, name string) string {
	v := q[name]
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

// isEchoable reports whether a challenge may be sent back: it must be short, and printable ASCII.
//
// spec:websub-2018#challenge-limits
func isEchoable(challenge string) bool {
	return challenge != "" && len(challenge) <= MaxChallenge &&
		!strings.ContainsFunc(challenge, func(r rune) bool { return r < ' ' || r > '~' })
}

// leaseOf parses the granted lease. An invalid value counts as missing.
func leaseOf(s string) time.Duration {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0
	}
	return time.Duration(min(int64(n), maxLeaseSeconds)) * time.Second
}

// delivery receives content. A delivery with a wrong signature gets the same response as a
// valid one, so that the sender cannot test signatures.
//
// spec:websub-2018#delivery-acknowledged
// spec:websub-2018#signature-ignored-2xx
func (s *Subscriber) delivery(w http.ResponseWriter, r *http.Request) {
	d := Delivery{Token: tokenOf(r), ContentType: r.Header.Get("Content-Type")}
	wanted, err := s.Callbacks.Wanted(withRequest(r), d.Token)
	if err != nil {
		s.logRejected(w, r, "", err)
		return
	}
	if enc := wirehttp.Encoding(r.Header); enc != "" {
		wirehttp.WriteText(w, http.StatusUnsupportedMediaType, "The content is encoded; send it as it is, without Content-Encoding.\n")
		return
	}
	var ok bool
	if d.Body, ok = s.body(w, r); !ok {
		return
	}
	if wanted.Secret != "" {
		// spec:websub-2018#signature-mismatch
		if err := CheckSignature(r.Header.Get(SignatureHeader), wanted.Secret, d.Body); err != nil {
			s.log(r, slog.LevelWarn, "delivery ignored", "topic", wanted.Topic, "err", err)
			if c, ok := s.Callbacks.(Rejecter); ok {
				c.Rejected(withRequest(r), d.Token, err)
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		d.Verified = true
	}
	// spec:websub-2018#delivery-known-by-callback
	links := discover.Header(r.Header, "")
	d.Topic, d.Self = wanted.Topic, wanted.Topic
	if links.Self != "" {
		d.Self = links.Self
	}
	if len(links.Hubs) > 0 {
		d.Hub = links.Hubs[0]
	}
	if err := s.Callbacks.Deliver(withRequest(r), d); err != nil {
		s.logRejected(w, r, wanted.Topic, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// logRejected responds to a delivery that is not accepted, and logs internal errors. topic
// is "" if unknown. The token in the URL's path is a secret and must not be logged.
func (s *Subscriber) logRejected(w http.ResponseWriter, r *http.Request, topic string, err error) {
	// spec:websub-2018#subscriber-410
	if errors.Is(err, ErrNotWanted) {
		wirehttp.WriteText(w, http.StatusGone, "This subscriber does not want these deliveries.\n")
		return
	}
	s.log(r, slog.LevelError, "delivery failed", "topic", topic, "err", err)
	wirehttp.WriteText(w, http.StatusServiceUnavailable, "This delivery cannot be stored now; please send it again later.\n")
}

// body reads the body of a delivery. ok is false if an error response was sent.
func (s *Subscriber) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	limit := s.MaxBody
	if limit <= 0 {
		limit = MaxContent
	}
	if r.Body == nil {
		return nil, true
	}
	var err error
	if r.ContentLength <= limit {
		body, err = io.ReadAll(io.LimitReader(r.Body, limit+1))
	}
	_, cut := errors.AsType[*http.MaxBytesError](err)
	switch {
	case cut, r.ContentLength > limit, int64(len(body)) > limit:
		w.Header().Set("Connection", "close") // the body was not read to its end, so the connection cannot be reused
		wirehttp.WriteText(w, http.StatusRequestEntityTooLarge, "The content is larger than this subscriber accepts.\n")
		return nil, false
	case err != nil:
		wirehttp.WriteText(w, http.StatusBadRequest, "The body ended early.\n")
		return nil, false
	}
	return body, true
}

func (s *Subscriber) log(r *http.Request, level slog.Level, msg string, args ...any) {
	if s.Log != nil {
		s.Log.Log(r.Context(), level, msg, args...)
	}
}
