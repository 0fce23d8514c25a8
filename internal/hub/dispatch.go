package hub

import (
	"context"
	"runtime"
	"sync"
	"time"

	"cloudburst/internal/hub/content"
)

// Limits of one callback origin (scheme, host and port). A new origin may have
// originStart deliveries under way; each success adds one, each time-out halves.
const (
	originStart       = 16
	originMax         = 256
	originMin         = 2
	slowAfter         = 300 * time.Millisecond // an answer later than this makes an origin slow
	slowIfParkedAfter = 40 * time.Millisecond  // what is parked after it makes its origin slow
	slowShare         = 0.6                    // of all slots, for slow origins together
	newShare          = 0.85                   // of all slots, for those together of which nothing is known, and slow ones
	breakerTrips      = 8                      // time-outs in a row that open the breaker
	breakerFirst      = 30 * time.Second
	breakerLast       = 5 * time.Minute
	maxOrigins        = 100_000
	maxOriginQueue    = 256 // deliveries that wait in memory for one busy origin
	leaseMargin       = 5 * time.Second
	maxClockSkew      = 2 * time.Second // at most, of machines on one store: another one may think so much sooner that a lease is over
	originTTL         = 10 * time.Minute
)

// A delivery is fresh at first. Only so many are fresh at once: what keeps those
// is mostly our own processor, and more of them would wait for it all the same,
// each on a new connection, in more memory. One that is not answered after
// freshFor waits for the network, and makes room for the next.
const (
	freshPerCPU  = 128 // for each processor
	freshFor     = 10 * time.Millisecond
	freshForBusy = 250 * time.Millisecond // however busy the processor is
)

// delivery is one notification on its way. finish is called once, by a worker or
// by stop, and must not block.
type delivery struct {
	sub    Subscription
	topic  *Topic // shared by many, never changed
	hops   int
	held   *content.Held // of the pass that it belongs to, which may be over; nil: none
	claim  int64         // of the retry path; 0 from a page. Guarded by page.mu where there is one
	until  time.Time     // a claimed delivery must start early enough to end by then. Guarded by page.mu where there is one
	finish func(*delivery, Reply)
	origin *origin
	batch  *deliveryBatch

	// Guarded by dispatcher.mu.
	fresh bool
	begun time.Time // when it was taken

	// Guarded by page.mu.
	state     deliveryState
	excluded  bool // not counted in the window of its topic until it is answered
	parkClaim int64
	reply     *Reply // kept until the parking is committed
}

// dispatcher hands deliveries to workers: at most max at once, at most limit per
// origin, origins in turn, so that a dead or slow one never delays another.
type dispatcher struct {
	max      int
	timeout  time.Duration
	maxFresh int
	now      func() time.Time
	send     func(*delivery) Reply
	stats    *counters
	busy     func() bool // see Hub.Busy

	mu             sync.Mutex
	origins        map[string]*origin
	ready          []*origin // quick ones first come first served, each one delivery a turn
	readyNew       []*origin // of which nothing is known: they get every other turn, not every slot
	readySlow      []*origin
	newIsNext      bool // the next turn is theirs
	inFlight       int
	slow           int         // of them to slow origins
	unknown        int         // of them to origins of which nothing is known
	fresh          int         // of them not yet under way for long
	freshList      []*delivery // in the order they were taken, those that are fresh among them
	agingScheduled bool        // a timer will look at young
	queued         int
	workers        int         // that have a delivery, or look for one
	idle           []chan bool // of workers without work; the last one rested the least
	minIdle        int         // of them that had nothing to do since part looked
	trimScheduled  bool        // a timer will look at resting
	stopped        bool
}

func newDispatcher(max int, timeout time.Duration, now func() time.Time, stats *counters, send func(*delivery) Reply) *dispatcher {
	return &dispatcher{max: max, timeout: timeout, maxFresh: freshPerCPU * runtime.GOMAXPROCS(0), now: now, send: send, stats: stats, origins: map[string]*origin{}}
}

// submit queues deliveries. One that cannot be tried for a while (breaker open,
// its origin's queue full) comes back at once with NotTried and a RetryAfter.
func (d *dispatcher) submit(batch []*delivery) {
	type refusal struct {
		v    *delivery
		wait time.Duration
	}
	var back []refusal
	d.mu.Lock()
	now := d.now()
	for _, v := range batch {
		o := d.originOf(v.sub.Callback, now)
		v.origin = o
		if wait, ok := d.admit(o, now); !ok || d.stopped {
			back = append(back, refusal{v, wait})
			continue
		}
		o.queue = append(o.queue, v)
		d.queued++
		d.markReady(o)
	}
	d.stats.noteQueue(int64(d.queued + d.inFlight))
	d.startWorkers()
	d.mu.Unlock()
	for _, r := range back {
		r.v.finish(r.v, Reply{NotTried: true, RetryAfter: r.wait, Text: "not tried yet"})
	}
}

// admit says whether o takes another delivery into memory, else how long to wait.
func (d *dispatcher) admit(o *origin, now time.Time) (time.Duration, bool) {
	if now.Before(o.openUntil) {
		return o.openUntil.Sub(now), false
	}
	if o.opens > 0 && (o.inFlight > 0 || len(o.queue) > 0) {
		return breakerFirst, false // half open: one at a time
	}
	if !o.slow || len(o.queue) < maxOriginQueue {
		return 0, true
	}
	return d.postpone(o), false
}

// turn is a virtual queue: each postponed delivery is told to come back when its
// turn would be, by the rate at which the origin answers.
func (d *dispatcher) postpone(o *origin) time.Duration {
	now := d.now()
	step := max(o.took/time.Duration(max(o.limit, 1)), time.Millisecond)
	if o.nextTurn.Before(now) {
		o.nextTurn = now.Add(step * time.Duration(len(o.queue)))
	}
	o.nextTurn = o.nextTurn.Add(step)
	return max(o.nextTurn.Sub(now), 500*time.Millisecond)
}

// turnOf says when v's turn would be, unless it has one already.
func (d *dispatcher) postponeUnsent(v *delivery) (wait time.Duration, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !v.begun.IsZero() {
		return 0, true
	}
	return d.postpone(v.origin), false
}

// list puts o into its ready list when it can start something.
func (d *dispatcher) markReady(o *origin) {
	if o.listed || len(o.queue) == 0 || o.inFlight >= o.limit {
		return
	}
	o.listed = true
	switch {
	case o.slow:
		d.readySlow = append(d.readySlow, o)
	case !o.known:
		d.readyNew = append(d.readyNew, o)
	default:
		d.ready = append(d.ready, o)
	}
}

// startable reports whether take would find something.
func (d *dispatcher) startable() bool {
	return d.inFlight < d.max && d.fresh < d.maxFresh && d.hasReady()
}

// willing reports whether an origin could have another delivery, if there is a slot.
func (d *dispatcher) hasReady() bool {
	return len(d.ready) > 0 || len(d.readyNew) > 0 && d.hasNewCapacity() || len(d.readySlow) > 0 && d.hasSlowCapacity()
}

// newRoom reports whether an origin of which nothing is known may have another slot: any
// number of them may be dead, and those that are known to be quick do not wait for it.
func (d *dispatcher) hasNewCapacity() bool {
	return float64(d.slow+d.unknown) < newShare*float64(d.max)
}

// next is the list whose turn it is; nil: nobody may start.
func (d *dispatcher) next() *[]*origin {
	useNew := len(d.readyNew) > 0 && d.hasNewCapacity()
	switch {
	case useNew && (d.newIsNext || len(d.ready) == 0):
		d.newIsNext = false
		return &d.readyNew
	case len(d.ready) > 0:
		d.newIsNext = true
		return &d.ready
	case len(d.readySlow) > 0 && d.hasSlowCapacity():
		return &d.readySlow
	}
	return nil
}

// slowRoom reports whether a slow origin may have another slot. What quick ones
// need is kept free of it.
func (d *dispatcher) hasSlowCapacity() bool { return float64(d.slow) < slowShare*float64(d.max) }

// take returns the next delivery to start, or nil.
func (d *dispatcher) take() *delivery {
	if d.inFlight >= d.max {
		return nil
	}
	if d.fresh >= d.maxFresh {
		d.scheduleAging()
		return nil
	}
	list := d.next()
	if list == nil {
		return nil
	}
	o := (*list)[0]
	(*list)[0] = nil
	*list = (*list)[1:]
	o.listed = false
	v := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	d.queued--
	d.inFlight++
	d.fresh++
	d.addFresh(v)
	o.inFlight++
	d.count(o, 1)
	d.markReady(o)
	d.scheduleAging()
	return v
}

// keepYoung adds v to those that are fresh, and forgets what ended among the first.
func (d *dispatcher) addFresh(v *delivery) {
	n := 0
	for n < len(d.freshList) && !d.freshList[n].fresh {
		d.freshList[n] = nil
		n++
	}
	v.fresh, v.begun = true, d.now()
	d.freshList = append(d.freshList[n:], v)
}

// age counts as fresh no more what is under way for long. While the processor is
// what everything waits for, that is not for the network to answer for.
func (d *dispatcher) expireFresh() {
	isBusy := d.busy != nil && d.busy()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agingScheduled = false
	old := d.now().Add(-freshFor)
	if isBusy {
		old = old.Add(freshFor - freshForBusy)
	}
	n := 0
	for ; n < len(d.freshList); n++ {
		if v := d.freshList[n]; v.fresh {
			if v.begun.After(old) {
				break
			}
			v.fresh = false
			d.fresh--
		}
		d.freshList[n] = nil
	}
	d.freshList = d.freshList[n:]
	d.startWorkers()
}

// ageLater has age look when somebody waits for it.
func (d *dispatcher) scheduleAging() {
	if !d.agingScheduled && d.fresh >= d.maxFresh && d.hasReady() {
		d.agingScheduled = true
		time.AfterFunc(freshFor/4, d.expireFresh)
	}
}

func (d *dispatcher) deliver(v *delivery) {
	until, withdrawn := v.begin()
	switch {
	case until.IsZero() && v.batch != nil && v.batch.run.lapsed(d.now()):
		d.done(v, Reply{NotTried: true, RetryAfter: time.Millisecond})
	case withdrawn:
		d.done(v, Reply{NotTried: true})
	case !until.IsZero() && until.Sub(d.now()) < d.timeout+maxClockSkew:
		// It waited so long that its lease could end before it does, by another's clock.
		d.done(v, Reply{NotTried: true, RetryAfter: time.Millisecond})
	default:
		d.done(v, d.send(v))
	}
}

// begin is called when v is about to be sent. It says until when it is claimed, or
// that it is not wanted any more.
func (v *delivery) begin() (until time.Time, gone bool) {
	if v.batch == nil {
		return v.until, false
	}
	v.batch.mu.Lock()
	defer v.batch.mu.Unlock()
	if v.state == waiting {
		v.state = started
	}
	return v.until, v.state == withdrawn
}

// done gives the slot back, learns from the answer and passes it on.
func (d *dispatcher) done(v *delivery, r Reply) {
	d.mu.Lock()
	o := v.origin
	d.inFlight--
	if v.fresh {
		v.fresh = false
		d.fresh--
	}
	o.inFlight--
	d.count(o, -1)
	if !r.NotTried && !r.Skipped {
		d.learn(o, r)
	}
	d.markReady(o)
	d.mu.Unlock()
	v.finish(v, r)
}

// late tells that these have been under way for a while without an answer: their
// origins are slow from now on, and quick ones go first.
func (d *dispatcher) markSlow(open []*delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.now().Add(-slowIfParkedAfter)
	for _, v := range open {
		if o := v.origin; !o.slow && !v.begun.After(old) {
			o.took = max(o.took, 2*slowAfter)
			d.class(o, true, o.known)
		}
	}
}

// soon reports whether one of these can be expected to be answered shortly, going
// by what its origin took before, and blocked on top. One that waits for its origin's turn
// cannot.
func (d *dispatcher) expectsReply(open []*delivery, blocked time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for _, v := range open {
		if o := v.origin; !o.slow && !v.begun.IsZero() && now.Sub(v.begun) < blocked+2*o.took {
			return true
		}
	}
	return false
}

// room reports whether slots are free and nobody wants them: then what still waits
// waits for its own origin, and it is the window of its part that holds the others up.
func (d *dispatcher) hasFreeSlots() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight < d.max*9/10 && !d.hasReady()
}

// load is how many are in memory, and how many of them under way.
func (d *dispatcher) load() (queue, inFlight int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queued + d.inFlight, d.inFlight
}

// known counts origins, slow ones and those whose breaker is open.
func (d *dispatcher) countOrigins() (all, slow, open int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for _, o := range d.origins {
		if o.slow {
			slow++
		}
		if now.Before(o.openUntil) {
			open++
		}
	}
	return len(d.origins), slow, open
}

// stop starts nothing more: what waits comes back as NotTried. It returns when
// nothing is under way any more, and every answer was passed on, or ctx ends.
func (d *dispatcher) stop(ctx context.Context) {
	d.mu.Lock()
	d.stopped = true
	var back []*delivery
	for _, o := range d.origins {
		back = append(back, o.queue...)
		d.queued -= len(o.queue)
		o.queue, o.listed = nil, false
	}
	d.ready, d.readyNew, d.readySlow = nil, nil, nil
	d.stopIdle(len(d.idle))
	d.mu.Unlock()
	for _, v := range back {
		v.finish(v, Reply{NotTried: true})
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		d.mu.Lock()
		working := d.workers // those in flight, and those that are passing on an answer
		d.mu.Unlock()
		if working == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
