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

// harness is a hub on a real store in a synctest bubble, with simulated feeds and subscribers.
type harness struct {
	t     *testing.T
	dir   string
	store hub.Store
	hub   *hub.Hub
	stop  func() // stops the hub gracefully
	nodes int64

	mu            sync.Mutex
	feeds         map[string]string // key: URL, value: body; "": the feed cannot be read
	slow          time.Duration     // duration of every fetch
	fetches       []fetchLine
	reply         func(callback string, n int) hub.Reply // n: number of earlier notifications of this callback
	hold          map[string]time.Duration               // key: slow callback, value: delay of its reply
	notifications map[string][]notification
	consent       func(sub hub.Subscription, feed string, challenge bool) error
	confirm       func(in hub.Intent) error            // nil: callbacks confirm everything
	intents       []hub.Intent                         // confirmed or denied, in order
	abouts        map[string]hub.About                 // key: URL
	pages         map[string][]string                  // key: URL of a page, value: feeds that the page links to
	discovered    int                                  // number of pages that were searched for feeds
	types         map[string]string                    // key: URL, value: Content-Type
	origin        func(hub.Fetch) (hub.Fetched, error) // answers instead of feeds; nil: feeds answers
	modified      time.Time                            // Last-Modified of the feed, if it is a file
	shared        bool                                 // nodes share the store
	wrapConfirmer func(*harness) hub.IntentConfirmer   // nil: the harness itself
	wrapStore     func(hub.Store) hub.Store
	keepOpen      bool // the store stays open when the hub stops
}

type fetchLine struct {
	url  string
	at   time.Time
	etag string
}

type notification struct {
	at      time.Time
	version int64
	hops    int
	content string // type and body; "": without content
}

const feedURL = "http://feeds.test/rss.xml"

// withHarness runs a test in a synctest bubble, with a running hub.
func withHarness(t *testing.T, options hub.Options, do func(*testing.T, *harness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, dir: dir, feeds: map[string]string{feedURL: "one"}, notifications: map[string][]notification{}, hold: map[string]time.Duration{}}
		h.start(options)
		defer func() { h.stop() }()
		do(t, h)
	})
}

// start opens the store and runs a hub. A test may call it again after a stop or a crash.
func (h *harness) start(options hub.Options) {
	h.t.Helper()
	log := slog.New(slog.NewTextHandler(h.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	st, err := store.Open(h.t.Context(), store.Options{Dir: sqlitetest.Fill(h.t, h.dir), Log: log})
	if err != nil {
		h.t.Fatal(err)
	}
	h.nodes++
	var rows hub.Store = st
	if h.wrapStore != nil {
		rows = h.wrapStore(st)
	}
	engine := &hub.Hub{Store: rows, Fetch: h, Notify: h, Verify: h, Ask: h, Find: h, Bus: event.NewBus(h.nodes), Log: log, Options: options}
	if h.wrapConfirmer != nil {
		engine.Ask = h.wrapConfirmer(h)
	}
	if h.shared {
		engine.Hint = func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	if err := engine.Recover(ctx); err != nil {
		h.t.Fatal(err)
	}
	go func() { ended <- engine.Run(ctx) }()
	h.store, h.hub = rows, engine
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("the hub ended with %v", err)
		}
		if h.keepOpen {
			return
		}
		if err := st.Close(); err != nil {
			h.t.Errorf("close the store: %v", err)
		}
	})
}

func (h *harness) Fetch(ctx context.Context, f hub.Fetch) (hub.Fetched, error) {
	sent := time.Now()
	h.mu.Lock()
	h.fetches = append(h.fetches, fetchLine{f.URL, sent, f.ETag})
	body, slow, origin := h.feeds[f.URL], h.slow, h.origin
	h.mu.Unlock()
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
	h.mu.Lock()
	about, kind := h.abouts[f.URL], h.types[f.URL]
	h.mu.Unlock()
	return hub.Fetched{Hash: sum[:], Body: []byte(body), ETag: etag, ContentType: kind, URL: f.URL, SentAt: sent, About: func() hub.About { return about }}, nil
}

func (h *harness) Notify(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, content *hub.Content, hops int) hub.Reply {
	bytes := ""
	if content != nil {
		bytes = content.Type + "|" + string(content.Body)
	}
	h.mu.Lock()
	n := len(h.notifications[sub.Callback])
	h.notifications[sub.Callback] = append(h.notifications[sub.Callback], notification{time.Now(), topic.Version, hops, bytes})
	answer, hold := h.reply, h.hold[sub.Callback]
	h.mu.Unlock()
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

func (h *harness) Verify(_ context.Context, sub hub.Subscription, topic hub.Topic, challenge bool) (event.Exchange, error) {
	h.mu.Lock()
	consent := h.consent
	h.mu.Unlock()
	if consent == nil {
		return event.Exchange{}, nil
	}
	return event.Exchange{Request: "POST " + sub.Callback}, consent(sub, topic.URL, challenge)
}

func (h *harness) Confirm(_ context.Context, in hub.Intent) (event.Exchange, error) {
	h.mu.Lock()
	h.intents = append(h.intents, in)
	confirm := h.confirm
	h.mu.Unlock()
	if confirm == nil {
		return event.Exchange{}, nil
	}
	return event.Exchange{}, confirm(in)
}

func (h *harness) Deny(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	return h.Confirm(ctx, in)
}

func (h *harness) Discover(_ context.Context, url string) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.discovered++
	return h.pages[url], nil
}

func (h *harness) set(body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feeds[feedURL] = body
}

func (h *harness) setReply(f func(callback string, n int) hub.Reply) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = f
}

func (h *harness) register(callback string) hub.Registered {
	h.t.Helper()
	got, err := h.hub.Register(h.t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback, Feeds: []string{feedURL}, Via: "rest"})
	if err != nil {
		h.t.Fatalf("register %s: %v", callback, err)
	}
	return got
}

// subscribers registers n callbacks on as many hosts.
func (h *harness) subscribers(n int) []string {
	h.t.Helper()
	var list []hub.SubscriptionInfo
	var names []string
	for i := range n {
		cb := fmt.Sprintf("http://s%d.test/notify", i)
		names = append(names, cb)
		list = append(list, hub.SubscriptionInfo{Topic: feedURL, Subscription: hub.Subscription{
			Protocol: hub.HTTPPost, Callback: cb, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(25 * time.Hour)}})
	}
	if added, err := h.hub.Import(h.t.Context(), list); err != nil || added != n {
		h.t.Fatalf("import: %d, %v", added, err)
	}
	return names
}

func (h *harness) ping() (hub.PingResult, error) {
	return h.hub.Ping(h.t.Context(), hub.Ping{URL: feedURL, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
}

// change changes the feed, pings it and fails the test if the ping does not find the change.
func (h *harness) change(body string) {
	h.t.Helper()
	h.set(body)
	got, err := h.ping()
	if err != nil || !got.Changed {
		h.t.Fatalf("ping of the changed feed: %+v, %v", got, err)
	}
}

// settle waits until all work that needs no more than d has finished.
func (h *harness) settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *harness) notificationsOf(callback string) []notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]notification(nil), h.notifications[callback]...)
}

func (h *harness) count(callback string) int { return len(h.notificationsOf(callback)) }

func (h *harness) subscription(callback string) (hub.Subscription, bool) {
	h.t.Helper()
	s, err := h.store.Subscription(h.t.Context(), hub.Key{TopicID: hub.TopicID(feedURL), ID: hub.SubscriptionID(hub.HTTPPost, callback)})
	if fault.CodeOf(err) == fault.NotFound && err != nil {
		return s, false
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return s, true
}

func (h *harness) events(kind string) []event.Event {
	h.t.Helper()
	list, err := h.store.Events(h.t.Context(), hub.EventQuery{Kinds: []string{kind}, Forward: true, Limit: 1000})
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}
