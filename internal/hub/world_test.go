package hub_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// world is a hub on a real store in a bubble of its own time, with feeds and
// subscribers that the test plays.
type world struct {
	t     *testing.T
	dir   string
	store hub.Store
	hub   *hub.Hub
	stop  func() // graceful
	nodes int64

	mu        sync.Mutex
	feeds     map[string]string // body; "" cannot be read
	slow      time.Duration     // every fetch takes so long
	fetches   []fetchLine
	answer    func(callback string, n int) hub.Reply // n: how many this callback got before
	hold      map[string]time.Duration               // callbacks that take long
	told      map[string][]told
	consent   func(sub hub.Subscription, feed string, challenge bool) error
	confirm   func(in hub.Intent) error            // nil: everything is confirmed
	asked     []hub.Intent                         // that were confirmed or denied, in order
	abouts    map[string]hub.About                 // by URL
	pages     map[string][]string                  // feeds that a page names
	looked    int                                  // pages that were looked at for feeds
	types     map[string]string                    // Content-Type by URL
	origin    func(hub.Fetch) (hub.Fetched, error) // answers instead of feeds; nil: feeds do
	modified  time.Time                            // of the feed, where it is a file
	shared    bool                                 // others share the store
	wrapAsk   func(*world) hub.IntentConfirmer     // nil: the world itself
	wrapStore func(hub.Store) hub.Store
	keep      bool // the store is not closed when the hub stops
}

type fetchLine struct {
	url  string
	at   time.Time
	etag string
}

type told struct {
	at      time.Time
	version int64
	hops    int
	content string // "": none; with its type in front
}

const feedURL = "http://feeds.test/rss.xml"

// inWorld runs a test in a bubble.
func inWorld(t *testing.T, options hub.Options, do func(*testing.T, *world)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dir: dir, feeds: map[string]string{feedURL: "one"}, told: map[string][]told{}, hold: map[string]time.Duration{}}
		w.start(options)
		defer func() { w.stop() }()
		do(t, w)
	})
}

// start opens the store and runs a hub; after a stop or a crash, another.
func (w *world) start(options hub.Options) {
	w.t.Helper()
	log := slog.New(slog.NewTextHandler(w.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	st, err := store.Open(w.t.Context(), store.Options{Dir: sqlitetest.Fill(w.t, w.dir), Log: log})
	if err != nil {
		w.t.Fatal(err)
	}
	w.nodes++
	var rows hub.Store = st
	if w.wrapStore != nil {
		rows = w.wrapStore(st)
	}
	h := &hub.Hub{Store: rows, Fetch: w, Notify: w, Verify: w, Ask: w, Find: w, Bus: event.NewBus(w.nodes), Log: log, Options: options}
	if w.wrapAsk != nil {
		h.Ask = w.wrapAsk(w)
	}
	if w.shared {
		h.Hint = func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	if err := h.Recover(ctx); err != nil {
		w.t.Fatal(err)
	}
	go func() { ended <- h.Run(ctx) }()
	w.store, w.hub = rows, h
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the hub ended with %v", err)
		}
		if w.keep {
			return
		}
		if err := st.Close(); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	})
}

func (w *world) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	sent := time.Now()
	w.mu.Lock()
	w.fetches = append(w.fetches, fetchLine{f.URL, sent, f.ETag})
	body, slow, origin := w.feeds[f.URL], w.slow, w.origin
	w.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return hub.Fetched{}, fault.Wrap(fault.Unreadable, ctx.Err(), "The feed could not be read.")
	}
	if origin != nil {
		return origin(f)
	}
	if body == "" {
		return hub.Fetched{}, fault.New(fault.Unreadable, "The feed could not be read.")
	}
	sum := sha256.Sum256([]byte(body))
	etag := fmt.Sprintf(`"%x"`, sum[:4])
	if f.ETag == etag {
		return hub.Fetched{NotModified: true, ETag: etag, URL: f.URL, SentAt: sent}, nil
	}
	w.mu.Lock()
	about, kind := w.abouts[f.URL], w.types[f.URL]
	w.mu.Unlock()
	return hub.Fetched{Hash: sum[:], Body: []byte(body), ETag: etag, ContentType: kind, URL: f.URL, SentAt: sent, About: func() hub.About { return about }}, nil
}

func (w *world) Notify(ctx context.Context, sub hub.Subscription, topic hub.Topic, content *hub.Content, hops int) hub.Reply {
	bytes := ""
	if content != nil {
		bytes = content.Type + "|" + string(content.Body)
	}
	w.mu.Lock()
	n := len(w.told[sub.Callback])
	w.told[sub.Callback] = append(w.told[sub.Callback], told{time.Now(), topic.Version, hops, bytes})
	answer, hold := w.answer, w.hold[sub.Callback]
	w.mu.Unlock()
	begun := time.Now()
	select {
	case <-time.After(max(hold, time.Millisecond)):
	case <-ctx.Done():
		return hub.Reply{NotTried: true}
	}
	r := hub.Reply{OK: true}
	if answer != nil {
		r = answer(sub.Callback, n)
	}
	r.Took = time.Since(begun)
	return r
}

func (w *world) Verify(_ context.Context, sub hub.Subscription, topic hub.Topic, challenge bool) (event.Exchange, error) {
	w.mu.Lock()
	consent := w.consent
	w.mu.Unlock()
	if consent == nil {
		return event.Exchange{}, nil
	}
	return event.Exchange{Request: "POST " + sub.Callback}, consent(sub, topic.URL, challenge)
}

func (w *world) Confirm(_ context.Context, in hub.Intent) (event.Exchange, error) {
	w.mu.Lock()
	w.asked = append(w.asked, in)
	confirm := w.confirm
	w.mu.Unlock()
	if confirm == nil {
		return event.Exchange{}, nil
	}
	return event.Exchange{}, confirm(in)
}

func (w *world) Deny(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	return w.Confirm(ctx, in)
}

func (w *world) Discover(_ context.Context, url string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked++
	return w.pages[url], nil
}

func (w *world) set(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.feeds[feedURL] = body
}

func (w *world) answers(f func(callback string, n int) hub.Reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

func (w *world) register(callback string) hub.Registered {
	w.t.Helper()
	got, err := w.hub.Register(w.t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback, Feeds: []string{feedURL}, Via: "rest"})
	if err != nil {
		w.t.Fatalf("register %s: %v", callback, err)
	}
	return got
}

// subscribers registers n callbacks on as many hosts.
func (w *world) subscribers(n int) []string {
	w.t.Helper()
	var list []hub.SubscriptionInfo
	var names []string
	for i := range n {
		cb := fmt.Sprintf("http://s%d.test/notify", i)
		names = append(names, cb)
		list = append(list, hub.SubscriptionInfo{Topic: feedURL, Subscription: hub.Subscription{
			Protocol: hub.HTTPPost, Callback: cb, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(25 * time.Hour)}})
	}
	if added, err := w.hub.Import(w.t.Context(), list); err != nil || added != n {
		w.t.Fatalf("import: %d, %v", added, err)
	}
	return names
}

func (w *world) ping() (hub.PingResult, error) {
	return w.hub.Ping(w.t.Context(), hub.Ping{URL: feedURL, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
}

// change changes the feed, pings it and fails the test if that was not seen.
func (w *world) change(body string) {
	w.t.Helper()
	w.set(body)
	got, err := w.ping()
	if err != nil || !got.Changed {
		w.t.Fatalf("ping of the changed feed: %+v, %v", got, err)
	}
}

// settle lets everything that is under way come to rest without much time passing.
func (w *world) settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) toldOf(callback string) []told {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]told(nil), w.told[callback]...)
}

func (w *world) count(callback string) int { return len(w.toldOf(callback)) }

func (w *world) subscription(callback string) (hub.Subscription, bool) {
	w.t.Helper()
	s, err := w.store.Subscription(w.t.Context(), hub.Key{TopicID: hub.TopicID(feedURL), ID: hub.SubscriptionID(hub.HTTPPost, callback)})
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return s, false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return s, true
}

func (w *world) events(kind string) []event.Event {
	w.t.Helper()
	list, err := w.store.Events(w.t.Context(), hub.EventQuery{Kinds: []string{kind}, Forward: true, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}
