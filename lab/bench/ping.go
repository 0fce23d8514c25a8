package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Ping measures many pings of many feeds with one subscriber each. Defaults are in brackets.
type Ping struct {
	Common
	Feeds   int     // number of feeds; each feed is pinged once in each round [5,000]
	Changed float64 // share of feeds that changed, 0 to 1
	Clients int     // number of concurrent pings [64]
}

func (b Ping) Run(ctx context.Context) (*Report, error) {
	b.Feeds, b.Clients = orElse(b.Feeds, 5000), orElse(b.Clients, 64)
	if b.Feeds < 1 || b.Clients < 1 || b.Changed < 0 || b.Changed > 1 {
		return nil, fmt.Errorf("ping cannot be with %d feeds, %d clients and a changed share of %g", b.Feeds, b.Clients, b.Changed)
	}
	// The server uses the first half of the feeds, and the baseline uses the second half.
	s, err := openStage("ping", b.Common, Plan{Feeds: 2 * b.Feeds})
	if err != nil {
		return nil, err
	}
	s.option("feeds", b.Feeds)
	s.option("clients", b.Clients)
	s.report.Options["changed"] = number(b.Changed)
	return s.end(b.run(ctx, s))
}

// pinged contains the measurements of one round of pings.
type pinged struct {
	rate, cpu float64
	p50, p99  float64 // time until the acknowledgment in ms
	missing   int
	extra     int64
	notified  float64 // time in ms from the start of the round to the last notification
}

func (b Ping) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	of := func(i int) registration {
		return registration{feed: s.receiver.feedURL(i), callback: s.receiver.callback(i, false)}
	}
	if err := s.register(ctx, ByImport, b.Feeds, of); err != nil {
		return err
	}
	floor, err := s.loop("endpoint")
	if err != nil {
		return err
	}
	var addr string
	if err := floor.call("endpoint", endpointPlan{Hosts: s.Hosts, Port: s.receiver.port}, &addr); err != nil {
		return err
	}
	ours, theirs := newPinger(s.server.listen, b.Clients), newPinger(addr, b.Clients)
	var a, c []pinged
	for n := range s.Rounds + 1 { // in the first round, every feed is new, so the round is not counted
		share := b.Changed
		if n == 0 {
			share = 1
		}
		wait := func() error { _, err := s.server.settle(ctx); return err }
		if s.Profile != "" && n == 1 {
			profiled := s.server.profile(ctx, s.Profile, max(1, b.Feeds/3000))
			wait = func() error { return profiled() }
		}
		x, err := b.round(ctx, s, ours, s.server.process, 0, share)
		if err != nil {
			return err
		}
		if err := wait(); err != nil {
			return err
		}
		y, err := b.round(ctx, s, theirs, floor.process, b.Feeds, share)
		if err != nil {
			return err
		}
		if n > 0 {
			a, c = append(a, x), append(c, y)
		}
	}
	b.figures(s, a, c)
	return nil
}

// round changes a share of the feeds from number first on, pings all feeds, and checks that only
// the subscribers of the changed feeds are notified.
func (b Ping) round(ctx context.Context, s *stage, p *pinger, who *process, first int, share float64) (r pinged, err error) {
	changes := make([]span, 0, b.Feeds)
	order := rand.Perm(b.Feeds)
	for _, i := range order[:int(share*float64(b.Feeds))] {
		changes = append(changes, span{From: first + i, To: first + i + 1})
	}
	if err := s.receiver.reset(2 * b.Feeds); err != nil {
		return r, err
	}
	if err := s.receiver.call("change", changes, nil); err != nil {
		return r, err
	}
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	acks := make([]float64, b.Feeds)
	before, t0 := who.usage().cpu, time.Now()
	if err := b.pingAll(ctx, s, p, order, first, acks); err != nil {
		return r, err
	}
	r.rate = float64(b.Feeds) / time.Since(t0).Seconds()
	if err := s.receiver.wait(ctx, len(changes), notifyTimeout, s.step("notified", len(changes))); err != nil {
		return r, err
	}
	r.cpu = float64((who.usage().cpu - before).Microseconds()) / float64(b.Feeds)
	all, err := s.receiver.arrivals(0, 2*b.Feeds, t0)
	if err != nil {
		return r, err
	}
	for _, w := range changes {
		one, err := s.receiver.arrivals(w.From, w.To, t0)
		if err != nil {
			return r, err
		}
		r.missing += one.Missing
	}
	r.extra = all.Again + all.Unknown + int64(all.Distinct-(len(changes)-r.missing))
	r.p50, r.p99, r.notified = quantile(acks, 0.50)*1e3, quantile(acks, 0.99)*1e3, all.Last*1e3
	return r, nil
}

func (b Ping) pingAll(ctx context.Context, s *stage, p *pinger, order []int, first int, acks []float64) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range b.Clients {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(order) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				begin := time.Now()
				if err := p.ping(ctx, s.receiver.feedURL(first+order[i])); err != nil {
					cancel(err)
					return
				}
				acks[i] = time.Since(begin).Seconds()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

func (b Ping) figures(s *stage, a, floor []pinged) {
	pick := func(list []pinged, of func(pinged) float64) []float64 {
		out := make([]float64, len(list))
		for i, t := range list {
			out[i] = of(t)
		}
		return out
	}
	rate := func(t pinged) float64 { return t.rate }
	cpu := func(t pinged) float64 { return t.cpu }
	r := &s.report
	r.addMedian("pings", pick(a, rate), "1/s").note("endpoint, check, durable, answered; %d at once", b.Clients)
	r.addMedian("floor", pick(floor, rate), "1/s").note("endpoint, check, answered; nothing stored")
	r.addMedian("ratio to the floor", each(pick(a, rate), pick(floor, rate)), "×")
	r.addMedian("server CPU", pick(a, cpu), "µs each")
	r.addMedian("floor CPU", pick(floor, cpu), "µs each")
	r.addMedian("CPU ratio to the floor", each(pick(floor, cpu), pick(a, cpu)), "×").note("floor ÷ server")
	r.addMedian("ping → answer, p50", pick(a, func(t pinged) float64 { return t.p50 }), "ms").note("waits for the turn of %d clients on this machine included", b.Clients)
	r.addMedian("ping → answer, p99", pick(a, func(t pinged) float64 { return t.p99 }), "ms")
	r.addMedian("floor: ping → answer, p50", pick(floor, func(t pinged) float64 { return t.p50 }), "ms")
	var missing, extra float64
	for _, t := range a {
		missing += float64(t.missing)
		extra += float64(t.extra)
	}
	r.add("changes without notification", missing, "").target("=", 0)
	r.add("notifications without a change, or repeated", extra, "").target("=", 0)
}
