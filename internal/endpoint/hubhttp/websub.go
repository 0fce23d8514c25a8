package hubhttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"cloudburst/internal/endpoint"
	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/wirehttp"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// viaWebSub is the name of WebSub in the log.
const viaWebSub = "websub"

const (
	// maxAtOnce is the maximum number of topics of one publish request that are checked
	// concurrently.
	maxAtOnce = 8
	// maxAskURL is the maximum length of the URL of a verification request, in bytes. Package fetch
	// allows 8 KiB.
	maxAskURL = 8000
	// maxReason is the maximum length of the reason sent to a callback, in bytes.
	maxReason = 500
	// maxContentType is the maximum length of a valid Content-Type, in bytes.
	maxContentType = 1000
)

// WebSub connects the WebSub protocol to the hub. It implements websub.Backend.
type WebSub struct {
	Hub     Hub
	Trusted []netip.Prefix // see [endpoint.CallerAddr]
	Log     *slog.Logger   // nil: no log
}

// Subscribe requests a subscription from the hub.
func (b *WebSub) Subscribe(ctx context.Context, s websub.Subscription) error {
	return b.request(ctx, hub.ModeSubscribe, s)
}

// Unsubscribe requests the end of a subscription from the hub.
func (b *WebSub) Unsubscribe(ctx context.Context, s websub.Subscription) error {
	return b.request(ctx, hub.ModeUnsubscribe, s)
}

func (b *WebSub) request(ctx context.Context, mode string, s websub.Subscription) error {
	in := hub.Intent{Topic: s.Topic, Callback: s.Callback, Mode: mode, Secret: s.Secret, Lease: s.Lease, Via: viaWebSub}
	if len(websub.VerifyURL(s.Callback, websub.Verification{Mode: mode, Topic: s.Topic, Challenge: websub.NewChallenge(), Lease: websub.MaxLease})) > maxAskURL {
		return &websub.Error{Status: http.StatusBadRequest, Msg: "hub.callback and hub.topic are together too long for a verification request; use a shorter callback."}
	}
	if err := b.Hub.Request(ctx, in, b.source(ctx)); err != nil {
		return b.refusal(ctx, err)
	}
	return nil
}

func (b *WebSub) source(ctx context.Context) netip.Addr {
	r := websub.RequestFrom(ctx)
	if r == nil {
		return netip.Addr{}
	}
	return endpoint.CallerAddr(r, b.Trusted)
}

// Publish pings each topic, in the same way as the ping endpoints of other protocols.
func (b *WebSub) Publish(ctx context.Context, urls []string) []error {
	p := hub.Ping{Via: viaWebSub, Source: b.source(ctx), Count: wantsOutcome(ctx)}
	if r := websub.RequestFrom(ctx); r != nil {
		p.Hops = rsscloud.Hops(r.Header)
	}
	results := make([]error, len(urls))
	var wg sync.WaitGroup
	free := make(chan struct{}, maxAtOnce)
	for i, u := range urls {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			ping := p
			ping.URL = u
			res, err := b.Hub.Ping(ctx, ping)
			if err != nil {
				results[i] = b.refusal(ctx, err)
				return
			}
			notePing(ctx, u, res)
		})
	}
	wg.Wait()
	return results
}

// refusal converts an error to its WebSub form. It also logs the errors that the operator should
// see, because no other layer logs them.
//
// spec:cloudburst#limits-429
func (b *WebSub) refusal(ctx context.Context, err error) *websub.Error {
	e := &websub.Error{Msg: fault.Message(err), RetryAfter: fault.RetryAfter(err), Err: err}
	switch fault.CodeOf(err) {
	case fault.Invalid:
		e.Status = http.StatusBadRequest
	case fault.NotFound:
		e.Status = http.StatusNotFound
	case fault.Refused:
		e.Status = http.StatusForbidden
	case fault.Conflict:
		e.Status = http.StatusConflict
	case fault.TooMany:
		e.Status = http.StatusTooManyRequests
		e.RetryAfter = max(e.RetryAfter, time.Second)
	case fault.Unreadable, fault.Gone:
		e.Status = http.StatusUnprocessableEntity
	case fault.Unsupported:
		e.Status = http.StatusNotImplemented
	case fault.Unavailable:
		e.Status = http.StatusServiceUnavailable
		e.RetryAfter = max(e.RetryAfter, 10*time.Second)
		b.log(ctx, slog.LevelWarn, "WebSub request could not be processed", err)
	default:
		e.Status = http.StatusInternalServerError
		b.log(ctx, slog.LevelError, "WebSub request failed", err)
	}
	return e
}

func (b *WebSub) log(ctx context.Context, level slog.Level, msg string, err error) {
	if b.Log != nil {
		b.Log.Log(ctx, level, msg, "err", err)
	}
}

// Asker confirms and denies WebSub subscriptions through Sender. It implements
// hub.IntentConfirmer. All failures without a response have the same text, as in Verifier.
type Asker struct {
	Sender endpoint.Sender
}

// Confirm asks the callback to confirm the intent. Each request contains a new challenge. Redirects
// are not followed.
//
// spec:websub-2018#verification-failed
// spec:websub-2018#callback-exact
func (a *Asker) Confirm(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	v := websub.Verification{Mode: in.Mode, Topic: in.Topic, Challenge: websub.NewChallenge()}
	if in.Mode == hub.ModeSubscribe {
		v.Lease = in.Lease
	}
	r, x := a.ask(ctx, in, v)
	switch {
	case r.Err != nil:
		return x, notAsked(&r)
	case r.Status == http.StatusNotFound:
		return x, fault.New(fault.Refused, "The callback answered 404 Not Found: it did not request this.")
	case r.Status >= 300 && r.Status <= 399:
		return x, fault.New(fault.Refused, "The callback answered %s instead of the challenge; redirects are not followed.", wirehttp.StatusText(r.Status))
	case !r.OK():
		return x, fault.New(fault.Refused, "The callback answered %s instead of the challenge.", wirehttp.StatusText(r.Status))
	case r.Partial || websub.CheckChallenge(r.Status, r.Body, v.Challenge) != nil:
		return x, fault.New(fault.Refused, "The callback answered %s, but not with the challenge alone; the answer must be equal to hub.challenge, without a trailing line break.", wirehttp.StatusText(r.Status))
	}
	return x, nil
}

// Deny notifies the callback that its subscription was denied.
func (a *Asker) Deny(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	reason := strings.ToValidUTF8(in.Reason[:min(len(in.Reason), maxReason)], "")
	r, x := a.ask(ctx, in, websub.Verification{Mode: hub.ModeDenied, Topic: in.Topic, Reason: reason})
	if r.Err != nil {
		return x, notAsked(&r)
	}
	return x, nil
}

func (a *Asker) ask(ctx context.Context, in hub.Intent, v websub.Verification) (fetch.Reply, event.Exchange) {
	m := &fetch.Message{Method: http.MethodGet, URL: websub.VerifyURL(in.Callback, v), WantBody: true, Padded: true}
	r := a.Sender.Send(ctx, m)
	x := exchange(m, &r)
	x.Callback = in.Callback
	return r, x
}

func notAsked(r *fetch.Reply) error {
	if r.NotTried {
		return fault.Wrap(fault.Unavailable, r.Err, "The callback could not be called now because of a problem on this server.")
	}
	if errors.Is(r.Err, fetch.ErrOwn) { // another attempt would have the same result
		return fault.Wrap(fault.Refused, r.Err, leadsHere)
	}
	return fault.Wrap(fault.Unreadable, r.Err, "%s", unanswered)
}

// websubMessage returns the delivery of content to sub. Except for the signature, it is the same
// for all subscribers of a topic; its body is the content itself.
//
// spec:websub-2018#delivery-post
// spec:websub-2018#delivery-full-content
func (n *Notifier) websubMessage(sub *hub.Subscription, topic *hub.Topic, content *hub.Content, hops int) (*fetch.Message, error) {
	if content == nil {
		return nil, fault.New(fault.Invalid, "There is no content of %s to deliver.", topic.URL)
	}
	e := n.delivery(topic, content.Type, hops)
	// spec:websub-2018#delivery-answer-ignored
	m := &fetch.Message{URL: sub.Callback, ContentType: e.contentType, Header: n.traced(e.header, topic, sub), Body: content.Body}
	if sub.Secret == "" {
		return m, nil
	}
	// spec:websub-2018#delivery-signed
	method := n.Signature
	if method == "" {
		method = websub.SHA256
	}
	signature, err := websub.Sign(method, sub.Secret, content.Body)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The delivery cannot be signed.")
	}
	m.Header = append(m.Header[:len(m.Header):len(m.Header)], websub.SignatureHeader, signature) // copy the header, which other deliveries share
	return m, nil
}

// delivery returns the part of a message that all deliveries of one version of a topic share.
//
// spec:websub-2018#delivery-content-type
// spec:websub-2018#delivery-links
func (n *Notifier) delivery(topic *hub.Topic, contentType string, hops int) *encoded {
	hubURL := ""
	if n.HubURL != nil {
		hubURL = n.HubURL()
	}
	contentType = sendableType(contentType)
	slot := &n.encoded[(uint64(topic.ID)^uint64(len(hub.WebSub))<<3)%uint64(len(n.encoded))]
	e := slot.Load()
	if e != nil && e.feed == topic.URL && e.protocol == hub.WebSub && e.procedure == hubURL && e.hops == hops &&
		e.contentType == contentType && e.changed.Equal(topic.ChangedAt) {
		return e
	}
	// spec:cloudburst#hops
	header := []string{
		"Link", websub.LinkHeader(hubURL, topic.URL),
		rsscloud.HopsHeader, strconv.Itoa(hops + 1),
	}
	if !topic.ChangedAt.IsZero() {
		header = append(header, rsscloud.ChangedAtHeader, topic.ChangedAt.UTC().Format(time.RFC3339Nano))
	}
	e = &encoded{
		protocol: hub.WebSub, procedure: hubURL, feed: topic.URL, hops: hops, changed: topic.ChangedAt,
		contentType: contentType, header: header,
	}
	slot.Store(e)
	return e
}

// sendableType returns the topic's Content-Type without characters that are invalid in a header
// field.
func sendableType(s string) string {
	bad := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	if strings.ContainsFunc(s, bad) {
		s = strings.Map(func(r rune) rune {
			if bad(r) {
				return -1
			}
			return r
		}, s)
	}
	if s == "" || len(s) > maxContentType {
		return "application/octet-stream"
	}
	return s
}
