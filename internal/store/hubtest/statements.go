package hubtest

import (
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

// Statements checks that pings run no more statements than the given bounds. Lower a bound when the
// code needs fewer statements; never raise it. count returns the number of statements that the
// store ran while do ran; each row of a bulk statement counts.
func Statements(t *testing.T, st hub.Store, bounds map[string]int, count func(do func()) int) {
	e := &env{&storetest.Case{Store: st, Ctx: t.Context(), Now: time.UnixMilli(1_790_000_000_123).UTC()}}
	e.followers(t, feed, 10)
	var topics []hub.Topic
	ping := func(check hub.Check) int {
		return count(func() {
			var err error
			topics, err = e.Following(e.Ctx, []string{feed}, 0, e.Now, 10)
			if err != nil || len(topics) != 1 {
				t.Fatalf("%d topics, %v", len(topics), err)
			}
			check.TopicID, check.Base, check.Now, check.StartedAt, check.ClaimUntil = topics[0].ID, topics[0].Version, e.Now, e.Now, e.In(time.Minute)
			_, err = e.CommitCheck(e.Ctx, check)
			storetest.Must(t, err)
		})
	}
	got := map[string]int{}
	got["ping of an unchanged feed"] = ping(hub.Check{})
	got["ping of a changed feed"] = ping(hub.Check{Changed: true, ChangedAt: e.Now, Hash: []byte("2"), ClaimShards: 4})
	storetest.Bounded(t, got, bounds)
}
