package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// watchScript reports to the test server when the live stream is open and when the list of the page has
// grown.
const watchScript = `new MutationObserver(() => fetch("/test/grown")).observe(document.getElementById("events"), { childList: true });
new EventSource("PATH/stream").onopen = () => fetch("/test/ready");`

// held serves the pages and calls ready when the live stream of the page at path is open. The browser
// prints the page once everything has loaded. Therefore held adds an image to the page, and this image
// loads only after the list has grown.
func held(pages http.Handler, path string, ready func()) http.Handler {
	grown := make(chan struct{})
	var once, start sync.Once
	mux := http.NewServeMux()
	mux.HandleFunc("/test/watch.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte(strings.ReplaceAll(watchScript, "PATH", path)))
	})
	mux.HandleFunc("/test/ready", func(http.ResponseWriter, *http.Request) { start.Do(ready) })
	mux.HandleFunc("/test/grown", func(http.ResponseWriter, *http.Request) { once.Do(func() { close(grown) }) })
	mux.HandleFunc("/test/hold.svg", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-grown:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		rec := httptest.NewRecorder()
		pages.ServeHTTP(rec, r)
		for name, values := range rec.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		_, _ = w.Write([]byte(strings.Replace(rec.Body.String(), "</main>", `<img src="/test/hold.svg" alt=""><script type="module" src="/test/watch.js"></script></main>`, 1)))
	})
	mux.Handle("/", pages)
	return mux
}

// grows opens a page in Chromium with its real Content-Security-Policy, and calls happen when the live
// stream is open. It then checks that the new row is above the old row. The parameters was and is are
// texts in the old row and in the new row.
func grows(t *testing.T, w *Web, path string, happen func(), was, is string) {
	t.Helper()
	browser := fulltest.Chromium(t)
	server := httptest.NewServer(held(w.Routes(), path, happen))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--dump-dom", server.URL+path)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the page did not grow in time: %v", err)
	}
	server.CloseClientConnections()
	dom := string(out)
	first, second := strings.Index(dom, is), strings.Index(dom, was)
	if first < 0 || second < 0 || first > second {
		t.Errorf("the page did not grow at its top (%d, %d):\n%s", first, second, dom)
	}
	if !strings.Contains(dom, ">Live<") {
		t.Errorf("the page does not show that it is live:\n%s", dom)
	}
}

func TestLogPageShowsNewEventsLive(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.now = time.Now()
	f.add(bus, ping("already there"))
	grows(t, w, "/log", func() { f.add(bus, ping("came <i>while</i> the page was open")) },
		"already there", "came &lt;i&gt;while&lt;/i&gt; the page was open")
}

func TestChangesPageShowsNewChangesLive(t *testing.T) {
	t.Parallel()
	f := newFake()
	w, bus := newWeb(t, f)
	f.now = time.Now()
	f.listed(hub.Change{Name: "Already there", URL: "https://a.example/"})
	grows(t, w, "/changes", func() {
		f.listed(hub.Change{Name: "Came <i>while</i> the page was open", URL: "https://b.example/"})
		f.add(bus, ping("wake up"))
	}, "Already there", "Came &lt;i&gt;while&lt;/i&gt; the page was open")
}
