package hub

import (
	"context"
	"runtime"
	"sync"
	"time"

	"cloudburst/internal/hub/content"
)

// Limits of one callback origin (scheme, host and port). A new origin may have originStart open
// deliveries; each success raises this limit by one, and each timeout halves it.
const (
	originStart       = 16
	originMax         = 256
	originMin         = 2
	slowAfter         = 300 * time.Millisecond // a later reply makes an origin slow
	slowIfParkedAfter = 40 * time.Millisecond  // if a delivery is parked after this time, its origin counts as slow
	slowShare         = 0.6                    // share of all slots that slow origins may use together
	newShare          = 0.85                   // share of all slots that slow and unknown origins may use together
	maxOrigins        = 100_000
	maxOriginQueue    = 256 // maximum number of deliveries that wait in memory for one busy origin
	leaseMargin       = 5 * time.Second
	maxClockSkew      = 2 * time.Second // between nodes: another node may regard a lease as expired this much earlier
	originTTL         = 10 * time.Minute
)

// A delivery counts as fresh for freshFor after its start. During this time it mostly uses this
// machine's processors, so the number of fresh deliveries is limited: more would only wait, each
// with a new connection and its memory. After freshFor, a delivery without a reply waits for the
// network and no longer counts as fresh.
const (
	freshPerCPU  = 128
	freshFor     = 10 * time.Millisecond
	freshForBusy = 250 * time.Millisecond // while the processors are busy
)

// delivery is one notification in progress. finish is called once, by a worker or by stop, and
// must not block.
type delivery struct {
	sub    Subscription
	topic  *Topic // shared and immutable
	hops   int
	held   *content.Held // the content of the run, which may have ended; nil: none
	claim  int64         // claim of the retry loop; 0: the delivery is from a batch. Guarded by batch.mu if batch is set
	until  time.Time     // a claimed delivery must end by then, so it must start early enough. Guarded by batch.mu if batch is set
	finish func(*delivery, Reply)
	first  bool // belongs to the first batch of a run
	origin *origin
	batch  *deliveryBatch

	// Guarded by dispatcher.mu.
	fresh bool
	begun time.Time // when a worker started the delivery

	// Guarded by batch.mu.
	state     deliveryState
	excluded  bool // the topic's window does not count the delivery until its reply arrives
	parkClaim int64
	reply     *Reply // kept until the parking is committed
}

// dispatcher assigns deliveries to workers: at most max at once in total, and at most limit per
// origin. Origins take turns, so that an unreachable or slow origin never delays the others.
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
	ready          []*origin // fast origins in order of arrival, one delivery per turn
	readyFirst     []*origin // fast origins with deliveries of first batches: they get every other turn, so that a feed does not wait for all deliveries of a larger one
	readyNew       []*origin // unknown origins: they get every other turn, but not every slot
	readySlow      []*origin
	newIsNext      bool // the next turn belongs to readyNew
	firstIsNext    bool // the next turn belongs to readyFirst
	inFlight       int
	slow           int         // open deliveries to slow origins
	unknown        int         // open deliveries to unknown origins
	fresh          int         // open deliveries that are still fresh
	freshList      []*delivery // started deliveries in order of start, including all that are still fresh
	agingScheduled bool        // a timer will run expireFresh
	queued         int
	workers        int         // workers that have a delivery or are taking one
	idle           []chan bool // wake-ups of idle workers, the most recent last
	minIdle        int         // minimum number of idle workers since the last trim
	trimScheduled  bool        // a timer will run trimIdleWorkers
	stopped        bool
}

func newDispatcher(max int, timeout time.Duration, now func() time.Time, stats *counters, send func(*delivery) Reply) *dispatcher {
	return &dispatcher{max: max, timeout: timeout, maxFresh: freshPerCPU * runtime.GOMAXPROCS(0), now: now, send: send, stats: stats, origins: map[string]*origin{}}
}

// submit queues deliveries. If a delivery must wait because the breaker of its origin is open or
// its queue is full, the delivery finishes immediately with NotTried and RetryAfter.
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
		o.enqueue(v)
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

// admit reports whether o accepts another delivery into memory. If not, it returns how long the
// delivery must wait.
func (d *dispatcher) admit(o *origin, now time.Time) (time.Duration, bool) {
	if wait := o.refused(now); wait > 0 {
		return wait, false
	}
	if !o.slow || len(o.queue) < maxOriginQueue {
		return 0, true
	}
	return d.postpone(o), false
}

// postpone returns how long a delivery must wait. It simulates a queue: postponed deliveries take
// turns at the rate at which the origin replies.
func (d *dispatcher) postpone(o *origin) time.Duration {
	now := d.now()
	step := max(o.took/time.Duration(max(o.limit, 1)), time.Millisecond)
	if o.nextTurn.Before(now) {
		o.nextTurn = now.Add(step * time.Duration(len(o.queue)))
	}
	o.nextTurn = o.nextTurn.Add(step)
	return max(o.nextTurn.Sub(now), 500*time.Millisecond)
}

// postponeUnsent postpones v unless a worker has taken it.
func (d *dispatcher) postponeUnsent(v *delivery) (wait time.Duration, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !v.begun.IsZero() {
		return 0, true
	}
	return d.postpone(v.origin), false
}

// markReady puts o into its ready lists if it can start a delivery.
func (d *dispatcher) markReady(o *origin) {
	if !o.startable() {
		return
	}
	if o.first > 0 && !o.listedFirst && o.known && !o.slow {
		o.listedFirst = true
		d.readyFirst = append(d.readyFirst, o)
	}
	if o.listed {
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

// startable reports whether take would return a delivery.
func (d *dispatcher) startable() bool {
	return d.inFlight < d.max && d.fresh < d.maxFresh && d.hasReady()
}

// hasReady reports whether an origin could start another delivery if a slot were free.
func (d *dispatcher) hasReady() bool {
	return len(d.readyFirst) > 0 || len(d.ready) > 0 || len(d.readyNew) > 0 && d.hasNewCapacity() || len(d.readySlow) > 0 && d.hasSlowCapacity()
}

// hasNewCapacity reports whether an unknown origin may use another slot. Unknown origins may be
// unreachable, so some slots are reserved for origins that are known to be fast.
func (d *dispatcher) hasNewCapacity() bool {
	return float64(d.slow+d.unknown) < newShare*float64(d.max)
}

// next returns the ready list that has the next turn, or nil if no origin is ready.
func (d *dispatcher) next() *[]*origin {
	useNew := len(d.readyNew) > 0 && d.hasNewCapacity()
	useFirst := len(d.readyFirst) > 0 && (d.firstIsNext || len(d.ready) == 0 && !useNew)
	d.firstIsNext = !useFirst
	switch {
	case useFirst:
		return &d.readyFirst
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

// hasSlowCapacity reports whether a slow origin may use another slot. The other slots are
// reserved for fast origins.
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
	o := d.nextOrigin()
	if o == nil {
		return nil
	}
	v := o.dequeue()
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

// nextOrigin removes the origin that has the next turn from its ready list. It returns nil if no
// origin can start a delivery. It drops origins whose deliveries were started from the other list.
func (d *dispatcher) nextOrigin() *origin {
	for {
		list := d.next()
		if list == nil {
			return nil
		}
		o := (*list)[0]
		(*list)[0] = nil
		*list = (*list)[1:]
		if list == &d.readyFirst {
			o.listedFirst = false
		} else {
			o.listed = false
		}
		if o.startable() {
			return o
		}
	}
}

// addFresh appends v to freshList and removes expired entries from its front.
func (d *dispatcher) addFresh(v *delivery) {
	n := 0
	for n < len(d.freshList) && !d.freshList[n].fresh {
		d.freshList[n] = nil
		n++
	}
	v.fresh, v.begun = true, d.now()
	d.freshList = append(d.freshList[n:], v)
}

// expireFresh ends the freshness of deliveries that started long ago. While the processors are
// busy, deliveries stay fresh longer, because the network does not cause the delay.
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

// scheduleAging starts a timer for expireFresh if a fresh delivery keeps others from starting.
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
		// By the clock of another node, the lease could end before the reply, because the delivery
		// has waited too long.
		d.done(v, Reply{NotTried: true, RetryAfter: time.Millisecond})
	default:
		d.done(v, d.send(v))
	}
}

// begin is called just before v is sent. It returns the end of the claim of v. gone reports that v
// was withdrawn.
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

// done frees the slot, updates the origin and passes the reply to v.finish.
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

// markSlow marks the origins of deliveries that have been open for slowIfParkedAfter as slow, so
// that fast origins come first.
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

// expectsReply reports whether a reply to one of these deliveries is expected soon: within blocked
// plus twice the usual time of its origin. Deliveries that were not sent yet are ignored.
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

// hasFreeSlots reports whether slots are free and no origin is ready. Then each waiting delivery
// waits for its own origin only, and holds up the other deliveries of its shard's window.
func (d *dispatcher) hasFreeSlots() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight < d.max*9/10 && !d.hasReady()
}

// load returns the number of deliveries in memory, and the number of deliveries that are being
// sent.
func (d *dispatcher) load() (queue, inFlight int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queued + d.inFlight, d.inFlight
}

// countOrigins returns the number of all origins, of slow origins, and of origins with an open
// breaker.
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

// stop ends the start of deliveries and returns waiting deliveries as NotTried. It returns when all
// replies were passed on, or when ctx ends.
func (d *dispatcher) stop(ctx context.Context) {
	d.mu.Lock()
	d.stopped = true
	var back []*delivery
	for _, o := range d.origins {
		back = append(back, o.queue...)
		d.queued -= len(o.queue)
		o.queue, o.first, o.listed, o.listedFirst = nil, 0, false, false
	}
	d.ready, d.readyFirst, d.readyNew, d.readySlow = nil, nil, nil, nil
	d.stopIdle(len(d.idle))
	d.mu.Unlock()
	for _, v := range back {
		v.finish(v, Reply{NotTried: true})
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		d.mu.Lock()
		working := d.workers // number of workers that are sending or passing on a reply
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
