package hub

import (
	"testing"
	"testing/synctest"
	"time"
)

// What was under way together times out together, and is one reason to wait, not many.
func TestABurstOfTimeoutsOpensTheBreakerOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(64, time.Second, time.Now, &counters{}, nil)
		o := d.originOf("http://a.test/", time.Now())
		for range 4 * breakerTrips {
			d.learn(o, Reply{Timeout: true, Took: time.Second})
		}
		if left := time.Until(o.openTill); left != breakerFirst || o.opens != 1 {
			t.Errorf("it is open for %s, the %d. time; want %s, the first", left, o.opens, breakerFirst)
		}
		<-time.After(breakerFirst)
		d.learn(o, Reply{Timeout: true, Took: time.Second})
		if left := time.Until(o.openTill); left != 2*breakerFirst {
			t.Errorf("after one more, it is open for %s; want %s", left, 2*breakerFirst)
		}
	})
}
