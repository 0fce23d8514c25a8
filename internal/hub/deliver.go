package hub

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub/content"
	"cloudburst/internal/hub/record"
)

// Paging through a part. Two pages are in flight, so that a crash repeats at most
// two; where machines share the store, see windows. A page whose slow deliveries hold up
// the rest is settled without them.
const (
	batchSize        = 500
	firstBatchSize   = 50 // of a pass: the sooner the first ones are told
	openBatches      = 2
	shardLease       = 15 * time.Second
	maxShardRuns     = 16
	parkBlockedAfter = 50 * time.Millisecond // when the window is full and slots are free; and what is known to take longer gets that
	parkPoll         = 10 * time.Millisecond
	parkAfter        = 2 * time.Second
	splitAbove       = 15_000 // subscribers of a part that make it worth splitting
	splitTarget      = 10_000
	renewEvery       = 5 * time.Second
	storeRetry       = 250 * time.Millisecond
	maxClaimOnCommit = 4
	shardsPerClaim   = 2                      // are claimed together where others share the store
	headStart        = 100 * time.Millisecond // of a machine with nothing to tell; a hint is there by then
)

type deliveryState int

const (
	waiting deliveryState = iota
	started
	finished
	parked    // goes on under a claim of its own
	withdrawn // owed, and not to be started any more
)

// page is one page of a part on its way.
type deliveryBatch struct {
	run   *shardRun
	last  int64 // id of its last subscription
	shard int
	n     int // counts the pages of a pass, from 1
	begun time.Time
	done  chan struct{} // closed when nothing is open any more

	mu       sync.Mutex
	open     int
	list     []*delivery
	results  []Result
	notified int
	failed   int
	events   []event.Event

	counted   int   // of the topic's window: not written down
	answered  int   // of them those that are answered
	delivered []Key // of them those of which nothing has to be written, but by flush
	released  bool  // they are counted no more

	lastDelivery time.Time // when the last one arrived; zero: none did
	ended        time.Time // when nothing was open any more
}

// telling is one pass over one part.
type shardRun struct {
	hub      delivering
	shard    Shard
	held     *content.Held // the content that is told; nil: nobody wanted it when the version came
	after    int64         // where the next page starts
	pos      int64         // settled up to here
	eof      bool
	window   []*deliveryBatch
	begun    time.Time
	seen     int // subscriptions that this pass has met
	batches  int
	last     time.Time // delivery, of the pages that are settled
	notified int
	failed   int
	ended    int          // of those that failed, subscriptions that are over
	lease    atomic.Int64 // until when the pass is ours; in nanoseconds, for its deliveries look too
	over     bool         // finished, or somebody else's

	next    []Subscription // read, and not submitted yet
	readAt  time.Time
	end     bool          // nothing comes after next
	starved bool          // there was no room for next
	wakeup  chan struct{} // there may be room
}

// delivering notifies subscribers, and tries again.
type delivering struct{ *Hub }

// tell runs one pass over a claimed part and leaves it finished, released or lost.
func (h delivering) runShard(ctx context.Context, shard Shard) {
	run := &shardRun{hub: h, shard: shard, after: shard.Pos, pos: shard.Pos, begun: h.now(), wakeup: make(chan struct{}, 1)}
	run.setLease(h.now().Add(shardLease))
	h.windows.startRun(run)
	defer func() {
		run.uncount(run.window)
		h.windows.endRun(run)
		if run.held != nil {
			h.contents.Release(run.held)
		}
	}()
	if !run.pin(ctx) {
		run.release()
		return
	}
	for !run.over {
		if err := run.fill(ctx); err != nil && ctx.Err() == nil {
			h.logOf(&shard.Topic).Error("read a page of subscriptions", "part", shard.N, "err", err)
			h.pause(ctx, storeRetry)
			continue
		}
		switch {
		case len(run.window) > 0: // also when it stops: what is under way is waited for
		case ctx.Err() != nil: // nothing was read, which does not mean that nobody is there
			run.release()
			return
		case run.starved: // another part of the topic has all the room
		default:
			run.finish()
			return
		}
		stopping := run.wait(ctx)
		run.settle(stopping)
		if stopping && len(run.window) == 0 {
			run.release()
			return
		}
	}
}

// fill reads and submits pages until the window is full or the part ends.
func (run *shardRun) fill(ctx context.Context) error {
	h := run.hub
	read := func(after int64, size int) ([]Subscription, error) {
		return h.Store.Batch(ctx, run.shard, after, h.now(), size)
	}
	open := openBatches
	if h.windows.max > 0 {
		open = maxBatchesAhead
	}
	select {
	case <-run.wakeup: // that there may be room is seen now
	default:
	}
	for run.starved = false; len(run.window) < open && !run.eof && ctx.Err() == nil; {
		if err := run.readAhead(read); err != nil {
			return err
		}
		n := min(len(run.next), run.nextBatchSize())
		if n > 0 && !h.windows.take(run, n) {
			run.starved = true
			return nil
		}
		subs := run.next[:n]
		run.next = run.next[n:]
		run.eof = run.end && len(run.next) == 0
		if len(subs) > 0 {
			run.seen += len(subs)
			run.after = subs[len(subs)-1].ID
			run.window = append(run.window, run.submit(subs))
		}
	}
	if run.eof {
		h.windows.yield(run)
	}
	return nil
}

// submit hands a page to the dispatcher. What has something owed already goes the
// way of retries, which keeps it at one delivery at a time.
//
// spec:cloudburst#newest-wins
func (run *shardRun) submit(subs []Subscription) *deliveryBatch {
	h, version := run.hub, run.shard.Want
	run.batches++
	b := &deliveryBatch{run: run, last: subs[len(subs)-1].ID, shard: run.shard.N, n: run.batches, begun: h.now(), done: make(chan struct{})}
	b.list = make([]*delivery, 0, len(subs))
	hops := h.hopsOf(run.shard.TopicID)
	for _, s := range subs {
		switch {
		case s.Sent >= version:
		case !s.NextAt.IsZero():
			b.results = append(b.results, Result{Key: s.Key(), Version: version, Outcome: Raised, NextAt: b.begun})
		default:
			b.list = append(b.list, &delivery{sub: s, topic: &run.shard.Topic, hops: hops, held: run.held, finish: h.finishBatched, batch: b})
		}
	}
	b.open, b.counted = len(b.list), len(b.list)
	h.windows.adjustUnchecked(run.shard.TopicID, len(b.list)-len(subs))
	if b.open == 0 {
		b.ended = b.begun
		close(b.done)
		return b
	}
	h.dispatch.submit(b.list)
	return b
}

// finishPaged takes the answer of a delivery that belongs, or belonged, to a page.
func (h delivering) finishBatched(d *delivery, r Reply) {
	b := d.batch
	b.mu.Lock()
	if d.state == withdrawn {
		b.mu.Unlock()
		return
	}
	if d.state == parked {
		// Its row says so only once the checkpoint is committed: settle passes it on.
		kept := r
		d.reply = &kept
		claim := d.claim
		b.mu.Unlock()
		if claim != 0 {
			h.finishRetry(d, r)
		}
		return
	}
	d.state = finished
	h.applyAgeing(d, &r)
	at := h.countReply(d, r)
	if r.OK {
		b.notified++
		b.lastDelivery = at
	} else if !r.NotTried && !r.Skipped {
		b.failed++
		b.events = append(b.events, h.failureEvent(d, r))
	}
	res, ok := h.resultOf(d, r)
	if ok {
		b.results = append(b.results, res)
	}
	more := 0
	if h.windows.max > 0 {
		more = b.countAnswered(d, !ok)
	}
	b.open--
	last := b.open == 0
	if last {
		b.ended = h.now()
	}
	b.mu.Unlock()
	h.windows.adjustUnchecked(d.topic.ID, more)
	if h.Trace != nil {
		h.traceTry(d, &r)
	}
	if last {
		close(b.done)
	}
}

// note keeps the numbers of one answered delivery. at is when one arrived.
func (h delivering) countReply(d *delivery, r Reply) (at time.Time) {
	switch {
	case r.OK:
		at = h.now()
		h.stats.delivered(at.Sub(d.topic.ChangedAt))
	case !r.NotTried && !r.Skipped:
		h.stats.failed.Add(1)
	}
	return at
}

// resultOf turns an answer into what the store must write; false: nothing.
func (h delivering) resultOf(d *delivery, r Reply) (Result, bool) {
	res := Result{Key: d.sub.Key(), Version: d.topic.Version, Claim: d.claim}
	if r.OK {
		res.Outcome = Delivered
		return res, d.claim != 0 || d.sub.Failures > 0
	}
	if r.Skipped {
		res.Outcome = Delivered // there will be nothing to send later either
		return res, d.claim != 0
	}
	now := h.now()
	switch {
	case r.Gone:
		res.Outcome = Gone
	case r.NotTried:
		res.Outcome, res.NextAt = Postponed, now.Add(r.RetryAfter)
	default:
		res.Outcome, res.Error = Failed, r.Text
		res.Tries = d.sub.Tries + 1
		if d.topic.Version > d.sub.Counted {
			res.Tries = 1
		}
		res.NextAt = h.nextTry(d.sub, now, res.Tries, r.RetryAfter)
	}
	return res, true
}

// wait returns when the first pages are done, or have held things up long enough. When
// the pass has to stop it waits for all of them, and says so.
func (run *shardRun) wait(ctx context.Context) (stopping bool) {
	if len(run.window) == 0 { // the room is another part's
		run.hub.sleep(ctx, run.wakeup, renewEvery)
		return ctx.Err() != nil
	}
	front, hold := run.awaited()
	pause := max(front.begun.Add(parkAfter).Sub(run.hub.now()), parkBlockedAfter/2)
	switch {
	case hold > 0:
		pause = hold
	case run.holdsUpOthers():
		pause = parkPoll
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-front.done:
	case <-timer.C:
	case <-run.wakeup:
	case <-ctx.Done():
	}
	if ctx.Err() == nil { // asked once: it may end at any moment
		return false
	}
	// The dispatcher gives back what waits and lets the rest end: all of it, for
	// what is under way in a later page may not be taken for owed.
	for _, b := range run.window {
		select {
		case <-b.done:
		case <-run.hub.drained:
		}
	}
	return true
}

// settle checkpoints the pages at the front that are done, or that are parked.
func (run *shardRun) settle(stopping bool) {
	var ready []*deliveryBatch
	for _, b := range run.window {
		if !run.decided(b, stopping) {
			break
		}
		ready = append(ready, b)
	}
	if len(ready) == 0 {
		if run.starved && !stopping {
			run.excludeSlow()
		}
		if !run.starved || stopping || !run.flush() {
			run.renew()
		}
		return
	}
	run.window = run.window[len(ready):]
	run.commit(ready, run.eof && len(run.window) == 0 && !stopping)
}

// closed reports whether all of a page is decided, and parks what can be parked so
// that it is.
func (run *shardRun) decided(b *deliveryBatch, stopping bool) bool {
	if b.isDone() {
		return true
	}
	if !stopping && !run.parkable(b) {
		return false
	}
	run.park(b, stopping)
	return true
}

// commit writes a checkpoint until it is on disk or the part is somebody else's.
func (run *shardRun) commit(batches []*deliveryBatch, finish bool) {
	h := run.hub
	c := Checkpoint{Shard: run.shard, Pos: run.pos, Finish: finish}
	for _, b := range batches {
		b.mu.Lock()
		c.Pos = b.last
		c.Results = append(c.Results, b.results...)
		c.Events = append(c.Events, b.events...)
		run.notified, run.failed, run.ended = run.notified+b.notified, run.failed+b.failed, run.ended+dropped(b.events)
		if h.Trace != nil {
			run.traceBatch(b)
		}
		b.mu.Unlock()
	}
	if finish && run.notified+run.failed > 0 {
		c.Events = append(c.Events, run.summary())
	}
	h.stamp(c.Events)
	again, err := run.checkpoint(&c)
	if err != nil {
		run.over = true
		run.abandon(batches)
		run.uncount(batches)
		return
	}
	run.pos = c.Pos
	run.setLease(c.Until)
	h.publish(c.Events...)
	for _, b := range batches {
		h.unpark(b)
	}
	run.uncount(batches)
	if needsRetry(c.Results) {
		h.wake(h.wakeRetry)
	}
	if finish {
		run.over = true
		run.traceEnd()
		h.runEnded(run, again)
	}
}

// checkpoint tries until it is written, the claim is lost, or the program ends.
func (run *shardRun) checkpoint(c *Checkpoint) (again bool, err error) {
	h := run.hub
	for {
		c.Now = h.now()
		c.Until = c.Now.Add(shardLease)
		ctx, cancel := context.WithTimeout(context.Background(), shardLease)
		again, err = h.Store.Checkpoint(ctx, *c)
		cancel()
		h.stats.writes.Add(1)
		if err == nil || errors.Is(err, record.ErrLost) {
			return again, err
		}
		if fault.CodeOf(err) != fault.Unavailable {
			h.logOf(&run.shard.Topic).Error("write a checkpoint", "part", run.shard.N, "err", err)
		}
		select {
		case <-h.drained:
			return false, err
		case <-time.After(storeRetry):
		}
	}
}

// renew keeps the lease of a pass that has nothing to write.
func (run *shardRun) renew() {
	if time.Unix(0, run.lease.Load()).Sub(run.hub.now()) < shardLease-renewEvery {
		run.commit(nil, false)
	}
}

// finish ends a pass that has nothing open.
func (run *shardRun) finish() { run.commit(nil, true) }

// release gives the part back in the middle, for a graceful stop.
func (run *shardRun) release() {
	ctx, cancel := context.WithTimeout(context.Background(), storeRetry*8)
	defer cancel()
	if err := run.hub.Store.ReleaseShards(ctx, run.hub.now(), []Shard{run.shard}); err != nil {
		run.hub.logOf(&run.shard.Topic).Warn("give back a part", "part", run.shard.N, "err", err)
	}
}

// owes reports whether the retry loop has something new to wait for.
func needsRetry(results []Result) bool {
	for _, r := range results {
		if r.Outcome != Delivered && r.Outcome != Gone {
			return true
		}
	}
	return false
}

// passEnded looks after a part that was told whole.
func (h delivering) runEnded(run *shardRun, again bool) {
	if again {
		h.wake(h.wakeShards)
		return
	}
	if run.shard.Pos != 0 || run.seen < splitAbove {
		return
	}
	// The part's share of all buckets tells how many subscribers there are in all.
	total := float64(run.seen) * Buckets / float64(run.shard.Hi-run.shard.Lo+1)
	ctx, cancel := context.WithTimeout(context.Background(), shardLease)
	defer cancel()
	if err := h.Store.Split(ctx, run.shard.TopicID, int(total/splitTarget)+1); err != nil {
		h.logOf(&run.shard.Topic).Warn("split a topic", "err", err)
	}
}

// newClaim is a fence for one retry delivery or batch of them; never 0.
func newClaim() int64 { return rand.Int64N(1<<62) + 1 }
