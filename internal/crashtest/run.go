package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	patience  = 10 * time.Second
	startsIn  = 60 * time.Second
	settlesIn = 3 * time.Minute
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
		if over := func() {}; i%r.Ordeal == r.Ordeal-1 {
			over = r.ordeal(i / r.Ordeal)
			r.die(p)
			over()
		} else {
			time.Sleep(time.Duration(r.rng.IntN(int(r.Life))) + r.Life/20) // a real process lives in real time
			r.die(p)
		}
		r.Log(fmt.Sprintf("cycle %d of %d: killed", i+1, r.Cycles))
	}
	p, err := r.start(ctx)
	if err != nil {
		return r.report, err
	}
	defer func() { p.kill() }()
	time.Sleep(r.Life)
	stop()
	group.Wait()
	for _, s := range r.subs {
		s.calm.Store(true)
	}
	if err := r.settle(ctx); err != nil {
		return r.report, err
	}
	// A death with nothing under way repeats nothing.
	r.history.do(func() { r.history.quiet = time.Now() })
	r.die(p)
	if p, err = r.start(ctx); err != nil {
		return r.report, err
	}
	if err := r.settle(ctx); err != nil {
		return r.report, err
	}
	stored, err := r.export(ctx)
	if err != nil {
		return r.report, err
	}
	broken, counted := r.history.check(stored)
	counted.Broken, counted.Registered, counted.Cancelled = broken, r.report.Registered, r.report.Cancelled
	return counted, nil
}

func (r *runner) die(p *process) {
	r.gone()
	p.kill()
	r.history.now(func(l *life, at time.Time) { l.died = at })
}

// ordeal brings the program to a moment at which it is easily forgotten what is
// owed, and returns there: right after a ping was acknowledged whose feed has not
// answered yet, or while a callback takes longer than a part waits for it. The feeds
// are its own and are never pinged again, so that no later news hides a loss. What is
// returned makes everybody quick again.
func (r *runner) ordeal(n int) (over func()) {
	base, s := r.where(), r.subs[n%len(r.subs)]
	feeds := make([]string, 3)
	for i := range feeds {
		feeds[i] = fmt.Sprintf("%s/ordeal%d-%d.xml", r.feeds.base, n, i)
		for c := range feeds {
			r.subscribe(base, feeds[i], s, fmt.Sprintf("/ordeal%d-%d", n, c), "pleaseNotify", r.history.registers, &r.report.Registered)
		}
	}
	if n%2 == 1 {
		path := fmt.Sprintf("/ordeal%d-0", n)
		called := s.setSlow(path, true)
		r.ping(base, feeds[0])
		select {
		case <-called:
			time.Sleep(callTakes*7/10 + time.Duration(r.rng.IntN(int(callTakes/4)))) // it is told, and has not answered
		case <-time.After(patience):
		}
		return func() { s.setSlow(path, false) }
	}
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

// process is one life of the program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself: start says so
	<-p.done
}

// start starts the program and waits until it is ready.
func (r *runner) start(ctx context.Context) (*process, error) {
	data := filepath.Join(r.Dir, "data")
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin.listen", "127.0.0.1:0", "--data", data,
		"--public-url", "http://hub.invalid", "--egress.allow-fetch", "127.0.0.0/8", "--egress.allow-callback", "127.0.0.0/8",
		"--hub.retry", "100ms,200ms,400ms", "--hub.max-errors", "1000", "--hub.ping-interval", "20ms",
		"--hub.callback-timeout", "6s",
		"--hub.source-rate", "0", "--hub.host-rate", "0", "--log.level", "error"}, r.Args...)
	for _, name := range []string{"admin.addr", "listen.addr"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	log, err := os.OpenFile(filepath.Join(r.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, r.Binary, args...)
	cmd.Env = append(os.Environ(), r.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	r.history.born()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() { _ = cmd.Wait(); close(p.done) }() // killed, so it always ends with an error
	for end := time.Now().Add(startsIn); ; {
		select {
		case <-p.done:
			text, _ := os.ReadFile(filepath.Join(r.Dir, "log"))
			return nil, fmt.Errorf("the program ended by itself; its last words: %s", tail(string(text)))
		case <-time.After(5 * time.Millisecond):
		}
		base, admin := readAddr(data, "listen.addr"), readAddr(data, "admin.addr")
		if base != "" && admin != "" && r.status(ctx, base+"/readyz") == http.StatusOK {
			r.mu.Lock()
			r.base, r.admin = base, admin
			r.mu.Unlock()
			r.history.now(func(l *life, at time.Time) { l.ready = at })
			return p, nil
		}
		if time.Now().After(end) {
			p.kill()
			return nil, fmt.Errorf("not ready within %s", startsIn)
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

func readAddr(data, name string) string {
	b, err := os.ReadFile(filepath.Join(data, name))
	if err != nil || !strings.HasSuffix(string(b), "\n") {
		return ""
	}
	return "http://" + strings.TrimSpace(string(b))
}

func (r *runner) gone() {
	r.mu.Lock()
	r.base, r.admin = "", ""
	r.mu.Unlock()
}

func (r *runner) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base
}

func (r *runner) status(ctx context.Context, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	res, err := r.client.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// clientLoop is one client that does this and that until ctx ends.
func (r *runner) clientLoop(ctx context.Context) {
	for ctx.Err() == nil {
		base := r.where()
		if base == "" {
			time.Sleep(2 * time.Millisecond) // no process lives: nobody is there to talk to
			continue
		}
		feed := fmt.Sprintf("%s/feed%d.xml", r.feeds.base, r.rng.IntN(r.Feeds))
		switch n := r.rng.IntN(10); {
		case n < 4:
			r.ping(base, feed)
		case n < 8:
			r.subscription(base, feed, "pleaseNotify", r.history.registers, &r.report.Registered)
		default:
			r.subscription(base, feed, "cancel", r.history.cancels, &r.report.Cancelled)
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

// subscription registers or cancels some callback.
func (r *runner) subscription(base, feed, door string, to map[pair][]call, count *int) {
	r.subscribe(base, feed, r.subs[r.rng.IntN(len(r.subs))], fmt.Sprintf("/cb%d", r.rng.IntN(r.Callbacks)), door, to, count)
}

// subscribe registers or cancels, with a domain: the consent is a GET, so that every
// POST a callback sees is a notification.
func (r *runner) subscribe(base, feed string, s *subscribers, path, door string, to map[pair][]call, count *int) {
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

// settle waits until the program has nothing left to do.
func (r *runner) settle(ctx context.Context) error {
	calm := 0
	for end := time.Now().Add(settlesIn); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		var counts struct {
			Owed      int64 `json:"owed"`
			PartsDue  int64 `json:"parts_due"`
			ChecksDue int64 `json:"checks_due"`
		}
		if err := r.rest(ctx, &counts); err != nil {
			return err
		}
		if counts.Owed+counts.PartsDue+counts.ChecksDue > 0 {
			calm = 0
		} else if calm++; calm >= 5 {
			return nil
		}
	}
	return fmt.Errorf("the program still had work after %s", settlesIn)
}

// rest reads what is left to do from the store's own numbers.
func (r *runner) rest(ctx context.Context, to any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/status", nil)
	if err != nil {
		return err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var status struct {
		Counts json.RawMessage `json:"counts"`
	}
	if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
		return err
	}
	return json.Unmarshal(status.Counts, to)
}

// export is what the program says it has.
func (r *runner) export(ctx context.Context) (map[pair]bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.admin+"/v1/subscriptions/export", nil)
	if err != nil {
		return nil, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	stored := map[pair]bool{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var s struct{ Topic, Callback string }
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, err
		}
		stored[pair{s.Topic, s.Callback}] = true
	}
	return stored, lines.Err()
}
