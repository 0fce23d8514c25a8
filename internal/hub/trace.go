package hub

import (
	"context"
	"log/slog"
	"time"

	"cloudburst/internal/event"
)

// traceSlow is the duration above which a notification gets a trace step of its own.
const traceSlow = time.Second

// Tracer receives the steps of each change, from the ping to the last delivery. A change is a topic
// at one version. Implementations may use only ID, URL, Version and ChangedAt of the topic, which
// are the same on every node. Methods are called when a step ends, concurrently, and must not
// block.
type Tracer interface {
	// Origin returns what ctx contains about the sender of a ping, or nil. The result becomes
	// Signal.Origin.
	Origin(ctx context.Context) any
	// Reading returns the context for a read that may find change.
	Reading(ctx context.Context, change *Topic) context.Context
	// Changed is called once per change, when it is stored.
	Changed(change *Topic, how FoundChange)
	// BatchDone is called when a batch of a shard is settled.
	BatchDone(change *Topic, p BatchNotified)
	// ShardDone is called when a run has finished a shard.
	ShardDone(change *Topic, p ShardNotified)
	// AttemptDone is called for a notification that failed, took long, or was a retry.
	AttemptDone(change *Topic, t Attempt)
	// ID returns the trace ID of a change for logs, or "" if there is none.
	ID(change *Topic) string
}

// Signal is one ping that a check answered.
type Signal struct {
	At     time.Time
	Via    string // event.Event.Via
	Origin any    // result of Tracer.Origin; nil: unknown
}

// FoundChange describes how a change was found.
type FoundChange struct {
	Signals     []Signal // at most 20, in order of arrival
	Hops        int      // number of hubs that forwarded the ping
	Sent        time.Time
	Read        time.Time // when the response was read
	Done        time.Time // when the change was stored
	Conditional bool      // the request contained validators (ETag or Last-Modified)
	Status      int       // HTTP status of the response; 0: this program serves the feed, so no request was sent
	Bytes       int64     // size of the feed
	Shards      int       // shards to deliver
}

// BatchNotified is the outcome of a batch of subscribers.
type BatchNotified struct {
	Shard, N   int // N is the number of the batch in its run, from 1
	Begin, End time.Time
	Sent       int // successful deliveries
	Failed     int
	Parked     int // deliveries that left the batch because they were parked or became pending
	Raised     int // deliveries that were left to the retry loop
}

// ShardNotified is the outcome of one run over a shard.
type ShardNotified struct {
	Shard      int
	Begin, End time.Time
	Last       time.Time // time of the last delivery of the run; zero: none
	Sent       int
	Failed     int
	Batches    int
	Continued  bool // started by another node or an earlier run
}

// Attempt is one attempt to deliver a notification.
type Attempt struct {
	Shard  int // number of the shard, for a first attempt
	Retry  bool
	Number int // number of the attempt, from 1
	End    time.Time
	To     Subscription
	Reply  Reply
}

// origin returns the result of Tracer.Origin, or nil without a tracer.
func (h *Hub) origin(ctx context.Context) any {
	if h.Trace == nil {
		return nil
	}
	return h.Trace.Origin(ctx)
}

// traceReading returns the context for reading a topic, whose next version the read may find.
func (h checker) traceReading(ctx context.Context, t Topic, r *round) context.Context {
	if h.Trace == nil {
		return ctx
	}
	return h.Trace.Reading(ctx, &Topic{ID: t.ID, URL: t.URL, Version: t.Version + 1, ChangedAt: r.receivedAt})
}

// traceChange reports a stored change to the tracer.
func (h checker) traceChange(c *Check, done *Checked, r *round, read time.Time, got answer) {
	shards := len(done.Claimed) + done.Waiting
	if h.Log.Enabled(h.work, slog.LevelDebug) {
		h.logOf(&done.Topic).Debug("changed", "bytes", c.Size, "parts", shards)
	}
	if h.Trace == nil {
		return
	}
	how := FoundChange{
		Hops: r.hops, Sent: c.StartedAt, Read: read, Done: h.now(), Conditional: got.conditional, Status: got.Status,
		Bytes: c.Size, Shards: shards,
	}
	h.mu.Lock()
	for i, p := range r.pings {
		how.Signals = append(how.Signals, Signal{At: p.At, Via: p.Via, Origin: r.origins[i]})
	}
	h.mu.Unlock()
	h.Trace.Changed(&done.Topic, how)
}

// traceBatch reports a settled batch to the tracer.
func (run *shardRun) traceBatch(b *deliveryBatch) {
	batch := BatchNotified{Shard: run.shard.N, N: b.n, Begin: b.begun, End: b.ended, Sent: b.notified, Failed: b.failed}
	if batch.End.IsZero() {
		batch.End = run.hub.now() // deliveries that are still open have left the batch
	}
	for _, d := range b.list {
		if d.state == parked || d.state == withdrawn {
			batch.Parked++
		}
	}
	for _, r := range b.results {
		if r.Outcome == Raised {
			batch.Raised++
		}
	}
	if b.lastDelivery.After(run.last) {
		run.last = b.lastDelivery
	}
	run.hub.Trace.BatchDone(&run.shard.Topic, batch)
}

// traceEnd reports a finished run to the tracer.
func (run *shardRun) traceEnd() {
	h, topic := run.hub, &run.shard.Topic
	if h.Log.Enabled(h.work, slog.LevelDebug) {
		h.logOf(topic).Debug("shard done", "part", run.shard.N, "notified", run.notified, "failed", run.failed)
	}
	if h.Trace == nil {
		return
	}
	p := ShardNotified{
		Shard: run.shard.N, Begin: run.begun, End: h.now(), Last: run.last, Sent: run.notified, Failed: run.failed, Batches: run.batches,
		Continued: run.shard.Pos != 0,
	}
	if p.Continued { // the start of a continued run is unknown: use the earliest known time
		p.Begin = topic.ChangedAt
	}
	h.Trace.ShardDone(topic, p)
}

// traceTry reports a notification that failed, was slow, or was a retry.
func (h delivering) traceTry(d *delivery, r *Reply) {
	if r.NotTried || r.Skipped {
		return
	}
	t := Attempt{Retry: d.batch == nil, End: h.now(), To: d.sub, Reply: *r}
	switch {
	case t.Retry:
		t.Number = d.sub.Tries + 1
	case r.OK && r.Took < traceSlow:
		return
	default:
		t.Number, t.Shard = 1, d.batch.shard
	}
	h.Trace.AttemptDone(d.topic, t)
}

// logOf returns the log with the attributes of a change.
func (h *Hub) logOf(change *Topic) *slog.Logger {
	topic := change.URL
	if event.IsPrivate(topic) {
		topic = "private"
	}
	l := h.Log.With("topic", topic, "version", change.Version)
	if h.Trace == nil {
		return l
	}
	if id := h.Trace.ID(change); id != "" {
		return l.With("trace", id)
	}
	return l
}
