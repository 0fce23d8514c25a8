package abusetest

import (
	"slices"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// This test runs several times as many clients as the server can handle, without pauses between
// requests.
func TestOverloadIsRejectedAndAcknowledgedWorkIsDone(t *testing.T) {
	t.Parallel()
	p := start(t, descrs)
	v := visit(t, p)
	l := newLoad(t, p)
	phase := func(clients int, d time.Duration) (rate float64) {
		acked, refused, failed, begun := l.acked.Load(), l.refused.Load(), l.failed.Load(), time.Now()
		each(clients, d, l.one)
		took := time.Since(begun).Seconds()
		rate = float64(l.acked.Load()-acked) / took
		t.Logf("%d clients for %.1f s: %.0f acknowledged a second, %.0f refused, %d failed", clients, took, rate, float64(l.refused.Load()-refused)/took, l.failed.Load()-failed)
		return rate
	}
	v.during(t, "the sustained load", func() { phase(16, time.Second) })
	normal := slices.Max(append(v.notified, time.Second))
	v.during(t, "40 times as many clients", func() { phase(640, lasts(4*time.Second)) })
	begun := time.Now()
	outside.Until(t, "all requests are as fast as before", func() bool {
		v.during(t, "after it", func() { time.Sleep(100 * time.Millisecond) })
		return len(v.notified) > 0 && slices.Max(v.notified) <= 2*normal && len(v.refused)+len(v.failed) == 0
	})
	t.Logf("as fast as before after %s", time.Since(begun).Round(time.Millisecond))
	l.kept()
	for what, n := range l.wrong {
		t.Errorf("%d requests were neither done nor properly rejected: %s", n, what)
	}
	v.well(t)
	p.peaks.within(t, descrs, bounds{rss: 400e6, goroutines: 12_000})
}
