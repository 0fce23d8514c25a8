package hub

import (
	"slices"
	"sync"
	"time"
)

// If nodes share the store, another node takes over the shards of a crashed one and repeats all
// deliveries that were not recorded. Therefore each node limits these deliveries to
// Options.MaxUnrecorded per topic. This limit is the window of the topic. Its shards share the
// window, and one shard sends at a time.
//
// A slow delivery must not hold up the others. If a delivery has no reply after excludeAfter, the
// window does not count it until the reply arrives. After a crash another node may repeat it, like
// any delivery without a reply, because it is unknown whether the notification arrived. An answered
// delivery counts until it is recorded: by the progress of its shard, or in its own row if an
// earlier slow delivery blocks that progress.
const (
	batchesPerWindow = 8                      // number of batches that a window holds, most of which are recorded in one transaction
	batchesPerCommit = 6                      // number of finished batches that no longer wait for others
	gatherFor        = 20 * time.Millisecond  // maximum time that a finished batch waits for others
	maxBatchesAhead  = 48                     // maximum number of open batches of a shard, if many deliveries are excluded
	readAheadTTL     = time.Second            // subscriptions read ahead are read again when older
	excludeAfter     = 250 * time.Millisecond // a delivery without a reply stops counting after this time; a shorter time would let a short load spike defeat the limit
	flushFraction    = 5                      // flush writes rows if they free at least this fraction (one fifth) of a window
	flushAfter       = 50 * time.Millisecond  // flush waits until the first batch has this age
)

// windows holds one window per topic that this node is delivering or has unrecorded deliveries
// of.
type windows struct {
	max int // maximum number of unrecorded deliveries per topic; 0: no limit, because there is a single node

	mu sync.Mutex
	of map[int64]*window
}

// window is guarded by windows.mu.
type window struct {
	used    int       // number of deliveries that were sent but are not recorded
	holder  *shardRun // the run that may send now
	runs    int       // number of runs of the topic on this node
	waiting map[*shardRun]bool
}

// window returns the window of a topic. The caller holds w.mu.
func (w *windows) window(topic int64) *window {
	v := w.of[topic]
	if v == nil {
		v = &window{waiting: map[*shardRun]bool{}}
		w.of[topic] = v
	}
	return v
}

// startRun adds a run to the window of its topic.
func (w *windows) startRun(run *shardRun) {
	if w.max == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.window(run.shard.TopicID).runs++
}

// endRun removes a run from the window of its topic.
func (w *windows) endRun(run *shardRun) {
	if w.max == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.window(run.shard.TopicID)
	v.runs--
	delete(v.waiting, run)
	if v.holder == run {
		v.holder = nil
	}
	w.adjust(run.shard.TopicID, v, 0)
}

// take reserves capacity for n deliveries of a run. If the window has too little capacity, take
// returns false, and the run is woken later.
func (w *windows) take(run *shardRun, n int) bool {
	if w.max == 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.window(run.shard.TopicID)
	if v.holder == nil {
		v.holder = run
	}
	if v.holder != run || v.used+n > w.max {
		v.waiting[run] = true
		return false
	}
	delete(v.waiting, run)
	v.used += n
	return true
}

// yield lets another run of the topic send, because this run has nothing more to send.
func (w *windows) yield(run *shardRun) {
	if w.max == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.window(run.shard.TopicID); v.holder == run {
		v.holder = nil
		w.adjust(run.shard.TopicID, v, 0)
	}
}

// adjustUnchecked adds n, which may be negative, to the used capacity of a topic's window, even if
// the window is full.
func (w *windows) adjustUnchecked(topic int64, n int) {
	if w.max == 0 || n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adjust(topic, w.window(topic), n)
}

// adjust adds n to the used capacity. If that frees capacity, it wakes the sending run or chooses
// the next one. The caller holds w.mu.
func (w *windows) adjust(topic int64, v *window, n int) {
	v.used += n
	if n <= 0 {
		if v.holder == nil {
			for run := range v.waiting {
				if v.holder == nil || run.shard.N < v.holder.shard.N {
					v.holder = run
				}
			}
		}
		if v.waiting[v.holder] {
			v.holder.hub.wake(v.holder.wakeup)
		}
	}
	if v.used == 0 && v.runs == 0 {
		delete(w.of, topic)
	}
}

// othersWait reports whether another run of the topic is waiting.
func (w *windows) othersWait(run *shardRun) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.of[run.shard.TopicID]
	return v != nil && (len(v.waiting) > 1 || len(v.waiting) == 1 && !v.waiting[run])
}

// nextBatchSize returns the maximum size of the next batch.
func (run *shardRun) nextBatchSize() int {
	if maxSize := run.hub.windows.max; maxSize > 0 {
		return max(maxSize/batchesPerWindow, 1)
	}
	return batchSize
}

// readAhead reads the next subscriptions, enough for several batches, unless some that were read
// earlier are still waiting.
func (run *shardRun) readAhead(read func(after int64, size int) ([]Subscription, error)) error {
	now := run.hub.now()
	if len(run.next) > 0 && now.Sub(run.readAt) < readAheadTTL {
		return nil
	}
	size := batchSize
	if run.seen == 0 {
		size = firstBatchSize
	}
	subs, err := read(run.after, size)
	if err != nil {
		return err
	}
	run.next, run.readAt, run.end = subs, now, len(subs) < size
	return nil
}

// setLease stores the end of this run's claim.
func (run *shardRun) setLease(until time.Time) { run.lease.Store(until.UnixNano()) }

// lapsed reports whether another node may have claimed the shard, because this process stalled or
// could not reach the store. Deliveries that were not sent yet are then not sent.
func (run *shardRun) lapsed(now time.Time) bool {
	return run.hub.windows.max > 0 && now.UnixNano() > run.lease.Load()-int64(maxClockSkew)
}

// holdsUpOthers reports whether other deliveries wait for the open deliveries of this run.
func (run *shardRun) holdsUpOthers() bool {
	return !run.eof || run.hub.windows.max > 0 && run.hub.windows.othersWait(run)
}

// awaited returns the batch to wait for: when it is done, there are enough finished batches for a
// transaction. If the first batch is already done, hold is how long it still waits for others. hold
// is 0 while the first batch is not done, if the window has no limit, and if the finished batches at
// the front are to be recorded now.
func (run *shardRun) awaited() (b *deliveryBatch, hold time.Duration) {
	first := run.window[0]
	if run.hub.windows.max == 0 || !first.isDone() {
		return first, 0
	}
	if hold = first.ended.Add(gatherFor).Sub(run.hub.now()); hold <= 0 {
		return first, 0
	}
	for _, b := range slices.Backward(run.window[:min(len(run.window), batchesPerCommit)]) {
		if !b.isDone() {
			return b, hold
		}
	}
	return first, 0
}

// gathering reports whether finished batches still wait for others, to share a transaction.
func (run *shardRun) gathering() bool {
	if len(run.window) == 0 {
		return false
	}
	_, hold := run.awaited()
	return hold > 0
}

func (b *deliveryBatch) isDone() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// excludeSlow stops counting deliveries that have been open for excludeAfter.
func (run *shardRun) excludeSlow() {
	n, old := 0, run.hub.now().Add(-excludeAfter)
	for _, b := range run.window {
		long := run.hub.dispatch.sentBefore(b.openDeliveries(), old)
		b.mu.Lock()
		for _, d := range long {
			if d.state == started && !d.excluded {
				d.excluded = true
				b.counted--
				n++
			}
		}
		b.mu.Unlock()
	}
	run.hub.windows.adjustUnchecked(run.shard.TopicID, -n)
}

// uncount stops counting the deliveries of batches, because they are recorded or another node has
// claimed the shard.
func (run *shardRun) uncount(batches []*deliveryBatch) {
	n := 0
	for _, b := range batches {
		b.mu.Lock()
		n += b.counted
		b.counted, b.released = 0, true
		b.mu.Unlock()
	}
	run.hub.windows.adjustUnchecked(run.shard.TopicID, -n)
}

// flush records the replies of batches behind an unfinished batch, one row per delivery. Rows cost
// more than the position of a shard, so flush runs only when the window is full. It reports whether
// it wrote anything.
func (run *shardRun) flush() bool {
	n := 0
	for _, b := range run.window {
		b.mu.Lock()
		n += b.answered
		b.mu.Unlock()
	}
	h := run.hub
	if len(run.window) == 0 || n*flushFraction < h.windows.max || h.now().Sub(run.window[0].begun) < flushAfter {
		return false
	}
	c := Checkpoint{Shard: run.shard, Pos: run.pos}
	written := make([]int, len(run.window))
	for i, b := range run.window {
		b.mu.Lock()
		c.Results, c.Events = append(c.Results, b.results...), append(c.Events, b.events...)
		for _, k := range b.delivered {
			c.Results = append(c.Results, Result{Key: k, Version: run.shard.Want, Outcome: Delivered})
		}
		run.ended += dropped(b.events)
		b.results, b.events, b.delivered = nil, nil, nil
		written[i], b.answered = b.answered, 0
		b.mu.Unlock()
	}
	h.stamp(c.Events)
	if _, err := run.checkpoint(&c); err != nil {
		run.over = true
		run.abandon(nil)
		return true
	}
	run.setLease(c.Until)
	h.publish(c.Events...)
	for i, b := range run.window {
		b.mu.Lock()
		b.counted -= written[i]
		b.mu.Unlock()
		h.windows.adjustUnchecked(run.shard.TopicID, -written[i])
	}
	if needsRetry(c.Results) {
		h.wake(h.wakeRetry)
	}
	return true
}

// countAnswered counts a reply of b, and remembers the key if the reply needs no row of its own. It
// returns how many more deliveries the window must count. The caller holds the lock of b.
func (b *deliveryBatch) countAnswered(d *delivery, nothing bool) (more int) {
	b.answered++
	if nothing {
		b.delivered = append(b.delivered, d.sub.Key())
	}
	if d.excluded && !b.released {
		b.counted++
		return 1
	}
	return 0
}

// sentBefore returns the deliveries of list that were started before the time then.
func (d *dispatcher) sentBefore(list []*delivery, then time.Time) (old []*delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range list {
		if !v.begun.IsZero() && v.begun.Before(then) {
			old = append(old, v)
		}
	}
	return old
}
