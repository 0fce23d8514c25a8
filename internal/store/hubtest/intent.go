package hubtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func intentTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"RequestIsReadAsWritten":                  wholeIntent,
		"RequestIsClaimedOncePerLease":            intentLease,
		"RequestsAreClaimedOldestFirstUpToLimit":  intentOrder,
		"LastOfDuplicateRequestsReplacesOthers":   intentTwice,
		"ReplacedRequestInvalidatesClaim":         intentFence,
		"IntentResultIsAppliedOnce":               finishedOnce,
		"ConfirmedRequestBecomesSubscription":     confirmed,
		"ConfirmedUnsubscribeRemovesSubscription": confirmedEnd,
		"ConfirmedRequestOverridesEarlierOne":     overridden,
		"RetriedRequestRemains":                   triedAgain,
		"FailedIntentResultKeepsRequest":          pending,
		"RequestCountsForNextDue":                 intentDue,
		"SweepDeletesPendingRequests":             sweepIntents,
		"ConcurrentClaimsTakeEachRequestOnce":     func(t *testing.T, e *env) { Requests(t, e.Store, e.Store) },
	}
}

func contextOf(e *env) (context.Context, context.CancelFunc) { return context.WithCancel(e.Ctx) }

// intent returns a request for a WebSub subscription of feed.
func (e *env) intent(callback string) hub.Intent {
	return hub.Intent{TopicID: hub.TopicID(feed), ID: hub.SubscriptionID(hub.ModeSubscribe, callback), Topic: feed, Callback: callback,
		Mode: hub.ModeSubscribe, Lease: 10 * 24 * time.Hour, At: e.Now, DueAt: e.Now}
}

// request stores requests.
func (e *env) request(t *testing.T, list ...hub.Intent) {
	t.Helper()
	storetest.Must(t, e.Request(e.Ctx, list, nil))
}

// take claims every due request.
func (e *env) take(t *testing.T, claim int64) []hub.Intent {
	t.Helper()
	list, err := e.ClaimIntents(e.Ctx, e.Now, e.In(lease), 100, claim)
	storetest.Must(t, err)
	return list
}

// finishIntent stores the result of an intent and checks whether it was applied.
func (e *env) finishIntent(t *testing.T, d hub.IntentResult, want bool) {
	t.Helper()
	applied, err := e.FinishIntent(e.Ctx, d)
	storetest.Must(t, err)
	storetest.Same(t, "applied", applied, want)
}

func (e *env) waiting(t *testing.T, want int64) {
	t.Helper()
	n, err := e.Intents(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "pending requests", n, want)
	counts, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "requests counted", counts.Requests, want)
}

func wholeIntent(t *testing.T, e *env) {
	want := hub.Intent{TopicID: 1 << 62, ID: 2, Topic: "http://127.0.0.1/日本'", Callback: "http://127.0.0.1/?a=%00&b=\\\"ü", Mode: hub.ModeDenied,
		Secret: strings.Repeat("\x00\xff'", 66) + "x", Lease: 1234567 * time.Nanosecond, Reason: "it is »private«", Via: "websub",
		At: e.In(-time.Minute), DueAt: e.In(-time.Second), Tries: 3}
	storetest.Must(t, e.Request(e.Ctx, []hub.Intent{want}, []event.Event{e.Event(event.KindRegister, "asked")}))
	storetest.Same(t, "log", e.Log(t), []string{"asked"})
	e.waiting(t, 1)
	want.Claim, want.DueAt = 5, e.In(lease)
	storetest.Same(t, "claimed", e.take(t, 5), []hub.Intent{want})
	_, err := e.Topic(e.Ctx, want.TopicID)
	storetest.WantFault(t, err, fault.NotFound)
	storetest.Must(t, e.Request(e.Ctx, nil, nil))
	e.waiting(t, 1)
}

func intentLease(t *testing.T, e *env) {
	in := e.intent("http://127.0.0.1/1")
	in.DueAt = e.In(time.Second)
	e.request(t, in)
	storetest.Same(t, "claimed before the due time", len(e.take(t, 1)), 0)
	e.Now = e.In(time.Second)
	storetest.Same(t, "claimed at the due time", len(e.take(t, 1)), 1)
	e.Now = e.In(lease - time.Millisecond)
	storetest.Same(t, "claimed during the lease", len(e.take(t, 2)), 0)
	e.Now = e.In(time.Millisecond)
	again := e.take(t, 2)
	storetest.Same(t, "claimed after the lease", again[0].Claim, int64(2))
	in.Claim = 1
	e.finishIntent(t, hub.IntentResult{Intent: in}, false)
	e.finishIntent(t, hub.IntentResult{Intent: again[0]}, true)
	e.waiting(t, 0)
}

func intentOrder(t *testing.T, e *env) {
	var list []hub.Intent
	for i := range 5 {
		in := e.intent(fmt.Sprint("http://127.0.0.1/", i))
		in.DueAt = e.In(time.Duration(-i) * time.Second)
		list = append(list, in)
	}
	e.request(t, list...)
	e.waiting(t, 5)
	var got []string
	for range 3 {
		page, err := e.ClaimIntents(e.Ctx, e.Now, e.In(lease), 2, 1)
		storetest.Must(t, err)
		for _, in := range page {
			got = append(got, in.Callback[len("http://127.0.0.1/"):])
		}
	}
	storetest.Same(t, "claimed", strings.Join(got, ""), "43210")
}

func intentTwice(t *testing.T, e *env) {
	a, b := e.intent("http://127.0.0.1/1"), e.intent("http://127.0.0.1/1")
	b.Mode = hub.ModeUnsubscribe
	e.request(t, a, b)
	got := e.take(t, 1)
	storetest.Same(t, "modes", []any{len(got), got[0].Mode}, []any{1, hub.ModeUnsubscribe})
}

func intentFence(t *testing.T, e *env) {
	e.request(t, e.intent("http://127.0.0.1/1"))
	old := e.take(t, 5)[0]
	e.Now = e.In(time.Second)
	newer := e.intent("http://127.0.0.1/1")
	newer.Secret, newer.Tries = "newer", 0
	e.request(t, newer)
	sub := e.websub(feed, "http://127.0.0.1/1")
	for _, d := range []hub.IntentResult{{Intent: old}, {Intent: old, Subscription: &sub}, {Intent: old, Remove: true}, {Intent: old, Again: &old}} {
		d.Events = []event.Event{e.Event(event.KindRegister, "late")}
		e.finishIntent(t, d, false)
	}
	storetest.Same(t, "log", e.Log(t), []string(nil))
	_, err := e.Subscription(e.Ctx, sub.Key())
	storetest.WantFault(t, err, fault.NotFound)
	newer.Claim, newer.DueAt = 6, e.In(lease)
	storetest.Same(t, "the newer one is due at once", e.take(t, 6), []hub.Intent{newer})
}

func finishedOnce(t *testing.T, e *env) {
	e.request(t, e.intent("http://127.0.0.1/1"), e.intent("http://127.0.0.1/2"))
	in := e.take(t, 5)[0]
	e.finishIntent(t, hub.IntentResult{Intent: in, Events: []event.Event{e.Event(event.KindVerify, "refused")}}, true)
	e.finishIntent(t, hub.IntentResult{Intent: in, Events: []event.Event{e.Event(event.KindVerify, "again")}}, false)
	e.finishIntent(t, hub.IntentResult{Intent: hub.Intent{TopicID: 1, ID: 2}}, false)
	storetest.Same(t, "log", e.Log(t), []string{"refused"})
	e.waiting(t, 1)
}

func confirmed(t *testing.T, e *env) {
	e.request(t, e.intent("http://127.0.0.1/1"))
	sub := e.websub(feed, "http://127.0.0.1/1")
	sub.Secret, sub.ExpiresAt = strings.Repeat("\x00\xff'", 66), hub.Forever()
	e.finishIntent(t, hub.IntentResult{Intent: e.take(t, 5)[0], Subscription: &sub, Events: []event.Event{e.Event(event.KindRegister, "confirmed")}}, true)
	storetest.Same(t, "stored", e.get(t, sub.Key()), sub)
	e.keepsContent(t, feed, true)
	storetest.Same(t, "log", e.Log(t), []string{"confirmed"})
	storetest.Same(t, "claimed", len(e.change(t, feed, 1).Claimed), 1)
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: sub.Key(), Version: 1, Outcome: hub.Failed, NextAt: e.In(time.Minute), Error: "x"}}, nil))
	e.request(t, e.intent("http://127.0.0.1/1"))
	renewed := sub
	renewed.CreatedAt, renewed.RenewedAt, renewed.Secret = e.In(time.Hour), e.In(time.Hour), ""
	e.finishIntent(t, hub.IntentResult{Intent: e.take(t, 6)[0], Subscription: &renewed}, true)
	want := sub
	want.RenewedAt, want.Secret = renewed.RenewedAt, ""
	want.PendingVersion, want.Counted, want.NextAt, want.LastError, want.LastErrorAt = 1, 1, e.In(time.Minute), "x", e.Now
	storetest.Same(t, "renewed", e.get(t, sub.Key()), want)
	e.waiting(t, 0)
}

func confirmedEnd(t *testing.T, e *env) {
	a, b := e.websub(feed, "http://127.0.0.1/1"), e.websub(feed, "http://127.0.0.1/2")
	e.follow(t, feed, a, b)
	in := e.intent("http://127.0.0.1/1")
	in.Mode, in.ID = hub.ModeUnsubscribe, hub.SubscriptionID(hub.ModeUnsubscribe, in.Callback)
	e.request(t, in)
	e.finishIntent(t, hub.IntentResult{Intent: e.take(t, 5)[0], Remove: true, Events: []event.Event{e.Event(event.KindCancel, "bye")}}, true)
	_, err := e.Subscription(e.Ctx, a.Key())
	storetest.WantFault(t, err, fault.NotFound)
	storetest.Same(t, "the other", e.get(t, b.Key()), b)
	storetest.Same(t, "log", e.Log(t), []string{"bye"})
	e.waiting(t, 0)
	e.request(t, in)
	e.finishIntent(t, hub.IntentResult{Intent: e.take(t, 6)[0], Remove: true}, true) // the subscription is removed already
}

// overridden finishes two requests of one callback in reverse order.
func overridden(t *testing.T, e *env) {
	const callback, other = "http://127.0.0.1/1", "http://127.0.0.1/2"
	of := func(mode, callback string, after time.Duration) hub.Intent {
		in := e.intent(callback)
		in.Mode, in.ID, in.At, in.DueAt = mode, hub.SubscriptionID(mode, callback), e.In(after), e.In(after)
		return in
	}
	sub := e.websub(feed, callback)
	for _, c := range []struct{ early, late string }{{hub.ModeSubscribe, hub.ModeUnsubscribe}, {hub.ModeUnsubscribe, hub.ModeSubscribe}} {
		early, late := of(c.early, callback, 0), of(c.late, callback, time.Millisecond)
		e.request(t, early, late, of(c.early, other, 0))
		e.Now = e.In(time.Millisecond)
		for _, in := range e.take(t, 5) {
			if in.ID == early.ID {
				early = in
			}
			if in.ID == late.ID {
				late = in
			}
		}
		yes := func(in hub.Intent) hub.IntentResult {
			if in.Mode == hub.ModeSubscribe {
				return hub.IntentResult{Intent: in, Subscription: &sub}
			}
			return hub.IntentResult{Intent: in, Remove: true}
		}
		e.finishIntent(t, yes(late), true)
		e.finishIntent(t, yes(early), false)
		_, err := e.Subscription(e.Ctx, sub.Key())
		storetest.Same(t, "subscribed after "+c.late, err == nil, c.late == hub.ModeSubscribe)
	}
	e.waiting(t, 2) // the requests of the other callback
	e.Now = e.In(lease)
	e.request(t, of(hub.ModeSubscribe, callback, 0), of(hub.ModeUnsubscribe, callback, time.Millisecond))
	e.Now = e.In(time.Millisecond)
	for _, in := range e.take(t, 6) {
		if in.Callback == callback && in.Mode == hub.ModeUnsubscribe {
			e.finishIntent(t, hub.IntentResult{Intent: in}, true)
		}
	}
	e.waiting(t, 3) // an unconfirmed request overrides nothing
}

func triedAgain(t *testing.T, e *env) {
	e.request(t, e.intent("http://127.0.0.1/1"))
	in := e.take(t, 5)[0]
	again := in
	again.DueAt, again.Tries, again.Mode, again.Reason, again.Secret = e.In(time.Minute), 1, hub.ModeDenied, "no", "\xff"
	e.finishIntent(t, hub.IntentResult{Intent: in, Again: &again, Events: []event.Event{e.Event(event.KindVerify, "no answer")}}, true)
	e.finishIntent(t, hub.IntentResult{Intent: in}, false)
	e.waiting(t, 1)
	e.Now = e.In(time.Minute)
	again.Claim, again.DueAt = 6, e.In(lease)
	storetest.Same(t, "claimed again", e.take(t, 6), []hub.Intent{again})
	storetest.Same(t, "log", e.Log(t), []string{"no answer"})
}

func pending(t *testing.T, e *env) {
	e.request(t, e.intent("http://127.0.0.1/1"))
	in := e.take(t, 5)[0]
	in.Topic = ""
	sub := e.websub("http://127.0.0.1/unknown", "http://127.0.0.1/1")
	_, err := e.FinishIntent(e.Ctx, hub.IntentResult{Intent: in, Subscription: &sub, Events: []event.Event{e.Event(event.KindRegister, "no")}})
	storetest.WantFault(t, err, fault.Invalid)
	e.waiting(t, 1)
	storetest.Same(t, "log", e.Log(t), []string(nil))
	e.finishIntent(t, hub.IntentResult{Intent: in}, true)
}

func intentDue(t *testing.T, e *env) {
	in := e.intent("http://127.0.0.1/1")
	in.DueAt = e.In(time.Minute)
	e.request(t, in)
	e.due(t, e.In(time.Minute))
	storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.In(time.Hour), nil))
	e.due(t, e.In(time.Minute))
	e.Now = e.In(time.Minute)
	e.take(t, 1)
	e.due(t, e.In(lease))
}

func (e *env) due(t *testing.T, want time.Time) {
	t.Helper()
	next, err := e.NextDue(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "due next", next, want)
}

func sweepIntents(t *testing.T, e *env) {
	for i := range 3 {
		e.request(t, e.intent(fmt.Sprint("http://127.0.0.1/", i)))
	}
	e.Now = e.In(3 * 24 * time.Hour)
	e.sweep(t, 10)
	e.waiting(t, 3)
	e.request(t, e.intent("http://127.0.0.1/0"))
	e.Now = e.In(time.Millisecond)
	for _, want := range []int64{2, 1, 1} {
		e.sweep(t, 1)
		e.waiting(t, want)
	}
	storetest.Same(t, "left", e.take(t, 1)[0].Callback, "http://127.0.0.1/0")
}

// Requests checks that two handles on one database never claim the same request twice, and that
// each request is finished once.
func Requests(t *testing.T, a, b hub.Store) {
	e := newEnv(t, a)
	const total = 200
	for i := range total {
		e.request(t, e.intent(fmt.Sprint("http://127.0.0.1/", i)))
	}
	var mu sync.Mutex
	var claimed []int64
	var group sync.WaitGroup
	for i := range 8 {
		s := []hub.Store{a, b}[i%2]
		group.Go(func() {
			for range total {
				list, err := s.ClaimIntents(e.Ctx, e.Now, e.In(lease), 7, int64(i+1))
				if err != nil {
					t.Error(err)
					return
				}
				if len(list) == 0 {
					return
				}
				for _, in := range list {
					sub := hub.Subscription{TopicID: in.TopicID, Protocol: hub.WebSub, Callback: in.Callback, ExpiresAt: hub.Forever()}
					if applied, err := s.FinishIntent(e.Ctx, hub.IntentResult{Intent: in, Subscription: &sub}); err != nil || !applied {
						t.Error(applied, err)
					}
					mu.Lock()
					claimed = append(claimed, in.ID)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	slices.Sort(claimed)
	storetest.Same(t, "claimed", []int{len(claimed), len(slices.Compact(claimed))}, []int{total, total})
	e.waiting(t, 0)
	followers, err := b.Subscribers(e.Ctx, hub.TopicID(feed), e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "subscribers", followers, map[string]int64{hub.WebSub: total})
}
