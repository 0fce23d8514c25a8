package hubtest

import (
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func checkTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"CheckWithAnotherBaseWritesNothing": raced,
		"RacedCheckDoesNotRecreateTopic": func(t *testing.T, e *env) {
			done, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: 3, StartedAt: e.Now, Now: e.Now})
			storetest.Must(t, err)
			storetest.Same(t, "raced", done.Raced, true)
			_, err = e.Topic(e.Ctx, hub.TopicID(feed))
			storetest.WantFault(t, err, fault.NotFound)
		},
		"CheckClearsEarlierPings": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.Now, nil))
			e.check(t, hub.Check{StartedAt: e.Now})
			e.pending(t, time.Time{}, time.Time{})
		},
		"PingDuringCheckStaysDue": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Millisecond), e.In(time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.Now, Changed: true})
			e.pending(t, e.In(time.Millisecond), e.In(time.Second))
		},
		"FailedCheckWithoutRetryDropsPing": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.Now, nil))
			topic := e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer"}).Topic
			storetest.Same(t, "failures, error", []any{topic.Failures, topic.Error}, []any{1, "no answer"})
			e.pending(t, time.Time{}, time.Time{})
		},
		"FailedCheckWithRetryKeepsPing": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.Now, e.Now, nil))
			e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Retry: e.In(time.Minute)})
			e.pending(t, e.Now, e.In(time.Minute))
		},
		"FailedCheckKeepsPingThatArrivedDuringCheck": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Second), e.In(2*time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer"})
			e.pending(t, e.In(time.Second), e.In(2*time.Second))
		},
		"RetryDoesNotDelayPingDuringCheck": func(t *testing.T, e *env) {
			storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Second), e.In(2*time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Retry: e.In(time.Minute)})
			e.pending(t, e.In(time.Second), e.In(2*time.Second))
			e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Retry: e.In(time.Millisecond)})
			e.pending(t, e.In(time.Second), e.In(time.Millisecond))
		},
		"FailedCheckWithoutPingSchedulesNoCheck": func(t *testing.T, e *env) {
			e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Retry: e.In(time.Minute)})
			e.pending(t, time.Time{}, time.Time{})
		},
		"ChangedAtIsTimeOfArrival": func(t *testing.T, e *env) {
			came := e.In(-time.Second)
			topic := e.check(t, hub.Check{StartedAt: e.Now, Changed: true, ChangedAt: came.Add(999 * time.Microsecond)}).Topic
			storetest.Same(t, "changed, checked", []time.Time{topic.ChangedAt, topic.CheckedAt}, []time.Time{came, e.Now})
			topic = e.check(t, hub.Check{StartedAt: e.Now, ChangedAt: e.In(time.Hour)}).Topic
			storetest.Same(t, "changed, after a check that found no change", topic.ChangedAt, came)
		},
		"FailedCheckKeepsTopicState":               errorKeeps,
		"CheckCanScheduleFullRead":                 againIsDue,
		"PingPrecedesScheduledFullRead":            pingBeforeAgain,
		"FailedFullReadIsRetried":                  againIsRetried,
		"RestartKeepsTimeOfFullRead":               againOverARestart,
		"EvidenceAndCostsAreStored":                evidence,
		"UnchangedFeedKeepsVersion":                unchanged,
		"ChangeRaisesWantedVersionOfEveryShard":    raises,
		"ClaimedShardOnlyReceivesNewWantedVersion": busyShard,
		"WaitingShardIsCounted":                    waitingShard,
		"CheckOfTopicWithoutURLIsNotFound": func(t *testing.T, e *env) {
			_, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: 5, Now: e.Now, StartedAt: e.Now})
			storetest.WantFault(t, err, fault.NotFound)
		},
	}
}

// check commits a check of feed based on its current version.
func (e *env) check(t *testing.T, c hub.Check) hub.Checked {
	t.Helper()
	c.TopicID, c.URL, c.Now = hub.TopicID(feed), feed, e.Now
	if topic, err := e.Topic(e.Ctx, c.TopicID); err == nil {
		c.Base = topic.Version
	}
	done, err := e.CommitCheck(e.Ctx, c)
	storetest.Must(t, err)
	stored, err := e.Topic(e.Ctx, c.TopicID)
	storetest.Must(t, err)
	storetest.Same(t, "topic that the check returned", done.Topic, stored)
	return done
}

// pending checks the time of the pending ping and the due time of the check.
func (e *env) pending(t *testing.T, pinged, due time.Time) {
	t.Helper()
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "PingedAt", topic.PingedAt, pinged)
	next, err := e.NextDue(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "due", next, due)
}

func raced(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	e.change(t, feed, 0)
	before, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	claimed := e.claim(t)
	done, err := e.CommitCheck(e.Ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: 0, StartedAt: e.Now, Now: e.In(time.Hour),
		Changed: true, Hash: []byte("other"), Node: storetest.Node, ClaimShards: 5, ClaimUntil: e.In(lease), Events: []event.Event{e.Event(event.KindCheck, "no")}})
	storetest.Must(t, err)
	storetest.Same(t, "outcome", done, hub.Checked{Raced: true, Topic: before})
	after, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "topic", after, before)
	storetest.Same(t, "log", e.Log(t), []string(nil))
	again, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: claimed[0], Now: e.Now, Finish: true})
	storetest.Must(t, err)
	storetest.Same(t, "newer version wanted", again, false)
}

func errorKeeps(t *testing.T, e *env) {
	good := e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Hash: []byte("h"), ETag: "e", LastModified: "l", ContentType: "c", Size: 3}).Topic
	e.Now = e.In(time.Minute)
	e.check(t, hub.Check{StartedAt: e.Now, Err: "first"})
	bad := e.check(t, hub.Check{StartedAt: e.Now, Err: "second", Changed: true, Hash: []byte("x")}).Topic
	want := good
	want.Failures, want.Error, want.CheckedAt = 2, "second", e.Now
	storetest.Same(t, "after two errors", bad, want)
	better := e.check(t, hub.Check{StartedAt: e.Now, Hash: []byte("h"), ETag: "e2", LastModified: "l", ContentType: "c", Size: 3,
		Events: []event.Event{e.Event(event.KindCheck, "unchanged")}}).Topic
	want = good
	want.CheckedAt, want.ETag, want.FullReads, want.FullBytes = e.Now, "e2", 2, 6
	storetest.Same(t, "after a successful check", better, want)
	storetest.Same(t, "log", e.Log(t), []string{"unchanged"})
}

func unchanged(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	first := e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Hash: []byte("h")})
	p := e.claim(t)
	_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p[0], Now: e.Now, Finish: true})
	storetest.Must(t, err)
	done := e.check(t, hub.Check{StartedAt: e.Now, ClaimShards: 5, ClaimUntil: e.In(lease)})
	storetest.Same(t, "version", done.Topic.Version, first.Topic.Version)
	storetest.Same(t, "hash", done.Topic.Hash, []byte("h"))
	storetest.Same(t, "claimed", len(done.Claimed), 0)
	storetest.Same(t, "due", len(e.claim(t)), 0)
}

func raises(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	storetest.Must(t, e.Split(e.Ctx, hub.TopicID(feed), 4))
	done := e.change(t, feed, 2)
	storetest.Same(t, "waiting", done.Waiting, 2)
	var n []int
	for _, p := range done.Claimed {
		n = append(n, p.N)
		storetest.Same(t, "claimed shard", []any{p.Want, p.Done, p.Pos, p.Epoch, p.Topic}, []any{int64(1), int64(0), int64(0), int64(1), done.Topic})
	}
	storetest.Same(t, "claimed shards", n, []int{0, 1})
	rest := e.claim(t)
	storetest.Same(t, "due now", len(rest), 2)
	for _, p := range rest {
		storetest.Same(t, "due shard", []any{p.Want, p.Topic}, []any{int64(1), done.Topic})
	}
	next, err := e.NextDue(e.Ctx)
	storetest.Must(t, err)
	storetest.Same(t, "next due time", next, e.In(lease))
}

func busyShard(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	done := e.change(t, feed, 1)
	storetest.Same(t, "claimed", len(done.Claimed), 0)
	storetest.Same(t, "waiting", done.Waiting, 0)
	storetest.Same(t, "due", len(e.claim(t)), 0)
	// The owner continues with its epoch and learns about the change when it finishes.
	again, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Pos: 5, Until: e.In(lease)})
	storetest.Must(t, err)
	storetest.Same(t, "repeat before the finish", again, false)
	again, err = e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true})
	storetest.Must(t, err)
	storetest.Same(t, "again", again, true)
	next := e.claim(t)
	storetest.Same(t, "due", len(next), 1)
	storetest.Same(t, "next run", []int64{next[0].Want, next[0].Done, next[0].Pos, next[0].Epoch}, []int64{2, 1, 0, 2})
}

func waitingShard(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	storetest.Same(t, "waiting", e.change(t, feed, 0).Waiting, 1)
	done := e.change(t, feed, 1) // versions between the two are skipped
	storetest.Same(t, "claimed, waiting", []int{len(done.Claimed), done.Waiting}, []int{0, 1})
	p := e.claim(t)
	storetest.Same(t, "shards", len(p), 1)
	storetest.Same(t, "want", p[0].Want, int64(2))
	again, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p[0], Now: e.Now, Finish: true})
	storetest.Must(t, err)
	storetest.Same(t, "again", again, false)
}
