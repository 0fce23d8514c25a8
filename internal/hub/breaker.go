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
