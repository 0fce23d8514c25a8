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
	maxSecret         = 199 // bytes
	intentBatch       = 50
	maxOpenIntents    = 128              // decided at once
	maxIntentsPerHost = 32               // of them that wait for one host
	intentTurnRate    = 200              // a second: how often those are looked at again that wait for their host
	intentLease       = 90 * time.Second // reading the topic, and asking
	intentRetryAfter  = 5 * time.Second  // when something of ours is in the way
	maxIntentAge      = 24 * time.Hour   // then it is given up
)

// intentRetry are the waits after a callback gave no answer. What is left without
// one after the last is given up: a subscriber that is there answers at once.
func intentRetry() []time.Duration { return []time.Duration{10 * time.Second, time.Minute} }

// Asker speaks to callbacks about intents.
type IntentConfirmer interface {
	// Confirm asks the callback whether it wants what the intent says; nil is yes.
	// fault.Refused: it said no, or something else than yes. fault.Unreadable: it
	// gave no answer at all. fault.Unavailable: for a reason of ours it was not asked.
	Confirm(ctx context.Context, in Intent) (event.Exchange, error)
	// Deny tells the callback that its subscription was denied, and why. Errors as
	// of Confirm; any answer at all is nil.
	Deny(ctx context.Context, in Intent) (event.Exchange, error)
}

// Request takes a request for, or against, a WebSub subscription. When it returns
// nil the request is on disk and will be decided: the callback is asked, also after
// a crash. Of in, Topic, Callback, Mode, Secret, Lease (0: not asked for) and Door
// count; source is who asks. A later request of the same mode and callback for
// the same topic takes the place of one that is not decided yet.
//
// Errors: fault.Invalid (a topic or callback that can be none), Refused (a topic
// that may not be asked for here, or a callback of our own), TooMany, Unavailable.
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

// requesting decides requests of WebSub subscribers.
type requesting struct{ *Hub }

// checkIntent is all that can be said without asking the callback or the topic.
//
// spec:websub-2018#hub-topic-policy
func (h requesting) checkIntent(ctx context.Context, in Intent, source netip.Addr, now time.Time) error {
	if in.Mode != ModeSubscribe && in.Mode != ModeUnsubscribe {
		return fault.New(fault.Invalid, "The mode %q is not one; it is subscribe or unsubscribe.", clip(in.Mode))
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
		return fault.New(fault.Refused, "The callback %s is one of this server's own doors; that would be a loop.", clip(in.Callback))
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

// intentFits refuses a request when too many wait to be decided. They are counted
// once in a while, and those that came since are added.
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
		h.undecided, h.recountIntents = n, done.Add(max(20*done.Sub(now), time.Second))
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.undecided >= h.Options.MaxRequests {
		return tooMany(time.Minute, "This hub has too many requests to decide already; please wait %s and ask again.", time.Minute)
	}
	h.undecided++
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
		return fault.New(fault.Refused, "This hub serves only topics that it knows, and %s is not one of them; ask at the hub that the topic names.", clip(topic))
	}
	return fault.New(fault.Refused, "This hub serves only its own topics, and %s is not one of them; ask at the hub that the topic names.", clip(topic))
}

// lease is what is granted when that was asked for.
//
// spec:websub-2018#lease-hub-decides
func (h requesting) lease(requested time.Duration) time.Duration {
	if requested <= 0 {
		return h.Options.MaxLease
	}
	return min(max(requested.Truncate(time.Second), h.Options.MinLease), h.Options.MaxLease)
}

// eventOf is a line of the log about in.
func eventOf(in Intent, kind, message string) event.Event {
	return event.Event{Kind: kind, TopicID: in.TopicID, Topic: in.Topic, OK: true, Via: WebSub, Peer: text.Host(in.Callback), Text: message,
		Detail: detail(event.Exchange{Callback: in.Callback})}
}

// intentLoop takes up what was asked for and is not decided. A request under way goes on
// while the hub drains.
func (h requesting) intentLoop(ctx context.Context) {
	loop := lease.Loop[Intent]{
		Claim: h.Store.ClaimIntents, Next: delivering(h).nextDue, Do: func(_ context.Context, in Intent) { h.decide(in) },
		AtOnce: maxOpenIntents, Batch: intentBatch, For: intentLease, Idle: delivering(h).maxPollDelay(),
		Wake: h.wakeIntents, Group: &h.running, Now: h.now, Name: "requests", Failed: h.report,
		Caught: func(in Intent, panicked any, stack []byte) { h.caught("decide a request", in.Topic, panicked, stack) },
	}
	loop.Run(ctx)
}

// decide does what one intent asks for, and writes what came of it.
func (h requesting) decide(in Intent) {
	ctx, cancel := context.WithTimeout(h.work, intentLease-leaseMargin)
	defer cancel()
	pinged := pinging(h).notePings(in.TopicID)
	defer pinged()
	endCallback, endRead, d := h.admitIntent(in)
	if endCallback != nil {
		switch in.Mode {
		case ModeSubscribe:
			d = h.decideSubscribe(ctx, in, endRead)
		case ModeUnsubscribe:
			d = h.decideUnsubscribe(ctx, in)
		default:
			d = h.decideDenied(ctx, in)
		}
		endCallback()
	}
	if h.work.Err() != nil && d.Subscription == nil && !d.Remove {
		// Stopping: what was broken off says nothing. Somebody else goes on at once.
		d = h.retryLater(in, h.now(), in.Tries, nil)
	}
	h.stamp(d.Events)
	applied, err := h.Store.Decide(context.WithoutCancel(ctx), d)
	if err != nil {
		h.Log.Warn("decide a request", "topic", in.Topic, "mode", in.Mode, "err", err)
		return
	}
	if !applied {
		return // another request has taken its place
	}
	h.publish(d.Events...)
	sweeping(h).forgetCounts()
	if receivedAt := pinged(); d.Subscription != nil && !receivedAt.IsZero() {
		if err := h.Store.RecordPing(context.WithoutCancel(ctx), in.Topic, receivedAt, h.now(), nil); err != nil {
			h.Log.Warn("check a topic again that was pinged while a subscription was decided", "topic", in.Topic, "err", err)
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

// decideSubscribe reads the topic, and asks the callback if that went well. What
// cannot be delivered is denied.
//
// spec:websub-2018#hub-verifies-subscriber
// spec:websub-2018#hub-denies
func (h requesting) decideSubscribe(ctx context.Context, in Intent, endRead func()) Decision {
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
		e := eventOf(in, event.KindRegister, "Denied: "+denied.Reason)
		e.OK = false
		return Decision{Intent: in, Again: &denied, Events: []event.Event{e}}
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
	d = Decision{Intent: in, Subscription: &sub, Events: []event.Event{e}}
	if news, err := pinging(h).aboutChanged(ctx, in.TopicID, got.about); err == nil && news {
		d.About = &got.about
	}
	return d
}

// renews reports that a topic that cannot be read is no reason to refuse in: it is for
// a subscription that there is, which goes on in any case.
func (h requesting) renews(ctx context.Context, in Intent, err error) bool {
	if fault.CodeOf(err) != fault.Unreadable {
		return false
	}
	s, err := h.Store.Subscription(ctx, in.Key())
	return err == nil && s.ExpiresAt.After(h.now())
}

// spec:websub-2018#unsubscribe-verified
func (h requesting) decideUnsubscribe(ctx context.Context, in Intent) Decision {
	x, failed, d := h.confirm(ctx, in)
	if failed {
		return d
	}
	e := eventOf(in, event.KindCancel, "Ended by its owner.")
	e.Took, e.Detail = h.now().Sub(in.At), detail(x)
	return Decision{Intent: in, Remove: true, Events: []event.Event{e}}
}

// confirm asks the callback. When it does not say yes, d is what follows from it:
// nothing at all changes.
//
// spec:websub-2018#verification-failed
func (h requesting) confirm(ctx context.Context, in Intent) (x event.Exchange, failed bool, d Decision) {
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
	e := eventOf(in, event.KindVerify, "Not confirmed, so nothing was changed: "+fault.Message(err))
	e.OK, e.Took, e.Detail = false, h.now().Sub(in.At), detail(x)
	return x, true, Decision{Intent: in, Events: []event.Event{e}}
}

// turnOf admits an intent to the hosts that it names, which need not be those of
// whoever sent it: none is asked too often, and none that is slow keeps the others
// waiting. asked and read must be called when that is over. asked is nil when it is
// not its turn: d puts it off.
func (h requesting) admitIntent(in Intent) (endCallback, endRead func(), d Decision) {
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

// later puts an intent off to its turn among those that wait for a host.
func (h requesting) postpone(in Intent, l *limit.Limiter, host string) Decision {
	now := h.now()
	return h.retryLater(in, now.Add(max(l.Turn(host, now), time.Second)), in.Tries, nil)
}

// again puts an intent off, unless it is too old.
func (h requesting) retryLater(in Intent, at time.Time, tries int, err error) Decision {
	if h.now().Sub(in.At) > maxIntentAge {
		e := eventOf(in, event.KindVerify, "Given up after a day in which it could not be decided.")
		e.OK = false
		return Decision{Intent: in, Events: []event.Event{e}}
	}
	next := in
	next.DueAt, next.Tries, next.Claim = at, tries, 0
	d := Decision{Intent: in, Again: &next}
	if tries > in.Tries {
		e := eventOf(in, event.KindVerify, fmt.Sprintf("%s It is asked again at %s.", fault.Message(err), at.Format("15:04:05")))
		e.OK = false
		d.Events = []event.Event{e}
	}
	return d
}

// decideDenied tells the callback why it gets nothing, as well as that works.
func (h requesting) decideDenied(ctx context.Context, in Intent) Decision {
	x, err := h.Ask.Deny(ctx, in)
	x.Callback = in.Callback
	switch {
	case err != nil && isInternal(err):
		return h.retryLater(in, h.now().Add(intentRetryAfter), in.Tries, err)
	case err != nil && fault.CodeOf(err) == fault.Unreadable && in.Tries < len(intentRetry()):
		return h.retryLater(in, h.now().Add(intentRetry()[in.Tries]), in.Tries+1, err)
	}
	e := eventOf(in, event.KindVerify, "The callback was told that its subscription is denied.")
	e.Detail = detail(x)
	if err != nil {
		e.OK, e.Text = false, "The callback could not be told that its subscription is denied: "+fault.Message(err)
	}
	return Decision{Intent: in, Events: []event.Event{e}}
}

// ours reports trouble that neither topic nor callback have a part in.
func isInternal(err error) bool {
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.TooMany, fault.Internal, fault.Unsupported:
		return true
	}
	return false
}

// denials are the intents by which the owners of removed subscriptions hear of it,
// where the protocol has words for that.
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

// span is a length of time in the largest unit that fits.
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
