package hub

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub/content"
	"cloudburst/internal/hub/record"
)

// Batches of a run over a shard. Two batches are open, so a crash repeats at most two batches; if
// nodes share the store, type windows bounds the repetitions instead. If slow deliveries of a batch
// hold up other deliveries, the batch is settled without the slow ones.
const (
	batchSize        = 500
	firstBatchSize   = 50 // size of a run's first batch: small, so that the first notifications leave early
	openBatches      = 2
	parkBlockedAfter = 50 * time.Millisecond // if the window is full and slots are free, deliveries are parked after this time, unless a reply is expected soon
	parkPoll         = 10 * time.Millisecond
	parkAfter        = 2 * time.Second
	renewEvery       = 5 * time.Second
	storeRetry       = 250 * time.Millisecond
)

type deliveryState int

const (
	waiting deliveryState = iota
	started
	finished
	parked    // continues under a claim of its own, in its row
	withdrawn // pending in its row; this run must not start it
)

// deliveryBatch is one batch of a shard's subscriptions in progress.
type deliveryBatch struct {
	run   *shardRun
	last  int64 // id of the last subscription
	shard int
	n     int // number of the batch in its run, from 1
	begun time.Time
	done  chan struct{} // closed when no delivery of the batch is open

	mu       sync.Mutex
	open     int
	list     []*delivery
	results  []Result
	notified int
	failed   int
	events   []event.Event

	counted   int   // deliveries that the topic's window counts because they are not recorded yet
	answered  int   // number of counted deliveries that have a reply
	delivered []Key // keys of answered deliveries that need no row of their own, unless flush runs first
	released  bool  // no longer counts against the topic's window

	lastDelivery time.Time // zero: no delivery arrived
	ended        time.Time // when the last open delivery ended
}

// shardRun is one run over one shard.
type shardRun struct {
	hub      delivering
	shard    Shard
	held     *content.Held // the content to deliver; nil: no subscriber needed content when the change was found
	after    int64         // id after which the next batch starts
	pos      int64         // deliveries up to this id are settled
	eof      bool
	window   []*deliveryBatch
	begun    time.Time
	seen     int // subscriptions read by this run
	batches  int
	last     time.Time // time of the last delivery in settled batches
	notified int
	failed   int
	ended    int          // number of failed deliveries that ended their subscription
	lease    atomic.Int64 // end of the claim in nanoseconds; atomic because deliveries read it
	over     bool         // the run has finished, or another node has claimed the shard

	next    []Subscription // read from the store, but not submitted
	readAt  time.Time
	end     bool          // the store has no subscriptions after next
	starved bool          // the window has no capacity for next
	wakeup  chan struct{} // signals that the window may have capacity
}

// delivering contains the methods that notify subscribers and retry.
type delivering struct{ *Hub }

// runShard runs once over a claimed shard and leaves it finished, released or lost.
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
		case len(run.window) > 0: // wait for open deliveries, even while stopping
		case ctx.Err() != nil: // nothing was read because of the stop, so the shard may still have subscriptions
			run.release()
			return
		case run.starved: // another shard of the topic uses the whole window
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

// fill reads and submits batches until the window is full or the shard ends.
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
	case <-run.wakeup: // the loop below checks the capacity
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

// submit passes a batch to the dispatcher. It omits subscriptions with a pending delivery and
// leaves them to the retry loop, so that each subscription has one delivery at a time.
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
			b.list = append(b.list, &delivery{sub: s, topic: &run.shard.Topic, hops: hops, held: run.held, first: run.batches == 1, finish: h.finishBatched, batch: b})
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

// finishBatched processes the reply of a delivery that belongs, or belonged, to a batch.
func (h delivering) finishBatched(d *delivery, r Reply) {
	b := d.batch
	b.mu.Lock()
	if d.state == withdrawn {
		b.mu.Unlock()
		return
	}
	if d.state == parked {
		// The row is marked as parked only when the checkpoint is committed. Until then the reply
		// is kept, and unpark processes it.
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

// countReply counts one reply in the statistics. at is the time of a successful delivery, or zero.
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

// wait returns when the first batches are done or have been slow for long enough. If the run must
// stop, it waits for all batches and returns true.
func (run *shardRun) wait(ctx context.Context) (stopping bool) {
	if len(run.window) == 0 { // another shard of the topic uses the whole window
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
	if ctx.Err() == nil { // read ctx.Err once, because ctx may end at any moment
		return false
	}
	// The dispatcher returns waiting deliveries and completes started ones. Wait for all batches:
	// an open delivery of a later batch may still be sent, so it must not be stored as pending.
	for _, b := range run.window {
		select {
		case <-b.done:
		case <-run.hub.drained:
		}
	}
	return true
}

// settle writes a checkpoint for the first batches of the window that are done or parked.
func (run *shardRun) settle(stopping bool) {
	if !stopping && run.gathering() {
		return
	}
	var ready []*deliveryBatch
	for _, b := range run.window {
		if !run.settled(b, stopping) {
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

// settled reports whether every delivery of a batch is finished. If the batch may be parked,
// settled parks its open deliveries first.
func (run *shardRun) settled(b *deliveryBatch, stopping bool) bool {
	if b.isDone() {
		return true
	}
	if !stopping && !run.parkable(b) {
		return false
	}
	run.park(b, stopping)
	return true
}

// commit writes a checkpoint until it is stored or the claim is lost.
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

// checkpoint repeats the write until the checkpoint is stored, the claim is lost, or the program
// ends.
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

// renew extends the lease of a run that has no results to write.
func (run *shardRun) renew() {
	if time.Unix(0, run.lease.Load()).Sub(run.hub.now()) < shardLease-renewEvery {
		run.commit(nil, false)
	}
}

// finish ends a run without open batches.
func (run *shardRun) finish() { run.commit(nil, true) }

// release returns an unfinished shard to the store, for a graceful stop.
func (run *shardRun) release() {
	ctx, cancel := context.WithTimeout(context.Background(), storeRetry*8)
	defer cancel()
	if err := run.hub.Store.ReleaseShards(ctx, run.hub.now(), []Shard{run.shard}); err != nil {
		run.hub.logOf(&run.shard.Topic).Warn("give back a part", "part", run.shard.N, "err", err)
	}
}

// needsRetry reports whether the retry loop has new work.
func needsRetry(results []Result) bool {
	for _, r := range results {
		if r.Outcome != Delivered && r.Outcome != Gone {
			return true
		}
	}
	return false
}
