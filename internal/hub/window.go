package hub

import (
	"sync"
	"time"
)

// Where machines share the store, one that dies is followed by another, which tells
// again whatever was not written down. So of each topic a machine has no more than
// Options.Unwritten deliveries that are sent, or about to be, and not written down. Its
// parts share that, and one of them at a time sends.
//
// What takes long would hold up the rest, so that one whose answer is not there after
// lentAfter is counted no more until it is. It may still be sent again by another
// machine, as any that is not answered may: nobody knows whether it arrived. What is
// answered is counted until it is on disk: by the progress of its part, or, when an
// older one that takes long stands before it, in its own row.
const (
	batchesPerWindow = 8                      // a window's worth; most of them are one transaction
	batchesPerCommit = 6                      // its first page waits for the others
	gatherFor        = 10 * time.Millisecond  // but no longer than this
	maxBatchesAhead  = 48                     // of a part, when much of it was lent
	readAheadTTL     = time.Second            // what was read before its time came is read again after that
	excludeAfter     = 250 * time.Millisecond // sooner, and some load that passes would undo the bound
	flushFraction    = 5                      // a fifth of a window is worth a transaction of rows
	flushAfter       = 50 * time.Millisecond  // of its first page
)

// windows are those of all topics that this machine tells, or has something of that is
// not written down.
type windows struct {
	max int // of each; 0: nobody else would tell anything again

	mu sync.Mutex
	of map[int64]*window
}

// window is guarded by windows.mu.
type window struct {
	used    int       // sent and not written down
	holder  *shardRun // the pass that sends
	runs    int       // of the topic, here
	waiting map[*shardRun]bool
}

// window is that of a topic. w.mu is held.
func (w *windows) window(topic int64) *window {
	v := w.of[topic]
	if v == nil {
		v = &window{waiting: map[*shardRun]bool{}}
		w.of[topic] = v
	}
	return v
}

// join adds a pass.
func (w *windows) startRun(run *shardRun) {
	if w.max == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.window(run.shard.TopicID).runs++
}

// leave ends a pass.
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

// take admits n deliveries of a pass; if there is no room it is woken later.
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

// pass lets another pass of the topic send: this one has nothing more to send.
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

// add counts n more, or with n < 0 less, whether there is room or not.
func (w *windows) adjustUnchecked(topic int64, n int) {
	if w.max == 0 || n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.adjust(topic, w.window(topic), n)
}

// change counts, and wakes who waits when there is more room: the pass that sends, or the
// next to do so. w.mu is held.
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

// wanted reports that another pass of the topic waits.
func (w *windows) othersWait(run *shardRun) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.of[run.shard.TopicID]
	return v != nil && (len(v.waiting) > 1 || len(v.waiting) == 1 && !v.waiting[run])
}

// size is how many the next page has, if so many were read.
func (run *shardRun) nextBatchSize() int {
	if maxSize := run.hub.windows.max; maxSize > 0 {
		return max(maxSize/batchesPerWindow, 1)
	}
	return batchSize
}

// ahead reads what comes next, some pages at once, unless there is something left that
// was read and had to wait.
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

// keep notes until when this pass is ours.
func (run *shardRun) setLease(until time.Time) { run.lease.Store(until.UnixNano()) }

// lapsed reports that another machine may have taken the pass over: this one stood still,
// or could not reach the store. What is not sent yet is not sent any more.
func (run *shardRun) lapsed(now time.Time) bool {
	return run.hub.windows.max > 0 && now.UnixNano() > run.lease.Load()-int64(maxClockSkew)
}

// pressed reports that others wait for what this pass has under way.
func (run *shardRun) holdsUpOthers() bool {
	return !run.eof || run.hub.windows.max > 0 && run.hub.windows.othersWait(run)
}

// awaited is the page that ends the wait of a pass: with those before it, it is worth a
// transaction. hold is how long it is still waited for, when the first one is done.
func (run *shardRun) awaited() (b *deliveryBatch, hold time.Duration) {
	if run.hub.windows.max == 0 {
		return run.window[0], 0
	}
	for i, b := range run.window[:min(len(run.window), batchesPerCommit)] {
		if !b.isDone() {
			if i == 0 {
				return b, 0
			}
			if hold = run.window[0].ended.Add(gatherFor).Sub(run.hub.now()); hold > 0 {
				return b, hold
			}
			break
		}
	}
	return run.window[0], 0
}

func (b *deliveryBatch) isDone() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// lend counts no more what is under way for long and not answered.
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

// forget counts pages no more: they are written down, or somebody else's.
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

// flush writes down what is answered behind pages that are not: rows cost more than the
// progress of a part, so it is done only when there is no room for more. It reports
// whether it wrote anything.
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

// answer counts an answered delivery of p, whose lock is held, and keeps which it was
// when there is nothing to write of it. It returns how many more are counted.
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

// begunBefore are those of list that were sent before then.
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
