package hubtest

import (
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
	"cloudburst/internal/validator"
)

// again checks the time of the next full read of the topic.
func (e *env) again(t *testing.T, want time.Time) {
	t.Helper()
	topic, err := e.Topic(e.Ctx, hub.TopicID(feed))
	storetest.Must(t, err)
	storetest.Same(t, "AgainAt", topic.AgainAt, want)
}

func againIsDue(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Again: e.In(2 * time.Second)})
	e.pending(t, time.Time{}, e.In(2*time.Second))
	e.again(t, e.In(2*time.Second))
	counts, err := e.Counts(e.Ctx, e.Now)
	storetest.Must(t, err)
	storetest.Same(t, "pings to check", counts.ChecksDue, int64(0))
	topics, err := e.ClaimChecks(e.Ctx, e.In(time.Second), e.In(lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed before the due time", len(topics), 0)
	topics, err = e.ClaimChecks(e.Ctx, e.In(2*time.Second), e.In(lease), 10)
	storetest.Must(t, err)
	storetest.Same(t, "claimed", len(topics), 1)
	storetest.Same(t, "pinged, again", []time.Time{topics[0].PingedAt, topics[0].AgainAt}, []time.Time{{}, e.In(2 * time.Second)})
	e.Now = e.In(2 * time.Second)
	e.check(t, hub.Check{StartedAt: e.Now})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func pingBeforeAgain(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.Now, Again: e.In(time.Hour)})
	storetest.Must(t, e.RecordPing(e.Ctx, feed, e.In(time.Second), e.In(time.Minute), nil))
	e.pending(t, e.In(time.Second), e.In(time.Minute))
	e.again(t, e.In(time.Hour))
	e.check(t, hub.Check{StartedAt: e.In(time.Millisecond), Again: e.In(2 * time.Second)})
	e.pending(t, e.In(time.Second), e.In(2*time.Second))
	e.Now = e.In(time.Second)
	e.check(t, hub.Check{StartedAt: e.Now})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func againIsRetried(t *testing.T, e *env) {
	first := e.Now
	e.check(t, hub.Check{StartedAt: e.Now, Again: e.In(2 * time.Second)})
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer"}) // a failed check for an earlier ping
	e.pending(t, time.Time{}, e.In(2*time.Second))
	e.Now = e.In(2 * time.Second)
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer", Retry: e.In(time.Minute)})
	e.pending(t, time.Time{}, e.In(time.Minute))
	e.again(t, first.Add(2*time.Second))
	e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer"})
	e.pending(t, time.Time{}, time.Time{})
	e.again(t, time.Time{})
}

func againOverARestart(t *testing.T, e *env) {
	e.check(t, hub.Check{StartedAt: e.Now, Again: e.In(time.Hour)})
	storetest.Must(t, e.Recover(e.Ctx, e.Now))
	e.pending(t, time.Time{}, e.In(time.Hour))
	e.again(t, e.In(time.Hour))
}

func evidence(t *testing.T, e *env) {
	know := validator.Evidence{Proof: validator.Proven, Recent: true, Believed: true, FullAt: e.In(-time.Minute)}
	topic := e.check(t, hub.Check{StartedAt: e.Now, Changed: true, Hash: []byte("h"), Size: 40, Evidence: know}).Topic
	storetest.Same(t, "evidence", topic.Evidence, know)
	storetest.Same(t, "costs", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{0, 1, 40})
	other := validator.Evidence{Proof: validator.Refuted, FullAt: e.Now}
	e.check(t, hub.Check{StartedAt: e.Now, Size: 2, Evidence: other})
	topic = e.check(t, hub.Check{StartedAt: e.Now, Size: 2, NotModified: true, Evidence: other}).Topic
	storetest.Same(t, "evidence", topic.Evidence, other)
	storetest.Same(t, "costs", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{1, 2, 42})
	topic = e.check(t, hub.Check{StartedAt: e.Now, Err: "no answer"}).Topic
	storetest.Same(t, "evidence after an error", topic.Evidence, other)
	storetest.Same(t, "costs after an error", []int64{topic.NotModified, topic.FullReads, topic.FullBytes}, []int64{1, 2, 42})
}
