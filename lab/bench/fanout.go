package bench

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"
)

// These are the values of Fanout.Register.
const (
	ByEndpoint = "endpoint"
	ByImport   = "import"
)

// Fanout measures the notifications of one feed with many subscribers. Defaults are in brackets.
type Fanout struct {
	Common
	Subscribers    int           // number of subscribers [10,000]
	NewConnections bool          // the callback hosts close the connection after each response
	SlowShare      float64       // share of slow subscribers, 0 to 1
	Slow           time.Duration // response time of a slow subscriber [5 s]
	Register       string        // ByEndpoint or ByImport [ByImport above 2,000 subscribers]
	Latency        int           // number of pings of a small feed, to measure latency [300]; negative: none
	Via            string        // ViaRSSCloud or ViaWebSub [ViaRSSCloud]
	Size           int           // size of the feed in bytes [4,096]
	Signed         bool          // each subscriber has a secret; only for ViaWebSub
}

// notified contains the measurements of one change.
type notified struct {
	quick, all     Arrivals
	rate           float64 // quick notifications per second, counted from the ping
	cpu            float64 // CPU time of the server in µs per notification
	fetched        float64 // seconds from the feed's response to the first notification
	writes, failed int64
	again, wrong   int64
	peak           usage
	grew           int64 // growth of the memory in bytes
}

func (f Fanout) Run(ctx context.Context) (*Report, error) {
	f.Subscribers = orElse(f.Subscribers, 10_000)
	f.Latency = orElse(f.Latency, 300)
	if f.Slow == 0 {
		f.Slow = 5 * time.Second
	}
	if f.Register == "door" { // former value of ByEndpoint
		f.Register = ByEndpoint
	}
	if f.Register == "" {
		f.Register = ByImport
		if f.Subscribers <= 2000 {
			f.Register = ByEndpoint
		}
	}
	f.Via, f.Size = cmp.Or(f.Via, ViaRSSCloud), orElse(f.Size, 4096)
	if err := f.checkVia(); err != nil {
		return nil, err
	}
	if f.Subscribers < 1 || f.SlowShare < 0 || f.SlowShare > 1 || f.Register != ByEndpoint && f.Register != ByImport {
		return nil, fmt.Errorf("fanout cannot be with %d subscribers, a slow share of %g and registering by %q", f.Subscribers, f.SlowShare, f.Register)
	}
	p := Plan{Feeds: feedFew + 1, Close: f.NewConnections, FeedSize: f.Size, Contents: f.Via == ViaWebSub, Signed: f.Signed}
	if f.SlowShare > 0 {
		p.SlowHosts, p.Slow = max(1, orElse(f.Hosts, 1000)/4), f.Slow
	}
	s, err := openStage("fanout", f.Common, p)
	if err != nil {
		return nil, err
	}
	s.option("subscribers", f.Subscribers)
	s.report.Options["register"] = f.Register
	s.report.Options["via"] = f.Via
	if s.option("size", f.Size); f.Signed {
		s.report.Options["secret"] = "true"
	}
	s.report.Options["new-connections"] = strconv.FormatBool(f.NewConnections)
	if f.SlowShare > 0 {
		s.report.Options["slow-share"] = number(f.SlowShare)
		s.report.Options["slow"] = f.Slow.String()
	}
	return s.end(f.run(ctx, s))
}

// quick returns the number of quick subscribers. They have the lowest callback numbers.
func (f Fanout) quick() int { return f.Subscribers - int(float64(f.Subscribers)*f.SlowShare) }

func (f Fanout) run(ctx context.Context, s *stage) error {
	if err := s.serveEmpty(ctx); err != nil {
		return err
	}
	of := func(i int) registration {
		r := registration{feed: s.receiver.feedURL(f.feedOf(i)), callback: s.receiver.callback(i, f.quick() <= i && i < f.Subscribers), via: f.Via}
		if f.Signed {
			r.secret = SecretOf(i)
		}
		return r
	}
	if err := s.register(ctx, f.Register, f.total(), of); err != nil {
		return err
	}
	p := newPinger(s.server.listen, 1)
	var rounds []notified
	var own, web, ownCPU, webCPU []float64
	for n := range s.Rounds + 1 { // the first round opens connections and is not counted
		t, err := f.round(ctx, s, p, n)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
		_, ownRate, ownUS, err := s.run(f.job(s, LoopSender))
		if err != nil {
			return err
		}
		_, webRate, webUS, err := s.run(f.job(s, LoopNetHTTP))
		if err != nil {
			return err
		}
		if n == 0 {
			s.report.addMedian("cold start", []float64{t.rate}, "1/s").note("the first change: nothing is connected or known yet")
			continue
		}
		rounds = append(rounds, t)
		own, web = append(own, ownRate), append(web, webRate)
		ownCPU, webCPU = append(ownCPU, ownUS), append(webCPU, webUS)
	}
	f.figures(s, rounds, own, web, ownCPU, webCPU)
	if f.Latency > 0 {
		if err := f.latency(ctx, s, p, "small feed: ", 0); err != nil {
			return err
		}
		if err := f.latency(ctx, s, p, "small feed while all are notified: ", busyEvery); err != nil {
			return err
		}
	}
	if f.Via == ViaWebSub {
		if err := f.memory(ctx, s); err != nil {
			return err
		}
	}
	if s.MemProfile != "" {
		return s.server.save(ctx, s.MemProfile, "/debug/pprof/heap")
	}
	return nil
}

// register creates registrations 0 ≤ i < n in the given way, and reports their rate.
func (s *stage) register(ctx context.Context, way string, n int, of func(i int) registration) error {
	begin := time.Now()
	notify := func(done, total int) { s.progress.Step("register", done, total) }
	var err error
	if way == ByEndpoint {
		err = s.server.registerAll(ctx, n, 64, of, notify)
		if err == nil && of(0).via == ViaWebSub {
			err = s.server.confirmed(ctx, n, notify)
		}
	} else {
		err = s.server.importAll(ctx, n, of, notify)
	}
	if err != nil {
		return fmt.Errorf("register %d callbacks: %w", n, err)
	}
	s.report.add("registrations by "+way, float64(n)/time.Since(begin).Seconds(), "1/s")
	_, err = s.server.settle(ctx)
	return err
}

// round changes the feed, pings the server, and waits for the last notification.
func (f Fanout) round(ctx context.Context, s *stage, p *pinger, n int) (t notified, err error) {
	before, err := s.server.settle(ctx)
	if err != nil {
		return t, err
	}
	if err := s.receiver.reset(f.Subscribers); err != nil {
		return t, err
	}
	if err := s.receiver.call("change", []span{{From: 0, To: 1}}, nil); err != nil {
		return t, err
	}
	start := s.server.usage()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	peak := s.server.watch(watching)
	profiled := func() error { return nil }
	if s.Profile != "" && n == 1 {
		profiled = s.server.profile(ctx, s.Profile, max(1, f.Subscribers/20_000))
	}
	t0 := time.Now()
	if err := p.ping(ctx, s.receiver.feedURL(0)); err != nil {
		return t, err
	}
	if err := s.receiver.wait(ctx, f.Subscribers, notifyTimeout+f.Slow, s.step("round "+strconv.Itoa(n), f.Subscribers)); err != nil {
		return t, err
	}
	t.cpu = float64((s.server.usage().cpu - start.cpu).Microseconds()) / float64(f.Subscribers)
	after, err := s.server.settle(ctx)
	if err != nil {
		return t, err
	}
	stop()
	t.peak = peak()
	t.grew = max(0, t.peak.rss-start.rss)
	if err := profiled(); err != nil {
		return t, err
	}
	served, err := s.receiver.feeds(0, 1)
	if err != nil {
		return t, err
	}
	if t.quick, err = s.receiver.arrivals(0, f.quick(), t0); err != nil {
		return t, err
	}
	if t.all, err = s.receiver.arrivals(0, f.Subscribers, t0); err != nil {
		return t, err
	}
	t.rate = float64(f.quick()) / t.quick.Last
	t.fetched = t.all.First - float64(served.Served-t0.UnixNano())/1e9
	t.writes = after.Live.Writes - before.Live.Writes
	t.failed = after.Totals.Failed - before.Totals.Failed
	t.again, t.wrong = t.all.Again, t.all.Wrong
	return t, nil
}

func (f Fanout) figures(s *stage, rounds []notified, own, web, ownCPU, webCPU []float64) {
	r := &s.report
	pick := func(of func(notified) float64) []float64 {
		out := make([]float64, len(rounds))
		for i, t := range rounds {
			out[i] = of(t)
		}
		return out
	}
	rates := pick(func(t notified) float64 { return t.rate })
	cpus := pick(func(t notified) float64 { return t.cpu })
	r.addMedian("notifications", rates, "1/s").note("from the ping to the last")
	r.addMedian("same sender, bare loop", own, "1/s").note("%d at once, no state", s.Concurrent)
	r.addMedian("net/http, bare loop", web, "1/s").note("%d at once, no state", s.Concurrent)
	if same, other := r.addMedian("ratio to the same sender", each(rates, own), "×"), each(rates, web); f.Via == ViaWebSub {
		same.target("≥", 0.8)
		r.addMedian("ratio to net/http", other, "×")
	} else {
		same.target("≥", 0.9)
		r.addMedian("ratio to net/http", other, "×").target("≥", 1.4)
	}
	r.addMedian("server CPU", cpus, "µs each")
	r.addMedian("same sender CPU", ownCPU, "µs each")
	r.addMedian("net/http CPU", webCPU, "µs each")
	r.addMedian("CPU ratio to the same sender", each(ownCPU, cpus), "×").note("sender ÷ server; a busy machine does not change it")
	r.addMedian("ping → first", pick(func(t notified) float64 { return t.all.First * 1e3 }), "ms")
	r.addMedian("feed read → first", pick(func(t notified) float64 { return t.fetched * 1e3 }), "ms")
	r.addMedian("ping → p50", pick(func(t notified) float64 { return t.quick.P50 * 1e3 }), "ms")
	r.addMedian("ping → p99", pick(func(t notified) float64 { return t.quick.P99 * 1e3 }), "ms")
	r.addMedian("ping → last", pick(func(t notified) float64 { return t.all.Last * 1e3 }), "ms")
	per1000 := 1000 / float64(f.Subscribers)
	r.addMedian("write transactions", pick(func(t notified) float64 { return float64(t.writes) * per1000 }), "per 1,000").target("≤", 3)
	r.addMedian("memory, most", pick(func(t notified) float64 { return float64(t.peak.rss) / (1 << 20) }), "MiB")
	r.addMedian("open files, most", pick(func(t notified) float64 { return float64(t.peak.files) }), "")
	if f.SlowShare > 0 {
		r.addMedian("slow ones under way, most", pick(func(t notified) float64 { return float64(t.all.Peak) }), "")
	}
	var again, failed, wrong float64
	for _, t := range rounds {
		again += float64(t.again)
		wrong += float64(t.wrong)
		failed += float64(t.failed)
	}
	r.add("duplicates", again, "").target("=", 0).note("of all rounds")
	r.add("false errors", failed, "").target("=", 0).note("of all rounds")
	if f.Via == ViaWebSub {
		r.add("wrong contents", wrong, "").target("=", 0).note("the length of all, bytes and signature of every %dth", sampled)
	}
}
