package storetest

import (
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func checkTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AnotherBaseMeansRacedAndNothingIsWritten": raced,
		"ARaceOverATopicThatIsGoneMakesNone": func(t *testing.T, e *env) {
			done, err := e.CommitCheck(e.ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: 3, StartedAt: e.now, Now: e.now})
			must(t, err)
			same(t, "raced", done.Raced, true)
			_, err = e.Topic(e.ctx, hub.TopicID(feed))
			faulty(t, err, fault.NotFound)
		},
		"ACheckAnswersThePingsBeforeIt": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.now, e.now, nil))
			e.check(t, hub.Check{StartedAt: e.now})
			e.pending(t, time.Time{}, time.Time{})
		},
		"APingDuringTheCheckStaysDue": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.in(time.Millisecond), e.in(time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.now, Changed: true})
			e.pending(t, e.in(time.Millisecond), e.in(time.Second))
		},
		"AnErrorWithoutARetryGivesThePingUp": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.now, e.now, nil))
			topic := e.check(t, hub.Check{StartedAt: e.now, Err: "no answer"}).Topic
			same(t, "failures, error", []any{topic.Failures, topic.Error}, []any{1, "no answer"})
			e.pending(t, time.Time{}, time.Time{})
		},
		"AnErrorWithARetryKeepsThePing": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.now, e.now, nil))
			e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Retry: e.in(time.Minute)})
			e.pending(t, e.now, e.in(time.Minute))
		},
		"AnErrorDoesNotAnswerAPingDuringTheCheck": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.in(time.Second), e.in(2*time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.now, Err: "no answer"})
			e.pending(t, e.in(time.Second), e.in(2*time.Second))
		},
		"ARetryDoesNotPutOffAPingDuringTheCheck": func(t *testing.T, e *env) {
			must(t, e.RecordPing(e.ctx, feed, e.in(time.Second), e.in(2*time.Second), nil))
			e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Retry: e.in(time.Minute)})
			e.pending(t, e.in(time.Second), e.in(2*time.Second))
			e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Retry: e.in(time.Millisecond)})
			e.pending(t, e.in(time.Second), e.in(time.Millisecond))
		},
		"AnErrorWithoutAPingMakesNothingDue": func(t *testing.T, e *env) {
			e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Retry: e.in(time.Minute)})
			e.pending(t, time.Time{}, time.Time{})
		},
		"AChangeIsDatedWhenTheNewsArrived": func(t *testing.T, e *env) {
			came := e.in(-time.Second)
			topic := e.check(t, hub.Check{StartedAt: e.now, Changed: true, ChangedAt: came.Add(999 * time.Microsecond)}).Topic
			same(t, "changed, checked", []time.Time{topic.ChangedAt, topic.CheckedAt}, []time.Time{came, e.now})
			topic = e.check(t, hub.Check{StartedAt: e.now, ChangedAt: e.in(time.Hour)}).Topic
			same(t, "changed, after a check that found no change", topic.ChangedAt, came)
		},
		"AnErrorKeepsWhatIsKnown":        errorKeeps,
		"ACheckCanAskForAnother":         againIsDue,
		"APingComesBeforeALookLater":     pingBeforeAgain,
		"AFailedLookIsTriedAgain":        againIsRetried,
		"ALookIsNotMovedByARestart":      againOverARestart,
		"EvidenceAndCostsAreKept":        evidence,
		"AnUnchangedFeedKeepsItsVersion": unchanged,
		"AChangeRaisesEveryPart":         raises,
		"ABusyPartOnlyGetsItsNewWant":    busyPart,
		"AWaitingPartIsCountedAsWaiting": waitingPart,
		"ACheckOfATopicWithoutURLIsNotFound": func(t *testing.T, e *env) {
			_, err := e.CommitCheck(e.ctx, hub.Check{TopicID: 5, Now: e.now, StartedAt: e.now})
			faulty(t, err, fault.NotFound)
		},
	}
}

// check commits a check of feed as it is now.
func (e *env) check(t *testing.T, c hub.Check) hub.Checked {
	t.Helper()
	c.TopicID, c.URL, c.Now = hub.TopicID(feed), feed, e.now
	if topic, err := e.Topic(e.ctx, c.TopicID); err == nil {
		c.Base = topic.Version
	}
	done, err := e.CommitCheck(e.ctx, c)
	must(t, err)
	stored, err := e.Topic(e.ctx, c.TopicID)
	must(t, err)
	same(t, "topic that the check returned", done.Topic, stored)
	return done
}

// pending checks which ping is pending, and when the check is due.
func (e *env) pending(t *testing.T, pinged, due time.Time) {
	t.Helper()
	topic, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "PingedAt", topic.PingedAt, pinged)
	next, err := e.NextDue(e.ctx)
	must(t, err)
	same(t, "due", next, due)
}

func raced(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	e.change(t, feed, 0)
	before, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	claimed := e.claim(t)
	done, err := e.CommitCheck(e.ctx, hub.Check{TopicID: hub.TopicID(feed), URL: feed, Base: 0, StartedAt: e.now, Now: e.in(time.Hour),
		Changed: true, Hash: []byte("other"), Node: node, ClaimParts: 5, ClaimUntil: e.in(lease), Events: []event.Event{e.event(event.KindCheck, "no")}})
	must(t, err)
	same(t, "outcome", done, hub.Checked{Raced: true, Topic: before})
	after, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "topic", after, before)
	same(t, "log", e.log(t), []string(nil))
	again, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: claimed[0], Now: e.now, Finish: true})
	must(t, err)
	same(t, "want rose", again, false)
}

func errorKeeps(t *testing.T, e *env) {
	good := e.check(t, hub.Check{StartedAt: e.now, Changed: true, Hash: []byte("h"), ETag: "e", LastModified: "l", ContentType: "c", Size: 3}).Topic
	e.now = e.in(time.Minute)
	e.check(t, hub.Check{StartedAt: e.now, Err: "first"})
	bad := e.check(t, hub.Check{StartedAt: e.now, Err: "second", Changed: true, Hash: []byte("x")}).Topic
	want := good
	want.Failures, want.Error, want.CheckedAt = 2, "second", e.now
	same(t, "after two errors", bad, want)
	better := e.check(t, hub.Check{StartedAt: e.now, Hash: []byte("h"), ETag: "e2", LastModified: "l", ContentType: "c", Size: 3,
		Events: []event.Event{e.event(event.KindCheck, "unchanged")}}).Topic
	want = good
	want.CheckedAt, want.ETag, want.FullReads, want.FullBytes = e.now, "e2", 2, 6
	same(t, "after a good one", better, want)
	same(t, "log", e.log(t), []string{"unchanged"})
}

func unchanged(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	first := e.check(t, hub.Check{StartedAt: e.now, Changed: true, Hash: []byte("h")})
	p := e.claim(t)
	_, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p[0], Now: e.now, Finish: true})
	must(t, err)
	done := e.check(t, hub.Check{StartedAt: e.now, ClaimParts: 5, ClaimUntil: e.in(lease)})
	same(t, "version", done.Topic.Version, first.Topic.Version)
	same(t, "hash", done.Topic.Hash, []byte("h"))
	same(t, "claimed", len(done.Claimed), 0)
	same(t, "due", len(e.claim(t)), 0)
}

func raises(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	must(t, e.Split(e.ctx, hub.TopicID(feed), 4))
	done := e.change(t, feed, 2)
	same(t, "waiting", done.Waiting, 2)
	var n []int
	for _, p := range done.Claimed {
		n = append(n, p.N)
		same(t, "claimed part", []any{p.Want, p.Done, p.Pos, p.Epoch, p.Topic}, []any{int64(1), int64(0), int64(0), int64(1), done.Topic})
	}
	same(t, "claimed parts", n, []int{0, 1})
	rest := e.claim(t)
	same(t, "due now", len(rest), 2)
	for _, p := range rest {
		same(t, "due part", []any{p.Want, p.Topic}, []any{int64(1), done.Topic})
	}
	next, err := e.NextDue(e.ctx)
	must(t, err)
	same(t, "the leases are what is due next", next, e.in(lease))
}

func busyPart(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	p := e.change(t, feed, 1).Claimed[0]
	done := e.change(t, feed, 1)
	same(t, "claimed", len(done.Claimed), 0)
	same(t, "waiting", done.Waiting, 0)
	same(t, "due", len(e.claim(t)), 0)
	// Its owner goes on under its epoch, and is told at the end.
	again, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Pos: 5, Until: e.in(lease)})
	must(t, err)
	same(t, "again before the end", again, false)
	again, err = e.Checkpoint(e.ctx, hub.Checkpoint{Part: p, Now: e.now, Finish: true})
	must(t, err)
	same(t, "again", again, true)
	next := e.claim(t)
	same(t, "due", len(next), 1)
	same(t, "next pass", []int64{next[0].Want, next[0].Done, next[0].Pos, next[0].Epoch}, []int64{2, 1, 0, 2})
}

func waitingPart(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	same(t, "waiting", e.change(t, feed, 0).Waiting, 1)
	done := e.change(t, feed, 1) // versions in between merge
	same(t, "claimed, waiting", []int{len(done.Claimed), done.Waiting}, []int{0, 1})
	p := e.claim(t)
	same(t, "parts", len(p), 1)
	same(t, "want", p[0].Want, int64(2))
	again, err := e.Checkpoint(e.ctx, hub.Checkpoint{Part: p[0], Now: e.now, Finish: true})
	must(t, err)
	same(t, "again", again, false)
}
