package hub

import (
	"slices"
	"time"

	"cloudburst/internal/href"
)

// origin is the state of one callback origin. All fields are guarded by dispatcher.mu.
type origin struct {
	key         string
	queue       []*delivery
	first       int // number of deliveries of first batches, which are at the front of queue
	inFlight    int
	limit       int
	listed      bool // the origin is in the ready list of its class
	listedFirst bool // the origin is in dispatcher.readyFirst
	slow        bool
	known       bool          // the origin has replied or timed out before
	took        time.Duration // smoothed time to a reply
	timeouts    int           // consecutive timeouts
	opens       int           // consecutive openings of the breaker
	openUntil   time.Time
	nextTurn    time.Time // turn of the last postponed delivery
	seen        time.Time
}

// enqueue adds a delivery. Those of first batches come before all others.
func (o *origin) enqueue(v *delivery) {
	if !v.first {
		o.queue = append(o.queue, v)
		return
	}
	o.queue = slices.Insert(o.queue, o.first, v)
	o.first++
}

// dequeue removes the next delivery.
func (o *origin) dequeue() *delivery {
	v := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.first = max(o.first-1, 0)
	return v
}

// startable reports whether the origin has a waiting delivery and may start it.
func (o *origin) startable() bool { return len(o.queue) > 0 && o.inFlight < o.limit }

func (d *dispatcher) originOf(callback string, now time.Time) *origin {
	key := href.Origin(callback)
	o := d.origins[key]
	if o == nil {
		if len(d.origins) >= maxOrigins {
			d.forget()
		}
		o = &origin{key: key, limit: originStart}
		d.origins[key] = o
	}
	o.seen = now
	return o
}

// learn updates an origin's speed, limit and breaker.
func (d *dispatcher) learn(o *origin, r Reply) {
	if o.took == 0 {
		o.took = r.Took
	}
	o.took = (o.took*3 + r.Took) / 4
	d.class(o, o.took > slowAfter, true)
	if !r.Timeout {
		o.closeBreaker()
		if r.OK && o.limit < originMax {
			o.limit++
		}
		return
	}
	o.limit = max(o.limit/2, originMin)
	d.timedOut(o)
}

// forget removes origins without open or waiting deliveries: those that were not used for
// originTTL, and half of the rest. Origins with deliveries stay, even if there are too many.
func (d *dispatcher) forget() {
	old := d.now().Add(-originTTL)
	rest := 0
	for key, o := range d.origins {
		if o.inFlight > 0 || len(o.queue) > 0 {
			continue
		}
		if rest++; o.seen.Before(old) || rest%2 == 0 {
			delete(d.origins, key)
		}
	}
}

// class changes the class of an origin and moves its open deliveries.
func (d *dispatcher) class(o *origin, slow, known bool) {
	d.count(o, -o.inFlight)
	o.slow, o.known = slow, known
	d.count(o, o.inFlight)
}

// count adds n to the number of open deliveries of the origin's class (slow or unknown).
func (d *dispatcher) count(o *origin, n int) {
	switch {
	case o.slow:
		d.slow += n
	case !o.known:
		d.unknown += n
	}
}
