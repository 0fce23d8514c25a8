package hub

import "time"

// Circuit breaker of an origin: it opens for breakerFirst, and longer each time, up to breakerLast.
const (
	breakerTrips = 8 // consecutive timeouts that open the breaker
	breakerFirst = 30 * time.Second
	breakerLast  = 5 * time.Minute
)

// timedOut counts a timeout of an origin, and opens its breaker after breakerTrips in a row.
func (d *dispatcher) timedOut(o *origin) {
	// If a delivery started before the breaker opened, its timeout carries no new information.
	if o.timeouts++; o.timeouts >= breakerTrips && !d.now().Before(o.openUntil) {
		o.openUntil = d.now().Add(min(breakerFirst<<min(o.opens, 8), breakerLast))
		o.opens++
	}
}

// closeBreaker closes the breaker of an origin that has answered.
func (o *origin) closeBreaker() { o.timeouts, o.opens = 0, 0 }

// refused returns how long the breaker delays another delivery to an origin. 0: it allows one. A
// breaker that is half open allows one delivery at a time.
func (o *origin) refused(now time.Time) time.Duration {
	if now.Before(o.openUntil) {
		return o.openUntil.Sub(now)
	}
	if o.opens > 0 && (o.inFlight > 0 || len(o.queue) > 0) {
		return breakerFirst
	}
	return 0
}
