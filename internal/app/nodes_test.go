package app_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/internal/endpoint/hubhttp"
	"cloudburst/internal/event"
	"cloudburst/internal/fetch"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
	"cloudburst/protocol/websub"
)

func TestTwoNodesOnOneDatabaseActAsOneHub(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	node := func() *running {
		cfg := conf(t, t.TempDir())
		cfg.Database = database
		return start(t, cfg)
	}
	a, b := node(), node()
	f, s := newFeed(t), newSubscriber(t)
	feed := f.URL + "/rss.xml"
	watching := watch(t, a.base+"/log/stream")

	if code, body := post(t, a.base+"/rsscloud/pleaseNotify", s.form(feed, "yes")); code != 200 || !strings.Contains(body, `success="true"`) {
		t.Fatalf("pleaseNotify on the one node: %d %s", code, body)
	}
	if !accepted(b.base, feed) {
		t.Fatal("the other node does not take a ping")
	}
	if got := s.wait(t, "the notification"); got != feed {
		t.Errorf("the notification named %q", got)
	}
	wait(t, "both nodes are idle", func() bool { return a.idle() && b.idle() })
	if n := len(s.received); n != 0 {
		t.Errorf("%d more notifications", n)
	}
	for _, want := range []string{`"register"`, `"ping"`, `"notify"`} {
		watching.wait(t, want)
	}
	if code, body := get(t, a.admin+"/v1/subscriptions"); code != 200 || strings.Count(body, `"topic":"`+feed+`"`) != 1 {
		t.Errorf("subscriptions, as the one node sees them: %d %s", code, body)
	}
}

// watcher collects the lines of a live log.
type watcher struct {
	mu   sync.Mutex
	seen strings.Builder
}

func watch(t *testing.T, url string) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{}
	var group sync.WaitGroup
	begun := make(chan struct{})
	group.Go(func() {
		first := sync.OnceFunc(func() { close(begun) })
		defer first()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); first() {
			w.mu.Lock()
			w.seen.WriteString(lines.Text() + "\n")
			w.mu.Unlock()
		}
	})
	t.Cleanup(func() { cancel(); res.Body.Close(); group.Wait() })
	<-begun
	return w
}

func (w *watcher) wait(t *testing.T, want string) {
	t.Helper()
	var seen string
	defer func() {
		if t.Failed() {
			t.Logf("the live log so far:\n%s", seen)
		}
	}()
	wait(t, want+" in the live log", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		seen = w.seen.String()
		return strings.Contains(seen, want)
	})
}

// TestNodeTakesOverDeliveriesOfKilledNode kills a node during 3,000 deliveries. Each callback
// must be notified once or twice, and at most one batch of deliveries may be repeated.
func TestNodeTakesOverDeliveriesOfKilledNode(t *testing.T) {
	t.Parallel()
	const all, page = 3000, 500
	database := storetest.Postgres(t)
	first := spawn(t, t.TempDir(), "--database", database)
	cfg := conf(t, t.TempDir())
	cfg.Database = database
	second := start(t, cfg)
	var calls atomic.Int64
	half := make(chan struct{})
	c := newCallbacks(t, 4, func(*http.Request, string, int) {
		if calls.Add(1) == all/2 {
			close(half)
		}
		<-time.After(20 * time.Millisecond)
	})
	f := newFeed(t)
	c.follow(t, &first.running, f.URL+"/rss.xml", all)
	if !accepted(first.base, f.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	select {
	case <-half:
	case <-time.After(maxWait):
		t.Fatal("half of the deliveries")
	}
	first.kill()
	before, _, _ := c.count()
	if before == all {
		t.Fatal("the node finished all deliveries before the kill: the test is inconclusive")
	}
	wait(t, "all subscribers are notified", func() bool { notified, _, _ := c.count(); return notified == all })
	wait(t, "the second node is idle", second.idle)
	notified, sent, maxCalls := c.count()
	t.Logf("killed after %d; %d callbacks notified, %d notifications; %d callbacks twice", before, notified, sent, len(c.notifiedTwice()))
	if maxCalls > 2 {
		t.Errorf("a callback received %d notifications", maxCalls)
	}
	if extra := sent - all; extra > page {
		t.Errorf("%d repeated notifications; want at most one batch (%d)", extra, page)
	}
}

// counting is a store that counts the sweeps. It also counts in looks the attempts to claim the
// sweep task at or after the time from. ClaimTask calls begin after each attempt without an error.
type counting struct {
	hub.Store
	from   time.Time
	begin  func()
	looks  *atomic.Int64
	sweeps *atomic.Int64
}

func (s counting) ClaimTask(ctx context.Context, name string, now, first, next time.Time) (bool, error) {
	won, err := s.Store.ClaimTask(ctx, name, now, first, next)
	if name == "sweep" && err == nil {
		s.begin()
	}
	if name == "sweep" && !now.Before(s.from) {
		s.looks.Add(1)
	}
	return won, err
}

func (s counting) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) ([]hub.SubscriptionInfo, bool, error) {
	s.sweeps.Add(1)
	return s.Store.Sweep(ctx, now, maxErrors, limit, idle, events)
}

func TestHourlySweepRunsOnceForAllNodes(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	hour := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	// In the test's clock, the next hour begins one second after the first claim, even if the
	// first claim takes long.
	var began atomic.Pointer[time.Time]
	begin := sync.OnceFunc(func() { at := time.Now(); began.Store(&at) })
	now := func() time.Time {
		if at := began.Load(); at != nil {
			return hour.Add(time.Since(*at) - time.Second)
		}
		return hour.Add(-time.Second)
	}
	var looks, sweeps atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for n := range 3 {
		st, err := store.Open(t.Context(), store.Options{DatabaseURL: database})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		h := &hub.Hub{Store: counting{st, hour, begin, &looks, &sweeps}, Bus: event.NewBus(int64(n) + 1), Log: slog.New(slog.DiscardHandler), Now: now}
		group.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wait(t, "each node has looked whether the hour's work is to be done", func() bool { return looks.Load() >= 3 })
	wait(t, "the first sweep", func() bool { return sweeps.Load() > 0 })
	cancel()
	group.Wait()
	if n := sweeps.Load(); n != 1 {
		t.Errorf("the hour was swept %d times", n)
	}
}

// hubWithLaterClock runs a hub on the database with a clock that is ahead of the real time, so
// that the leases of a killed node have expired.
func hubWithLaterClock(t *testing.T, database string, by time.Duration) *hub.Hub {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{DatabaseURL: database})
	if err != nil {
		t.Fatal(err)
	}
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	sender := fetch.NewSender(fetch.SenderOptions{Guard: &fetch.Guard{Allow: loop, Callback: true}})
	client := fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: loop}})
	h := &hub.Hub{
		Store: st, Bus: event.NewBus(77), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return time.Now().Add(by) },
		Fetch: &hubhttp.Fetcher{Client: client}, Notify: &hubhttp.Notifier{Sender: sender}, Verify: &hubhttp.Verifier{Sender: sender}, Ask: &hubhttp.Asker{Sender: sender},
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		client.CloseIdle()
		sender.Close()
		st.Close()
	})
	return h
}

// TestNodeVerifiesSubscriptionOfKilledNode kills a node while the node verifies a callback. Another
// node must complete the verification.
func TestNodeVerifiesSubscriptionOfKilledNode(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	first := spawn(t, t.TempDir(), "--database", database)
	f := newFeed(t)
	topic := f.URL + "/rss.xml"
	asked, notified := make(chan struct{}, 10), make(chan error, 10)
	var agree atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodPost:
			notified <- websub.CheckSignature(r.Header.Get(websub.SignatureHeader), "x", body)
		case agree.Load():
			io.WriteString(w, r.URL.Query().Get("hub.challenge"))
		default:
			asked <- struct{}{}
			<-r.Context().Done() // block until the node is killed
		}
	}))
	t.Cleanup(s.Close)
	if code, body := post(t, first.base+"/websub", websubForm("subscribe", topic, s.URL+"/cb")); code != http.StatusAccepted {
		t.Fatalf("the request: %d %s", code, body)
	}
	<-asked
	first.kill()
	agree.Store(true)
	second := hubWithLaterClock(t, database, 2*time.Minute)
	wait(t, "the other node decides it", func() bool {
		s, err := second.Store.Subscription(t.Context(), hub.Key{TopicID: hub.TopicID(topic), ID: hub.SubscriptionID(hub.WebSub, s.URL+"/cb")})
		return err == nil && s.Secret == "x"
	})
	if n, err := second.Store.Intents(t.Context()); n != 0 || err != nil {
		t.Errorf("%d requests are left, %v", n, err)
	}
	if _, err := second.Ping(t.Context(), hub.Ping{URL: topic}); err != nil {
		t.Fatal(err)
	}
	if err := <-notified; err != nil {
		t.Error(err)
	}
}

// readers is a server with WebSub callbacks, each of which has its own secret.
type readers struct {
	*httptest.Server
	want func() []byte

	mu       sync.Mutex
	notified map[string]int
	wrong    []string
}

func (s *readers) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the node that sends the notification was killed
	}
	bad := websub.CheckSignature(r.Header.Get(websub.SignatureHeader), "secret of "+r.URL.Path, body)
	<-time.After(20 * time.Millisecond)
	s.mu.Lock()
	defer s.mu.Unlock()
	if bad != nil || !bytes.Equal(body, s.want()) || r.Header.Get("Content-Type") != "application/rss+xml" {
		s.wrong = append(s.wrong, fmt.Sprintf("%s: %v, %d bytes of type %q", r.URL.Path, bad, len(body), r.Header.Get("Content-Type")))
	}
	if r.Context().Err() == nil {
		s.notified[r.URL.Path]++
	}
}

func (s *readers) count() (all, sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.notified {
		sent += n
	}
	return len(s.notified), sent
}

// TestNodeDeliversContentFetchedByKilledNode kills the node that fetched the topic. The other
// node must deliver the content from the store and must not fetch the topic again.
func TestNodeDeliversContentFetchedByKilledNode(t *testing.T) {
	t.Parallel()
	const all, page = 1500, 500
	database := storetest.Postgres(t)
	first := spawn(t, t.TempDir(), "--database", database)
	f := newFeed(t)
	f.set("<rss><channel><title>caf\xe9</title>\r\n" + strings.Repeat("x", 50_000) + "</channel></rss>\n")
	s := &readers{notified: map[string]int{}, want: func() []byte { return []byte(f.body) }}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	var list bytes.Buffer
	for i := range all {
		fmt.Fprintf(&list, `{"topic":%q,"protocol":"websub","callback":"%s/%d","secret":"secret of /%d","expires_at":%q}`+"\n",
			f.URL+"/rss.xml", s.URL, i, i, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}
	res, err := http.Post(first.admin+"/v1/subscriptions/import", "application/x-ndjson", &list)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("import: %v %v", res, err)
	}
	res.Body.Close()
	if !accepted(first.base, f.URL+"/rss.xml") {
		t.Fatal("the ping was refused")
	}
	wait(t, "a third of the deliveries", func() bool { n, _ := s.count(); return n > all/3 })
	first.kill()
	before, _ := s.count()
	if before == all {
		t.Fatal("the node finished all deliveries before the kill: the test is inconclusive")
	}
	f.Close() // from now on, the topic cannot be fetched
	cfg := conf(t, t.TempDir())
	cfg.Database = database
	second := start(t, cfg)
	wait(t, "all subscribers are notified", func() bool { n, _ := s.count(); return n == all })
	wait(t, "the second node is idle", second.idle)
	_, sent := s.count()
	t.Logf("killed after %d; %d callbacks notified, %d notifications", before, all, sent)
	if extra := sent - all; extra > page {
		t.Errorf("%d repeated notifications; want at most one batch (%d)", extra, page)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.wrong {
		if i < 10 {
			t.Errorf("wrong content: %s", w)
		}
	}
}

func TestSaveOnOneNodeIsVisibleOnTheOther(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	node := func() *running {
		cfg := conf(t, t.TempDir())
		cfg.Database, cfg.Accounts.SecretKey, cfg.PublicURL = database, "the same on all nodes", "http://hub.example"
		return start(t, cfg)
	}
	a, b := node(), node()
	admin := a.addAlice()
	for i := range 5 {
		doc := rssOf(fmt.Sprint("version", i))
		if _, err := admin.SaveFeed(t.Context(), "alice", client.PublicFeed, "", []byte(doc)); err != nil {
			t.Fatal(err)
		}
		if code, body := get(t, b.base+"/alice/rss.xml"); code != http.StatusOK || body != doc {
			t.Errorf("the other node has %d %s", code, body)
		}
		if code, body := get(t, b.base+"/alice/feed.json"); code != http.StatusOK || !strings.Contains(body, fmt.Sprint("version", i)) {
			t.Errorf("the other node writes %d %s", code, body)
		}
	}
	secret, err := admin.NewSecret(t.Context(), "alice", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(secret.Access.URL, "http://hub.example")
	if code, body := get(t, b.base+path); code != http.StatusOK {
		t.Errorf("a reader's address is answered %d %s", code, body)
	}
	if err := (&client.Client{Base: b.admin}).RevokeSecret(t.Context(), "alice", secret.Selector); err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t, a.base+path); code != http.StatusNotFound {
		t.Errorf("a revoked address is answered %d", code)
	}
	if _, err := (&client.Client{Base: b.admin}).EndFeed(t.Context(), "alice", client.PublicFeed); err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t, a.base+"/alice/feed.atom"); code != http.StatusGone {
		t.Errorf("a feed that has ended is answered %d", code)
	}
}
