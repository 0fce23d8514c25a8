package bench

import (
	"context"
	"fmt"
	"time"
)

// Slow measures a feed with quick and many slow subscribers. Defaults are in brackets.
type Slow struct {
	Common
	Quick     int           // number of quick subscribers [1,000]
	Slow      int           // number of slow subscribers [10,000]
	SlowHosts int           // number of hosts of slow subscribers [1,000]
	Delay     time.Duration // response time of a slow subscriber [5 s]
}

func (b Slow) Run(ctx context.Context) (*Report, error) {
	b.Quick, b.Slow, b.SlowHosts = orElse(b.Quick, 1000), orElse(b.Slow, 10_000), orElse(b.SlowHosts, 1000)
	b.Rounds = orElse(b.Rounds, 3)
	if b.Delay == 0 {
		b.Delay = 5 * time.Second
	}
	if b.Quick < 1 || b.Slow < 1 {
		return nil, fmt.Errorf("slow needs some of both: %d quick and %d slow subscribers are none", b.Quick, b.Slow)
	}
	s, err := openStage("slow", b.Common, Plan{SlowHosts: b.SlowHosts, Slow: b.Delay, Feeds: 2})
	if err != nil {
		return nil, err
	}
	s.option("quick", b.Quick)
	s.option("slow", b.Slow)
	s.option("slow-hosts", b.SlowHosts)
	s.report.Options["delay"] = b.Delay.String()
	return s.end(b.run(ctx, s))
}

// run registers the callbacks 0 ≤ i < Quick for feed 0. It registers the next Quick callbacks and
// all slow callbacks for feed 1.
func (b Slow) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	of := func(i int) registration {
		return registration{feed: s.receiver.feedURL(min(1, i/b.Quick)), callback: s.receiver.callback(i, i >= 2*b.Quick)}
	}
	if err := s.register(ctx, ByImport, 2*b.Quick+b.Slow, of); err != nil {
		return err
	}
	p := newPinger(s.server.listen, 1)
	var alone, alongside []slowRound
	for n := range s.Rounds + 1 {
		a, err := b.round(ctx, s, p, 0, 0, b.Quick, b.Quick)
		if err != nil {
			return fmt.Errorf("the quick ones alone: %w", err)
		}
		m, err := b.round(ctx, s, p, 1, b.Quick, 2*b.Quick, b.Quick+b.Slow)
		if err != nil {
			return fmt.Errorf("with slow subscribers: %w", err)
		}
		if n == 0 {
			s.report.add("first change: quick ones alone, p99", a.quick.P99*1e3, "ms")
			s.report.add("first change: quick with slow, p99", m.quick.P99*1e3, "ms").target("<", 1000).note("the hub has no history of the callbacks yet")
		} else {
			alone = append(alone, a)
		}
		alongside = append(alongside, m)
	}
	b.figures(s, alone, alongside)
	return nil
}

type slowRound struct {
	quick   Arrivals
	all     float64 // seconds from the ping to the last notification
	peak    usage
	grew    int64
	open    int64 // maximum number of concurrent slow requests
	writes  int64
	failed  int64
	failing int64
}

func (b Slow) round(ctx context.Context, s *stage, p *pinger, feed, from, to, total int) (r slowRound, err error) {
	before, err := s.server.settle(ctx)
	if err != nil {
		return r, err
	}
	if err := s.receiver.reset(2*b.Quick + b.Slow); err != nil {
		return r, err
	}
	if err := s.receiver.call("change", []span{{From: feed, To: feed + 1}}, nil); err != nil {
		return r, err
	}
	start := s.server.usage()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	peak := s.server.watch(watching)
	t0 := time.Now()
	if err := p.ping(ctx, s.receiver.feedURL(feed)); err != nil {
		return r, err
	}
	if err := s.receiver.wait(ctx, total, notifyTimeout+b.Delay, s.step("notified", total)); err != nil {
		return r, err
	}
	if r.quick, err = s.receiver.arrivals(from, to, t0); err != nil {
		return r, err
	}
	after, err := s.server.settle(ctx)
	if err != nil {
		return r, err
	}
	stop()
	r.peak = peak()
	all, err := s.receiver.arrivals(0, 2*b.Quick+b.Slow, t0)
	if err != nil {
		return r, err
	}
	r.all, r.open = all.Last, all.Peak
	r.quick.Again = all.Again
	r.grew = max(0, r.peak.rss-start.rss)
	r.writes = after.Live.Writes - before.Live.Writes
	r.failed = after.Totals.Failed - before.Totals.Failed
	if after.Counts != nil {
		r.failing = after.Counts.Failing
	}
	return r, nil
}

func (b Slow) figures(s *stage, alone, alongside []slowRound) {
	pick := func(list []slowRound, of func(slowRound) float64) []float64 {
		out := make([]float64, len(list))
		for i, t := range list {
			out[i] = of(t)
		}
		return out
	}
	r, later := &s.report, alongside[1:]
	p50 := func(t slowRound) float64 { return t.quick.P50 * 1e3 }
	p99 := func(t slowRound) float64 { return t.quick.P99 * 1e3 }
	r.addMedian("quick ones alone, p50", pick(alone, p50), "ms")
	r.addMedian("quick ones alone, p99", pick(alone, p99), "ms")
	r.addMedian("quick with slow, p50", pick(later, p50), "ms")
	r.addMedian("quick with slow, p99", pick(later, p99), "ms").target("<", 1000)
	r.addMedian("last of all", pick(alongside, func(t slowRound) float64 { return t.all }), "s").note("slow ones begin only so many at once")
	open := pick(alongside, func(t slowRound) float64 { return float64(t.open) })
	r.addMedian("slow ones under way, most", open, "")
	first := alongside[0]
	if first.open > 0 {
		r.add("memory of one under way", float64(first.grew)/1024/float64(first.open), "KiB").target("≤", 25).
			note("what the first change added to the server's memory, divided")
	}
	r.addMedian("memory, most", pick(alongside, func(t slowRound) float64 { return float64(t.peak.rss) / (1 << 20) }), "MiB")
	r.addMedian("open files, most", pick(alongside, func(t slowRound) float64 { return float64(t.peak.files) }), "")
	r.addMedian("write transactions", pick(alongside, func(t slowRound) float64 { return float64(t.writes) / float64(b.Quick+b.Slow) * 1000 }), "per 1,000")
	var failed, again float64
	for _, t := range alongside {
		failed += float64(t.failed + t.failing)
		again += float64(t.quick.Again)
	}
	r.add("false errors", failed, "").target("=", 0).note("failed notifications and subscribers with errors, all rounds")
	r.add("duplicates", again, "").target("=", 0).note("all rounds")
}
