package hubtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func subscriptionTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SubscriptionIsReadAsWritten": wholeSubscription,
		"RenewalKeepsPendingDelivery": renewal,
		"SubscriptionOfExistingTopicReceivesNextChange": func(t *testing.T, e *env) {
			e.change(t, feed, 0) // the topic exists, with a version but without a shard
			e.followers(t, feed, 1)
			storetest.Same(t, "shards due", len(e.claim(t)), 0)
			done := e.change(t, feed, 1)
			storetest.Same(t, "claimed", len(done.Claimed), 1)
			storetest.Same(t, "want and done", []int64{done.Claimed[0].Want, done.Claimed[0].Done}, []int64{2, 1})
		},
		"NewTopicHasOneShardWithAllBuckets": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			e.followers(t, feed, 1)
			p := e.change(t, feed, 10).Claimed
			storetest.Same(t, "shards", len(p), 1)
			storetest.Same(t, "range", [3]int{p[0].N, int(p[0].Lo), int(p[0].Hi)}, [3]int{0, 0, hub.Buckets - 1})
		},
		"DuplicateSubscriptionsAreMerged": func(t *testing.T, e *env) {
			a, b := e.sub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/1")
			b.Procedure = "second"
			e.follow(t, feed, a, b)
			storetest.Same(t, "stored", e.get(t, a.Key()), b)
		},
		"SeveralTopicsAreSubscribedInOneCall": func(t *testing.T, e *env) {
			var subs []hub.Subscription
			var feeds []string
			for i := range 5 {
				feeds = append(feeds, fmt.Sprint(feed, i))
				subs = append(subs, e.sub(feeds[i], "http://127.0.0.1/1"))
			}
			storetest.Must(t, e.Subscribe(e.Ctx, feeds, subs, []event.Event{e.Event(event.KindRegister, "five")}))
			for i, f := range feeds {
				storetest.Same(t, "stored", e.get(t, subs[i].Key()), subs[i])
				storetest.Same(t, "claimed", len(e.change(t, f, 1).Claimed), 1)
			}
			storetest.Same(t, "log", e.Log(t), []string{"five"})
		},
		"UnsubscribeReturnsRemovedSubscriptions": unsubscribe,
		"UnknownSubscriptionIsNotFound": func(t *testing.T, e *env) {
			_, err := e.Subscription(e.Ctx, hub.Key{TopicID: 1, ID: 2})
			storetest.WantFault(t, err, fault.NotFound)
		},
		"SubscriptionWithoutTopicIsRejected": func(t *testing.T, e *env) {
			bad := e.sub("http://127.0.0.1/other", "http://127.0.0.1/1")
			no := e.Event(event.KindRegister, "no")
			no.TopicID = bad.TopicID
			storetest.WantFault(t, e.Subscribe(e.Ctx, nil, []hub.Subscription{bad}, []event.Event{no}), fault.Invalid)
			_, err := e.Subscription(e.Ctx, bad.Key())
			storetest.WantFault(t, err, fault.NotFound)
			storetest.Same(t, "log", e.Log(t), []string(nil))
		},
		"SubscriptionsAreListedInOrderByPages": subscriptionsByPage,
		"SubscriptionsAreFoundBySearch":        subscriptionSearch,
	}
}

// pendingSub returns a subscription with every field set.
func (e *env) pendingSub(feed, callback string) hub.Subscription {
	s := e.sub(feed, callback)
	s.Procedure = "river.feedUpdated"
	s.Failures, s.Tries, s.NextAt, s.PendingVersion, s.Counted, s.Sent, s.Claim = 2, 3, e.In(time.Minute), 11, 10, 9, 8
	s.LastError, s.LastErrorAt = "status 500 ☂'", e.In(-time.Minute)
	s.Secret, s.FailingSince = "not text: \xff\x00'\"", e.In(-time.Hour)
	return s
}

func wholeSubscription(t *testing.T, e *env) {
	sub := e.pendingSub(feed, "http://127.0.0.1/日本'\"?a=%00&b=\\")
	sub.ID = hub.SubscriptionID(sub.Protocol, sub.Callback)
	e.follow(t, feed, sub)
	storetest.Same(t, "stored", e.get(t, sub.Key()), sub)
	list, err := e.Subscriptions(e.Ctx, hub.SubscriptionQuery{})
	storetest.Must(t, err)
	storetest.Same(t, "listed", list, []hub.SubscriptionInfo{{Subscription: sub, Topic: feed}})
}

func renewal(t *testing.T, e *env) {
	old := e.pendingSub(feed, "http://127.0.0.1/1")
	e.follow(t, feed, old)
	renewed := e.sub(feed, "http://127.0.0.1/1")
	renewed.CreatedAt, renewed.RenewedAt, renewed.ExpiresAt = e.In(time.Hour), e.In(time.Hour), e.In(26*time.Hour)
	renewed.Procedure, renewed.Secret = "other", "\xfe"
	e.follow(t, feed, renewed)
	want := old
	want.Procedure, want.RenewedAt, want.ExpiresAt = renewed.Procedure, renewed.RenewedAt, renewed.ExpiresAt
	want.Secret, want.FailingSince = renewed.Secret, time.Time{}
	want.Failures, want.Tries = 0, 0
	storetest.Same(t, "after the renewal", e.get(t, old.Key()), want)
}

func unsubscribe(t *testing.T, e *env) {
	a, b := e.pendingSub(feed, "http://127.0.0.1/1"), e.sub(feed, "http://127.0.0.1/2")
	e.follow(t, feed, a, b)
	missing := e.sub(feed, "http://127.0.0.1/3")
	gone, err := e.Unsubscribe(e.Ctx, []hub.Key{missing.Key(), a.Key(), a.Key()}, []event.Event{e.Event(event.KindCancel, "bye")})
	storetest.Must(t, err)
	storetest.Same(t, "removed", gone, []hub.Subscription{a})
	_, err = e.Subscription(e.Ctx, a.Key())
	storetest.WantFault(t, err, fault.NotFound)
	storetest.Same(t, "the other", e.get(t, b.Key()), b)
	storetest.Same(t, "log", e.Log(t), []string{"bye"})
	gone, err = e.Unsubscribe(e.Ctx, []hub.Key{a.Key()}, nil)
	storetest.Must(t, err)
	storetest.Same(t, "removed again", len(gone), 0)
	_, err = e.Unsubscribe(e.Ctx, nil, nil)
	storetest.Must(t, err)
}

func subscriptionsByPage(t *testing.T, e *env) {
	want := map[hub.Key]bool{}
	for i := range 3 {
		for _, s := range e.followers(t, fmt.Sprint(feed, i), 7) {
			want[s.Key()] = true
		}
	}
	var got []hub.Key
	var after hub.Key
	for {
		page, err := e.Subscriptions(e.Ctx, hub.SubscriptionQuery{After: after, Limit: 4})
		storetest.Must(t, err)
		if len(page) == 0 {
			break
		}
		for _, s := range page {
			got = append(got, s.Key())
			delete(want, s.Key())
		}
		after = got[len(got)-1]
	}
	storetest.Same(t, "listed", len(got), 21)
	storetest.Same(t, "left out", len(want), 0)
	storetest.Same(t, "in order", slices.IsSortedFunc(got, func(a, b hub.Key) int {
		if a.TopicID != b.TopicID {
			return int(min(max(a.TopicID-b.TopicID, -1), 1))
		}
		return int(min(max(a.ID-b.ID, -1), 1))
	}), true)
}

func subscriptionSearch(t *testing.T, e *env) {
	a, b, c := e.sub("http://127.0.0.1/News", "http://127.0.0.1/one%"), e.sub("http://127.0.0.1/News", "http://127.0.0.1/two"), e.sub(feed, "http://127.0.0.1/three")
	b.Protocol = hub.XMLRPC
	b.ID = hub.SubscriptionID(b.Protocol, b.Callback)
	storetest.Must(t, e.Subscribe(e.Ctx, []string{feed, "http://127.0.0.1/News"}, []hub.Subscription{a, b, c}, nil))
	for name, q := range map[string]hub.SubscriptionQuery{
		"http://127.0.0.1/one%":                      {Match: "ONE%"},
		"http://127.0.0.1/two":                       {Match: "news", Protocol: hub.XMLRPC},
		"http://127.0.0.1/three":                     {TopicID: c.TopicID},
		"http://127.0.0.1/one%,http://127.0.0.1/two": {Match: "NEWS"},
		"": {Match: "one_"},
	} {
		list, err := e.Subscriptions(e.Ctx, q)
		storetest.Must(t, err)
		var got []string
		for _, s := range list {
			got = append(got, s.Callback)
		}
		slices.Sort(got)
		storetest.Same(t, "found", strings.Join(got, ","), name)
	}
}
