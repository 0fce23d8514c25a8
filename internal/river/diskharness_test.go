package river_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// diskHarness is a harness with the production store in a temporary folder.
type diskHarness struct {
	*harness
	dir  string
	disk *sqlite.Store
}

func withDisk(t *testing.T, o river.Options, do func(*testing.T, *diskHarness)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &diskHarness{dir: dir, harness: &harness{t: t, net: &nettest.Internet{}, options: o, pages: map[string]http.HandlerFunc{}, listened: map[string]bool{}}}
		h.push = &hubs{follows: map[string][]river.PushEndpoint{}}
		h.open()
		h.start()
		defer func() { h.close(); h.disk.Close() }()
		do(t, h)
	})
}

func (h *diskHarness) open() {
	h.t.Helper()
	var err error
	if h.disk, err = sqlite.Open(h.t.Context(), sqlite.Options{Dir: sqlitetest.Fill(h.t, h.dir)}); err != nil {
		h.t.Fatal(err)
	}
	h.store = h.disk
}

// reboot stops the program and its store, and starts both again.
func (h *diskHarness) reboot() {
	h.t.Helper()
	h.stop()
	if err := h.disk.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.open()
	h.start()
}

func (h *diskHarness) add(q river.Request) river.Added {
	h.t.Helper()
	if q.Reader == "" {
		q.Reader = "ann"
	}
	a, err := h.river.Add(h.t.Context(), q)
	if err != nil {
		h.t.Fatalf("%s: %v", q.URL, err)
	}
	return a
}

// list returns the subscriptions of a user, one per line, with name, URL, categories and special
// properties.
func (h *diskHarness) list(user string) string {
	h.t.Helper()
	subs, err := h.river.Subscriptions(h.t.Context(), river.SubscriptionQuery{Reader: user})
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, f := range subs {
		s := f.Name() + " " + f.Source.URL
		if len(f.Categories) > 0 {
			s += " " + strings.Join(f.Categories, "|")
		}
		if f.Title != "" {
			s += " own"
		}
		if f.ListID != 0 {
			s += " listed"
		}
		if f.Source.Private() {
			s += " private"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// page returns a web page that links to RSS feeds. Each link has the form "title=href".
func page(links ...string) http.HandlerFunc {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><html><head><title>Page</title>")
	for _, l := range links {
		title, href, _ := strings.Cut(l, "=")
		fmt.Fprintf(&b, `<link rel="alternate" type="application/rss+xml" title="%s" href="%s">`, title, href)
	}
	b.WriteString("</head><body>Hello</body></html>")
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, b.String())
	}
}

// requestURLs returns the URLs of the requests since the last call.
func (h *diskHarness) requestURLs() string {
	var out []string
	for _, a := range h.requests() {
		out = append(out, a.url)
	}
	return strings.Join(out, " ")
}

// openRiver returns a river with its own store. The river does not run and uses the real time.
func openRiver(t *testing.T) *river.River {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Dir: sqlitetest.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &river.River{Store: s, Key: []byte(strings.Repeat("k", 32))}
}
