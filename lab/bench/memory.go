package bench

import (
	"context"
	"fmt"
	"time"
)

// A fan-out has a large feed, a feed to measure latency, and a feed with a tenth of the
// subscribers. The last feed shows whether memory grows with the number of subscribers.
const (
	feedLarge = iota
	feedSmall
	feedFew
)

const (
	memoryRounds = 3  // number of server restarts for each memory figure
	growthNoise  = 16 // allowed variation in MiB, caused by garbage collection, connections and pages of the store
)

// checkVia returns an error if Via is not a valid kind of notification.
func (f Fanout) checkVia() error {
	switch {
	case f.Via != ViaRSSCloud && f.Via != ViaWebSub:
		return fmt.Errorf("fanout cannot be via %q: it needs %s or %s", f.Via, ViaRSSCloud, ViaWebSub)
	case f.Signed && f.Via != ViaWebSub:
		return fmt.Errorf("only %s signs with a secret", ViaWebSub)
	case f.Size < 512 || f.Size > maxBody:
		return fmt.Errorf("fanout cannot be of a feed with %d bytes: between 512 and %d can be served", f.Size, maxBody)
	case f.SlowShare > 0 && f.Via == ViaWebSub:
		return fmt.Errorf("slow ones via %s cannot be measured", ViaWebSub)
	}
	return nil
}

// few returns the number of subscribers of the third feed.
func (f Fanout) few() int {
	if f.Via != ViaWebSub {
		return 0
	}
	return max(1, f.Subscribers/10)
}

// total returns the number of all callbacks. The large feed has the lowest callback numbers.
func (f Fanout) total() int { return f.Subscribers + latencyOf + f.few() }

// feedOf returns the feed of callback i.
func (f Fanout) feedOf(i int) int {
	switch {
	case i < f.Subscribers:
		return feedLarge
	case i < f.Subscribers+latencyOf:
		return feedSmall
	}
	return feedFew
}

// job returns the job of a loop that sends the same notifications as the server.
func (f Fanout) job(s *stage, kind string) Job {
	return Job{Kind: kind, To: f.quick(), Feed: s.receiver.feedURL(feedLarge), Via: f.Via, Hub: s.server.websub(), Signed: f.Signed}
}

// memory measures how much memory a restarted server uses for notifications. It compares ten
// consecutive changes of a feed with a tenth of the subscribers, and one change of the feed with
// all subscribers. Both send the same number of notifications. A difference would mean that
// memory grows with the subscribers of one change.
func (f Fanout) memory(ctx context.Context, s *stage) error {
	var few, all []float64
	for range memoryRounds {
		a, err := f.growth(ctx, s, feedFew, f.few(), 10)
		if err != nil {
			return err
		}
		b, err := f.growth(ctx, s, feedLarge, f.Subscribers, 1)
		if err != nil {
			return err
		}
		few, all = append(few, a), append(all, b)
	}
	r := &s.report
	r.addMedian(fmt.Sprintf("memory grew, %s subscribers", thousands(int64(f.few()))), few, "MiB").note("in ten changes, over the server at rest after its start")
	r.addMedian(fmt.Sprintf("memory grew, %s subscribers", thousands(int64(f.Subscribers))), all, "MiB").note("in one change; all contents together: %s MiB", number(float64(f.Subscribers)*float64(f.Size)/(1<<20)))
	r.add("ratio of the growths", Median(all)/max(Median(few), growthNoise), "×").target("≤", 1.5).note(
		"ten times the subscribers; growth below %d MiB counts as that", growthNoise)
	return nil
}

// growth restarts the server and changes a feed with n subscribers several times. It returns the
// maximum growth of the server's memory in MiB during these changes.
func (f Fanout) growth(ctx context.Context, s *stage, feed, n, times int) (float64, error) {
	if err := s.server.stop(stopWithin); err != nil {
		return 0, err
	}
	if err := s.serve(ctx); err != nil {
		return 0, err
	}
	if _, err := s.server.settle(ctx); err != nil {
		return 0, err
	}
	rest := s.server.usage().rss
	watching, stop := context.WithCancel(ctx)
	defer stop()
	peak := s.server.watch(watching)
	p := newPinger(s.server.listen, 1)
	for range times {
		if err := f.notifyAll(ctx, s, p, feed, n); err != nil {
			return 0, err
		}
	}
	stop()
	return mib(max(0, peak().rss-rest)), nil
}

// notifyAll changes a feed and returns when all its n subscribers are notified.
func (f Fanout) notifyAll(ctx context.Context, s *stage, p *pinger, feed, n int) error {
	if err := s.receiver.reset(f.total()); err != nil {
		return err
	}
	if err := s.receiver.call("change", []span{{From: feed, To: feed + 1}}, nil); err != nil {
		return err
	}
	if err := p.ping(ctx, s.receiver.feedURL(feed)); err != nil {
		return err
	}
	if err := s.receiver.wait(ctx, n, notifyTimeout, s.step("memory", n)); err != nil {
		return err
	}
	a, err := s.receiver.arrivals(0, f.total(), time.Now())
	if err == nil && a.Wrong+a.Again > 0 {
		err = fmt.Errorf("%d contents were wrong and %d came twice", a.Wrong, a.Again)
	}
	return err
}
