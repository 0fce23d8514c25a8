package app_test

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
)

func TestTwoNodesOnOneDatabaseAreOneHub(t *testing.T) {
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
	if n := len(s.heard); n != 0 {
		t.Errorf("it was told %d times more", n)
	}
	for _, want := range []string{`"register"`, `"ping"`, `"notify"`} {
		watching.wait(t, want)
	}
	if code, body := get(t, a.admin+"/v1/subscriptions"); code != 200 || strings.Count(body, `"callback"`) != 1 {
		t.Errorf("subscriptions, as the one node sees them: %d %s", code, body)
	}
}

// watcher reads a live log.
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

// TestAnotherNodeTakesOverFromAKilledOne kills a node while it tells 3,000
// callbacks: each is told, nobody more than twice, and no more than two pages are
// repeated.
func TestAnotherNodeTakesOverFromAKilledOne(t *testing.T) {
	t.Parallel()
	const all, page = 3000, 500
	database := storetest.Postgres(t)
	first := spawn(t, t.TempDir(), "--database", database)
	cfg := conf(t, t.TempDir())
	cfg.Database = database
	second := start(t, cfg)
	var calls atomic.Int64
	half := make(chan struct{})
	c := newCrowd(t, 4, func(*http.Request, string, int) {
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
	case <-time.After(5 * time.Minute):
		t.Fatal("half of them were never told")
	}
	first.kill()
	before, _, _ := c.count()
	if before == all {
		t.Fatal("the node had told everybody before it was killed: this proves nothing")
	}
	wait(t, "everybody was told", func() bool { told, _, _ := c.count(); return told == all })
	wait(t, "the second node is idle", second.idle)
	told, sent, most := c.count()
	t.Logf("killed after %d; %d told, %d times; %d twice", before, told, sent, len(c.often()))
	if most > 2 {
		t.Errorf("somebody was told %d times", most)
	}
	if extra := sent - all; extra > 2*page {
		t.Errorf("%d were told again; at most two pages (%d) may be", extra, 2*page)
	}
}

// counting counts sweeps, and looks at the sweep's task past a moment.
type counting struct {
	hub.Store
	from   time.Time
	looks  *atomic.Int64
	sweeps *atomic.Int64
}

func (s counting) ClaimTask(ctx context.Context, name string, now, first, next time.Time) (bool, error) {
	won, err := s.Store.ClaimTask(ctx, name, now, first, next)
	if name == "sweep" && !now.Before(s.from) {
		s.looks.Add(1)
	}
	return won, err
}

func (s counting) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) ([]hub.SubscriptionInfo, error) {
	s.sweeps.Add(1)
	return s.Store.Sweep(ctx, now, maxErrors, limit, idle, events)
}

func TestTheTopOfTheHourComesOnceForAllNodes(t *testing.T) {
	t.Parallel()
	database := storetest.Postgres(t)
	hour := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	began := time.Now()
	now := func() time.Time { return hour.Add(time.Since(began) - time.Second) } // the hour is full a second from here
	var looks, sweeps atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for n := range 3 {
		st, err := store.Open(t.Context(), store.Options{DatabaseURL: database})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		h := &hub.Hub{Store: counting{st, hour, &looks, &sweeps}, Bus: event.NewBus(int64(n) + 1), Log: slog.New(slog.DiscardHandler), Now: now}
		group.Go(func() {
			if err := h.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wait(t, "each node has looked whether the hour's work is to be done", func() bool { return looks.Load() >= 3 })
	wait(t, "somebody does it", func() bool { return sweeps.Load() > 0 })
	cancel()
	group.Wait()
	if n := sweeps.Load(); n != 1 {
		t.Errorf("the hour was swept %d times", n)
	}
}
