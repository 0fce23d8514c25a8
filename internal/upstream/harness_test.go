package upstream_test

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
	"cloudburst/internal/upstream"
)

const (
	feedURL  = "http://feeds.test/rss.xml"
	hubURL   = "https://hub.test/"
	cloudURL = "http://cloud.test:5337/pleaseNotify"
	peerText = "192.0.2.7"
)

func peer() netip.Addr { return netip.MustParseAddr(peerText) }

// harness is an engine on a real store in a synctest bubble, with hubs that the test controls.
type harness struct {
	t      *testing.T
	dir    string
	base   string
	store  *sqlite.Store
	engine *upstream.Engine
	stop   func() // stops the engine and closes its store
	nodes  int64
	news   *event.Listener

	mu      sync.Mutex
	found   map[string]upstream.Found
	answer  func(f upstream.Follow) (upstream.Answer, error) // answer of the hub to a request; nil: the hub confirms
	lease   time.Duration                                    // a WebSub hub verifies the request and grants this lease; 0: it does not verify
	asked   []request
	ended   []upstream.Follow
	signals []upstream.Signal
	failing error // error that Signal returns
}

type request struct {
	at   time.Time
	feed string
	hub  string
}

func withHarness(t *testing.T, o upstream.Options, do func(*testing.T, *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &harness{t: t, dir: dir, base: "https://me.test", lease: 240 * time.Hour, found: map[string]upstream.Found{
			feedURL: {Topic: feedURL, Endpoints: []upstream.Endpoint{
				{Protocol: upstream.RSSCloud, Hub: cloudURL, Wire: "http-post"}, {Protocol: upstream.WebSub, Hub: hubURL},
			}},
		}}
		w.start(o)
		defer func() { w.stop() }()
		do(t, w)
	})
}

func (w *harness) start(o upstream.Options) {
	w.t.Helper()
	st, err := sqlite.Open(w.t.Context(), sqlite.Options{Dir: sqlitetest.Fill(w.t, w.dir), Log: w.log()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = st
	w.engine = w.node(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := w.run(ctx, w.engine)
	w.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		if err := st.Close(); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	})
}

func (w *harness) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// node returns an engine on the open store.
func (w *harness) node(o upstream.Options) *upstream.Engine {
	w.nodes++
	bus := event.NewBus(w.nodes)
	w.news = bus.Listen(10_000)
	return &upstream.Engine{
		Store: w.store, Ask: w, Signal: w.signal, Bus: bus, Log: w.log(), Options: o,
		PublicURL: func() string { return w.base },
	}
}

func (w *harness) run(ctx context.Context, e *upstream.Engine) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := e.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	return ended
}

func (w *harness) signal(_ context.Context, s upstream.Signal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing != nil {
		return w.failing
	}
	w.signals = append(w.signals, s)
	return nil
}

func (w *harness) Discover(_ context.Context, feed string) (upstream.Found, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, ok := w.found[feed]
	if !ok {
		return f, fault.New(fault.Unreadable, "The feed cannot be read.")
	}
	return f, nil
}

func (w *harness) Endpoint(protocol, hub string) (upstream.Endpoint, error) {
	return upstream.Endpoint{Protocol: protocol, Hub: hub, Wire: "http-post"}, nil
}

func (w *harness) Ask(_ context.Context, f upstream.Follow) (upstream.Answer, error) {
	w.mu.Lock()
	w.asked = append(w.asked, request{time.Now(), f.Feed, f.Hub})
	answer, lease := w.answer, w.lease
	w.mu.Unlock()
	if answer != nil {
		return answer(f)
	}
	if f.Protocol != upstream.WebSub {
		return upstream.Answer{Confirmed: true}, nil
	}
	if lease > 0 { // verify before the answer, as many hubs do
		yes, err := w.engine.Confirm(context.Background(), f.Token, f.Topic, true, lease)
		if !yes || err != nil {
			w.t.Errorf("the verification returned %v, %v", yes, err)
		}
	}
	return upstream.Answer{}, nil
}

func (w *harness) End(_ context.Context, f upstream.Follow) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, f)
	return nil
}

// configure changes how the hubs answer.
func (w *harness) configure(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

func refuse(code fault.Code, text string) func(upstream.Follow) (upstream.Answer, error) {
	return func(upstream.Follow) (upstream.Answer, error) { return upstream.Answer{}, fault.New(code, "%s", text) }
}

// add makes the server follow the feed by a protocol.
func (w *harness) add(via string) upstream.Follow {
	w.t.Helper()
	r := upstream.Request{Feed: feedURL, Via: via, For: "relay"}
	if via == upstream.CNWS {
		r.Hub = "http://cnws.test/"
	}
	f, err := w.engine.Add(w.t.Context(), r)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// reload reads a follow from the store again.
func (w *harness) reload(f upstream.Follow) upstream.Follow {
	w.t.Helper()
	f, err := w.store.Follow(w.t.Context(), f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// advance moves the clock and waits until the engine has finished its work.
func (w *harness) advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// requests returns the requests since the last call.
func (w *harness) requests() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.asked
	w.asked = nil
	return list
}

// received returns the signals since the last call.
func (w *harness) received() []upstream.Signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.signals
	w.signals = nil
	return list
}

// state checks the state of a follow.
func (w *harness) state(f upstream.Follow, want string) upstream.Follow {
	w.t.Helper()
	got := w.reload(f)
	if got.State != want {
		w.t.Fatalf("the follow is %s (%s), want %s", got.State, got.LastError, want)
	}
	return got
}

// gaps returns the times between consecutive requests, beginning at from.
func gaps(from time.Time, list []request) []time.Duration {
	var out []time.Duration
	for _, a := range list {
		out = append(out, a.at.Sub(from))
		from = a.at
	}
	return out
}

// within checks that each duration is in its range. It allows for the millisecond precision of the
// store.
func within(t *testing.T, what string, got []time.Duration, ranges ...[2]time.Duration) {
	t.Helper()
	ok := len(got) == len(ranges)
	for i := 0; ok && i < len(got); i++ {
		ok = got[i] >= ranges[i][0]-time.Millisecond && got[i] <= ranges[i][1]
	}
	if !ok {
		t.Fatalf("%s: %v, want %v", what, got, ranges)
	}
}

func around(d time.Duration) [2]time.Duration {
	return [2]time.Duration{d * 8 / 10, d*12/10 + time.Second}
}

// logged returns the texts of the events of a kind that the newest engine published.
func (w *harness) logged(kind string) []string {
	w.t.Helper()
	var texts []string
	for {
		select {
		case e := <-w.news.C():
			if e.Kind == kind {
				texts = append(texts, e.Text)
			}
		default:
			return texts
		}
	}
}
