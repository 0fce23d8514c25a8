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
	pageSize     = 500
	firstPage    = 50 // of a pass: the sooner the first ones are told
	pagesOpen    = 2
	partLease    = 15 * time.Second
	partsAtOnce  = 16
	parkBlocked  = 50 * time.Millisecond // when the window is full and slots are free; and what is known to take longer gets that
	parkLook     = 10 * time.Millisecond
	parkAnyway   = 2 * time.Second
	splitAbove   = 15_000 // subscribers of a part that make it worth splitting
	splitTarget  = 10_000
	renewEvery   = 5 * time.Second
	storeRetry   = 250 * time.Millisecond
	claimAtBirth = 4
	partsAtATime = 2                      // are claimed together where others share the store
	headStart    = 100 * time.Millisecond // of a machine with nothing to tell; a hint is there by then
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
type page struct {
	of    *telling
	last  int64 // id of its last subscription
	part  int
	n     int // counts the pages of a pass, from 1
	begun time.Time
	done  chan struct{} // closed when nothing is open any more

	mu      sync.Mutex
	open    int
	list    []*delivery
	results []Result
	told    int
	failed  int
	events  []event.Event

	counted  int   // of the topic's window: not written down
	answered int   // of them those that are answered
	fine     []Key // of them those of which nothing has to be written, but by flush
	left     bool  // they are counted no more

	lastTold time.Time // when the last one arrived; zero: none did
	ended    time.Time // when nothing was open any more
}

// telling is one pass over one part.
type telling struct {
	hub    delivering
	part   Shard
	held   *content.Held // the content that is told; nil: nobody wanted it when the version came
	after  int64         // where the next page starts
	pos    int64         // settled up to here
	eof    bool
	window []*page
	begun  time.Time
	seen   int // subscriptions that this pass has met
	pages  int
	last   time.Time // delivery, of the pages that are settled
	told   int
	failed int
	ended  int          // of those that failed, subscriptions that are over
	lease  atomic.Int64 // until when the pass is ours; in nanoseconds, for its deliveries look too
	over   bool         // finished, or somebody else's

	next   []Subscription // read, and not submitted yet
	readAt time.Time
	end    bool          // nothing comes after next
	short  bool          // there was no room for next
	woken  chan struct{} // there may be room
}

// delivering notifies subscribers, and tries again.
type delivering struct{ *Hub }

// tell runs one pass over a claimed part and leaves it finished, released or lost.
func (h delivering) tell(ctx context.Context, p Shard) {
	t := &telling{hub: h, part: p, after: p.Pos, pos: p.Pos, begun: h.now(), woken: make(chan struct{}, 1)}
	t.keep(h.now().Add(partLease))
	h.windows.join(t)
	defer func() {
		t.forget(t.window)
		h.windows.leave(t)
		if t.held != nil {
			h.contents.Release(t.held)
		}
	}()
	if !t.pin(ctx) {
		t.release()
		return
	}
	for !t.over {
		if err := t.fill(ctx); err != nil && ctx.Err() == nil {
			h.logOf(&p.Topic).Error("read a page of subscriptions", "part", p.N, "err", err)
			h.pause(ctx, storeRetry)
			continue
		}
		switch {
		case len(t.window) > 0: // also when it stops: what is under way is waited for
		case ctx.Err() != nil: // nothing was read, which does not mean that nobody is there
			t.release()
			return
		case t.short: // another part of the topic has all the room
		default:
			t.finish()
			return
		}
		stopping := t.wait(ctx)
		t.settle(stopping)
		if stopping && len(t.window) == 0 {
			t.release()
			return
		}
	}
}

// fill reads and submits pages until the window is full or the part ends.
func (t *telling) fill(ctx context.Context) error {
	h := t.hub
	read := func(after int64, size int) ([]Subscription, error) {
		return h.Store.Batch(ctx, t.part, after, h.now(), size)
	}
	open := pagesOpen
	if h.windows.most > 0 {
		open = pagesAhead
	}
	select {
	case <-t.woken: // that there may be room is seen now
	default:
	}
	for t.short = false; len(t.window) < open && !t.eof && ctx.Err() == nil; {
		if err := t.ahead(read); err != nil {
			return err
		}
		n := min(len(t.next), t.size())
		if n > 0 && !h.windows.take(t, n) {
			t.short = true
			return nil
		}
		subs := t.next[:n]
		t.next = t.next[n:]
		t.eof = t.end && len(t.next) == 0
		if len(subs) > 0 {
			t.seen += len(subs)
			t.after = subs[len(subs)-1].ID
			t.window = append(t.window, t.submit(subs))
		}
	}
	if t.eof {
		h.windows.pass(t)
	}
	return nil
}

// submit hands a page to the dispatcher. What has something owed already goes the
// way of retries, which keeps it at one delivery at a time.
//
// spec:cloudburst#newest-wins
func (t *telling) submit(subs []Subscription) *page {
	h, version := t.hub, t.part.Want
	t.pages++
	p := &page{of: t, last: subs[len(subs)-1].ID, part: t.part.N, n: t.pages, begun: h.now(), done: make(chan struct{})}
	p.list = make([]*delivery, 0, len(subs))
	hops := h.hopsOf(t.part.TopicID)
	for _, s := range subs {
		switch {
		case s.Sent >= version:
		case !s.NextAt.IsZero():
			p.results = append(p.results, Result{Key: s.Key(), Version: version, Outcome: Raised, NextAt: p.begun})
		default:
			p.list = append(p.list, &delivery{sub: s, topic: &t.part.Topic, hops: hops, held: t.held, finish: h.finishPaged, page: p})
		}
	}
	p.open, p.counted = len(p.list), len(p.list)
	h.windows.add(t.part.TopicID, len(p.list)-len(subs))
	if p.open == 0 {
		p.ended = p.begun
		close(p.done)
		return p
	}
	h.dispatch.submit(p.list)
	return p
}

// finishPaged takes the answer of a delivery that belongs, or belonged, to a page.
func (h delivering) finishPaged(d *delivery, r Reply) {
	p := d.page
	p.mu.Lock()
	if d.state == withdrawn {
		p.mu.Unlock()
		return
	}
	if d.state == parked {
		// Its row says so only once the checkpoint is committed: settle passes it on.
		kept := r
		d.reply = &kept
		claim := d.claim
		p.mu.Unlock()
		if claim != 0 {
			h.finishRetry(d, r)
		}
		return
	}
	d.state = finished
	h.judge(d, &r)
	at := h.note(d, r)
	if r.OK {
		p.told++
		p.lastTold = at
	} else if !r.NotTried && !r.Skipped {
		p.failed++
		p.events = append(p.events, h.failureEvent(d, r))
	}
	res, ok := h.resultOf(d, r)
	if ok {
		p.results = append(p.results, res)
	}
	more := 0
	if h.windows.most > 0 {
		more = p.answer(d, !ok)
	}
	p.open--
	last := p.open == 0
	if last {
		p.ended = h.now()
	}
	p.mu.Unlock()
	h.windows.add(d.topic.ID, more)
	if h.Trace != nil {
		h.traceTry(d, &r)
	}
	if last {
		close(p.done)
	}
}

// note keeps the numbers of one answered delivery. at is when one arrived.
func (h delivering) note(d *delivery, r Reply) (at time.Time) {
	switch {
	case r.OK:
		at = h.now()
		h.stats.told(at.Sub(d.topic.ChangedAt))
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
func (t *telling) wait(ctx context.Context) (stopping bool) {
	if len(t.window) == 0 { // the room is another part's
		t.hub.sleep(ctx, t.woken, renewEvery)
		return ctx.Err() != nil
	}
	front, hold := t.awaited()
	pause := max(front.begun.Add(parkAnyway).Sub(t.hub.now()), parkBlocked/2)
	switch {
	case hold > 0:
		pause = hold
	case t.pressed():
		pause = parkLook
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-front.done:
	case <-timer.C:
	case <-t.woken:
	case <-ctx.Done():
	}
	if ctx.Err() == nil { // asked once: it may end at any moment
		return false
	}
	// The dispatcher gives back what waits and lets the rest end: all of it, for
	// what is under way in a later page may not be taken for owed.
	for _, p := range t.window {
		select {
		case <-p.done:
		case <-t.hub.drained:
		}
	}
	return true
}

// settle checkpoints the pages at the front that are done, or that are parked.
func (t *telling) settle(stopping bool) {
	var ready []*page
	for _, p := range t.window {
		if !t.closed(p, stopping) {
			break
		}
		ready = append(ready, p)
	}
	if len(ready) == 0 {
		if t.short && !stopping {
			t.lend()
		}
		if !t.short || stopping || !t.flush() {
			t.renew()
		}
		return
	}
	t.window = t.window[len(ready):]
	t.commit(ready, t.eof && len(t.window) == 0 && !stopping)
}

// closed reports whether all of a page is decided, and parks what can be parked so
// that it is.
func (t *telling) closed(p *page, stopping bool) bool {
	if p.isDone() {
		return true
	}
	if !stopping && !t.parkable(p) {
		return false
	}
	t.park(p, stopping)
	return true
}

// commit writes a checkpoint until it is on disk or the part is somebody else's.
func (t *telling) commit(pages []*page, finish bool) {
	h := t.hub
	c := Checkpoint{Shard: t.part, Pos: t.pos, Finish: finish}
	for _, p := range pages {
		p.mu.Lock()
		c.Pos = p.last
		c.Results = append(c.Results, p.results...)
		c.Events = append(c.Events, p.events...)
		t.told, t.failed, t.ended = t.told+p.told, t.failed+p.failed, t.ended+dropped(p.events)
		if h.Trace != nil {
			t.tracePage(p)
		}
		p.mu.Unlock()
	}
	if finish && t.told+t.failed > 0 {
		c.Events = append(c.Events, t.summary())
	}
	h.stamp(c.Events)
	again, err := t.checkpoint(&c)
	if err != nil {
		t.over = true
		t.abandon(pages)
		t.forget(pages)
		return
	}
	t.pos = c.Pos
	t.keep(c.Until)
	h.publish(c.Events...)
	for _, p := range pages {
		h.unpark(p)
	}
	t.forget(pages)
	if owes(c.Results) {
		h.wake(h.wakeRetry)
	}
	if finish {
		t.over = true
		t.traceEnd()
		h.passEnded(t, again)
	}
}

// checkpoint tries until it is written, the claim is lost, or the program ends.
func (t *telling) checkpoint(c *Checkpoint) (again bool, err error) {
	h := t.hub
	for {
		c.Now = h.now()
		c.Until = c.Now.Add(partLease)
		ctx, cancel := context.WithTimeout(context.Background(), partLease)
		again, err = h.Store.Checkpoint(ctx, *c)
		cancel()
		h.stats.writes.Add(1)
		if err == nil || errors.Is(err, record.ErrLost) {
			return again, err
		}
		if fault.CodeOf(err) != fault.Unavailable {
			h.logOf(&t.part.Topic).Error("write a checkpoint", "part", t.part.N, "err", err)
		}
		select {
		case <-h.drained:
			return false, err
		case <-time.After(storeRetry):
		}
	}
}

// renew keeps the lease of a pass that has nothing to write.
func (t *telling) renew() {
	if time.Unix(0, t.lease.Load()).Sub(t.hub.now()) < partLease-renewEvery {
		t.commit(nil, false)
	}
}

// finish ends a pass that has nothing open.
func (t *telling) finish() { t.commit(nil, true) }

// release gives the part back in the middle, for a graceful stop.
func (t *telling) release() {
	ctx, cancel := context.WithTimeout(context.Background(), storeRetry*8)
	defer cancel()
	if err := t.hub.Store.ReleaseShards(ctx, t.hub.now(), []Shard{t.part}); err != nil {
		t.hub.logOf(&t.part.Topic).Warn("give back a part", "part", t.part.N, "err", err)
	}
}

// owes reports whether the retry loop has something new to wait for.
func owes(results []Result) bool {
	for _, r := range results {
		if r.Outcome != Delivered && r.Outcome != Gone {
			return true
		}
	}
	return false
}

// passEnded looks after a part that was told whole.
func (h delivering) passEnded(t *telling, again bool) {
	if again {
		h.wake(h.wakeParts)
		return
	}
	if t.part.Pos != 0 || t.seen < splitAbove {
		return
	}
	// The part's share of all buckets tells how many subscribers there are in all.
	total := float64(t.seen) * Buckets / float64(t.part.Hi-t.part.Lo+1)
	ctx, cancel := context.WithTimeout(context.Background(), partLease)
	defer cancel()
	if err := h.Store.Split(ctx, t.part.TopicID, int(total/splitTarget)+1); err != nil {
		h.logOf(&t.part.Topic).Warn("split a topic", "err", err)
	}
}

// newClaim is a fence for one retry delivery or batch of them; never 0.
func newClaim() int64 { return rand.Int64N(1<<62) + 1 }
