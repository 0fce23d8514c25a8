package crashtest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"cloudburst/lab/outside"
	"cloudburst/lab/program"
)

const (
	requestTimeout = 10 * time.Second
	answerIn       = time.Minute
)

// Options of a run. Zero fields mean the default in brackets.
type Options struct {
	Binary      string        // the program
	Args        []string      // further flags of serve
	Env         []string      // further environment
	Dir         string        // an empty folder
	Cycles      int           // crashes [50]
	Enough      func() bool   // false extends the run, to at most ten times as many crashes [always true]
	Seed        uint64        // of everything random here [1]
	Feeds       int           // [8]
	Callbacks   int           // on each of two hosts [12]
	Clients     int           // concurrent clients [6]
	Log         func(string)  // nil: no log
	MaxLifetime time.Duration // maximum lifetime of a process [400 ms]
	TargetEvery int           // every n-th process is killed at a chosen moment [5]
	Day         string        // instead of cycles one scripted day, which ends according to CLOUDBURSTDIE: before N, after N, lose N, count FILE
	Settle      time.Duration // timeout of the last work [3 min]
	LateWrites  time.Duration // how long a separate database can execute requests of a crashed process

	// The data folder can be on its own disk, which fails with the process.
	Data        string                                              // its name [data, in Dir]
	CrashSignal func() <-chan struct{}                              // called before a start: returns a channel that is closed to crash the process [a random time]
	AfterCrash  func() error                                        // called after a crash, before the next start
	AfterStart  func(ctx context.Context, base, admin string) error // a process is ready
}

// Report is the result of a run. Broken is empty if every guarantee was kept.
type Report struct {
	Broken        []string
	Crashes       int
	Registered    int // acknowledged registrations
	Cancelled     int
	Pings         int // acknowledged pings of changes
	Pending       int // of them acknowledged before the feed had answered
	Live          int // subscriptions that were certainly active at the end
	Notifications int
	Refused       int // of them refused at once
	Slow          int // of them answered late or never because of a crash
	Duplicates    int

	Requests  int // acknowledged requests for, and against, WebSub subscriptions
	Confirmed int // of them confirmed subscriptions and renewals
	Ended     int // WebSub subscriptions that their callbacks confirmed to be ended
	Declined  int // verifications that callbacks declined
	Denied    int // denials that callbacks received
	Contents  int // WebSub deliveries
	Again     int // of them of a version that had been delivered before
	Signed    int
	CNWS      int // acknowledged CNWS subscriptions
	Sites     int // acknowledged pings of sites
	Listed    int // of them found in the recent changes after a restart
	Published int // acknowledged pings over WebSub

	Saved    int // acknowledged versions of hosted feeds
	Served   int // documents of hosted feeds that were read
	Rendered int // of them in another form than they were saved in
	LetIn    int // headers that were accepted for a private feed
	Replayed int // of them rejected after a crash, while still valid
	Posts    int // acknowledged changes of posts

	Starts  int           // processes that became ready
	Slowest time.Duration // longest time from the start of a process until it was ready
}

func (r Report) String() string {
	return fmt.Sprintf("%d crashes, %d registrations, %d by CNWS, %d cancels and %d pings (%d pending, %d by WebSub, %d of sites, %d of them listed) acknowledged, "+
		"%d WebSub requests acknowledged, %d confirmed, %d declined, %d denied, %d ended, %d subscriptions live, %d notifications (%d refused, %d slow), "+
		"%d contents (%d signed, %d of a version again), %d duplicates, "+
		"%d saves acknowledged, %d documents served (%d rendered), %d headers accepted, %d of them rejected after a crash, %d changes of posts acknowledged, %d starts, ready within %s, %d broken guarantees",
		r.Crashes, r.Registered, r.CNWS, r.Cancelled, r.Pings, r.Pending, r.Published, r.Sites, r.Listed,
		r.Requests, r.Confirmed, r.Declined, r.Denied, r.Ended, r.Live, r.Notifications, r.Refused, r.Slow,
		r.Contents, r.Signed, r.Again, r.Duplicates, r.Saved, r.Served, r.Rendered, r.LetIn, r.Replayed, r.Posts, r.Starts, r.Slowest.Round(time.Millisecond), len(r.Broken))
}

type runner struct {
	Options
	history *history
	feeds   *feedServer
	subs    []*subscribers
	rng     *outside.Random
	client  *http.Client

	owners      []owner // owners of the shared hosted feeds
	reader      owner   // of the private feed of the first of them
	others      *http.Client
	fresh       []owner // owners of feeds without a read since the last crash
	posts       *writing
	crashSignal <-chan struct{} // closed when the current process must crash; nil: never

	mu     sync.Mutex
	base   string // public address of the running process; "": no process runs
	admin  string
	busy   map[pair]bool
	names  int               // sites that were named
	tags   map[string]tagged // of hosted feeds, by path
	report Report
}

// Run does one run.
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
	def(&o.TargetEvery, 5)
	if o.MaxLifetime == 0 {
		o.MaxLifetime = 400 * time.Millisecond
	}
	if o.Settle == 0 {
		o.Settle = 3 * time.Minute
	}
	if o.Enough == nil {
		o.Enough = func() bool { return true }
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Data == "" {
		o.Data = filepath.Join(o.Dir, program.DataFolder)
	}
	r := &runner{
		Options: o, history: newHistory(o.LateWrites), rng: outside.NewRandom(o.Seed, 7),
		client: outside.Client(answerIn), busy: map[pair]bool{}, tags: map[string]tagged{},
	}
	r.others = othersClient(r.rng)
	var err error
	if r.feeds, err = newFeeds(); err != nil {
		return Report{}, err
	}
	defer r.feeds.srv.Close()
	if r.posts, err = newWriting(); err != nil {
		return Report{}, err
	}
	defer r.posts.follow.Close()
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		s, err := newSubscribers(host, r.history, r.rng)
		if err != nil {
			return Report{}, err
		}
		defer s.srv.Close()
		r.subs = append(r.subs, s)
	}
	if err := r.settleIn(ctx); err != nil {
		return Report{}, err
	}
	return r.run(ctx)
}

func (r *runner) run(ctx context.Context) (Report, error) {
	clients, stop := context.WithCancel(ctx)
	defer stop()
	if r.Day != "" {
		if err := r.scriptedDay(ctx); err != nil {
			return r.report, err
		}
		return r.last(ctx, stop)
	}
	var group sync.WaitGroup
	for range r.Clients {
		group.Go(func() { r.clientLoop(clients) })
	}
	for range writers {
		group.Go(func() { r.writerLoop(clients) })
	}
	for n := range postWriters {
		group.Go(func() { r.writeLoop(clients, n) })
	}
	for i := 0; i < r.Cycles || i < 10*r.Cycles && !r.Enough(); i++ {
		p, err := r.start(ctx, i%r.TargetEvery != r.TargetEvery-1 && i%10 != 7)
		if err != nil {
			return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
		}
		if i%r.TargetEvery == r.TargetEvery-1 {
			if err := r.lists(ctx, r.where()); err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
			over, err := r.prepareCrash(ctx, i/r.TargetEvery)
			if err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
			err = r.crash(p)
			over()
			if err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
		} else if i%10 == 7 {
			time.Sleep(r.MaxLifetime)
			if err := r.stop(p); err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
		} else {
			select {
			case <-time.After(time.Duration(r.rng.IntN(int(r.MaxLifetime))) + r.MaxLifetime/20): // the process runs in real time
			case <-r.crashSignal:
			}
			if err := r.crash(p); err != nil {
				return r.report, fmt.Errorf("cycle %d: %w", i+1, err)
			}
		}
		r.Log(fmt.Sprintf("cycle %d of %d: killed", i+1, r.Cycles))
	}
	return r.last(ctx, func() { stop(); group.Wait() })
}

// last ends the run and returns its result; stop ends the clients.
func (r *runner) last(ctx context.Context, stop func()) (Report, error) {
	there, more, err := r.end(ctx, stop)
	if err != nil {
		return r.report, err
	}
	broken, counted := r.history.check(there)
	counted.Broken = append(broken, more...)
	own := &r.report
	counted.Posts = r.posts.acks
	counted.Registered, counted.Cancelled, counted.CNWS = own.Registered, own.Cancelled, own.CNWS
	counted.Served, counted.Rendered, counted.LetIn, counted.Replayed = own.Served, own.Rendered, own.LetIn, own.Replayed
	counted.Requests, counted.Sites, counted.Listed, counted.Published = own.Requests, own.Sites, own.Listed, own.Published
	return counted, nil
}

// end starts one more process for the pending work, and another one without pending work. It
// returns the export of the program; stop ends the clients.
func (r *runner) end(ctx context.Context, stop func()) (there map[pair]outside.Subscription, more []string, err error) {
	p, err := r.start(ctx, false)
	if err != nil {
		stop()
		return nil, nil, err
	}
	defer func() {
		if p != nil {
			p.Kill()
		}
	}()
	time.Sleep(r.MaxLifetime)
	stop()
	for i := range r.Feeds { // the last changes, while some callbacks still fail
		r.ping(r.where(), r.feed(i), overCloud)
	}
	if _, err := r.until(ctx, func(l outside.PendingWork) bool { return l.ShardsDue == 0 }); err != nil {
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
		// A crash without work in progress repeats nothing.
		r.history.do(func() { r.history.quiet = time.Now() })
		if err := r.crash(p); err != nil {
			return nil, nil, err
		}
		if p, err = r.start(ctx, false); err != nil {
			return nil, nil, err
		}
		if settled, err = r.settle(ctx); err != nil {
			return nil, nil, err
		}
	}
	if err := r.lists(ctx, r.where()); err != nil {
		return nil, nil, err
	}
	r.readKept(r.where())
	broken, err := r.checkPosts(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !settled {
		broken = append(broken, fmt.Sprintf("no end: pending work after %s without failures", r.Settle))
	}
	there, err = r.export(ctx)
	return there, broken, err
}

func (r *runner) feed(n int) string { return fmt.Sprintf("%s/feed%d.xml", r.feeds.base, n) }

// stop ends a process normally, which can take a while. For acknowledged work it counts as a
// crash.
func (r *runner) stop(p *program.Process) error {
	r.gone()
	defer func() { r.history.now(func(l *lifetime, at time.Time) { l.ended = at }) }()
	if err := p.Stop(); err != nil {
		p.Kill()
		return err
	}
	return r.afterCrash()
}

func (r *runner) crash(p *program.Process) error {
	r.gone()
	p.Kill()
	r.history.now(func(l *lifetime, at time.Time) { l.ended = at })
	return r.afterCrash()
}

// afterCrash calls the hook of the disk after a crash.
func (r *runner) afterCrash() error {
	if r.AfterCrash == nil {
		return nil
	}
	return r.AfterCrash()
}

// clientLoop is one client with random requests until ctx ends.
func (r *runner) clientLoop(ctx context.Context) {
	for ctx.Err() == nil {
		base := r.where()
		if base == "" {
			time.Sleep(2 * time.Millisecond) // no process runs
			continue
		}
		feed := r.feed(r.rng.IntN(r.Feeds))
		s, path := r.subs[r.rng.IntN(len(r.subs))], fmt.Sprintf("/cb%d", r.rng.IntN(r.Callbacks))
		other := fmt.Sprint(r.rng.IntN(r.Callbacks / 3)) // fewer callbacks for the other protocols, with more events each
		switch n := r.rng.IntN(20); {
		case n < 7:
			r.ping(base, feed, endpoint(r.rng.IntN(endpoints)))
		case n < 11:
			r.register(base, feed, s, path)
		case n < 13:
			r.cancel(base, feed, s, path)
		case n < 17:
			r.ask(base, subscribe, feed, s, "/ws"+other, r.secret(), r.rng.IntN(4) > 0)
		case n < 18:
			r.ask(base, unsubscribe, feed, s, "/ws"+other, "", r.rng.IntN(4) > 0)
		case n < 19:
			r.ask(base, subscribe, fmt.Sprintf("%s%s%d.xml", r.feeds.base, missing, r.rng.IntN(1<<40)), s, "/ws"+other, r.secret(), false)
		default:
			r.registerCNWS(base, feed, s, "/cn"+other)
		}
	}
}

// secret returns a new secret, or sometimes none.
func (r *runner) secret() string {
	if r.rng.IntN(5) == 0 {
		return ""
	}
	return fmt.Sprintf("secret %d", r.rng.IntN(1<<60))
}

// endpoint is a protocol for pings.
type endpoint int

const (
	overCloud endpoint = iota
	overWebSub
	ofSite
	endpoints = 3
)

// ping changes a feed and pings it. Only one client changes a feed at a time, so that the time
// of each version is certain.
func (r *runner) ping(base, feed string, by endpoint) {
	if !r.hold(pair{feed: feed}) {
		return
	}
	defer r.free(pair{feed: feed})
	var v published
	v.version, v.at = r.feeds.Raise(feed)
	count := new(int)
	switch by {
	case overWebSub:
		v.ping = r.post(base+"/websub", url.Values{"hub.mode": {"publish"}, "hub.url": {feed}}, http.StatusNoContent, "")
		count = &r.report.Published
	case ofSite:
		v.ping = r.pingSite(base, feed)
		count = &r.report.Sites
	default:
		v.ping = r.post(base+"/rsscloud/ping", url.Values{"url": {feed}}, http.StatusOK, outside.Success)
	}
	pending := v.ping.ok && r.feeds.asking(feed)
	r.history.do(func() {
		r.history.versions[feed] = append(r.history.versions[feed], v)
		if pending {
			r.history.pending++
		}
		if v.ping.ok {
			*count++
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
func (r *runner) subscription(base, feed string, s *subscribers, path, endpoint string, to map[pair][]call, count *int) {
	p := pair{feed, s.base + path}
	if !r.hold(p) {
		return
	}
	defer r.free(p)
	c := r.post(base+"/rsscloud/"+endpoint, outside.Registration(p.callback, feed), http.StatusOK, outside.Success)
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

// post sends a form; see send.
func (r *runner) post(to string, form url.Values, status int, good string) call {
	return r.send(to, "application/x-www-form-urlencoded", form.Encode(), status, good)
}

// send posts a body. It is acknowledged by that status with good in the answer.
func (r *runner) send(to, kind, body string, status int, good string) call {
	a := outside.Send(context.Background(), r.client, http.MethodPost, to, kind, body)
	return call{from: a.From, to: a.To, ok: a.Good(status, good), unsure: a.Err != nil, late: r.LateWrites}
}
