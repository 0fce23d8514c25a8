package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/config"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/upstream"
	"cloudburst/protocol/rsscloud"
)

// program runs the whole program on a loopback address until the test ends.
func program(t *testing.T) *App {
	t.Helper()
	return programWith(t, func(*config.Config) {})
}

func programWith(t *testing.T, change func(*config.Config)) *App {
	t.Helper()
	cfg := config.Default()
	cfg.Listen, cfg.Admin.Listen, cfg.Data = "127.0.0.1:0", "127.0.0.1:0", t.TempDir()
	loop := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cfg.Egress.AllowFetch, cfg.Egress.AllowCallback = loop, loop
	change(&cfg)
	a, err := Open(t.Context(), cfg, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	until(t, "it listens", func() bool { return a.names.Served() && a.site.Load() != nil })
	return a
}

// until waits until a condition is true. After 30 s it fails the test.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 3000 {
		if is() {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	t.Fatalf("timeout waiting for: %s", what)
}

// hubFeed is a feed that links to hubs. It records the programs that read it.
type hubFeed struct {
	*httptest.Server
	mu    sync.Mutex
	links string // link elements in the feed
	items []string
	reads []string // User-Agent headers of the requests
}

func newHubFeed(t *testing.T) *hubFeed {
	t.Helper()
	f := &hubFeed{items: []string{"first"}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reads = append(f.reads, r.UserAgent())
		w.Header().Set("Content-Type", "application/rss+xml")
		fmt.Fprintf(w, `<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>told</title>%s`, f.links)
		for _, title := range f.items {
			fmt.Fprintf(w, "<item><title>%s</title><guid isPermaLink=\"false\">%s</guid></item>", title, title)
		}
		fmt.Fprint(w, "</channel></rss>")
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *hubFeed) url() string { return f.URL + "/rss.xml" }

func (f *hubFeed) setLinks(links string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.links = links
}

func (f *hubFeed) post(title string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.items = append([]string{title}, f.items...)
}

// read adds a feed to the river of the program, and returns the ID of the source.
func read(t *testing.T, a *App, feed string) int64 {
	t.Helper()
	got, err := a.river.Add(t.Context(), river.Request{URL: feed})
	if err != nil {
		t.Fatal(err)
	}
	return got.Source.ID
}

// titles returns the titles of a source's items, newest first.
func titles(t *testing.T, a *App, id int64) []string {
	t.Helper()
	list, err := a.river.Items(t.Context(), river.ItemQuery{SourceID: id})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Title)
	}
	return out
}

func has(list []string, s string) bool {
	return strings.Contains("\n"+strings.Join(list, "\n")+"\n", "\n"+s+"\n")
}

// TestRiverShowsPushFromAnotherHub runs two programs. One is the hub of a feed, and the other has
// a river that reads the feed.
func TestRiverShowsPushFromAnotherHub(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for name, links := range map[string]func(hub, feed string) string{
		"rsscloud": func(hub, _ string) string { return rsscloud.CloudAt(hub).String() },
		"websub": func(hub, feed string) string {
			return `<atom:link rel="hub" href="` + hub + `/websub"/><atom:link rel="self" href="` + feed + `"/>`
		},
		"both": func(hub, feed string) string {
			return rsscloud.CloudAt(hub).String() + `<atom:link rel="hub" href="` + hub + `/websub"/><atom:link rel="self" href="` + feed + `"/>`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far, near, f := program(t), program(t), newHubFeed(t)
			f.setLinks(links(far.names.Public(), f.url()))
			id := read(t, near, f.url())
			until(t, "its hubs say yes", func() bool {
				_, links, _, err := near.river.Known(t.Context(), f.url())
				if err != nil {
					t.Fatal(err)
				}
				list, err := near.river.Push.State(t.Context(), f.url(), links)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range list {
					if s.State != upstream.Active {
						return false
					}
				}
				return len(list) > 0
			})
			until(t, "the hub has it on disk", func() bool { // the subscriber has the state active a moment before the hub has stored the subscription
				n, err := far.store.Subscribers(t.Context(), hub.TopicID(f.url()), time.Now())
				return err == nil && len(n) > 0
			})
			for i := range 3 {
				title := fmt.Sprint("news ", i)
				f.post(title)
				from := time.Now()
				if _, err := far.hub.Ping(t.Context(), hub.Ping{URL: f.url(), Via: "rest"}); err != nil {
					t.Fatal(err)
				}
				until(t, title, func() bool { return has(titles(t, near, id), title) })
				t.Logf("%s: %s after the ping", title, time.Since(from).Round(time.Millisecond))
				<-time.After(1100 * time.Millisecond) // wait for the minimum interval of the hub
			}
		})
	}
}

// TestRiverShowsPushFromOwnHubWithoutNetwork makes the river read a feed whose hub is the same
// program.
func TestRiverShowsPushFromOwnHubWithoutNetwork(t *testing.T) {
	t.Parallel()
	a, f := program(t), newHubFeed(t)
	f.setLinks(rsscloud.CloudAt(a.names.Public()).String())
	id := read(t, a, f.url())
	_, links, _, err := a.river.Known(t.Context(), f.url())
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.river.Push.State(t.Context(), f.url(), links)
	if err != nil || len(list) != 1 || !list[0].Own || list[0].Since.IsZero() {
		t.Fatalf("its hub is %+v, %v", list, err)
	}
	if asked, err := a.upstream.List(t.Context(), upstream.Query{}); err != nil || len(asked) != 0 {
		t.Errorf("unexpected subscription: %+v, %v", asked, err)
	}
	before := len(f.reads)
	f.post("news")
	got, err := a.hub.Ping(t.Context(), hub.Ping{URL: f.url(), Via: "rest", Source: netip.MustParseAddr("127.0.0.1")})
	if err != nil || !got.Known {
		t.Fatalf("the ping came to %+v, %v", got, err)
	}
	until(t, "news", func() bool { return has(titles(t, a, id), "news") })
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.reads) - before; n != 1 {
		t.Errorf("it was read %d times for one ping: %q", n, f.reads)
	}
}
