package hubtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func sweepTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SweepRemovesExpiredAndFailingSubscriptions": sweepBoth,
		"SweepRemovesFailingSubscriptionsOfRSSCloudOnly": func(t *testing.T, e *env) {
			s := e.sub(feed, "http://127.0.0.1/1")
			s.Protocol, s.Failures = "websub", 99
			s.ID = hub.SubscriptionID(s.Protocol, s.Callback)
			e.follow(t, feed, s)
			storetest.Same(t, "removed", len(e.sweep(t, 10)), 0)
			e.Now = s.ExpiresAt
			storetest.Same(t, "removed when it has expired", len(e.sweep(t, 10)), 1)
		},
		"SweepObeysLimit": func(t *testing.T, e *env) {
			subs := e.followers(t, feed, 10)
			e.Now = subs[0].ExpiresAt
			for _, want := range []int{4, 4, 2, 0} {
				storetest.Same(t, "removed", len(e.sweep(t, 4)), want)
			}
		},
		"SweepWritesEventsOfRemovedSubscriptions": sweepEvents,
		"IdleTopicsAreRemoved":                    idleTopics,
		"TopicIsUsedUntilLastSubscriberLeaves": func(t *testing.T, e *env) {
			subs := e.followers(t, feed, 3)
			e.Now = e.In(24 * time.Hour)
			_, err := e.Unsubscribe(e.Ctx, []hub.Key{subs[0].Key()}, []event.Event{e.Event(event.KindCancel, "bye")})
			storetest.Must(t, err)
			storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: subs[1].Key(), Outcome: hub.Gone}, {Key: subs[2].Key(), Outcome: hub.Gone}}, nil))
			e.idle(t, e.Now, true)
			e.idle(t, e.In(time.Millisecond), false)
		},
	}
}

func (e *env) sweep(t *testing.T, limit int) []hub.SubscriptionInfo {
	t.Helper()
	gone, _, err := e.Sweep(e.Ctx, e.Now, 3, limit, time.Time{}, nil)
	storetest.Must(t, err)
	return gone
}

func sweepBoth(t *testing.T, e *env) {
	var subs []hub.Subscription
	var want []string
	for i, failures := range []int{0, 2, 3, 4} {
		for j, expires := range []time.Duration{-time.Hour, 0, time.Millisecond} {
			for _, protocol := range []string{hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP} {
				s := e.sub(feed, fmt.Sprintf("http://127.0.0.1/%d/%d/%s", i, j, protocol))
				s.Protocol, s.Failures, s.ExpiresAt = protocol, failures, e.In(expires)
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
		storetest.Same(t, "removed", g, hub.SubscriptionInfo{Subscription: subs[i], Topic: feed})
	}
	slices.Sort(got)
	slices.Sort(want)
	storetest.Same(t, "removed", got, want)
	storetest.Same(t, "removed again", len(e.sweep(t, 1000)), 0)
	counts, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "left", counts.Subscriptions, int64(len(subs)-len(want)))
}

func sweepEvents(t *testing.T, e *env) {
	calls := 0
	events := func(gone []hub.SubscriptionInfo) []event.Event {
		calls++
		e.Seq = 0 // a repeated transaction must create the same events
		var all []event.Event
		for _, g := range gone {
			all = append(all, e.Event(event.KindExpire, g.Callback))
		}
		return all
	}
	_, _, err := e.Sweep(e.Ctx, e.Now, 3, 10, time.Time{}, events)
	storetest.Must(t, err)
	storetest.Same(t, "calls with nothing removed", calls, 0)
	subs := e.followers(t, feed, 1)
	e.Now = subs[0].ExpiresAt
	_, _, err = e.Sweep(e.Ctx, e.Now, 3, 10, time.Time{}, events)
	storetest.Must(t, err)
	storetest.Same(t, "log", e.Log(t), []string{subs[0].Callback})
}

// idle sweeps topics unused since a time and checks whether feed still exists.
func (e *env) idle(t *testing.T, since time.Time, want bool) {
	t.Helper()
	_, _, err := e.Sweep(e.Ctx, e.Now, 3, 100, since, nil)
	storetest.Must(t, err)
	_, err = e.Topic(e.Ctx, hub.TopicID(feed))
	if want {
		storetest.Must(t, err)
		return
	}
	storetest.WantFault(t, err, fault.NotFound)
}

func idleTopics(t *testing.T, e *env) {
	storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.Now, nil))
	e.idle(t, e.In(time.Hour), true) // the ping is still pending
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true})
	e.idle(t, e.Now, true)
	subs := e.followers(t, feed, 1)
	e.idle(t, e.In(time.Hour), true) // the topic is followed
	e.Now = subs[0].ExpiresAt
	storetest.Same(t, "expired", len(e.sweep(t, 10)), 1)
	e.idle(t, e.Now, true) // the topic had a subscriber until now
	e.idle(t, e.In(time.Millisecond), false)
	// A new topic starts again at version 1.
	e.followers(t, feed, 1)
	done := e.change(t, feed, 1)
	storetest.Same(t, "version", done.Topic.Version, int64(1))
	storetest.Same(t, "claimed", len(done.Claimed), 1)
}
