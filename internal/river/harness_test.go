package river_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fetch"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
)

// harness is a river in a synctest bubble, with simulated servers that the test controls.
type harness struct {
	t     *testing.T
	net   *nettest.Internet
	store river.Store
	river *river.River
	fetch *fetch.Client
	push  *hubs
	stop  func() // stops the program gracefully

	options river.Options
	jitter  float64
	setup   func(*river.River) // called before Run; nil: not called
	open    func(*testing.T) river.Store

	mu       sync.Mutex
	pages    map[string]http.HandlerFunc // key: "host/path"; value: handler
	asked    []request
	listened map[string]bool
	servers  []*http.Server
}

// request is one request that a simulated server received.
type request struct {
	at     time.Time
	url    string // URL without a scheme, as host/path?query
	header http.Header
}

const feedURL = "http://feeds.test/rss.xml"

// withHarness runs a test in a synctest bubble, with the store that opener opens.
func withHarness(t *testing.T, o river.Options, do func(*testing.T, *harness)) {
	t.Helper()
	withHarnessOn(t, o, opener(t), do)
}

// withHarnessOn runs a test in a synctest bubble, with the store that open returns.
func withHarnessOn(t *testing.T, o river.Options, open func(*testing.T) river.Store, do func(*testing.T, *harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &harness{t: t, net: &nettest.Internet{}, options: o, pages: map[string]http.HandlerFunc{}, listened: map[string]bool{}}
		w.push = &hubs{follows: map[string][]river.PushEndpoint{}}
		w.open = open
		w.store = open(t)
		w.start()
		defer w.close()
		do(t, w)
	})
}

func (w *harness) start() {
	logger := slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	w.fetch = fetch.New(fetch.Options{Dial: w.net.Dial, UserAgent: "Cloudburst/test"})
	w.river = &river.River{
		Store: w.store, Fetch: w.fetch, Push: w.push, Log: logger, Options: w.options, Key: []byte(strings.Repeat("k", 32)),
		Random: func() float64 { return w.jitter },
		Agent: func(n int64) string {
			return fmt.Sprintf("Cloudburst/test (+http://me.test/about; %d subscribers)", n)
		},
	}
	if w.setup != nil {
		w.setup(w.river)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.river.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	w.stop = sync.OnceFunc(func() { cancel(); <-ended; w.fetch.CloseIdle() })
}

// restart stops the program and starts it again with the stored data.
func (w *harness) restart() {
	w.stop()
	shut(w.t, w.store)
	w.store = w.open(w.t)
	w.start()
}

// useMemoryStore replaces the store with an in-memory store whose methods can be made to fail.
func (w *harness) useMemoryStore() *memory {
	w.stop()
	shut(w.t, w.store)
	m := newMemory()
	w.store = m
	return m
}

func (w *harness) close() {
	w.stop()
	shut(w.t, w.store)
	for _, s := range w.servers {
		s.Close()
	}
	synctest.Wait()
}

// serve sets the handler of url. The URL must not contain a port.
func (w *harness) serve(url string, h http.HandlerFunc) {
	w.t.Helper()
	scheme, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	if scheme != "http" {
		w.t.Fatalf("no server for %s", url)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[host+"/"+path] = h
	if w.listened[host] {
		return
	}
	w.listened[host] = true
	address := host
	if !strings.Contains(host, ":") {
		address = net.JoinHostPort(host, "80")
	}
	l, err := w.net.Listen(address)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &http.Server{Handler: w, ErrorLog: log.New(io.Discard, "", 0)}
	w.servers = append(w.servers, s)
	go s.Serve(l)
}

func (w *harness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, request{time.Now(), r.Host + r.URL.RequestURI(), r.Header.Clone()})
	h := w.pages[r.Host+r.URL.Path]
	w.mu.Unlock()
	if h == nil {
		http.NotFound(out, r)
		return
	}
	h(out, r)
}

// requests returns the requests that servers received since the last call.
func (w *harness) requests() []request {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.asked
	w.asked = nil
	return list
}

// advance lets the simulated time d pass, and then waits until all goroutines are idle.
func (w *harness) advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// follow makes ann follow feeds, which are due at once.
func (w *harness) follow(urls ...string) {
	w.t.Helper()
	now := time.Now().UTC()
	var list []river.Addition
	for _, u := range urls {
		list = append(list, river.Addition{
			Subscription: river.Subscription{Reader: "ann", SourceID: river.SourceID(u), AddedAt: now},
			Source:       river.Source{ID: river.SourceID(u), URL: u, State: polling.New(u, now), NextAt: now, CreatedAt: now},
		})
	}
	if _, err := w.store.RiverSubscribe(w.t.Context(), list, now, 1_000_000); err != nil {
		w.t.Fatal(err)
	}
	w.river.Wake()
}

// source returns the stored source of a feed.
func (w *harness) source(url string) river.Source {
	w.t.Helper()
	s, err := w.store.Source(w.t.Context(), river.SourceID(url))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// checks returns the stored checks of a feed, newest first.
func (w *harness) checks(url string) []river.Check {
	w.t.Helper()
	list, err := w.store.Checks(w.t.Context(), river.SourceID(url))
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

// items returns the stored items of a feed, newest first.
func (w *harness) items(url string) []river.Entry {
	w.t.Helper()
	list, err := w.store.Items(w.t.Context(), river.ItemQuery{Reader: "ann", SourceID: river.SourceID(url), Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func titles(list []river.Entry) string {
	var out []string
	for _, e := range list {
		s := e.Title
		if !e.EditedAt.IsZero() {
			s += "*"
		}
		if !e.WithdrawnAt.IsZero() {
			s += "-"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// rss returns an RSS document with an item for each word, newest first. extra is added to the
// channel element.
func rss(extra string, words ...string) string {
	var b strings.Builder
	b.WriteString(`<rss version="2.0"><channel><title>Feed</title><link>http://feeds.test/</link>` + extra)
	for _, w := range words {
		id, text, _ := strings.Cut(w, "=")
		if text == "" {
			text = id
		}
		fmt.Fprintf(&b, `<item><guid isPermaLink="false">%s</guid><title>%s</title><description>About %s.</description></item>`, id, text, text)
	}
	return b.String() + `</channel></rss>`
}

// doc returns a handler that serves a document without validators.
func doc(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/rss+xml")
		io.WriteString(w, body)
	}
}

// status returns a handler that answers with a status and with header fields, given as pairs of
// name and value.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// tagged returns a handler that serves a document with an ETag, and answers 304 to requests with
// that ETag.
func tagged(body, etag string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header()["ETag"] = []string{etag}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, body)
	}
}

// hubs is a fake Push that records subscriptions.
type hubs struct {
	mu      sync.Mutex
	follows map[string][]river.PushEndpoint
	left    []string
	states  []river.PushState
	asked   int
}

func (h *hubs) Follow(_ context.Context, feed, topic string, endpoints []river.PushEndpoint) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.follows[feed] = endpoints
	h.asked++
	return nil
}

func (h *hubs) Leave(_ context.Context, feed string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.follows, feed)
	h.left = append(h.left, feed)
	return nil
}

func (h *hubs) State(context.Context, string, []river.PushEndpoint) ([]river.PushState, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.states, nil
}

func (h *hubs) set(states ...river.PushState) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = states
}

// ctx is an alias that shortens the signatures of store methods.
type ctx = context.Context

// followAs makes a user follow a feed.
func (w *harness) followAs(user, url string) {
	w.t.Helper()
	now := time.Now().UTC()
	_, err := w.store.RiverSubscribe(w.t.Context(), []river.Addition{{
		Subscription: river.Subscription{Reader: user, SourceID: river.SourceID(url), AddedAt: now},
		Source:       river.Source{ID: river.SourceID(url), URL: url, State: polling.New(url, now), NextAt: now, CreatedAt: now},
	}}, now, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	w.river.Wake()
}

// change changes the State of a feed and makes the feed due at the time that the new State sets.
func (w *harness) change(url string, do func(polling.State, time.Time) polling.State) {
	w.t.Helper()
	_, err := w.store.ChangeSource(w.t.Context(), river.SourceID(url), func(s *river.Source) error {
		s.State = do(s.State, time.Now().UTC())
		s.NextAt = s.State.NextAt
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.river.Wake()
}

func (w *harness) revive(url string) { w.t.Helper(); w.change(url, polling.Revive) }

func (w *harness) undo(url string) {
	w.t.Helper()
	w.change(url, func(s polling.State, now time.Time) polling.State {
		s, ok := polling.Undo(s, now)
		if !ok {
			w.t.Error("there is nothing to undo")
		}
		return s
	})
}

// downgrading is a Fetcher whose server redirects from https to http.
type downgrading struct{}

func (downgrading) Get(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	return &fetch.Response{
		Status: 200, Header: http.Header{}, Body: []byte(rss("", "a")), URL: "http://feeds.test/rss.xml",
		Redirects: []fetch.Redirect{{Status: 302, From: r.URL, To: "http://feeds.test/rss.xml", Downgrade: true}},
	}, nil
}

func ctxWithCancel(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(context.Background())
}
