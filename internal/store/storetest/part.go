package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

func partTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"APartIsClaimedByOneUntilItsLeaseEnds": partLease,
		"ClaimPartsObeysItsLimitOldestFirst":   oldestParts,
		"ACheckpointMovesThePlaceAndTheLease":  checkpointMoves,
		"AnotherEpochIsFencedOffWhole":         fenced,
		"AFinishedPartIsNotHeldAnyMore":        finished,
		"AReleasedPartGoesOnFromItsPlace":      released,
		"APartThatIsHeldByAnotherIsNotReleased": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			old := e.change(t, feed, 1).Claimed[0]
			e.now = e.in(lease)
			same(t, "taken over", len(e.claim(t)), 1)
			must(t, e.ReleaseParts(e.ctx, e.now, []hub.Part{old}))
			same(t, "due", len(e.claim(t)), 0)
		},
		"AVersionThatRoseStartsABrokenPassAgain": brokenPass,
		"PagesCoverTwentyThousandInOrder":        manyPages,
		"PagesHoldOnlyLiveOnes":                  livePages,
		"PagesAreOfOneTopicOnly": func(t *testing.T, e *env) {
			e.followers(t, feed, 3)
			e.followers(t, feed+"2", 5)
			p := e.change(t, feed, 1).Claimed[0]
			page, err := e.Page(e.ctx, p, 0, e.now, 100)
			must(t, err)
			same(t, "page", len(page), 3)
		},
	}
}

func partLease(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	e.change(t, feed, 0)
	parts := e.claim(t)
	same(t, "claimed", len(parts), 1)
	topic, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "part", parts[0], hub.Part{TopicID: topic.ID, Hi: hub.Buckets - 1, Want: 1, Epoch: 1, Topic: topic})
	same(t, "claimed again", len(e.claim(t)), 0)
	e.now = e.in(lease - time.Millisecond)
	same(t, "claimed before the end of the lease", len(e.claim(t)), 0)
	e.now = e.in(time.Millisecond)
	again := e.claim(t)
	same(t, "claimed at its end", len(again), 1)
	same(t, "epoch", again[0].Epoch, int64(2))
}

func oldestParts(t *testing.T, e *env) {
	start := e.now
	for i := range 5 {
		f := fmt.Sprint(feed, i)
		e.followers(t, f, 1)
		e.now = start.Add(time.Duration(10-i) * time.Second)
		e.change(t, f, 0)
	}
	e.now = start.Add(time.Minute)
	parts, err := e.ClaimParts(e.ctx, node, e.now, e.in(lease), 2)
	must(t, err)
	same(t, "oldest", []string{parts[0].Topic.URL, parts[1].Topic.URL}, []string{feed + "4", feed + "3"})
	same(t, "rest", len(e.claim(t)), 3)
}

func checkpointMoves(t *testing.T, e *env) {
	subs := e.followers(t, feed, 2)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 42, Until: e.in(time.Hour), Events: []event.Event{e.event(event.KindNotify, "told")},
		Results: []hub.Result{{Key: subs[0].Key(), Version: 1, Outcome: hub.Failed, NextAt: e.in(time.Minute), Tries: 1, Error: "500"}}})
	must(t, err)
	same(t, "failures", e.get(t, subs[0].Key()).Failures, 1)
	same(t, "log", e.log(t), []string{"told"})
	e.now = e.in(time.Hour - time.Millisecond)
	same(t, "due", len(e.claim(t)), 0)
	e.now = e.in(time.Millisecond)
	next := e.claim(t)
	same(t, "taken over from", []int64{next[0].Pos, next[0].Epoch}, []int64{42, 2})
}

func fenced(t *testing.T, e *env) {
	subs := e.followers(t, feed, 1)
	old := e.change(t, feed, 1).Claimed[0]
	e.now = e.in(lease)
	mine := e.claim(t)[0]
	result := []hub.Result{{Key: subs[0].Key(), Version: 1, Outcome: hub.Failed, NextAt: e.now, Tries: 1, Error: "500"}}
	for _, finish := range []bool{false, true} {
		_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: old, Now: e.now, Pos: 99, Until: e.in(time.Hour), Results: result, Finish: finish,
			Events: []event.Event{e.event(event.KindNotify, "never")}})
		lost(t, err)
	}
	same(t, "subscription", e.get(t, subs[0].Key()), subs[0])
	same(t, "log", e.log(t), []string(nil))
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: mine, Now: e.now, Finish: true})
	must(t, err)
}

func finished(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Finish: true})
	must(t, err)
	next, err := e.NextDue(e.ctx)
	must(t, err)
	same(t, "due", next, time.Time{})
	for _, finish := range []bool{false, true} {
		_, err = e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 3, Until: e.in(lease), Finish: finish})
		lost(t, err)
	}
	must(t, e.ReleaseParts(e.ctx, e.now, []hub.Part{p}))
	same(t, "due", len(e.claim(t)), 0)
}

func released(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 42, Until: e.in(lease)})
	must(t, err)
	must(t, e.ReleaseParts(e.ctx, e.now, []hub.Part{p, p}))
	_, err = e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 43, Until: e.in(lease)})
	lost(t, err)
	next := e.claim(t)
	same(t, "due", len(next), 1)
	same(t, "goes on", []int64{next[0].Pos, next[0].Epoch}, []int64{42, 2})
	must(t, e.ReleaseParts(e.ctx, e.now, nil))
}

// brokenPass: those before the place were told the older version only.
func brokenPass(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 42, Until: e.in(lease)})
	must(t, err)
	e.change(t, feed, 1)
	e.now = e.in(lease)
	next := e.claim(t)[0]
	same(t, "want and place", []int64{next.Want, next.Pos}, []int64{2, 0})
	_, err = e.Checkpoint(e.ctx, hub.Checkpoint{Part: next, Now: e.now, Pos: 17, Until: e.in(lease)})
	must(t, err)
	must(t, e.ReleaseParts(e.ctx, e.now, []hub.Part{next}))
	next = e.claim(t)[0]
	same(t, "place of the same version", next.Pos, int64(17))
	again, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: next, Now: e.now, Finish: true})
	must(t, err)
	same(t, "again", again, false)
}

func manyPages(t *testing.T, e *env) {
	fulltest.OneCaller(t)
	const total = 20_000
	want := map[int64]bool{}
	for i := range 2 {
		subs := make([]hub.Subscription, total/2)
		for j := range subs {
			subs[j] = e.sub(feed, fmt.Sprintf("http://127.0.0.1/%d/%d", i, j))
			want[subs[j].ID] = true
		}
		e.follow(t, feed, subs...)
	}
	must(t, e.Split(e.ctx, hub.TopicID(feed), 3))
	for _, p := range e.change(t, feed, 3).Claimed {
		var after int64
		for {
			page, err := e.Page(e.ctx, p, after, e.now, 500)
			must(t, err)
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				if b := hub.Bucket(s.ID); s.ID <= after || b < p.Lo || b > p.Hi || !want[s.ID] {
					t.Fatalf("subscription %d after %d in the part %d–%d", s.ID, after, p.Lo, p.Hi)
				}
				delete(want, s.ID)
				after = s.ID
			}
		}
	}
	same(t, "never seen", len(want), 0)
}

func livePages(t *testing.T, e *env) {
	subs := make([]hub.Subscription, 10)
	var want []int64
	for i := range subs {
		subs[i] = e.owing(feed, fmt.Sprintf("http://127.0.0.1/%d", i))
		subs[i].ExpiresAt = e.in(time.Duration(i) * time.Second)
		if i > 4 {
			want = append(want, subs[i].ID)
		}
	}
	slices.Sort(want)
	e.follow(t, feed, subs...)
	p := e.change(t, feed, 1).Claimed[0]
	page, err := e.Page(e.ctx, p, 0, e.in(4*time.Second), 100)
	must(t, err)
	var got []int64
	for _, s := range page {
		got = append(got, s.ID)
		whole := e.get(t, s.Key())
		same(t, "row", s, hub.Subscription{
			TopicID: whole.TopicID, ID: whole.ID, Protocol: whole.Protocol, Callback: whole.Callback, Procedure: whole.Procedure, Secret: whole.Secret,
			Failures: whole.Failures, Tries: whole.Tries, NextAt: whole.NextAt, Counted: whole.Counted, Sent: whole.Sent,
			FailingSince: whole.FailingSince,
		})
	}
	same(t, "ids", got, want)
	page, err = e.Page(e.ctx, p, want[1], e.in(4*time.Second), 2)
	must(t, err)
	same(t, "after the second", []int64{page[0].ID, page[1].ID}, want[2:4])
}
