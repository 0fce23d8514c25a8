package bench

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// Million measures many subscriptions, most of them idle. Defaults are in brackets.
type Million struct {
	Common
	Subscriptions int // number of subscriptions [1,000,000]
	Feeds         int // number of feeds; each has the same number of subscriptions [1,000]
	Pings         int // number of pings to measure latency, to the feeds in turn [200]
}

func (m Million) Run(ctx context.Context) (*Report, error) {
	m.Subscriptions, m.Feeds, m.Pings = orElse(m.Subscriptions, 1_000_000), orElse(m.Feeds, 1000), orElse(m.Pings, 200)
	if m.Subscriptions < m.Feeds {
		return nil, fmt.Errorf("%d subscriptions are too few for %d feeds", m.Subscriptions, m.Feeds)
	}
	s, err := openStage("fanout --million", m.Common, Plan{Feeds: m.Feeds})
	if err != nil {
		return nil, err
	}
	s.option("subscriptions", m.Subscriptions)
	s.option("feeds", m.Feeds)
	delete(s.report.Options, "rounds")
	return s.end(m.run(ctx, s))
}

// run registers callbacks for all feeds. Feed f has the callbacks f × each ≤ i < (f+1) × each.
func (m Million) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	each := m.Subscriptions / m.Feeds
	n := each * m.Feeds
	of := func(i int) registration {
		return registration{feed: s.receiver.feedURL(i / each), callback: s.receiver.callback(i, false)}
	}
	if err := s.register(ctx, ByImport, n, of); err != nil {
		return err
	}
	r := &s.report
	r.add("memory after the import", mib(s.server.usage().rss), "MiB")
	size, err := sizeOf(s.server.data)
	if err != nil {
		return err
	}
	if s.Database == "" {
		r.add("on disk", mib(size), "MiB").note("%.0f bytes a subscription", float64(size)/float64(n))
	}
	if err := s.server.stop(stopWithin); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	cpu := s.server.usage().cpu.Seconds()
	r.add("start → ready", s.server.ready.Seconds(), "s").target("<", 2)
	r.add("CPU of the start", cpu, "s").target("≤", 0.1)
	if err := m.rest(ctx, s); err != nil {
		return err
	}
	r.add("memory at rest", mib(s.server.usage().rss), "MiB").target("<", 150).note("5 s after the start, status read once")
	return m.pings(ctx, s, each, n)
}

// rest measures the server while it is idle for five seconds. The only request is for its status.
func (m Million) rest(ctx context.Context, s *stage) error {
	begin := time.Now()
	if _, err := s.server.api.Status(ctx); err != nil {
		return err
	}
	s.report.add("status, everything counted", time.Since(begin).Seconds()*1e3, "ms")
	s.progress.Step("rest", 0, 0)
	timer := time.NewTimer(5 * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.server.ended:
		return s.server.gone()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m Million) pings(ctx context.Context, s *stage, each, n int) error {
	p := newPinger(s.server.listen, 1)
	var first, fetched, last []float64
	var again, missing int
	for i := range m.Pings {
		f := i % m.Feeds
		s.progress.Step("pings", i, m.Pings)
		if err := s.receiver.reset(n); err != nil {
			return err
		}
		if err := s.receiver.call("change", []span{{From: f, To: f + 1}}, nil); err != nil {
			return err
		}
		t0 := time.Now()
		if err := p.ping(ctx, s.receiver.feedURL(f)); err != nil {
			return err
		}
		if err := s.receiver.wait(ctx, each, notifyTimeout, func(int) {}); err != nil {
			return err
		}
		a, err := s.receiver.arrivals(f*each, (f+1)*each, t0)
		if err != nil {
			return err
		}
		served, err := s.receiver.feeds(f, f+1)
		if err != nil {
			return err
		}
		first, last = append(first, a.First*1e3), append(last, a.Last*1e3)
		fetched = append(fetched, a.First*1e3-float64(served.Served-t0.UnixNano())/1e6)
		again += int(a.Again)
		missing += a.Missing
	}
	r := &s.report
	r.add("very first ping → first", first[0], "ms")
	r.add("ping → first, p50", quantile(first, 0.50), "ms").note("%d pings of feeds with %s subscribers each", m.Pings, thousands(int64(each)))
	r.add("read → first, p50", quantile(fetched, 0.50), "ms").target("≤", 2)
	r.add("read → first, p99", quantile(fetched, 0.99), "ms").target("≤", 10)
	r.add("ping → last, p50", quantile(last, 0.50), "ms")
	r.add("memory after the pings", mib(s.server.usage().rss), "MiB")
	r.add("duplicates", float64(again), "").target("=", 0)
	r.add("missing", float64(missing), "").target("=", 0)
	return nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// sizeOf returns the total size of the files below dir.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
