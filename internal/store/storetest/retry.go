package storetest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/hub"
)

func retryTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ARetryIsClaimedByOneUntilItsLeaseEnds": retryLease,
		"ClaimRetriesObeysItsLimitOldestFirst": func(t *testing.T, e *env) {
			for i := range 5 {
				s := e.sub(feed, fmt.Sprint("http://127.0.0.1/", i))
				s.NextAt = e.in(time.Duration(-i) * time.Second)
				e.follow(t, feed, s)
			}
			got, err := e.ClaimRetries(e.ctx, e.now, e.in(lease), 2, 5)
			must(t, err)
			same(t, "oldest", callbacks(got), []string{"http://127.0.0.1/4", "http://127.0.0.1/3"})
			got, err = e.ClaimRetries(e.ctx, e.now, e.in(lease), 10, 5)
			must(t, err)
			same(t, "rest", callbacks(got), []string{"http://127.0.0.1/2", "http://127.0.0.1/1", "http://127.0.0.1/0"})
		},
		"ExpiredOnesStopBeingDueAndTakeNoPlace": expiredRetries,
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
	s := e.owing(feed, "http://127.0.0.1/1")
	s.NextAt, s.Claim = e.in(time.Second), 0
	e.follow(t, feed, s)
	e.change(t, feed, 1)
	got, err := e.ClaimRetries(e.ctx, e.now, e.in(lease), 10, 5)
	must(t, err)
	same(t, "before it is due", len(got), 0)
	e.now = e.in(time.Second)
	got, err = e.ClaimRetries(e.ctx, e.now, e.in(lease), 10, 5)
	must(t, err)
	topic, err := e.Topic(e.ctx, s.TopicID)
	must(t, err)
	s.Claim, s.NextAt = 5, e.in(lease)
	same(t, "claimed", got, []hub.Retry{{Subscription: s, Topic: topic}})
	same(t, "stored", e.get(t, s.Key()), s)
	got, err = e.ClaimRetries(e.ctx, e.in(lease-time.Millisecond), e.in(2*lease), 10, 6)
	must(t, err)
	same(t, "while it is held", len(got), 0)
	e.now = e.in(lease)
	got, err = e.ClaimRetries(e.ctx, e.now, e.in(lease), 10, 6)
	must(t, err)
	same(t, "when the lease is over", got[0].Claim, int64(6))
	must(t, e.Settle(e.ctx, e.now, []hub.Result{{Key: s.Key(), Version: 1, Outcome: hub.Delivered, Claim: 5}}, nil))
	same(t, "claim after the late answer", e.get(t, s.Key()).Claim, int64(6))
}

func expiredRetries(t *testing.T, e *env) {
	var dead []hub.Subscription
	for i := range 20 {
		s := e.sub(feed, fmt.Sprint("http://127.0.0.1/dead/", i))
		s.NextAt, s.ExpiresAt = e.in(-time.Hour), e.now
		dead = append(dead, s)
	}
	live := e.sub(feed, "http://127.0.0.1/live")
	live.NextAt = e.now
	e.follow(t, feed, append(dead, live)...)
	got, err := e.ClaimRetries(e.ctx, e.now, e.in(lease), 3, 5)
	must(t, err)
	for range 20 { // how many expired ones one call clears is the store's business
		if len(got) > 0 {
			break
		}
		got, err = e.ClaimRetries(e.ctx, e.now, e.in(lease), 3, 5)
		must(t, err)
	}
	same(t, "claimed", callbacks(got), []string{"http://127.0.0.1/live"})
	next, err := e.NextDue(e.ctx)
	must(t, err)
	same(t, "due", next, e.in(lease))
	same(t, "NextAt of an expired one", e.get(t, dead[0].Key()).NextAt, time.Time{})
}
