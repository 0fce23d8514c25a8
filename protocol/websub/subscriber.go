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

// Callbacks is what a subscriber knows of its subscriptions, each by its token: the
// last segment of the path of its callback's URL (see [NewToken]). Methods find the
// request with [RequestFrom].
type Callbacks interface {
	// Confirm is asked whether a subscription, or its end, is pending with exactly
	// this topic and mode. nil is yes, and holds from now on for c.Lease;
	// [ErrNotWanted] is no. Any other error is trouble of ours, which the hub takes
	// for a no.
	Confirm(ctx context.Context, c Confirmation) error
	// Denied is told that the hub denies the subscription. Anyone who knows the
	// callback can say so.
	Denied(ctx context.Context, d Denial)
	// Wanted is what the callback stands for; [ErrNotWanted] when its deliveries are
	// not wanted, or not any more. After any other error the hub tries again later.
	Wanted(ctx context.Context, token string) (Wanted, error)
	// Deliver takes what has arrived. nil means that it is kept safely, not that it
	// has been read: be quick, the hub waits. Errors as of Wanted.
	Deliver(ctx context.Context, d Delivery) error
}

// Rejecter is what Callbacks may be besides, to be told of content that is ignored
// because it is not rightly signed. err is [ErrUnsigned], [ErrMethod] or
// [ErrSignature].
type Rejecter interface {
	Rejected(ctx context.Context, token string, err error)
}

// Confirmation is a hub's question whether a request came from this subscriber.
type Confirmation struct {
	Token string
	Mode  string        // ModeSubscribe or ModeUnsubscribe
	Topic string        // byte for byte
	Lease time.Duration // ModeSubscribe: what the hub grants; 0: it did not say
}

// Denial is a hub's word that it denies a subscription.
type Denial struct {
	Token  string
	Topic  string
	Reason string // as the hub gave it, or ""
}

// Wanted is what one callback stands for.
type Wanted struct {
	Topic  string
	Secret string // "": deliveries are not signed
}

// Delivery is content that arrived.
type Delivery struct {
	Token       string
	Topic       string // what the callback stands for
	Self        string // what the delivery calls its topic, which may be another URL than Topic; Topic where it does not say
	Hub         string // what it calls its hub; "": it does not say
	ContentType string // as the hub gave it
	Body        []byte // exactly as it came; may be empty
	// Verified is set when the signature was checked. It covers Body and nothing else.
	Verified bool
}

// Subscriber is the http.Handler of callbacks. It serves any path, so that it can be
// mounted wherever the callbacks' URLs say.
type Subscriber struct {
	Callbacks Callbacks
	MaxBody   int64        // bytes of a delivery [MaxContent]
	Log       *slog.Logger // deliveries that were ignored, and what went wrong inside; nil is silent
}

// ServeHTTP answers one request of a hub.
func (s *Subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// spec:websub-2018#confirmation-nosniff
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet:
		s.question(w, r)
	case http.MethodPost:
		s.delivery(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		plain(w, http.StatusMethodNotAllowed, "This is the callback of a WebSub subscriber; it takes GET and POST.\n")
	}
}

func tokenOf(r *http.Request) string {
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// question answers the GET of a hub.
func (s *Subscriber) question(w http.ResponseWriter, r *http.Request) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		plain(w, http.StatusBadRequest, "The query cannot be read whole.\n")
		return
	}
	mode, topic, challenge := last(q, "hub.mode"), last(q, "hub.topic"), last(q, "hub.challenge")
	switch {
	case topic == "":
		plain(w, http.StatusBadRequest, "This is the callback of a WebSub subscriber; a hub asks it with hub.mode, hub.topic and hub.challenge.\n")
	case mode == ModeDenied:
		s.Callbacks.Denied(withRequest(r), Denial{Token: tokenOf(r), Topic: topic, Reason: printable(text.Clip(strings.ToValidUTF8(last(q, "hub.reason"), "\uFFFD"), 1000))})
		plain(w, http.StatusOK, "")
	case mode != ModeSubscribe && mode != ModeUnsubscribe:
		plain(w, http.StatusNotFound, "There is no such mode.\n")
	case !harmless(challenge):
		plain(w, http.StatusBadRequest, "hub.challenge must be 1 to "+strconv.Itoa(MaxChallenge)+" printable characters of ASCII.\n")
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
// spec:websub-2018#subscriber-refuses-404
// spec:websub-2018#confirmation-safe-type
func (s *Subscriber) confirm(w http.ResponseWriter, r *http.Request, c Confirmation, challenge string) {
	switch err := s.Callbacks.Confirm(withRequest(r), c); {
	case errors.Is(err, ErrNotWanted):
		plain(w, http.StatusNotFound, "This subscriber did not ask for that.\n")
	case err != nil:
		s.log(r, slog.LevelError, "verification could not be answered", "error", err)
		plain(w, http.StatusServiceUnavailable, "This cannot be answered now.\n")
	default:
		w.Header().Set("Content-Length", strconv.Itoa(len(challenge)))
		plain(w, http.StatusOK, challenge)
	}
}

// last is the value that the hub appended, behind what the callback's own query may
// have under the same name.
func last(q url.Values, name string) string {
	v := q[name]
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

// harmless reports a challenge that may be echoed: short, and of printable ASCII.
//
// spec:websub-2018#challenge-limits
func harmless(challenge string) bool {
	return challenge != "" && len(challenge) <= MaxChallenge &&
		!strings.ContainsFunc(challenge, func(r rune) bool { return r < ' ' || r > '~' })
}

// leaseOf reads what a hub grants; nonsense counts as nothing said.
func leaseOf(s string) time.Duration {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0
	}
	return time.Duration(min(int64(n), maxLeaseSeconds)) * time.Second
}

// delivery takes content. Whoever sends some without a right signature gets the same
// answer as the hub, so that he cannot try signatures out.
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
		plain(w, http.StatusUnsupportedMediaType, "The content is encoded; send it as it is, without Content-Encoding.\n")
		return
	}
	var ok bool
	if d.Body, ok = s.body(w, r); !ok {
		return
	}
	if wanted.Secret != "" {
		// spec:websub-2018#signature-mismatch
		if err := CheckSignature(r.Header.Get(SignatureHeader), wanted.Secret, d.Body); err != nil {
			s.log(r, slog.LevelWarn, "delivery ignored", "topic", wanted.Topic, "error", err)
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

// turnAway refuses content. topic is "" where it is not known: what stands in its
// place, the token, belongs into no log.
func (s *Subscriber) logRejected(w http.ResponseWriter, r *http.Request, topic string, err error) {
	// spec:websub-2018#subscriber-410
	if errors.Is(err, ErrNotWanted) {
		plain(w, http.StatusGone, "This subscriber wants no such deliveries.\n")
		return
	}
	s.log(r, slog.LevelError, "delivery could not be taken", "topic", topic, "error", err)
	plain(w, http.StatusServiceUnavailable, "This cannot be taken now; please send it again later.\n")
}

// body reads a delivery; ok is false when it has been answered instead.
func (s *Subscriber) body(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	most := s.MaxBody
	if most <= 0 {
		most = MaxContent
	}
	if r.Body == nil {
		return nil, true
	}
	var err error
	if r.ContentLength <= most {
		body, err = io.ReadAll(io.LimitReader(r.Body, most+1))
	}
	_, cut := errors.AsType[*http.MaxBytesError](err)
	switch {
	case cut, r.ContentLength > most, int64(len(body)) > most:
		w.Header().Set("Connection", "close") // the rest is not waited for
		plain(w, http.StatusRequestEntityTooLarge, "The content is larger than this subscriber takes.\n")
		return nil, false
	case err != nil:
		plain(w, http.StatusBadRequest, "The body broke off before its end.\n")
		return nil, false
	}
	return body, true
}

func (s *Subscriber) log(r *http.Request, level slog.Level, msg string, args ...any) {
	if s.Log != nil {
		s.Log.Log(r.Context(), level, msg, args...)
	}
}
