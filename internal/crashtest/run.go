package crashtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	patience  = 10 * time.Second
	startsIn  = 60 * time.Second
	stopsIn   = 20 * time.Second
	afterlife = time.Second
)

// Options of a run. Zero fields mean the default in brackets.
type Options struct {
	Binary    string        // the program
	Args      []string      // further flags of serve
	Env       []string      // further environment
	Dir       string        // an empty folder
	Cycles    int           // deaths [50]
	Seed      uint64        // of everything random here [1]
	Feeds     int           // [8]
	Callbacks int           // on each of two hosts [12]
	Clients   int           // at once [6]
	Log       func(string)  // nil: silent
	Life      time.Duration // longest life of a process [400 ms]
	Ordeal    int           // every so many lives one dies at a chosen moment [5]
	Settle    time.Duration // the last work is done by then [3 min]
}

// Report is what a run came to. Broken is empty when every promise was kept.
type Report struct {
	Broken        []string
	Deaths        int
	Registered    int // acknowledged registrations
	Cancelled     int
	Pings         int // acknowledged pings of changes
	Pending       int // of them acknowledged before the feed had answered
	Live          int // subscriptions that were certainly live at the end
	Notifications int
	Refused       int // of them refused at once
	Slow          int // of them answered late or never, for the process died
	Duplicates    int
}

func (r Report) String() string {
	return fmt.Sprintf("%d deaths, %d registrations, %d cancels and %d pings (%d pending) acknowledged, %d subscriptions live, %d notifications (%d refused, %d slow), %d duplicates, %d promises broken",
		r.Deaths, r.Registered, r.Cancelled, r.Pings, r.Pending, r.Live, r.Notifications, r.Refused, r.Slow, r.Duplicates, len(r.Broken))
}

type runner struct {
	Options
	history *history
	feeds   *feedServer
	subs    []*subscribers
	rng     *locked
	client  *http.Client

	mu     sync.Mutex
	base   string // public address of the living process; "" while none lives
	admin  string
	busy   map[pair]bool
	report Report
}

// Run does one whole run.
func Run(ctx context.Context, o Options) (Report, error) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Cycles, 50)
	def(&o.Feeds, 8)
	def(&o.Callbacks, 12)
	def(&o.Clients, 6)
	def(&o.Ordeal, 5)
	if o.Life == 0 {
		o.Life = 400 * time.Millisecond
	}
	if o.Settle == 0 {
		o.Settle = 3 * time.Minute
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	r := &runner{
		Options: o, history: newHistory(), rng: &locked{rng: rand.New(rand.NewPCG(o.Seed, 7))},
		client: &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}, busy: map[pair]bool{},
	}
	var err error
	if r.feeds, err = newFeeds(); err != nil {
		return Report{}, err
	}
	defer r.feeds.srv.Close()
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		s, err := newSubscribers(host, r.history, r.rng)
		if err != nil {
			return Report{}, err
		}
		defer s.srv.Close()
		r.subs = append(r.subs, s)
	}
	return r.run(ctx)
}

func (r *runner) run(ctx context.Context) (Report, error) {
	clients, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for range r.Clients {
		group.Go(func() { r.clientLoop(clients) })
	}
	for i := range r.Cycles {
		p, err := r.start(ctx)
		if err != nil {
			return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
		}
		if i%r.Ordeal == r.Ordeal-1 {
			over := r.ordeal(i / r.Ordeal)
			r.die(p)
			over()
		} else if i%10 == 7 {
			time.Sleep(r.Life)
			if err := r.stop(p); err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
		} else {
			time.Sleep(time.Duration(r.rng.IntN(int(r.Life))) + r.Life/20) // a real process lives in real time
			r.die(p)
		}
		r.Log(fmt.Sprintf("cycle %d of %d: killed", i+1, r.Cycles))
	}
	stored, endless, err := r.end(ctx, func() { stop(); group.Wait() })
	if err != nil {
		return r.report, err
	}
	broken, counted := r.history.check(stored)
	counted.Broken, counted.Registered, counted.Cancelled = append(broken, endless...), r.report.Registered, r.report.Cancelled
	return counted, nil
}

// end lets one more process do what is left to do, and another one that has nothing
// to do. It returns what the program says it has; stop ends the clients.
func (r *runner) end(ctx context.Context, stop func()) (stored map[pair]bool, endless []string, err error) {
	p, err := r.start(ctx)
	if err != nil {
		stop()
		return nil, nil, err
	}
	defer func() { p.kill() }()
	time.Sleep(r.Life)
	stop()
	for i := range r.Feeds { // the last news of all, while some still refuse
		r.ping(r.where(), r.feed(i))
	}
	if _, err := r.until(ctx, func(l left) bool { return l.PartsDue == 0 }); err != nil {
		return nil, nil, err
	}
	for _, s := range r.subs {
		s.calm.Store(true)
	}
	settled, err := r.settle(ctx)
	if err != nil {
		return nil, nil, err
	}
	if settled {
		// A death with nothing under way repeats nothing.
		r.history.do(func() { r.history.quiet = time.Now() })
		r.die(p)
		if p, err = r.start(ctx); err != nil {
			return nil, nil, err
		}
		if settled, err = r.settle(ctx); err != nil {
			return nil, nil, err
		}
	}
	if !settled {
		endless = []string{fmt.Sprintf("no end: there was still work after %s, with everybody well", r.Settle)}
	}
	stored, err = r.export(ctx)
	return stored, endless, err
}

func (r *runner) feed(n int) string { return fmt.Sprintf("%s/feed%d.xml", r.feeds.base, n) }

// stop asks a process to end, which may take it a while: for what is acknowledged it
// is no different from a death.
func (r *runner) stop(p *process) error {
	r.gone()
	defer func() { r.history.now(func(l *life, at time.Time) { l.died = at }) }()
	if err := p.stop(); err != nil {
		p.kill()
		return err
	}
	return nil
}

func (r *runner) die(p *process) {
	r.gone()
	p.kill()
	r.history.now(func(l *life, at time.Time) { l.died = at })
}

// ordeal brings the program to a moment at which it is easily forgotten what is
// owed, and returns there. The feeds are its own and nothing happens to them later
// that could hide a loss. What is returned makes everybody quick again.
func (r *runner) ordeal(n int) (over func()) {
	base, s := r.where(), r.subs[n%len(r.subs)]
	feeds, paths := make([]string, 3), make([]string, 3)
	for i := range feeds {
		feeds[i], paths[i] = fmt.Sprintf("%s/ordeal%d-%d.xml", r.feeds.base, n, i), fmt.Sprintf("/ordeal%d-%d", n, i)
	}
	for _, feed := range feeds {
		for _, path := range paths {
			r.register(base, feed, s, path)
		}
	}
	switch n % 3 {
	case 1:
		return r.slowCallbacks(base, feeds, s, paths)
	case 2:
		r.cancel(base, feeds[0], s, paths[0]) // and dies right after it was acknowledged
		return func() {}
	}
	return r.slowFeeds(base, feeds)
}

// slowFeeds pings feeds that answer late, and returns when the pings were acknowledged.
func (r *runner) slowFeeds(base string, feeds []string) (over func()) {
	var group sync.WaitGroup
	for _, feed := range feeds {
		r.feeds.setSlow(feed, true)
		group.Go(func() { r.ping(base, feed) })
	}
	group.Wait()
	time.Sleep(time.Duration(r.rng.IntN(int(feedTakes / 8))))
	return func() {
		for _, feed := range feeds {
			r.feeds.setSlow(feed, false)
		}
	}
}

// slowCallbacks pings, and returns while one callback of each feed takes longer than
// a part waits for it.
func (r *runner) slowCallbacks(base string, feeds []string, s *subscribers, paths []string) (over func()) {
	var called <-chan struct{}
	for i, path := range paths {
		called = s.setSlow(path, true)
		r.ping(base, feeds[i])
	}
	select {
	case <-called:
		time.Sleep(callTakes*7/10 + time.Duration(r.rng.IntN(int(callTakes/4))))
	case <-time.After(patience):
	}
	return func() {
		for _, path := range paths {
			s.setSlow(path, false)
		}
	}
}

// clientLoop is one client that does this and that until ctx ends.
func (r *runner) clientLoop(ctx context.Context) {
	for ctx.Err() == nil {
		base := r.where()
		if base == "" {
			time.Sleep(2 * time.Millisecond) // no process lives: nobody is there to talk to
			continue
		}
		feed := r.feed(r.rng.IntN(r.Feeds))
		s, path := r.subs[r.rng.IntN(len(r.subs))], fmt.Sprintf("/cb%d", r.rng.IntN(r.Callbacks))
		switch n := r.rng.IntN(10); {
		case n < 4:
			r.ping(base, feed)
		case n < 8:
			r.register(base, feed, s, path)
		default:
			r.cancel(base, feed, s, path)
		}
	}
}

// ping changes a feed and tells of it. One feed is changed by one client at a time,
// so that what was published when is beyond doubt.
func (r *runner) ping(base, feed string) {
	if !r.hold(pair{feed: feed}) {
		return
	}
	defer r.free(pair{feed: feed})
	v := published{at: r.feeds.raise(feed)}
	v.ping = r.post(base+"/rsscloud/ping", url.Values{"url": {feed}})
	pending := v.ping.ok && r.feeds.asking(feed)
	r.history.do(func() {
		r.history.versions[feed] = append(r.history.versions[feed], v)
		if pending {
			r.history.pending++
		}
	})
}

func (r *runner) register(base, feed string, s *subscribers, path string) {
	r.subscription(base, feed, s, path, "pleaseNotify", r.history.registers, &r.report.Registered)
}

func (r *runner) cancel(base, feed string, s *subscribers, path string) {
	r.subscription(base, feed, s, path, "cancel", r.history.cancels, &r.report.Cancelled)
}

// subscription registers or cancels, with a domain: the consent is a GET, so that
// every POST a callback sees is a notification.
func (r *runner) subscription(base, feed string, s *subscribers, path, door string, to map[pair][]call, count *int) {
	p := pair{feed, s.base + path}
	if !r.hold(p) {
		return
	}
	defer r.free(p)
	c := r.post(base+"/rsscloud/"+door, url.Values{
		"notifyProcedure": {""}, "port": {s.port}, "path": {path}, "protocol": {"http-post"}, "domain": {s.host}, "url1": {feed}})
	r.history.do(func() {
		to[p] = append(to[p], c)
		if c.ok {
			*count++
		}
	})
}

func (r *runner) hold(p pair) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[p] {
		return false
	}
	r.busy[p] = true
	return true
}

func (r *runner) free(p pair) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.busy, p)
}

func (r *runner) post(to string, form url.Values) call {
	c := call{from: time.Now()}
	res, err := r.client.PostForm(to, form)
	if err == nil {
		var body []byte
		body, err = io.ReadAll(res.Body)
		res.Body.Close()
		c.ok = err == nil && res.StatusCode == http.StatusOK && strings.Contains(string(body), `success="true"`)
	}
	c.unsure = err != nil
	c.to = time.Now()
	return c
}
