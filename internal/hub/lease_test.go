package hub

import (
	"testing"
	"testing/synctest"
	"time"
)

// If the clock of another node is ahead, that node claims the shard earlier by the difference.
func TestDeliveryThatCouldOutliveItsLeaseIsNotStarted(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]bool{
		3*time.Second + maxClockSkew:                    true,
		3*time.Second + maxClockSkew - time.Millisecond: false,
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := false
			d := newDispatcher(4, 3*time.Second, time.Now, &counters{}, func(*delivery) Reply { sent = true; return Reply{OK: true} })
			var got Reply
			d.submit([]*delivery{{until: time.Now().Add(left), sub: Subscription{Callback: "http://a.test/"}, finish: func(_ *delivery, r Reply) { got = r }}})
			synctest.Wait()
			d.stop(t.Context())
			if sent != want || got.NotTried == want {
				t.Errorf("%s before its lease ends: sent %v, want %v (%+v)", left, sent, want, got)
			}
		})
	}
}
