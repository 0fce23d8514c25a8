package bench

import (
	"context"
	"fmt"
	"time"

	"cloudburst/protocol/weblogs"
)

// Changes measures pings of sites and requests for the recent changes. Defaults are in brackets.
type Changes struct {
	Common
	Rate    int           // pings per second [1,000]
	During  time.Duration // duration of the pings in each round [5 s]
	Clients int           // connections that send pings [64]
	Readers int           // connections that request the recent changes [16]
	Rows    int           // number of recent changes during the requests [5,000]
	Reading time.Duration // duration for each kind of response in each round [1 s]
}

const (
	maxPingP99 = 0.050            // maximum p99 of the time of a ping, in seconds
	rampStep   = 1.3              // factor from one rate to the next
	rampFor    = 2                // duration of each rate in seconds
	rampTries  = 2                // attempts for each rate, because other programs can slow an attempt down
	listedIn   = 30 * time.Second // timeout until a ping appears in the recent changes
)

func (b Changes) Run(ctx context.Context) (*Report, error) {
	b.Rate, b.Clients, b.Readers, b.Rows = orElse(b.Rate, 1000), orElse(b.Clients, 64), orElse(b.Readers, 16), orElse(b.Rows, 5000)
	if b.During == 0 {
		b.During = 5 * time.Second
	}
	if b.Reading == 0 {
		b.Reading = time.Second
	}
	if b.Rate < 1 || b.Clients < 1 || b.Readers < 1 || b.Rows < 1 || b.During < 0 || b.Reading < 0 {
		return nil, fmt.Errorf("changes cannot be with %d pings a second for %s over %d connections, %d rows and %d readers for %s",
			b.Rate, b.During, b.Clients, b.Rows, b.Readers, b.Reading)
	}
	s, err := openStage("changes", b.Common, Plan{Feeds: 1})
	if err != nil {
		return nil, err
	}
	s.option("rate", b.Rate)
	s.option("clients", b.Clients)
	s.option("readers", b.Readers)
	s.option("rows", b.Rows)
	s.report.Options["during"] = b.During.String()
	return s.end(b.run(ctx, s))
}

func (b Changes) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	sites := newSites(s.server.listen, fmt.Sprintf("%s:%d", Host(false, 0), s.receiver.port), b.Clients)
	defer sites.close()
	s.progress.Step("pings", 0, 0)
	fast, err := sites.at(ctx, 0, b.Rows) // this fills the recent changes and warms up the caches
	if err != nil {
		return err
	}
	s.report.add("pings, one after the other", float64(fast.sent)/fast.took, "1/s").note("%d connections, the sites have no subscribers", b.Clients)
	if err := b.steady(ctx, s, sites); err != nil {
		return err
	}
	if err := b.ramp(ctx, s, sites); err != nil {
		return err
	}
	if err := b.durable(ctx, s, sites); err != nil {
		return err
	}
	return b.lists(ctx, s, sites)
}

// steady sends pings at the required rate and reports their times.
func (b Changes) steady(ctx context.Context, s *stage, sites *sites) error {
	var rates, p50, p99, most, cpus, floor []float64
	baselineAddr, err := b.baseline(s)
	if err != nil {
		return err
	}
	baseline := newSites(baselineAddr, sites.host, b.Clients)
	defer baseline.close()
	n := max(1, int(float64(b.Rate)*b.During.Seconds()))
	listed := 0
	for i := range s.Rounds {
		s.progress.Step("steady", i, s.Rounds)
		if _, err := s.server.settle(ctx); err != nil {
			return err
		}
		had, err := b.count(ctx, s, sites.next.Load())
		if err != nil {
			return err
		}
		profiled := func() error { return nil }
		if s.Profile != "" && i == 0 {
			profiled = s.server.profile(ctx, s.Profile, max(1, int(b.During.Seconds())))
		}
		cpu := s.server.usage().cpu
		p, err := sites.at(ctx, float64(b.Rate), n)
		if err != nil {
			return err
		}
		cpus = append(cpus, float64((s.server.usage().cpu-cpu).Microseconds())/float64(n))
		if err := profiled(); err != nil {
			return err
		}
		has, err := b.count(ctx, s, sites.next.Load())
		if err != nil {
			return err
		}
		listed += int(has-had) - n
		f, err := baseline.at(ctx, float64(b.Rate), n)
		if err != nil {
			return err
		}
		floor = append(floor, f.p99*1e3)
		rates = append(rates, float64(n)/p.took)
		p50, p99, most = append(p50, p.p50*1e3), append(p99, p.p99*1e3), append(most, p.most*1e3)
	}
	r := &s.report
	r.addMedian("pings taken", rates, "1/s").note("%s are sent each second, whatever becomes of them", thousands(int64(b.Rate)))
	r.addMedian("ping → answer, p50", p50, "ms").note("from the moment at which it was to be sent")
	r.addMedian("ping → answer, p99", p99, "ms").target("<", maxPingP99*1e3)
	r.addMedian("ping → answer, most", most, "ms")
	r.addMedian("floor: ping → answer, p99", floor, "ms").note("an endpoint that accepts and does nothing: the cost of machine and measurement")
	r.addMedian("server CPU", cpus, "µs each")
	r.add("listed pings differ from accepted pings", float64(listed), "").target("=", 0).note("of all rounds")
	return nil
}

// ramp reports the highest rate at which the p99 of the pings is below maxPingP99.
func (b Changes) ramp(ctx context.Context, s *stage, sites *sites) error {
	best := 0.0
	for rate := float64(b.Rate); rate < 200_000; rate *= rampStep {
		s.progress.Step("ramp to "+number(rate), 0, 0)
		p99 := maxPingP99
		for try := 0; try < rampTries && p99 >= maxPingP99; try++ {
			p, err := sites.at(ctx, rate, max(1, int(rate*rampFor*min(1, b.During.Seconds()))))
			if err != nil {
				return err
			}
			p99 = p.p99
		}
		if p99 >= maxPingP99 {
			break
		}
		best = rate
	}
	s.report.add("highest rate that holds", best, "1/s").target("≥", float64(b.Rate)).note("p99 below %.0f ms for %d s; in one of %d tries; in steps of %g", maxPingP99*1e3, rampFor, rampTries, rampStep)
	return nil
}

// durable kills the server after a response, and checks that no acknowledged ping is lost.
func (b Changes) durable(ctx context.Context, s *stage, sites *sites) error {
	if _, err := sites.at(ctx, 0, min(1000, b.Rows)); err != nil {
		return err
	}
	s.server.kill()
	if err := s.serve(ctx); err != nil {
		return err
	}
	sites.moved(s.server.listen)
	has, err := b.count(ctx, s, sites.next.Load())
	if err != nil {
		return err
	}
	s.report.add("lost by kill -9", float64(sites.next.Load()-has), "").target("=", 0)
	return nil
}

// count waits until the server reports want recent changes, and returns the last number.
func (b Changes) count(ctx context.Context, s *stage, want int64) (int64, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); ; {
		doc, _, err := fetchAs(ctx, "http://"+s.server.listen+"/changes.xml", "identity")
		if err != nil {
			return 0, err
		}
		list, err := weblogs.ReadChanges(doc, weblogs.ReadOptions{})
		if err != nil {
			return 0, err
		}
		if list.Count >= want || time.Since(begin) > listedIn {
			return list.Count, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
}
