package storetest

import (
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
)

// again checks when the topic must be read once more.
func (e *env) again(t *testing.T, want time.Time) {
	t.Helper()
	topic, err := e.Topic(e.ctx, hub.TopicID(feed))
	must(t, err)
	same(t, "AgainAt", topic.AgainAt, want)
}

func againIsDue(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.now, Changed: true, Again: e.in(2 * time.Second)})
	e.pending(t, time.Time{}, e.in(2*time.Second))
	e.again(t, e.in(2*time.Second))
	counts, err := e.Counts(e.ctx, e.now)
	must(t, err)
	same(t, "pings to check", counts.ChecksDue, int64(0))
	topics, err := e.ClaimChecks(e.ctx, e.in(time.Second), e.in(lease), 10)
	must(t, err)
	same(t, "claimed before it is due", len(topics), 0)
	topics, err = e.ClaimChecks(e.ctx, e.in(2*time.Second), e.in(lease), 10)
	must(t, err)
	same(t, "claimed", len(topics), 1)
	same(t, "pinged, again", []time.Time{topics[0].PingedAt, topics[0].AgainAt}, []time.Time{{}, e.in(2 * time.Second)})
	e.now = e.in(2 * time.Second)
	e.check(t, hub.Check{StartedAt: e.now})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func pingBeforeAgain(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.now, Again: e.in(time.Hour)})
	must(t, e.RecordPing(e.ctx, feed, e.in(time.Second), e.in(time.Minute), nil))
	e.pending(t, e.in(time.Second), e.in(time.Minute))
	e.again(t, e.in(time.Hour))
	e.check(t, hub.Check{StartedAt: e.in(time.Millisecond), Again: e.in(2 * time.Second)})
	e.pending(t, e.in(time.Second), e.in(2*time.Second))
	e.now = e.in(time.Second)
	e.check(t, hub.Check{StartedAt: e.now})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func againIsRetried(t *testing.T, e *env) {
	first := e.now
	e.check(t, hub.Check{StartedAt: e.now, Again: e.in(2 * time.Second)})
	e.check(t, hub.Check{StartedAt: e.now, Err: "no answer"}) // of a ping that came before
	e.pending(t, time.Time{}, e.in(2*time.Second))
	e.now = e.in(2 * time.Second)
	e.check(t, hub.Check{StartedAt: e.now, Err: "no answer", Retry: e.in(time.Minute)})
	e.pending(t, time.Time{}, e.in(time.Minute))
	e.again(t, first.Add(2*time.Second))
	e.check(t, hub.Check{StartedAt: e.now, Err: "no answer"})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func againOverARestart(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.now, Again: e.in(time.Hour)})
	must(t, e.Recover(e.ctx, e.now))
	e.pending(t, time.Time{}, e.in(time.Hour))
	e.again(t, e.in(time.Hour))
}

func evidence(t *testing.T, e *env) {
	know := validator.Evidence{Proof: validator.Proven, Recent: true, Believed: true, FullAt: e.in(-time.Minute)}
	topic := e.check(t, hub.Check{StartedAt: e.now, Changed: true, Hash: []byte("h"), Size: 40, Evidence: know}).Topic
	same(t, "evidence", topic.Evidence, know)
	same(t, "costs", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{0, 1, 40})
	other := validator.Evidence{Proof: validator.Refuted, FullAt: e.now}
	e.check(t, hub.Check{StartedAt: e.now, Size: 2, Evidence: other})
	topic = e.check(t, hub.Check{StartedAt: e.now, Size: 2, NotModified: true, Evidence: other}).Topic
	same(t, "evidence", topic.Evidence, other)
	same(t, "costs", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{1, 2, 42})
	topic = e.check(t, hub.Check{StartedAt: e.now, Err: "no answer"}).Topic
	same(t, "evidence after an error", topic.Evidence, other)
	same(t, "costs after an error", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{1, 2, 42})
}
