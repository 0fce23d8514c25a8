package hubcli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"cloudburst/internal/cli/hubclient"
	"cloudburst/internal/cli/shell"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// webSubWay subscribes with the WebSub protocol. Each feed has its own callback URL, which cannot
// be guessed.
type webSubWay struct {
	l      *listener
	client websub.Client
}

// subscribed is the state of a WebSub subscription at the callback.
type subscribed struct {
	websub.Subscription
	hub      string
	token    string
	pending  string        // mode of the request in progress; "": no request
	answer   chan hubReply // receives the hub's reply to the request in progress
	holds    bool          // the callback has confirmed the subscription to the hub
	notified bool          // the warning about invalid signatures was printed
}

// hubReply is the content of a hub's request to the callback.
type hubReply struct {
	lease  time.Duration // lease that the hub granted; 0: the hub states no lease
	denied bool
	reason string
}

const (
	verifyTime      = 30 * time.Second // maximum time in which the hub must verify the callback after it accepted the request
	unnotifiedLease = renewAfter       // time until the renewal if the hub states no lease
	shortestRenew   = 5 * time.Second
)

func newWebSubWay(l *listener) *webSubWay { return &webSubWay{l, l.p.WebSubClient()} }

func (w *webSubWay) handler() http.Handler { return &websub.Subscriber{Callbacks: w} }

// register tries the hubs of f in order until one accepts, and waits for its
// verification request.
func (w *webSubWay) register(ctx context.Context, f *followed) (registered, error) {
	d := websub.Discovery{URL: f.url, Hubs: namedHub(w.l.hub)}
	if w.l.hub == "" {
		var err error
		if d, err = w.l.p.FindHubs(ctx, f.url); err != nil {
			return registered{}, err
		}
	}
	var first error
	for _, hub := range d.Hubs {
		got, err := w.subscribe(ctx, f, hub, d.Topic())
		if err == nil || ctx.Err() != nil {
			return got, err
		}
		if first == nil {
			first = err
		}
	}
	return registered{}, first
}

func (w *webSubWay) subscribe(ctx context.Context, f *followed, hub, topic string) (registered, error) {
	sub, answer, err := w.begin(ctx, f, hub, topic)
	if err != nil {
		return registered{}, err
	}
	defer w.end(f)
	if err := w.client.Subscribe(ctx, hub, sub); err != nil {
		return registered{}, hubclient.WebSubError(hub, err)
	}
	timer := time.NewTimer(verifyTime)
	defer timer.Stop()
	select {
	case word := <-answer:
		if word.denied {
			return registered{}, hubclient.Refusedf("the hub at %s denies %s: %s", hub, topic, reasonText(word.reason))
		}
		return granted(hub, f.url, topic, word.lease), nil
	case <-timer.C:
		return registered{}, fmt.Errorf("the hub at %s accepted, but did not verify the callback %s within %d s: it cannot connect to this URL (set --domain and --addr)",
			hub, sub.Callback, int(verifyTime.Seconds()))
	case <-ctx.Done():
		// The hub may have granted the subscription in this moment, so it must be canceled.
		f.held = true
		return registered{}, ctx.Err()
	}
}

// begin prepares the callback for the hub's verification request.
func (w *webSubWay) begin(ctx context.Context, f *followed, hub, topic string) (websub.Subscription, <-chan hubReply, error) {
	w.l.mu.Lock()
	s := f.sub
	w.l.mu.Unlock()
	if s.token == "" {
		s.token = websub.NewToken()
		if !w.l.noSecret {
			s.Secret = websub.NewToken()
		}
	}
	callback, err := w.l.address(ctx, hub, w.l.path+"/"+s.token)
	if err != nil {
		return websub.Subscription{}, nil, err
	}
	s.hub, s.Topic, s.Callback, s.Lease = hub, topic, callback, w.l.lease
	s.pending, s.answer = websub.ModeSubscribe, make(chan hubReply, 1)
	w.l.mu.Lock()
	f.sub = s
	w.l.mu.Unlock()
	return s.Subscription, s.answer, nil
}

// end marks the request of a feed as finished.
func (w *webSubWay) end(f *followed) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	f.sub.pending, f.sub.answer = "", nil
}

// granted returns the registration of a subscription with this lease. The renewal is due when a
// fifth of the lease is left, or a little earlier.
//
// spec:websub-2018#lease-renewed
func granted(hub, feed, topic string, lease time.Duration) registered {
	g := registered{hub: hub, msg: "at " + hub, again: unnotifiedLease}
	if topic != feed {
		g.msg += " as " + topic
	}
	if lease > 0 {
		g.again = max(lease*4/5-rand.N(lease/20+1), shortestRenew)
		g.msg += " for " + shell.FormatDuration(lease)
	}
	return g
}

// reasonText returns the reason, or a replacement text if the reason is empty.
func reasonText(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return shell.Clip(reason, 300)
}

// named returns the feed whose callback has this token; nil: no feed.
func (w *webSubWay) named(token string) *followed {
	for _, f := range w.l.feeds {
		if f.sub.token != "" && f.sub.token == token {
			return f
		}
	}
	return nil
}

// Confirm answers a hub's verification request. It confirms an active subscription each time,
// because a hub may repeat the request or renew the subscription on its own.
//
// spec:websub-2018#subscriber-confirms-pending
func (w *webSubWay) Confirm(_ context.Context, c websub.Confirmation) error {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	f := w.named(c.Token)
	switch {
	case f == nil || f.sub.Topic != c.Topic:
		return websub.ErrNotWanted
	case f.sub.pending == c.Mode:
		f.sub.report(hubReply{lease: c.Lease})
	case f.sub.pending != "" || !f.sub.holds || c.Mode != websub.ModeSubscribe:
		return websub.ErrNotWanted
	case c.Lease > 0:
		f.due = time.Now().Round(0).Add(granted("", "", "", c.Lease).again)
	}
	f.sub.holds = c.Mode == websub.ModeSubscribe
	return nil
}

// report passes a hub's reply to the call that waits for it. It ignores replies after the first.
func (s *subscribed) report(word hubReply) {
	select {
	case s.answer <- word:
	default:
	}
}

// Denied handles a hub's denial. If the hub ends a granted subscription, the command renews the
// subscription.
func (w *webSubWay) Denied(_ context.Context, d websub.Denial) {
	w.l.mu.Lock()
	f := w.named(d.Token)
	if f == nil || f.sub.Topic != d.Topic {
		w.l.mu.Unlock()
		return
	}
	hub, held := f.sub.hub, f.sub.pending == "" && f.sub.holds
	f.sub.holds = false
	if f.sub.pending == websub.ModeSubscribe {
		f.sub.report(hubReply{denied: true, reason: d.Reason})
	}
	if held {
		f.due = time.Now().Round(0)
	}
	w.l.mu.Unlock()
	if held {
		w.l.emit(record{Event: "error", Feed: f.url, Hub: hub, Message: fmt.Sprintf("the hub at %s ended the subscription of %s: %s; subscribing again", hub, f.url, reasonText(d.Reason))})
	}
}

// Wanted returns the subscription of a callback.
func (w *webSubWay) Wanted(_ context.Context, token string) (websub.Wanted, error) {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	f := w.named(token)
	if f == nil {
		return websub.Wanted{}, websub.ErrNotWanted
	}
	return websub.Wanted{Topic: f.sub.Topic, Secret: f.sub.Secret}, nil
}

// Rejected prints that content was ignored because of its signature. It prints this once for each
// feed.
func (w *webSubWay) Rejected(_ context.Context, token string, err error) {
	w.l.mu.Lock()
	f := w.named(token)
	notified := f == nil || f.sub.notified
	if f != nil {
		f.sub.notified = true
	}
	w.l.mu.Unlock()
	if !notified {
		w.l.emit(record{Event: "error", Feed: f.url, Message: unsigned(f.url, err)})
	}
}

// Deliver receives the content of a feed from a hub.
func (w *webSubWay) Deliver(ctx context.Context, d websub.Delivery) error {
	now, header := time.Now(), http.Header{}
	if r := websub.RequestFrom(ctx); r != nil {
		header = r.Header
	}
	w.l.mu.Lock()
	f := w.named(d.Token)
	w.l.mu.Unlock()
	if f == nil {
		return websub.ErrNotWanted
	}
	w.l.take(notice{feed: f.url, at: now, news: deliveryRecord(f.url, d, header, now)})
	return nil
}

// unsigned returns the text about a missing or invalid signature.
func unsigned(feed string, err error) string {
	text := "ignored a delivery for " + feed + " and will ignore similar ones: "
	switch {
	case errors.Is(err, websub.ErrUnsigned):
		return text + "it is not signed (--no-secret accepts deliveries without a signature)"
	case errors.Is(err, websub.ErrSignature):
		return text + "its signature does not match the secret and the content"
	}
	return text + strings.TrimPrefix(shell.Sentence(err), "websub: ")
}

// deliveryRecord returns the record of a delivery without reading the feed. The delivery contains
// the content, which may be of any type.
func deliveryRecord(feed string, d websub.Delivery, header http.Header, now time.Time) *record {
	r := &record{At: now, Event: "changed", Feed: feed, Hub: d.Hub, ContentType: shell.Clean(shell.Clip(d.ContentType, 200)), Signature: "none"}
	if d.Verified {
		r.Signature = "ok"
	}
	size, sum := len(d.Body), sha256.Sum256(d.Body)
	r.Size, r.SHA256 = &size, hex.EncodeToString(sum[:])
	if t := parseChangedAt(header.Get(rsscloud.ChangedAtHeader)); !t.IsZero() {
		r.measure(now, t, "ping")
	}
	r.show(hubclient.Document{URL: feed, Final: d.Self, Body: d.Body, Type: d.ContentType})
	return r
}

// cancel unsubscribes at the hub and waits until the hub has verified the request.
func (w *webSubWay) cancel(ctx context.Context, f *followed) record {
	w.l.mu.Lock()
	answer := make(chan hubReply, 1)
	f.sub.pending, f.sub.answer = websub.ModeUnsubscribe, answer
	hub, sub := f.sub.hub, f.sub.Subscription
	w.l.mu.Unlock()
	defer w.end(f)
	const later = "; the hub drops the subscription when the lease ends or the next delivery fails"
	if err := w.client.Unsubscribe(ctx, hub, sub); err != nil {
		return record{Event: "error", Feed: f.url, Hub: hub, Message: shell.Sentence(hubclient.WebSubError(hub, err)) + later}
	}
	select {
	case <-answer:
		return record{Event: "cancelled", Feed: f.url, Hub: hub, Message: "at " + hub}
	case <-ctx.Done():
		return record{Event: "error", Feed: f.url, Hub: hub,
			Message: fmt.Sprintf("the hub at %s accepted the request to unsubscribe, but did not verify it within %d s", hub, int(cancelTime.Seconds())) + later}
	}
}
