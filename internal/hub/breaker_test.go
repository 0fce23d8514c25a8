package hub

import (
	"testing"
	"testing/synctest"
	"time"
)

// Deliveries that run at the same time also time out together. They count as one failure when the
// breaker computes its delay.
func TestBurstOfTimeoutsOpensTheCircuitBreakerOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(64, time.Second, time.Now, &counters{}, nil)
		o := d.originOf("http://a.test/", time.Now())
		for range 4 * breakerTrips {
			d.learn(o, Reply{Timeout: true, Took: time.Second})
		}
		if left := time.Until(o.openUntil); left != breakerFirst || o.opens != 1 {
			t.Errorf("the breaker is open for %s, opened %d times; want %s, once", left, o.opens, breakerFirst)
		}
		<-time.After(breakerFirst)
		d.learn(o, Reply{Timeout: true, Took: time.Second})
		if left := time.Until(o.openUntil); left != 2*breakerFirst {
			t.Errorf("after another timeout the breaker is open for %s; want %s", left, 2*breakerFirst)
		}
	})
}
