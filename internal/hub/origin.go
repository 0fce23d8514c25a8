package hub

import (
	"time"

	"cloudburst/internal/href"
)

// origin is what is known of one callback origin. All fields are guarded by
// dispatcher.mu.
type origin struct {
	key       string
	queue     []*delivery
	inFlight  int
	limit     int
	listed    bool // in a ready list
	slow      bool
	known     bool          // it has answered, or not, before
	took      time.Duration // smoothed time of an answer
	timeouts  int           // in a row
	opens     int           // times in a row that the breaker opened
	openUntil time.Time
	nextTurn  time.Time // when the last postponed delivery was told to come back
	seen      time.Time
}

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

// forget drops origins that are at rest; those in use stay, whatever the number.
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

// learn keeps an origin's speed, limit and breaker.
func (d *dispatcher) learn(o *origin, r Reply) {
	if o.took == 0 {
		o.took = r.Took
	}
	o.took = (o.took*3 + r.Took) / 4
	d.class(o, o.took > slowAfter, true)
	if !r.Timeout {
		o.timeouts, o.opens = 0, 0
		if r.OK && o.limit < originMax {
			o.limit++
		}
		return
	}
	o.limit = max(o.limit/2, originMin)
	// What had begun before the breaker opened tells nothing new.
	if o.timeouts++; o.timeouts >= breakerTrips && !d.now().Before(o.openUntil) {
		o.openUntil = d.now().Add(min(breakerFirst<<min(o.opens, 8), breakerLast))
		o.opens++
	}
}

// class moves an origin between the classes, with what it has under way.
func (d *dispatcher) class(o *origin, slow, known bool) {
	d.count(o, -o.inFlight)
	o.slow, o.known = slow, known
	d.count(o, o.inFlight)
}

// count adds n to what the class of an origin has under way.
func (d *dispatcher) count(o *origin, n int) {
	switch {
	case o.slow:
		d.slow += n
	case !o.known:
		d.unknown += n
	}
}
