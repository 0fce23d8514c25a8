package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func sweepTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"TheExpiredAndThoseWithThreeErrorsGo": sweepBoth,
		"OtherProtocolsKeepTheirErrors": func(t *testing.T, e *env) {
			s := e.sub(feed, "http://127.0.0.1/1")
			s.Protocol, s.Failures = "websub", 99
			s.ID = hub.SubscriptionID(s.Protocol, s.Callback)
			e.follow(t, feed, s)
			same(t, "removed", len(e.sweep(t, 10)), 0)
			e.now = s.ExpiresAt
			same(t, "removed when it has expired", len(e.sweep(t, 10)), 1)
		},
		"ASweepTakesUpToItsLimit": func(t *testing.T, e *env) {
			subs := e.followers(t, feed, 10)
			e.now = subs[0].ExpiresAt
			for _, want := range []int{4, 4, 2, 0} {
				same(t, "removed", len(e.sweep(t, 4)), want)
			}
		},
		"TheEventsAreMadeOfWhatGoesAndWrittenWithIt": sweepEvents,
		"IdleTopicsGo": idleTopics,
		"ATopicThatLostItsLastSubscriberNowIsNotIdleYet": func(t *testing.T, e *env) {
			subs := e.followers(t, feed, 3)
			e.now = e.in(24 * time.Hour)
			_, err := e.Unsubscribe(e.ctx, []hub.Key{subs[0].Key()}, []event.Event{e.event(event.KindCancel, "bye")})
			must(t, err)
			must(t, e.Settle(e.ctx, e.now, []hub.Result{{Key: subs[1].Key(), Outcome: hub.Gone}, {Key: subs[2].Key(), Outcome: hub.Gone}}, nil))
			e.idle(t, e.now, true)
			e.idle(t, e.in(time.Millisecond), false)
		},
	}
}

func (e *env) sweep(t *testing.T, limit int) []hub.SubscriptionInfo {
	t.Helper()
	gone, _, err := e.Sweep(e.ctx, e.now, 3, limit, time.Time{}, nil)
	must(t, err)
	return gone
}

func sweepBoth(t *testing.T, e *env) {
	var subs []hub.Subscription
	var want []string
	for i, failures := range []int{0, 2, 3, 4} {
		for j, expires := range []time.Duration{-time.Hour, 0, time.Millisecond} {
			for _, protocol := range []string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP} {
				s := e.sub(feed, fmt.Sprintf("http://127.0.0.1/%d/%d/%s", i, j, protocol))
				s.Protocol, s.Failures, s.ExpiresAt = protocol, failures, e.in(expires)
				s.ID = hub.SubscriptionID(s.Protocol, s.Callback)
				subs = append(subs, s)
				if failures >= 3 || expires <= 0 {
					want = append(want, s.Callback)
				}
			}
		}
	}
	e.follow(t, feed, subs...)
	var got []string
	for _, g := range e.sweep(t, 1000) {
		got = append(got, g.Callback)
		i := slices.IndexFunc(subs, func(s hub.Subscription) bool { return s.Key() == g.Key() })
		same(t, "removed", g, hub.SubscriptionInfo{Subscription: subs[i], Topic: feed})
	}
	slices.Sort(got)
	slices.Sort(want)
	same(t, "removed", got, want)
	same(t, "removed again", len(e.sweep(t, 1000)), 0)
	counts, err := e.Counts(e.ctx, e.now)
	must(t, err)
	same(t, "left", counts.Subscriptions, int64(len(subs)-len(want)))
}

func sweepEvents(t *testing.T, e *env) {
	calls := 0
	events := func(gone []hub.SubscriptionInfo) []event.Event {
		calls++
		e.seq = 0 // a transaction that is run again makes the same events
		var all []event.Event
		for _, g := range gone {
			all = append(all, e.event(event.KindExpire, g.Callback))
		}
		return all
	}
	_, _, err := e.Sweep(e.ctx, e.now, 3, 10, time.Time{}, events)
	must(t, err)
	same(t, "calls with nothing removed", calls, 0)
	subs := e.followers(t, feed, 1)
	e.now = subs[0].ExpiresAt
	_, _, err = e.Sweep(e.ctx, e.now, 3, 10, time.Time{}, events)
	must(t, err)
	same(t, "log", e.log(t), []string{subs[0].Callback})
}

// idle sweeps topics unused since a moment, and checks whether feed is still there.
func (e *env) idle(t *testing.T, since time.Time, want bool) {
	t.Helper()
	_, _, err := e.Sweep(e.ctx, e.now, 3, 100, since, nil)
	must(t, err)
	_, err = e.Topic(e.ctx, hub.TopicID(feed))
	if want {
		must(t, err)
		return
	}
	faulty(t, err, fault.NotFound)
}

func idleTopics(t *testing.T, e *env) {
	must(t, e.RecordPing(e.ctx, feed, e.now, e.now, nil))
	e.idle(t, e.in(time.Hour), true) // the ping is not answered yet
	e.check(t, hub.Check{StartedAt: e.now, Changed: true})
	e.idle(t, e.now, true)
	subs := e.followers(t, feed, 1)
	e.idle(t, e.in(time.Hour), true) // it is followed
	e.now = subs[0].ExpiresAt
	same(t, "expired", len(e.sweep(t, 10)), 1)
	e.idle(t, e.now, true) // it was until now
	e.idle(t, e.in(time.Millisecond), false)
	// It starts anew.
	e.followers(t, feed, 1)
	done := e.change(t, feed, 1)
	same(t, "version", done.Topic.Version, int64(1))
	same(t, "claimed", len(done.Claimed), 1)
}
