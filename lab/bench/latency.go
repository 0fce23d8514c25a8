package bench

import (
	"context"
	"time"
)

// busyEvery is the time between two changes of the large feed that keep the server busy. It is
// less than the server needs for 100,000 subscribers.
const busyEvery = 500 * time.Millisecond

// latency pings a feed with few subscribers repeatedly, and reports the delays in ms. The names of
// the figures begin with name. If busy is not 0, the large feed changes after each such time, so
// that the server also notifies all other subscribers meanwhile.
func (f Fanout) latency(ctx context.Context, s *stage, p *pinger, name string, busy time.Duration) error {
	var first, fetched, acked []float64
	var changed time.Time
	ping := func(feed int) (t0 time.Time, err error) {
		if err = s.receiver.call("change", []span{{From: feed, To: feed + 1}}, nil); err == nil {
			t0 = time.Now()
			err = p.ping(ctx, s.receiver.feedURL(feed))
		}
		return t0, err
	}
	for i := range f.Latency {
		s.progress.Step("latency", i, f.Latency)
		if busy > 0 && time.Since(changed) > busy {
			var err error
			if changed, err = ping(feedLarge); err != nil {
				return err
			}
		}
		if err := s.receiver.reset(f.Subscribers + latencyOf); err != nil {
			return err
		}
		t0, err := ping(feedSmall)
		if err != nil {
			return err
		}
		acked = append(acked, time.Since(t0).Seconds()*1e3)
		var a Arrivals
		err = s.receiver.waitUntil(ctx, latencyOf, notifyTimeout, func() (n int, err error) {
			a, err = s.receiver.arrivals(f.Subscribers, f.Subscribers+latencyOf, t0)
			return a.Distinct, err
		})
		if err != nil {
			return err
		}
		served, err := s.receiver.feeds(feedSmall, feedSmall+1)
		if err != nil {
			return err
		}
		first = append(first, a.First*1e3)
		fetched = append(fetched, a.First*1e3-float64(served.Served-t0.UnixNano())/1e6)
	}
	r := &s.report
	r.add(name+"ping → first, p50", quantile(first, 0.50), "ms").note("%d pings of a feed with %d subscribers", f.Latency, latencyOf)
	r.add(name+"ping → first, p99", quantile(first, 0.99), "ms")
	r.add(name+"read → first, p50", quantile(fetched, 0.50), "ms").target("≤", 2)
	r.add(name+"read → first, p99", quantile(fetched, 0.99), "ms").target("≤", 10)
	r.add(name+"ping → answer, p50", quantile(acked, 0.50), "ms")
	r.add(name+"ping → answer, p99", quantile(acked, 0.99), "ms")
	return nil
}
