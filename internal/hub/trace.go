package hub

import (
	"context"
	"log/slog"
	"time"
)

// traceSlow is how long a notification may take before it is worth telling of by itself.
const traceSlow = time.Second

// Tracer hears of the steps of each change, from the ping to the last delivery, for who
// looks at them in another program. A change is a topic at one version, and only ID, URL,
// Version and ChangedAt of the topic count: they are the same on every node. Methods are
// called when a step is over, by many at once, and must not wait for anything.
type Tracer interface {
	// Origin is what ctx knows of where a ping comes from; nil: nothing. It comes back
	// as a Signal's.
	Origin(ctx context.Context) any
	// Reading is ctx for the reading of a feed that may find change.
	Reading(ctx context.Context, change *Topic) context.Context
	// Changed: the feed was read, and the change is on disk. It is called once in all.
	Changed(change *Topic, how FoundChange)
	// Page: a page of a part was told.
	BatchDone(change *Topic, p BatchNotified)
	// Told: a part was told to its end.
	ShardDone(change *Topic, p ShardNotified)
	// Tried: a notification failed, took long, or was a retry.
	Tried(change *Topic, t Tried)
	// ID names the trace of a change in logs; "": it has none.
	ID(change *Topic) string
}

// Signal is one ping that a check answered.
type Signal struct {
	At     time.Time
	Via    string // event.Event.Door
	Origin any    // from [Tracer]; nil: nothing is known
}

// FoundChange says how a change was found.
type FoundChange struct {
	Signals     []Signal // at most 20, in the order in which they came
	Hops        int      // hubs that the news had passed through
	Sent        time.Time
	Read        time.Time // the answer was there
	Done        time.Time // on disk
	Conditional bool      // validators were sent
	Status      int       // of the answer; 0: it is a feed of this program, and there was none
	Bytes       int64     // of the feed
	Shards      int       // that are to be told
}

// PageTold says what came of a page of subscribers.
type BatchNotified struct {
	Shard, N   int // N counts the pages of this pass, from 1
	Begin, End time.Time
	Sent       int // that arrived
	Failed     int
	Parked     int // that left the page: they go on, or are owed
	Raised     int // that had something owed already
}

// PartTold says what came of one pass over a part.
type ShardNotified struct {
	Shard      int
	Begin, End time.Time
	Last       time.Time // the last delivery of the pass; zero: there was none
	Sent       int
	Failed     int
	Batches    int
	Continued  bool // another node, or an earlier run, had begun it
}

// Tried is one notification.
type Tried struct {
	Shard   int // of a first try
	Retry   bool
	Attempt int // the first one is 1
	End     time.Time
	To      Subscription
	Reply   Reply
}

// origin is what ctx knows of where a ping comes from.
func (h *Hub) origin(ctx context.Context) any {
	if h.Trace == nil {
		return nil
	}
	return h.Trace.Origin(ctx)
}

// traceReading is ctx for the reading of a topic: what it may find is its next version.
func (h verifying) traceReading(ctx context.Context, t Topic, r *round) context.Context {
	if h.Trace == nil {
		return ctx
	}
	return h.Trace.Reading(ctx, &Topic{ID: t.ID, URL: t.URL, Version: t.Version + 1, ChangedAt: r.receivedAt})
}

// traceChange tells of a change that was found and is on disk.
func (h verifying) traceChange(c *Check, done *Checked, r *round, read time.Time, got answer) {
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

// tracePage tells of a page that is settled.
func (run *shardRun) traceBatch(b *deliveryBatch) {
	batch := BatchNotified{Shard: run.shard.N, N: b.n, Begin: b.begun, End: b.ended, Sent: b.notified, Failed: b.failed}
	if batch.End.IsZero() {
		batch.End = run.hub.now() // what is still open has left it
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

// traceEnd tells of a pass that is over.
func (run *shardRun) traceEnd() {
	h, topic := run.hub, &run.shard.Topic
	if h.Log.Enabled(h.work, slog.LevelDebug) {
		h.logOf(topic).Debug("told", "part", run.shard.N, "told", run.notified, "failed", run.failed)
	}
	if h.Trace == nil {
		return
	}
	p := ShardNotified{
		Shard: run.shard.N, Begin: run.begun, End: h.now(), Last: run.last, Sent: run.notified, Failed: run.failed, Batches: run.batches,
		Continued: run.shard.Pos != 0,
	}
	if p.Continued { // nobody knows when it began, but not before this
		p.Begin = topic.ChangedAt
	}
	h.Trace.ShardDone(topic, p)
}

// traceTry tells of a notification, if it is one to tell of.
func (h delivering) traceTry(d *delivery, r *Reply) {
	if r.NotTried || r.Skipped {
		return
	}
	t := Tried{Retry: d.batch == nil, End: h.now(), To: d.sub, Reply: *r}
	switch {
	case t.Retry:
		t.Attempt = d.sub.Tries + 1
	case r.OK && r.Took < traceSlow:
		return
	default:
		t.Attempt, t.Shard = 1, d.batch.shard
	}
	h.Trace.Tried(d.topic, t)
}

// logOf is the log for what concerns a change.
func (h *Hub) logOf(change *Topic) *slog.Logger {
	l := h.Log.With("topic", change.URL, "version", change.Version)
	if h.Trace == nil {
		return l
	}
	if id := h.Trace.ID(change); id != "" {
		return l.With("trace", id)
	}
	return l
}
