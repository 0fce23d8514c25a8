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
	windowPages   = 8                      // a window's worth; most of them are one transaction
	pagesTogether = 6                      // its first page waits for the others
	gatherFor     = 10 * time.Millisecond  // but no longer than this
	pagesAhead    = 48                     // of a part, when much of it was lent
	readsLast     = time.Second            // what was read before its time came is read again after that
	lentAfter     = 250 * time.Millisecond // sooner, and some load that passes would undo the bound
	minFlush      = 5                      // a fifth of a window is worth a transaction of rows
	flushAfter    = 50 * time.Millisecond  // of its first page
)

// windows are those of all topics that this machine tells, or has something of that is
// not written down.
type windows struct {
	most int // of each; 0: nobody else would tell anything again

	mu sync.Mutex
	of map[int64]*window
}

// window is guarded by windows.mu.
type window struct {
	used    int      // sent and not written down
	holder  *telling // the pass that sends
	passes  int      // of the topic, here
	waiting map[*telling]bool
}

// window is that of a topic. w.mu is held.
func (w *windows) window(topic int64) *window {
	v := w.of[topic]
	if v == nil {
		v = &window{waiting: map[*telling]bool{}}
		w.of[topic] = v
	}
	return v
}

// join adds a pass.
func (w *windows) join(t *telling) {
	if w.most == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.window(t.part.TopicID).passes++
}

// leave ends a pass.
func (w *windows) leave(t *telling) {
	if w.most == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.window(t.part.TopicID)
	v.passes--
	delete(v.waiting, t)
	if v.holder == t {
		v.holder = nil
	}
	w.change(t.part.TopicID, v, 0)
}

// take admits n deliveries of a pass; if there is no room it is woken later.
func (w *windows) take(t *telling, n int) bool {
	if w.most == 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.window(t.part.TopicID)
	if v.holder == nil {
		v.holder = t
	}
	if v.holder != t || v.used+n > w.most {
		v.waiting[t] = true
		return false
	}
	delete(v.waiting, t)
	v.used += n
	return true
}

// pass lets another pass of the topic send: this one has nothing more to send.
func (w *windows) pass(t *telling) {
	if w.most == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.window(t.part.TopicID); v.holder == t {
		v.holder = nil
		w.change(t.part.TopicID, v, 0)
	}
}

// add counts n more, or with n < 0 less, whether there is room or not.
func (w *windows) add(topic int64, n int) {
	if w.most == 0 || n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change(topic, w.window(topic), n)
}

// change counts, and wakes who waits when there is more room: the pass that sends, or the
// next to do so. w.mu is held.
func (w *windows) change(topic int64, v *window, n int) {
	v.used += n
	if n <= 0 {
		if v.holder == nil {
			for t := range v.waiting {
				if v.holder == nil || t.part.N < v.holder.part.N {
					v.holder = t
				}
			}
		}
		if v.waiting[v.holder] {
			v.holder.hub.wake(v.holder.woken)
		}
	}
	if v.used == 0 && v.passes == 0 {
		delete(w.of, topic)
	}
}

// wanted reports that another pass of the topic waits.
func (w *windows) wanted(t *telling) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.of[t.part.TopicID]
	return v != nil && (len(v.waiting) > 1 || len(v.waiting) == 1 && !v.waiting[t])
}

// size is how many the next page has, if so many were read.
func (t *telling) size() int {
	if most := t.hub.windows.most; most > 0 {
		return max(most/windowPages, 1)
	}
	return pageSize
}

// ahead reads what comes next, some pages at once, unless there is something left that
// was read and had to wait.
func (t *telling) ahead(read func(after int64, size int) ([]Subscription, error)) error {
	now := t.hub.now()
	if len(t.next) > 0 && now.Sub(t.readAt) < readsLast {
		return nil
	}
	size := pageSize
	if t.seen == 0 {
		size = firstPage
	}
	subs, err := read(t.after, size)
	if err != nil {
		return err
	}
	t.next, t.readAt, t.end = subs, now, len(subs) < size
	return nil
}

// keep notes until when this pass is ours.
func (t *telling) keep(until time.Time) { t.lease.Store(until.UnixNano()) }

// lapsed reports that another machine may have taken the pass over: this one stood still,
// or could not reach the store. What is not sent yet is not sent any more.
func (t *telling) lapsed(now time.Time) bool {
	return t.hub.windows.most > 0 && now.UnixNano() > t.lease.Load()-int64(clocksApart)
}

// pressed reports that others wait for what this pass has under way.
func (t *telling) pressed() bool {
	return !t.eof || t.hub.windows.most > 0 && t.hub.windows.wanted(t)
}

// awaited is the page that ends the wait of a pass: with those before it, it is worth a
// transaction. hold is how long it is still waited for, when the first one is done.
func (t *telling) awaited() (p *page, hold time.Duration) {
	if t.hub.windows.most == 0 {
		return t.window[0], 0
	}
	for i, p := range t.window[:min(len(t.window), pagesTogether)] {
		if !p.isDone() {
			if i == 0 {
				return p, 0
			}
			if hold = t.window[0].ended.Add(gatherFor).Sub(t.hub.now()); hold > 0 {
				return p, hold
			}
			break
		}
	}
	return t.window[0], 0
}

func (p *page) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// lend counts no more what is under way for long and not answered.
func (t *telling) lend() {
	n, old := 0, t.hub.now().Add(-lentAfter)
	for _, p := range t.window {
		long := t.hub.dispatch.begunBefore(p.waitedFor(), old)
		p.mu.Lock()
		for _, d := range long {
			if d.state == started && !d.lent {
				d.lent = true
				p.counted--
				n++
			}
		}
		p.mu.Unlock()
	}
	t.hub.windows.add(t.part.TopicID, -n)
}

// forget counts pages no more: they are written down, or somebody else's.
func (t *telling) forget(pages []*page) {
	n := 0
	for _, p := range pages {
		p.mu.Lock()
		n += p.counted
		p.counted, p.left = 0, true
		p.mu.Unlock()
	}
	t.hub.windows.add(t.part.TopicID, -n)
}

// flush writes down what is answered behind pages that are not: rows cost more than the
// progress of a part, so it is done only when there is no room for more. It reports
// whether it wrote anything.
func (t *telling) flush() bool {
	n := 0
	for _, p := range t.window {
		p.mu.Lock()
		n += p.answered
		p.mu.Unlock()
	}
	h := t.hub
	if len(t.window) == 0 || n*minFlush < h.windows.most || h.now().Sub(t.window[0].begun) < flushAfter {
		return false
	}
	c := Checkpoint{Shard: t.part, Pos: t.pos}
	written := make([]int, len(t.window))
	for i, p := range t.window {
		p.mu.Lock()
		c.Results, c.Events = append(c.Results, p.results...), append(c.Events, p.events...)
		for _, k := range p.fine {
			c.Results = append(c.Results, Result{Key: k, Version: t.part.Want, Outcome: Delivered})
		}
		t.ended += dropped(p.events)
		p.results, p.events, p.fine = nil, nil, nil
		written[i], p.answered = p.answered, 0
		p.mu.Unlock()
	}
	h.stamp(c.Events)
	if _, err := t.checkpoint(&c); err != nil {
		t.over = true
		t.abandon(nil)
		return true
	}
	t.keep(c.Until)
	h.publish(c.Events...)
	for i, p := range t.window {
		p.mu.Lock()
		p.counted -= written[i]
		p.mu.Unlock()
		h.windows.add(t.part.TopicID, -written[i])
	}
	if owes(c.Results) {
		h.wake(h.wakeRetry)
	}
	return true
}

// answer counts an answered delivery of p, whose lock is held, and keeps which it was
// when there is nothing to write of it. It returns how many more are counted.
func (p *page) answer(d *delivery, nothing bool) (more int) {
	p.answered++
	if nothing {
		p.fine = append(p.fine, d.sub.Key())
	}
	if d.lent && !p.left {
		p.counted++
		return 1
	}
	return 0
}

// begunBefore are those of list that were sent before then.
func (d *dispatcher) begunBefore(list []*delivery, then time.Time) (old []*delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range list {
		if !v.begun.IsZero() && v.begun.Before(then) {
			old = append(old, v)
		}
	}
	return old
}
