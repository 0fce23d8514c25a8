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

// Options are the options of a run. A zero value means the default in brackets.
type Options struct {
	Binary      string        // path of the program's executable
	Args        []string      // additional flags of "serve"
	Env         []string      // additional environment variables
	Dir         string        // path of an empty folder
	Cycles      int           // number of crashes [50]
	Enough      func() bool   // the run continues while Enough returns false, up to ten times Cycles [always true]
	Seed        uint64        // seed of all random choices [1]
	Feeds       int           // number of feeds [8]
	Callbacks   int           // number of callbacks on each of two hosts [12]
	Clients     int           // number of concurrent clients [6]
	Log         func(string)  // receives log messages; nil means no log
	MaxLifetime time.Duration // maximum lifetime of a process [400 ms]
	TargetEvery int           // every n-th process is killed at a chosen time [5]
	Day         string        // value of CLOUDBURSTDIE for one scripted day, which replaces the cycles: before N, after N, lose N, count FILE
	Settle      time.Duration // timeout for the pending work at the end [3 min]
	LateWrites  time.Duration // how long a separate database server can still execute requests of a crashed process

	// The data folder can be on a simulated disk that fails together with the process.
	Data        string                                              // path of the data folder [folder data in Dir]
	CrashSignal func() <-chan struct{}                              // called before a start; returns a channel that is closed to crash the process [crash at a random time]
	AfterCrash  func() error                                        // called after a crash, before the next start
	AfterStart  func(ctx context.Context, base, admin string) error // called when a process is ready
}

// Report is the result of a run. Broken contains the violated guarantees.
type Report struct {
	Broken        []string
	Crashes       int
	Registered    int // acknowledged registrations
	Cancelled     int
	Pings         int // acknowledged pings of changes
	Pending       int // pings that were acknowledged before the feed responded
	Live          int // subscriptions that were certainly active at the end
	Notifications int
	Refused       int // notifications that the callback rejected immediately
	Slow          int // notifications with a late response, or with no response because of a crash
	Duplicates    int

	Requests  int // acknowledged WebSub requests to subscribe or unsubscribe
	Confirmed int // confirmed WebSub subscriptions and renewals
	Ended     int // WebSub subscriptions that ended after their callbacks confirmed the end
	Declined  int // verifications that callbacks declined
	Denied    int // denials that callbacks received
	Contents  int // WebSub notifications with content
	Again     int // WebSub notifications of a version that the callback had already received
	Signed    int
	CNWS      int // acknowledged CNWS subscriptions
	Sites     int // acknowledged site pings
	Listed    int // acknowledged site pings that the recent changes list after a restart
	Published int // acknowledged pings over WebSub

	Saved    int // acknowledged versions of hosted feeds
	Served   int // documents of hosted feeds that readers received
	Rendered int // received documents in a rendered format, not as saved
	LetIn    int // WSSE headers that were accepted for a private feed
	Replayed int // accepted headers that were rejected after a crash, before they expired
	Posts    int // acknowledged changes of posts

	Starts  int           // number of processes that became ready
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
	reader      owner   // reader of the first owner's private feed
	others      *http.Client
	fresh       []owner // owners whose feeds were not read since the last crash
	posts       *writing
	crashSignal <-chan struct{} // closed when the current process must crash; nil if its crash is at another time

	mu     sync.Mutex
	base   string // public base URL of the running process; "" if none runs
	admin  string
	busy   map[pair]bool
	names  int               // number of site names used so far
	tags   map[string]tagged // key: path of a hosted feed; value: document in the reader's cache
	report Report
}

// Run runs the program, the clients and the crashes, and returns the result.
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
			case <-time.After(time.Duration(r.rng.IntN(int(r.MaxLifetime))) + r.MaxLifetime/20): // the program is a real process, so this is real time
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

// last ends the run and returns its result. It calls stop to end the clients.
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

// end starts another process, which completes the pending work. It then crashes and restarts this
// process without pending work. It returns the program's export and the violated guarantees. It
// calls stop to end the clients.
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
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(r.Settle); r.Day == "" && !r.posts.enough(r.Cycles) && time.Now().Before(end) && ctx.Err() == nil; {
		<-tick.C // a slow machine needs longer
	}
	stop()
	for i := range r.Feeds { // make the last changes while some callbacks still fail
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
		// After a crash without pending work, the program must not repeat a notification.
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

// stop ends a process normally with SIGTERM. The checker treats the end like a crash.
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

// afterCrash calls AfterCrash if it is set.
func (r *runner) afterCrash() error {
	if err := r.acceptAll(); err != nil {
		return err
	}
	if r.AfterCrash == nil {
		return nil
	}
	return r.AfterCrash()
}

// acceptAll returns when the callbacks have accepted all connections of the process that ended. A slow
// machine accepts some later, and they would count as connections of the next process.
func (r *runner) acceptAll() error {
	for _, s := range r.subs {
		if a := outside.Send(context.Background(), r.client, http.MethodGet, s.base, "", ""); a.Err != nil {
			return a.Err
		}
	}
	return nil
}

// clientLoop sends random requests as one client, until ctx ends.
func (r *runner) clientLoop(ctx context.Context) {
	for ctx.Err() == nil {
		base := r.where()
		if base == "" {
			time.Sleep(2 * time.Millisecond) // no process is running
			continue
		}
		feed := r.feed(r.rng.IntN(r.Feeds))
		s, path := r.subs[r.rng.IntN(len(r.subs))], fmt.Sprintf("/cb%d", r.rng.IntN(r.Callbacks))
		other := fmt.Sprint(r.rng.IntN(r.Callbacks / 3)) // the other protocols have fewer callbacks, so that each callback has more events
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

// secret returns a new secret, or sometimes "".
func (r *runner) secret() string {
	if r.rng.IntN(5) == 0 {
		return ""
	}
	return fmt.Sprintf("secret %d", r.rng.IntN(1<<60))
}

// endpoint is the protocol of a ping.
type endpoint int

const (
	overCloud endpoint = iota
	overWebSub
	ofSite
	endpoints = 3
)

// ping changes a feed and pings it. Only one client at a time changes a feed, so that the time of
// each version is certain.
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

// subscription registers or cancels a subscription with a domain parameter. The program then
// verifies the callback with a GET request, so every POST request to a callback is a
// notification.
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

// post sends a form with send.
func (r *runner) post(to string, form url.Values, status int, good string) call {
	return r.send(to, "application/x-www-form-urlencoded", form.Encode(), status, good)
}

// send posts a body. The call counts as acknowledged if the response has the given status and
// contains good.
func (r *runner) send(to, kind, body string, status int, good string) call {
	a := outside.Send(context.Background(), r.client, http.MethodPost, to, kind, body)
	return call{from: a.From, to: a.To, ok: a.Good(status, good), unsure: a.Err != nil, late: r.LateWrites}
}
