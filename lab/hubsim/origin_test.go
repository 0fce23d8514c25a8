package hubsim

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
)

const (
	originHost    = "origin.test"
	originFeed    = "http://" + originHost + "/rss.xml"
	originMembers = 3
	soon          = 10 * time.Second // limit for a notification if the changed content is enough to detect the change
	atLast        = time.Hour + soon // limit if a previously proven ETag hides the change
)

// originFlaw plants a wrong rule between the hub and its store or network.
type originFlaw struct {
	name   string
	commit func(c *hub.Check)
	ask    func(f *hub.Fetch)
	got    func(f *hub.Fetched)
}

// originFlaws returns the wrong rules, each with the kinds of origins that reveal it.
func originFlaws() []originFlaw {
	return []originFlaw{
		{name: "each ETag is trusted", commit: func(c *hub.Check) { c.Evidence.Proof, c.Evidence.Recent = "proven", false }},
		{name: "the ETag of a recent change is trusted", commit: func(c *hub.Check) { c.Evidence.Recent = false }},
		{name: "a recent change is not read again", commit: func(c *hub.Check) {
			if c.Again.Sub(c.Now) < time.Minute {
				c.Again = time.Time{}
			}
		}},
		{name: "a 304 is never verified", commit: func(c *hub.Check) {
			if c.Again.Sub(c.Now) > 3*time.Second {
				c.Again = time.Time{}
			}
		}},
		{name: "caches are not asked to revalidate", ask: func(f *hub.Fetch) { f.Revalidate = false }},
		{name: "a 304 with another ETag counts", got: func(f *hub.Fetched) {
			if f.NotModified {
				f.ETag = ""
			}
		}},
	}
}

type flawedDisk struct {
	hub.Store
	flaw originFlaw
}

func (d flawedDisk) CommitCheck(ctx context.Context, c hub.Check) (hub.Checked, error) {
	if d.flaw.commit != nil && c.Err == "" {
		d.flaw.commit(&c)
	}
	return d.Store.CommitCheck(ctx, c)
}

type flawedFetcher struct {
	hub.Fetcher
	flaw originFlaw
}

func (f flawedFetcher) Fetch(ctx context.Context, what hub.Fetch) (hub.Fetched, error) {
	if f.flaw.ask != nil {
		f.flaw.ask(&what)
	}
	got, err := f.Fetcher.Fetch(ctx, what)
	if err == nil && f.flaw.got != nil {
		f.flaw.got(&got)
	}
	return got, err
}

// originNetwork consists of one origin server, one or two machines that run the hub, and
// subscribers that always respond.
type originNetwork struct {
	t      *testing.T
	random *rand.Rand
	flaw   originFlaw
	net    nettest.Internet
	origin nettest.Origin
	disk   *Disk
	client *fetch.Client
	shared bool
	next   int64 // number of the next machine that starts

	mu       sync.Mutex
	machines []*originMachine
	values   map[string]int // key: hash of the content
	value    int
	changes  []originChange
	pings    []originPing
	notified map[string][]originNotice
}

type originMachine struct {
	hub  *hub.Hub
	stop func()
}

type originChange struct {
	value int
	at    time.Time
}

// originPing is an accepted ping. Before the ping was sent, the origin already served value.
type originPing struct {
	value    int
	accepted time.Time
}

type originNotice struct {
	value int
	at    time.Time
}

// Notify implements hub.Notifier.
func (w *originNetwork) Notify(_ context.Context, sub *hub.Subscription, topic *hub.Topic, _ *hub.Content, _ int) hub.Reply {
	time.Sleep(time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notified[sub.Callback] = append(w.notified[sub.Callback], originNotice{w.values[string(topic.Hash)], time.Now()})
	return hub.Reply{OK: true, Took: time.Millisecond}
}

// Verify implements hub.Verifier.
func (w *originNetwork) Verify(context.Context, hub.Subscription, hub.Topic, bool) (event.Exchange, error) {
	return event.Exchange{}, nil
}

// Confirm implements hub.Asker.
func (w *originNetwork) Confirm(context.Context, hub.Intent) (event.Exchange, error) {
	return event.Exchange{}, nil
}

// Deny implements hub.Asker.
func (w *originNetwork) Deny(context.Context, hub.Intent) (event.Exchange, error) {
	return event.Exchange{}, nil
}

// start starts a machine that runs the hub.
func (w *originNetwork) start() *originMachine {
	w.next++
	h := &hub.Hub{
		Store: flawedDisk{w.disk, w.flaw}, Fetch: flawedFetcher{&hubhttp.Fetcher{Client: w.client}, w.flaw}, Notify: w, Verify: w, Ask: w,
		Bus: event.NewBus(w.next), Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	if w.shared {
		h.Hint = func() {} // hints have no effect, because each machine polls
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	if err := h.Recover(ctx); err != nil {
		w.t.Error(err)
	}
	go func() {
		defer close(ended)
		if err := h.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	return &originMachine{h, func() { cancel(); <-ended }}
}

// replace stops a machine and starts another one in its place.
func (w *originNetwork) replace(i int) {
	w.mu.Lock()
	old := w.machines[i]
	w.mu.Unlock()
	old.stop()
	fresh := w.start()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines[i] = fresh
}

// set changes the feed to its next value. All contents have the same size, because real contents
// often differ only in a version number.
func (w *originNetwork) set() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.value++
	body := fmt.Appendf(nil, "<rss version=\"2.0\"><channel><title>%08d</title></channel></rss>", w.value)
	sum := sha256.Sum256(body)
	w.values[string(sum[:])] = w.value
	w.changes = append(w.changes, originChange{w.value, time.Now()})
	w.origin.Set(body)
}

// ping sends a ping to one of the machines, and repeats it until a machine accepts it.
func (w *originNetwork) ping(n int) {
	w.mu.Lock()
	value := w.value
	w.mu.Unlock()
	for range 20 {
		w.mu.Lock()
		h := w.machines[n%len(w.machines)].hub
		w.mu.Unlock()
		if _, err := h.Ping(context.Background(), hub.Ping{URL: originFeed, Via: "test", Source: netip.MustParseAddr("192.0.2.1")}); err == nil {
			w.mu.Lock()
			w.pings = append(w.pings, originPing{value, time.Now()})
			w.mu.Unlock()
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Error("no ping was accepted in 20 seconds")
}

// hiding reports whether an origin of this kind has a correct ETag for a while and then hides a
// change.
func hiding(kind string) bool {
	return slices.Contains([]string{nettest.OriginTorn, nettest.OriginAlways304, nettest.OriginLater}, kind)
}

// playOrigin runs one seed with an origin of the given kind, and returns an error for each missed
// notification.
func playOrigin(t *testing.T, seed uint64, kind string, cached bool, flaw originFlaw) (missed error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, hash(text(kind))))
		w := &originNetwork{
			t: t, random: random, flaw: flaw, shared: random.IntN(2) == 0,
			values: map[string]int{}, notified: map[string][]originNotice{},
		}
		w.net.Latency = time.Duration(random.IntN(20)) * time.Millisecond
		w.origin.Kind, w.origin.Delay = kind, time.Duration(random.IntN(300))*time.Millisecond
		var handler http.Handler = &w.origin
		if cached {
			handler = &nettest.Cache{Origin: &w.origin, Fresh: 10 * time.Minute}
		}
		l, err := w.net.Listen(originHost + ":80")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }() // returns when the server is closed
		w.client = fetch.New(fetch.Options{Dial: w.net.Dial, Guard: &fetch.Guard{}})
		w.disk = NewDisk(w.shared)
		time.Sleep(time.Duration(random.Int64N(int64(2 * time.Second))))
		w.play()
		missed = w.missed()
		for _, m := range w.machines {
			m.stop()
		}
		w.client.CloseIdle()
		_ = server.Close() // all requests have ended, so an error has no consequence
		synctest.Wait()
	})
	return missed
}

// play changes and pings the feed several times, at short and long intervals. It then waits until
// all notifications are due.
func (w *originNetwork) play() {
	w.machines = []*originMachine{w.start()}
	if w.shared {
		w.machines = append(w.machines, w.start())
	}
	var list []hub.SubscriptionInfo
	for i := range originMembers {
		list = append(list, hub.SubscriptionInfo{Topic: originFeed, Subscription: hub.Subscription{
			Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://s%d.test/", i), CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(25 * time.Hour)}})
	}
	if _, err := w.machines[0].hub.Import(context.Background(), list); err != nil {
		w.t.Error(err)
	}
	var pings sync.WaitGroup
	for n := range 8 + w.random.IntN(10) {
		if w.random.IntN(8) > 0 {
			w.set()
		}
		late := time.Duration(w.random.IntN(400)) * time.Millisecond
		if w.random.IntN(8) > 0 || n == 0 {
			pings.Go(func() { time.Sleep(late); w.ping(n) })
		}
		if w.random.IntN(10) == 0 {
			time.Sleep(time.Duration(w.random.IntN(3000)) * time.Millisecond)
			w.replace(n % len(w.machines))
		}
		time.Sleep(time.Duration(w.random.Int64N(int64([]time.Duration{900 * time.Millisecond, 900 * time.Millisecond, 5 * time.Second, time.Minute}[w.random.IntN(4)]))))
	}
	pings.Wait()
	time.Sleep(soon)
	if hiding(w.origin.Kind) {
		time.Sleep(atLast)
	}
}

// missed returns an error for each change that did not reach a subscriber in time, with this
// value or a newer one. It considers changes that were pinged, and changes within the same second
// as a pinged change.
func (w *originNetwork) missed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	within := soon
	if hiding(w.origin.Kind) {
		within = atLast
	}
	var all []error
	need := func(value int, by time.Time, why string) {
		for i := range originMembers {
			there := slices.ContainsFunc(w.notified[fmt.Sprintf("http://s%d.test/", i)], func(n originNotice) bool { return n.value >= value && !n.at.After(by) })
			if !there {
				all = append(all, fmt.Errorf("subscriber %d was not notified of value %d by %s: %s", i, value, by.Format("15:04:05.000"), why))
			}
		}
	}
	for _, p := range w.pings {
		need(p.value, p.accepted.Add(within), "it was pinged")
	}
	if kind := w.origin.Kind; kind == nettest.OriginSeconds || kind == nettest.OriginFile {
		for _, p := range w.pings {
			for _, c := range w.changes {
				if p.value == 0 {
					continue
				}
				pinged := w.changes[p.value-1]
				if c.value > p.value && c.at.Truncate(time.Second).Equal(pinged.at.Truncate(time.Second)) {
					need(c.value, later(c.at, p.accepted).Add(within), "it came in the second of a change that was pinged")
				}
			}
		}
	}
	return errors.Join(all...)
}

// A change that the origin serves and that is pinged must reach each subscriber, with this value
// or a newer one. This must not depend on the ETag or Last-Modified of the origin.
//
// The command for many seeds is: go test ./lab/hubsim -run Validators -sim.seeds 100000 -timeout
// 0
func TestPingedChangeReachesEverySubscriberDespiteWrongValidators(t *testing.T) {
	seeds := max(*seedsFlag/25, 1)
	if testing.Short() {
		seeds = min(seeds, 5)
	}
	for _, kind := range nettest.OriginKinds() {
		for _, cached := range []bool{false, true} {
			for i := range uint64(seeds) {
				if err := playOrigin(t, *fromFlag+i, kind, cached, originFlaw{}); err != nil {
					t.Fatalf("origin with %s, cached %v, seed %d: %v", kind, cached, *fromFlag+i, err)
				}
			}
		}
	}
}

func TestSimulationDetectsEachWrongRuleAboutValidators(t *testing.T) {
	alongside(t)
	for _, flaw := range originFlaws() {
		t.Run(flaw.name, func(t *testing.T) {
			for seed := range uint64(20) {
				for _, kind := range nettest.OriginKinds() {
					for _, cached := range []bool{false, true} {
						if err := playOrigin(t, seed+1, kind, cached, flaw); err != nil {
							t.Logf("found by seed %d, origin with %s, cached %v", seed+1, kind, cached)
							return
						}
					}
				}
			}
			t.Error("not found by 20 seeds")
		})
	}
}
