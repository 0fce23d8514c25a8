package hubtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func shardTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ShardIsClaimedOncePerLease":         shardLease,
		"ClaimShardsObeysLimitOldestFirst":   oldestShards,
		"CheckpointMovesPositionAndLease":    checkpointMoves,
		"OutdatedEpochWritesNothing":         fenced,
		"FinishedShardHasNoOwner":            finished,
		"ReleasedShardContinuesFromPosition": released,
		"ShardOfAnotherOwnerIsNotReleased": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			old := e.change(t, feed, 1).Claimed[0]
			e.Now = e.In(lease)
			storetest.Same(t, "shards claimed after the lease", len(e.claim(t)), 1)
			storetest.Must(t, e.ReleaseShards(e.Ctx, e.Now, []hub.Shard{old}))
			storetest.Same(t, "due", len(e.claim(t)), 0)
		},
		"NewVersionRestartsInterruptedRun":         brokenRun,
		"BatchesCoverTwentyThousandInOrder":        manyBatches,
		"BatchesContainOnlyUnexpiredSubscriptions": unexpiredInBatches,
		"BatchesContainOneTopicOnly": func(t *testing.T, e *env) {
			e.followers(t, feed, 3)
			e.followers(t, feed+"2", 5)
			p := e.change(t, feed, 1).Claimed[0]
			page, err := e.Batch(e.Ctx, p, 0, e.Now, 100)
			storetest.Must(t, err)
			storetest.Same(t, "page", len(page), 3)
		},
	}
}

func shardLease(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	e.change(t, feed, 0)
	shards := e.claim(t)
	storetest.Same(t, "claimed", len(shards), 1)
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "shard", shards[0], hub.Shard{TopicID: topic.ID, Hi: hub.Buckets - 1, Want: 1, Epoch: 1, Topic: topic})
	storetest.Same(t, "claimed again", len(e.claim(t)), 0)
	e.Now = e.In(lease - time.Millisecond)
	storetest.Same(t, "claimed before the end of the lease", len(e.claim(t)), 0)
	e.Now = e.In(time.Millisecond)
	again := e.claim(t)
	storetest.Same(t, "claimed at its end", len(again), 1)
	storetest.Same(t, "epoch", again[0].Epoch, int64(2))
}

func oldestShards(t *testing.T, e *env) {
	start := e.Now
	for i := range 5 {
		f := fmt.Sprint(feed, i)
		e.followers(t, f, 1)
		e.Now = start.Add(time.Duration(10-i) * time.Second)
		e.change(t, f, 0)
	}
	e.Now = start.Add(time.Minute)
	shards, err := e.ClaimShards(e.Ctx, storetest.Node, e.Now, e.In(lease), 2)
	storetest.Must(t, err)
	storetest.Same(t, "oldest", []string{shards[0].Topic.URL, shards[1].Topic.URL}, []string{feed + "4", feed + "3"})
	storetest.Same(t, "rest", len(e.claim(t)), 3)
}

func checkpointMoves(t *testing.T, e *env) {
	subs := e.followers(t, feed, 2)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 42, Until: e.In(time.Hour), Events: []event.Event{e.Event(event.KindNotify, "notified")},
		Results: []hub.Result{{Key: subs[0].Key(), Version: 1, Outcome: hub.Failed, NextAt: e.In(time.Minute), Tries: 1, Error: "500"}}})
	storetest.Must(t, err)
	storetest.Same(t, "failures", e.get(t, subs[0].Key()).Failures, 1)
	storetest.Same(t, "log", e.Log(t), []string{"notified"})
	e.Now = e.In(time.Hour - time.Millisecond)
	storetest.Same(t, "due", len(e.claim(t)), 0)
	e.Now = e.In(time.Millisecond)
	next := e.claim(t)
	storetest.Same(t, "position and epoch after the lease", []int64{next[0].Pos, next[0].Epoch}, []int64{42, 2})
}

func fenced(t *testing.T, e *env) {
	subs := e.followers(t, feed, 1)
	old := e.change(t, feed, 1).Claimed[0]
	e.Now = e.In(lease)
	mine := e.claim(t)[0]
	result := []hub.Result{{Key: subs[0].Key(), Version: 1, Outcome: hub.Failed, NextAt: e.Now, Tries: 1, Error: "500"}}
	for _, finish := range []bool{false, true} {
		_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: old, Now: e.Now, Pos: 99, Until: e.In(time.Hour), Results: result, Finish: finish,
			Events: []event.Event{e.Event(event.KindNotify, "never")}})
		lost(t, err)
	}
	storetest.Same(t, "subscription", e.get(t, subs[0].Key()), subs[0])
	storetest.Same(t, "log", e.Log(t), []string(nil))
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: mine, Now: e.Now, Finish: true})
	storetest.Must(t, err)
}

func finished(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true})
	storetest.Must(t, err)
	next, err := e.NextDue(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "due", next, time.Time{})
	for _, finish := range []bool{false, true} {
		_, err = e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 3, Until: e.In(lease), Finish: finish})
		lost(t, err)
	}
	storetest.Must(t, e.ReleaseShards(e.Ctx, e.Now, []hub.Shard{p}))
	storetest.Same(t, "due", len(e.claim(t)), 0)
}

func released(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 42, Until: e.In(lease)})
	storetest.Must(t, err)
	storetest.Must(t, e.ReleaseShards(e.Ctx, e.Now, []hub.Shard{p, p}))
	_, err = e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 43, Until: e.In(lease)})
	lost(t, err)
	next := e.claim(t)
	storetest.Same(t, "due", len(next), 1)
	storetest.Same(t, "position and epoch of the next claim", []int64{next[0].Pos, next[0].Epoch}, []int64{42, 2})
	storetest.Must(t, e.ReleaseShards(e.Ctx, e.Now, nil))
}

// brokenRun checks that an interrupted run restarts for a newer version: subscribers before Pos
// received only the older one.
func brokenRun(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 42, Until: e.In(lease)})
	storetest.Must(t, err)
	e.change(t, feed, 1)
	e.Now = e.In(lease)
	next := e.claim(t)[0]
	storetest.Same(t, "wanted version and position", []int64{next.Want, next.Pos}, []int64{2, 0})
	_, err = e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: next, Now: e.Now, Pos: 17, Until: e.In(lease)})
	storetest.Must(t, err)
	storetest.Must(t, e.ReleaseShards(e.Ctx, e.Now, []hub.Shard{next}))
	next = e.claim(t)[0]
	storetest.Same(t, "position for the same version", next.Pos, int64(17))
	again, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: next, Now: e.Now, Finish: true})
	storetest.Must(t, err)
	storetest.Same(t, "again", again, false)
}

func manyBatches(t *testing.T, e *env) {
	fulltest.SkipUnderRace(t)
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
	storetest.Must(t, e.Split(e.Ctx, hub.TopicID(feed), 3))
	for _, p := range e.change(t, feed, 3).Claimed {
		var after int64
		for {
			page, err := e.Batch(e.Ctx, p, after, e.Now, 500)
			storetest.Must(t, err)
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				if b := hub.Bucket(s.ID); s.ID <= after || b < p.Lo || b > p.Hi || !want[s.ID] {
					t.Fatalf("subscription %d after %d in the shard %d–%d", s.ID, after, p.Lo, p.Hi)
				}
				delete(want, s.ID)
				after = s.ID
			}
		}
	}
	storetest.Same(t, "subscriptions missing from all batches", len(want), 0)
}

func unexpiredInBatches(t *testing.T, e *env) {
	subs := make([]hub.Subscription, 10)
	var want []int64
	for i := range subs {
		subs[i] = e.pendingSub(feed, fmt.Sprintf("http://127.0.0.1/%d", i))
		subs[i].ExpiresAt = e.In(time.Duration(i) * time.Second)
		if i > 4 {
			want = append(want, subs[i].ID)
		}
	}
	slices.Sort(want)
	e.follow(t, feed, subs...)
	p := e.change(t, feed, 1).Claimed[0]
	page, err := e.Batch(e.Ctx, p, 0, e.In(4*time.Second), 100)
	storetest.Must(t, err)
	var got []int64
	for _, s := range page {
		got = append(got, s.ID)
		whole := e.get(t, s.Key())
		storetest.Same(t, "row", s, hub.Subscription{
			TopicID: whole.TopicID, ID: whole.ID, Protocol: whole.Protocol, Callback: whole.Callback, Procedure: whole.Procedure, Secret: whole.Secret,
			Failures: whole.Failures, Tries: whole.Tries, NextAt: whole.NextAt, Counted: whole.Counted, Sent: whole.Sent,
			FailingSince: whole.FailingSince,
		})
	}
	storetest.Same(t, "ids", got, want)
	page, err = e.Batch(e.Ctx, p, want[1], e.In(4*time.Second), 2)
	storetest.Must(t, err)
	storetest.Same(t, "after the second", []int64{page[0].ID, page[1].ID}, want[2:4])
}
