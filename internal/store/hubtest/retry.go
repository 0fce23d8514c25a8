package hubtest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func retryTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"RetryIsClaimedOncePerLease": retryLease,
		"ClaimRetriesObeysLimitOldestFirst": func(t *testing.T, e *env) {
			for i := range 5 {
				s := e.sub(feed, fmt.Sprint("http://127.0.0.1/", i))
				s.NextAt = e.In(time.Duration(-i) * time.Second)
				e.follow(t, feed, s)
			}
			got, err := e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 2, 5)
			storetest.Must(t, err)
			storetest.Same(t, "oldest", callbacks(got), []string{"http://127.0.0.1/4", "http://127.0.0.1/3"})
			got, err = e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 10, 5)
			storetest.Must(t, err)
			storetest.Same(t, "rest", callbacks(got), []string{"http://127.0.0.1/2", "http://127.0.0.1/1", "http://127.0.0.1/0"})
		},
		"ExpiredSubscriptionsDoNotCountTowardsLimit": expiredRetries,
	}
}

func callbacks(retries []hub.Retry) []string {
	var all []string
	for _, r := range retries {
		all = append(all, r.Callback)
	}
	return all
}

func retryLease(t *testing.T, e *env) {
	s := e.pendingSub(feed, "http://127.0.0.1/1")
	s.NextAt, s.Claim = e.In(time.Second), 0
	e.follow(t, feed, s)
	e.change(t, feed, 1)
	got, err := e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 10, 5)
	storetest.Must(t, err)
	storetest.Same(t, "claimed before the due time", len(got), 0)
	e.Now = e.In(time.Second)
	got, err = e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 10, 5)
	storetest.Must(t, err)
	topic, err := e.Topic(e.Ctx, s.TopicID)
	storetest.Must(t, err)
	s.Claim, s.NextAt = 5, e.In(lease)
	storetest.Same(t, "claimed", got, []hub.Retry{{Subscription: s, Topic: topic}})
	storetest.Same(t, "stored", e.get(t, s.Key()), s)
	got, err = e.ClaimRetries(e.Ctx, e.In(lease-time.Millisecond), e.In(2*lease), 10, 6)
	storetest.Must(t, err)
	storetest.Same(t, "claimed during the lease", len(got), 0)
	e.Now = e.In(lease)
	got, err = e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 10, 6)
	storetest.Must(t, err)
	storetest.Same(t, "claimed after the lease", got[0].Claim, int64(6))
	storetest.Must(t, e.Settle(e.Ctx, e.Now, []hub.Result{{Key: s.Key(), Version: 1, Outcome: hub.Delivered, Claim: 5}}, nil))
	storetest.Same(t, "claim after the late answer", e.get(t, s.Key()).Claim, int64(6))
}

func expiredRetries(t *testing.T, e *env) {
	var dead []hub.Subscription
	for i := range 20 {
		s := e.sub(feed, fmt.Sprint("http://127.0.0.1/dead/", i))
		s.NextAt, s.ExpiresAt = e.In(-time.Hour), e.Now
		dead = append(dead, s)
	}
	live := e.sub(feed, "http://127.0.0.1/live")
	live.NextAt = e.Now
	e.follow(t, feed, append(dead, live)...)
	got, err := e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 3, 5)
	storetest.Must(t, err)
	for range 20 { // one call removes only some of the expired subscriptions
		if len(got) > 0 {
			break
		}
		got, err = e.ClaimRetries(e.Ctx, e.Now, e.In(lease), 3, 5)
		storetest.Must(t, err)
	}
	storetest.Same(t, "claimed", callbacks(got), []string{"http://127.0.0.1/live"})
	next, err := e.NextDue(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "due", next, e.In(lease))
	storetest.Same(t, "NextAt of an expired one", e.get(t, dead[0].Key()).NextAt, time.Time{})
}
