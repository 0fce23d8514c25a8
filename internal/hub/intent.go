package hub

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/href"
	"cloudburst/internal/lease"
	"cloudburst/internal/limit"
	"cloudburst/internal/text"
)

const (
	maxSecret         = 199 // maximum length of a secret in bytes
	intentBatch       = 50
	maxOpenIntents    = 128              // concurrent intents
	maxIntentsPerHost = 32               // concurrent intents that involve one host
	intentTurnRate    = 200              // postponed intents per second and host
	intentLease       = 90 * time.Second // lease for reading the topic and verifying the callback
	intentRetryAfter  = 5 * time.Second  // delay after a local failure
	maxIntentAge      = 24 * time.Hour   // older intents are dropped
)

// intentRetry returns the delays before the attempts after a callback that did not answer. After
// the last attempt fails, the intent is dropped.
func intentRetry() []time.Duration { return []time.Duration{10 * time.Second, time.Minute} }

// IntentConfirmer sends verification requests to callbacks.
type IntentConfirmer interface {
	// Confirm asks the callback to confirm the intent; nil means confirmed. Errors: fault.Refused
	// if the callback answered otherwise, fault.Unreadable if it did not answer, fault.Unavailable
	// if a local failure prevented the request.
	Confirm(ctx context.Context, in Intent) (event.Exchange, error)
	// Deny notifies the callback that its subscription was denied, with the reason. It returns the
	// errors of Confirm, and nil for any answer.
	Deny(ctx context.Context, in Intent) (event.Exchange, error)
}

// Request stores a request to start or end a WebSub subscription. When it returns nil, the
// request is on disk and will be processed, even after a crash. Topic, Callback, Mode, Secret,
// Lease (0: default) and Via of in are used; source is the client. A later request with the same
// mode, callback and topic replaces a pending one.
//
// Errors: fault.Invalid (unusable topic or callback), Refused (topic not allowed, or own
// callback), TooMany, Unavailable.
//
// spec:websub-2018#hub-accepts-202
func (h *Hub) Request(ctx context.Context, in Intent, source netip.Addr) error {
	h.Init()
	now := h.now()
	h.stats.registers.Add(1)
	if err := (requesting{h}).checkIntent(ctx, in, source, now); err != nil {
		kind := event.KindRegister
		if in.Mode == ModeUnsubscribe {
			kind = event.KindCancel
		}
		h.logRejected(ctx, kind, Registration{Callback: in.Callback, Feeds: []string{in.Topic}, Via: in.Via, Source: source}, err)
		return err
	}
	in.TopicID, in.ID = TopicID(in.Topic), SubscriptionID(in.Mode, in.Callback)
	in.Lease = requesting{h}.lease(in.Lease)
	in.At, in.DueAt, in.Tries, in.Claim = now, now, 0, 0
	e := eventOf(in, event.KindRegister, fmt.Sprintf("A subscription of %s was asked for; the callback is being asked whether it wants it.", span(in.Lease)))
	if in.Mode == ModeUnsubscribe {
		e = eventOf(in, event.KindCancel, "The end of a subscription was asked for; the callback is being asked whether it wants that.")
	}
	events := []event.Event{e}
	h.stamp(events)
	h.requestSources.add(in, source)
	if err := h.Store.Request(ctx, []Intent{in}, events); err != nil {
		h.requestSources.take(in)
		return err
	}
	h.publish(events...)
	h.wake(h.wakeIntents)
	h.hint()
	return nil
}

// requesting contains the methods that verify requests of WebSub subscribers.
type requesting struct{ *Hub }

// checkIntent makes all checks that need no request to the callback or topic.
//
// spec:websub-2018#hub-topic-policy
func (h requesting) checkIntent(ctx context.Context, in Intent, source netip.Addr, now time.Time) error {
	if in.Mode != ModeSubscribe && in.Mode != ModeUnsubscribe {
		return fault.New(fault.Invalid, "The mode is %q: it must be subscribe or unsubscribe.", clip(in.Mode))
	}
	if err := h.checkTopic(in.Topic); err != nil {
		return err
	}
	if err := checkCallback(in.Callback); err != nil {
		return err
	}
	if len(in.Secret) > maxSecret {
		return fault.New(fault.Invalid, "The secret is %d bytes long; it must be shorter than 200.", len(in.Secret))
	}
	if h.Options.IsOwnURL != nil && h.Options.IsOwnURL(in.Callback) {
		return fault.New(fault.Refused, "The callback %s is one of this server's own endpoints; that would be a loop.", clip(in.Callback))
	}
	if wait, ok := h.sourceLimit.Take(limit.Network(source), now); !ok && source.IsValid() {
		return tooMany(wait, "Too many requests from your network; please wait %s and ask again.", wait)
	}
	if err := h.admitSource(ctx, in, source, now); err != nil {
		return err
	}
	if h.Options.Callable != nil {
		if err := h.Options.Callable(in.Callback); err != nil {
			return err
		}
	}
	if in.Mode == ModeSubscribe {
		if err := h.checkReadable(in.Topic); err != nil {
			return err
		}
		if err := h.topicAllowed(ctx, in.Topic, now); err != nil {
			return err
		}
	}
	return h.intentFits(ctx, now)
}

// intentFits rejects a request if too many are pending. The pending requests are counted at
// intervals; between two counts, each new request adds one.
//
// spec:cloudburst#limits-429
func (h requesting) intentFits(ctx context.Context, now time.Time) error {
	h.mu.Lock()
	fresh := now.Before(h.recountIntents)
	h.mu.Unlock()
	if !fresh {
		n, err := h.Store.Intents(ctx)
		if err != nil {
			return err
		}
		done := h.now()
		h.mu.Lock()
		h.pendingIntents, h.recountIntents = n, done.Add(max(20*done.Sub(now), time.Second))
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pendingIntents >= h.Options.MaxRequests {
		return tooMany(time.Minute, "This hub has too many pending subscription requests; please wait %s and ask again.", time.Minute)
	}
	h.pendingIntents++
	return nil
}

// topicAllowed applies the operator's policy.
func (h requesting) topicAllowed(ctx context.Context, topic string, now time.Time) error {
	if h.Options.Topics == TopicsOpen || h.Options.IsOwnTopic != nil && h.Options.IsOwnTopic(topic) {
		return nil
	}
	if h.Options.Topics == TopicsKnown {
		known, err := h.Store.Followed(ctx, TopicID(topic), now)
		if err != nil || known {
			return err
		}
		return fault.New(fault.Refused, "This hub accepts only known topics, and %s is not one; subscribe at the hub that the topic's feed names.", clip(topic))
	}
	return fault.New(fault.Refused, "This hub accepts only its own topics, and %s is not one; subscribe at the hub that the topic's feed names.", clip(topic))
}

// lease returns the lease to grant for a requested one.
//
// spec:websub-2018#lease-hub-decides
func (h requesting) lease(requested time.Duration) time.Duration {
	if requested <= 0 {
		return h.Options.MaxLease
	}
	return min(max(requested.Truncate(time.Second), h.Options.MinLease), h.Options.MaxLease)
}

// eventOf returns a log event about in.
func eventOf(in Intent, kind, message string) event.Event {
	return event.Event{Kind: kind, TopicID: in.TopicID, Topic: in.Topic, OK: true, Via: WebSub, Peer: text.Host(in.Callback), Text: message,
		Detail: detail(event.Exchange{Callback: in.Callback})}
}

// intentLoop verifies stored requests. When the hub stops, requests in progress still finish.
func (h requesting) intentLoop(ctx context.Context) {
	loop := lease.Loop[Intent]{
		Claim: h.Store.ClaimIntents, Next: delivering(h).nextDue, Do: func(_ context.Context, in Intent) { h.process(in) },
		AtOnce: maxOpenIntents, Batch: intentBatch, For: intentLease, Idle: delivering(h).maxPollDelay(),
		Wake: h.wakeIntents, Group: &h.running, Now: h.now, Name: "requests", Failed: h.report,
		Caught: func(in Intent, panicked any, stack []byte) {
			h.caught("verify a subscription request", in.Topic, panicked, stack)
		},
	}
	loop.Run(ctx)
}

// process verifies one intent and stores the outcome.
func (h requesting) process(in Intent) {
	ctx, cancel := context.WithTimeout(h.work, intentLease-leaseMargin)
	defer cancel()
	pinged := pinging(h).notePings(in.TopicID)
	defer pinged()
	endCallback, endRead, d := h.admitIntent(in)
	if endCallback != nil {
		switch in.Mode {
		case ModeSubscribe:
			d = h.verifySubscribe(ctx, in, endRead)
		case ModeUnsubscribe:
			d = h.verifyUnsubscribe(ctx, in)
		default:
			d = h.sendDenial(ctx, in)
		}
		endCallback()
	}
	if h.work.Err() != nil && d.Subscription == nil && !d.Remove {
		// The hub is stopping and interrupted the verification, so there is no result; another node
		// continues.
		d = h.retryLater(in, h.now(), in.Tries, nil)
	}
	h.stamp(d.Events)
	applied, err := h.Store.FinishIntent(context.WithoutCancel(ctx), d)
	if err != nil {
		h.Log.Warn("cannot store the result of a subscription request", "topic", in.Topic, "mode", in.Mode, "err", err)
		return
	}
	if !applied {
		return // a newer request replaced this one meanwhile
	}
	h.publish(d.Events...)
	sweeping(h).forgetCounts()
	if receivedAt := pinged(); d.Subscription != nil && !receivedAt.IsZero() {
		if err := h.Store.RecordPing(context.WithoutCancel(ctx), in.Topic, receivedAt, h.now(), nil); err != nil {
			h.Log.Warn("cannot check a topic that was pinged during a subscription request", "topic", in.Topic, "err", err)
		}
		h.wake(h.wakeChecks)
	}
	if d.Again != nil {
		h.wake(h.wakeIntents)
	}
	if d.Again == nil || d.Again.Mode != in.Mode {
		h.requestSources.take(in)
	}
}

// verifySubscribe reads the topic and then verifies the callback. A topic that cannot be
// delivered is denied.
//
// spec:websub-2018#hub-verifies-subscriber
// spec:websub-2018#hub-denies
func (h requesting) verifySubscribe(ctx context.Context, in Intent, endRead func()) IntentResult {
	got, err := registering(h).readOnce(ctx, in.Topic)
	endRead()
	if err == nil && got.size > h.Options.MaxContent && !h.Options.NotifyWithoutContent {
		err = fault.New(fault.Refused, "The topic is %s long; this hub delivers at most %s.", bytesOf(got.size), bytesOf(h.Options.MaxContent))
	}
	if err != nil && !h.renews(ctx, in, err) {
		if fault.CodeOf(err) == fault.TooMany {
			return h.postpone(in, h.hostLimit, href.Host(in.Topic))
		}
		if isInternal(err) {
			return h.retryLater(in, h.now().Add(max(fault.RetryAfter(err), intentRetryAfter)), in.Tries, err)
		}
		denied := in
		denied.Mode, denied.Secret, denied.Reason = ModeDenied, "", fault.Message(err)
		denied.Tries, denied.DueAt = 0, h.now()
		e := eventOf(in, event.KindRegister, fmt.Sprintf("Denied: %s", denied.Reason))
		e.OK = false
		return IntentResult{Intent: in, Again: &denied, Events: []event.Event{e}}
	}
	x, failed, d := h.confirm(ctx, in)
	if failed {
		return d
	}
	// spec:websub-2018#re-subscribe
	now := h.now()
	e := eventOf(in, event.KindRegister, fmt.Sprintf("Subscribed by WebSub until %s.", now.Add(in.Lease).Format("15:04 on 2 January")))
	e.Took, e.Detail = now.Sub(in.At), detail(x)
	sub := Subscription{
		TopicID: in.TopicID, ID: in.Key().ID, Protocol: WebSub, Callback: in.Callback, Secret: in.Secret,
		CreatedAt: now, RenewedAt: now, ExpiresAt: now.Add(in.Lease),
	}
	d = IntentResult{Intent: in, Subscription: &sub, Events: []event.Event{e}}
	if news, err := pinging(h).aboutChanged(ctx, in.TopicID, got.about); err == nil && news {
		d.About = &got.about
	}
	return d
}

// renews reports whether in renews a live subscription. An unreadable topic must not end such a
// subscription.
func (h requesting) renews(ctx context.Context, in Intent, err error) bool {
	if fault.CodeOf(err) != fault.Unreadable {
		return false
	}
	s, err := h.Store.Subscription(ctx, in.Key())
	return err == nil && s.ExpiresAt.After(h.now())
}

// spec:websub-2018#unsubscribe-verified
func (h requesting) verifyUnsubscribe(ctx context.Context, in Intent) IntentResult {
	x, failed, d := h.confirm(ctx, in)
	if failed {
		return d
	}
	e := eventOf(in, event.KindCancel, "Ended by its owner.")
	if _, err := h.Store.Subscription(ctx, in.Key()); fault.CodeOf(err) == fault.NotFound {
		e.OK, e.Text = false, "There was no such subscription."
	}
	e.Took, e.Detail = h.now().Sub(in.At), detail(x)
	return IntentResult{Intent: in, Remove: true, Events: []event.Event{e}}
}

// confirm verifies the callback. If failed is true, d is the result to store; it changes no
// subscription.
//
// spec:websub-2018#verification-failed
func (h requesting) confirm(ctx context.Context, in Intent) (x event.Exchange, failed bool, d IntentResult) {
	x, err := h.Ask.Confirm(ctx, in)
	x.Callback = in.Callback
	switch {
	case err == nil:
		return x, false, d
	case isInternal(err):
		return x, true, h.retryLater(in, h.now().Add(intentRetryAfter), in.Tries, err)
	case fault.CodeOf(err) == fault.Unreadable && in.Tries < len(intentRetry()):
		return x, true, h.retryLater(in, h.now().Add(intentRetry()[in.Tries]), in.Tries+1, err)
	}
	h.countUnconfirmed(in)
	e := eventOf(in, event.KindVerify, fmt.Sprintf("Not confirmed, so nothing was changed: %s", fault.Message(err)))
	e.OK, e.Took, e.Detail = false, h.now().Sub(in.At), detail(x)
	return x, true, IntentResult{Intent: in, Events: []event.Event{e}}
}

// admitIntent applies the limits of the hosts of callback and feed, so that no host receives too
// many requests and a slow host does not delay the others. When the work ends, the caller must call
// the returned functions. If the intent must wait, endCallback is nil and d postpones the intent.
func (h requesting) admitIntent(in Intent) (endCallback, endRead func(), d IntentResult) {
	host, feedHost := href.Host(in.Callback), href.Host(in.Topic)
	endCallback, ok := h.openIntents.Acquire("ask " + host)
	if !ok {
		return nil, nil, h.postpone(in, h.intentTurn, host)
	}
	if in.Mode == ModeSubscribe {
		if endRead, ok = h.openIntents.Acquire("read " + feedHost); !ok {
			endCallback()
			return nil, nil, h.postpone(in, h.intentTurn, feedHost)
		}
	}
	if _, ok := h.consentLimit.Take(host, h.now()); !ok {
		endCallback()
		if endRead != nil {
			endRead()
		}
		return nil, nil, h.postpone(in, h.consentLimit, host)
	}
	return endCallback, endRead, d
}

// postpone assigns to an intent the next turn among the intents that wait for a host.
func (h requesting) postpone(in Intent, l *limit.Limiter, host string) IntentResult {
	return h.retryLater(in, h.turn(l, host), in.Tries, nil)
}

// retryLater postpones an intent unless it is too old.
func (h requesting) retryLater(in Intent, at time.Time, tries int, err error) IntentResult {
	if h.now().Sub(in.At) > maxIntentAge {
		e := eventOf(in, event.KindVerify, "Given up after a day in which it could not be verified.")
		e.OK = false
		return IntentResult{Intent: in, Events: []event.Event{e}}
	}
	next := in
	next.DueAt, next.Tries, next.Claim = at, tries, 0
	d := IntentResult{Intent: in, Again: &next}
	if tries > in.Tries {
		e := eventOf(in, event.KindVerify, fmt.Sprintf("%s The hub tries again at %s.", fault.Message(err), at.Format("15:04:05")))
		e.OK = false
		d.Events = []event.Event{e}
	}
	return d
}

// sendDenial notifies the callback of the denial. It retries if the callback does not answer.
func (h requesting) sendDenial(ctx context.Context, in Intent) IntentResult {
	x, err := h.Ask.Deny(ctx, in)
	x.Callback = in.Callback
	switch {
	case err != nil && isInternal(err):
		return h.retryLater(in, h.now().Add(intentRetryAfter), in.Tries, err)
	case err != nil && fault.CodeOf(err) == fault.Unreadable && in.Tries < len(intentRetry()):
		return h.retryLater(in, h.now().Add(intentRetry()[in.Tries]), in.Tries+1, err)
	}
	e := eventOf(in, event.KindVerify, "The callback was notified that its subscription is denied.")
	e.Detail = detail(x)
	if err != nil {
		e.OK, e.Text = false, fmt.Sprintf("The callback could not be notified that its subscription is denied: %s", fault.Message(err))
	}
	return IntentResult{Intent: in, Events: []event.Event{e}}
}

// isInternal reports whether a failure was caused by neither the topic nor the callback.
func isInternal(err error) bool {
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.TooMany, fault.Internal, fault.Unsupported:
		return true
	}
	return false
}

// denials returns intents that notify the callbacks of removed WebSub subscriptions.
func (h requesting) denials(ctx context.Context, subs []Subscription, reason string) ([]Intent, error) {
	var list []Intent
	now := h.now()
	for _, s := range subs {
		if s.Protocol != WebSub {
			continue
		}
		t, err := h.Store.Topic(ctx, s.TopicID)
		if fault.CodeOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return list, err
		}
		list = append(list, Intent{TopicID: s.TopicID, ID: SubscriptionID(ModeDenied, s.Callback), Topic: t.URL, Callback: s.Callback, Mode: ModeDenied, Reason: reason, At: now, DueAt: now})
	}
	return list, nil
}

// span formats a duration in the largest unit that fits.
func span(d time.Duration) string {
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d hours", d/time.Hour)
	case d >= 2*time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}
