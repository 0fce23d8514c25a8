package fulltext

import (
	"compress/gzip"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fetch"
)

// site is a web server and a service that reads its pages.
type site struct {
	*httptest.Server
	*Service
	t     *testing.T
	mux   *http.ServeMux
	store *memory
	news  *news

	mu   sync.Mutex
	busy map[string]int // open requests; key: host
	most map[string]int
	got  map[string]int // number of requests; key: path
}

func newSite(t *testing.T) *site {
	s := &site{t: t, mux: http.NewServeMux(), store: newMemory(), news: &news{}, busy: map[string]int{}, most: map[string]int{}, got: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got[r.URL.Path]++
		s.busy[r.Host]++
		s.most[r.Host] = max(s.most[r.Host], s.busy[r.Host])
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.busy[r.Host]--
			s.mu.Unlock()
		}()
		s.mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(s.Close)
	client := fetch.New(fetch.Options{Guard: &fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Timeout: 2 * time.Second, Bucket: time.Millisecond})
	t.Cleanup(client.CloseIdle)
	s.Service = &Service{Store: s.store, Fetch: client, River: s.news, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Interval: func(string) time.Duration { return 0 }}
	return s
}

// page serves a file of testdata.
func (s *site) page(path, name string) {
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mux.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write(b)
	})
}

// add adds an item whose page has the given path.
func (s *site) add(item int64, path string) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.store.rows[item] = &row{page: Page{Item: item, Source: item, Link: s.URL + path, Words: "A summary."}}
}

// run runs the service until the test ends.
func (s *site) run() {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	s.t.Cleanup(func() { cancel(); <-done })
}

func (s *site) request(item int64) Text {
	s.t.Helper()
	got, err := s.Request(s.t.Context(), item, time.Minute)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func TestRequestedFullTextIsReadOnceForAllFollowers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.page("/a", "article.html")
	s.page("/b", "comments.html")
	s.add(1, "/a")
	s.add(2, "/b")
	s.run()
	for range 3 {
		if got := s.request(1); !strings.Contains(got.HTML, "The lighthouse, part 6.") || got.Problem != "" || got.At.IsZero() {
			t.Fatalf("the text is %+v", got)
		}
	}
	s.request(2)
	if s.got["/a"] != 1 {
		t.Errorf("the page was read %d times", s.got["/a"])
	}
	if !slices.Equal(s.news.came, []int64{1}) { // no user wants the full text of all items of source 2
		t.Errorf("announced were %v", s.news.came)
	}
	if _, err := s.Request(t.Context(), 9, time.Minute); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown item is %v", err)
	}
}

func TestFullTextPageIsRetriedOnlyAfterTemporaryFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", kind)
			rw.Header().Set("Retry-After", "7200")
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
		}
	}
	s.mux.HandleFunc("/forbidden", answer(403, "text/html", "no"))
	s.mux.HandleFunc("/down", answer(503, "text/html", "later"))
	s.mux.HandleFunc("/file.pdf", answer(200, "application/pdf", "%PDF-1.7"))
	s.mux.HandleFunc("/big", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		for range 50 {
			if _, err := rw.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	s.mux.HandleFunc("/bomb", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		for range 50 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
		_ = z.Close()
	})
	s.mux.Handle("/inside", http.RedirectHandler("http://10.0.0.1/admin", http.StatusFound))
	s.mux.Handle("/metadata", http.RedirectHandler("http://169.254.169.254/latest/", http.StatusFound))
	s.mux.Handle("/file", http.RedirectHandler("file:///etc/passwd", http.StatusFound))
	s.mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	s.mux.HandleFunc("/slow", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.WriteHeader(200)
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s.page("/script", "script.html")
	s.page("/paywall", "paywall.html")
	s.run()
	for i, c := range []struct {
		path, says string
		again      bool
	}{
		{"/forbidden", "its server answered 403 Forbidden", false}, {"/down", "its server answered 503 Service Unavailable", true}, {"/missing", "404 Not Found", false},
		{"/file.pdf", "leads to a file of type application/pdf", false}, {"/big", "is too large", false}, {"/bomb", "is too large", false},
		{"/inside", "is on a network that this server does not read", false}, {"/metadata", "is on a network that this server does not read", false},
		{"/file", "", false}, {"/loop", "redirect", false}, {"/slow", "too slowly", true}, {"/script", "may need a script or a login", false}, {"/paywall", "may need a script or a login", false},
	} {
		id := int64(100 + i)
		s.add(id, c.path)
		got := s.request(id)
		if got.HTML != "" || !strings.Contains(got.Problem, c.says) || !strings.Contains(got.Problem, s.URL+c.path) || !strings.HasSuffix(got.Problem, "Open the original instead.") {
			t.Errorf("%s: the reason is %q, not %q", c.path, got.Problem, c.says)
		}
		if got.NextAt.IsZero() == c.again {
			t.Errorf("%s: the next attempt is at %v", c.path, got.NextAt)
		}
		if wait := got.NextAt.Sub(got.At); c.path == "/down" && wait != 2*time.Hour { // the wait that the server requested
			t.Errorf("%s is tried again after %v", c.path, wait)
		}
	}
	// The failure is stored: another request within a minute does not read the page again.
	before := s.got["/forbidden"]
	if got := s.request(100); got.Problem == "" || s.got["/forbidden"] != before {
		t.Errorf("a failed page was read again: %+v", got)
	}
}

func TestUnreadableFullTextPageIsRetriedThreeTimes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	now := time.Now()
	var mu sync.Mutex
	s.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	s.mux.HandleFunc("/down", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) })
	s.add(1, "/down")
	s.run()
	var waits []time.Duration
	got := s.request(1)
	for !got.NextAt.IsZero() {
		waits = append(waits, got.NextAt.Sub(got.At))
		<-s.store.changed
		mu.Lock()
		now = got.NextAt
		mu.Unlock()
		s.Wake()
		<-s.store.changed
		s.store.changed <- struct{}{}
		got, _ = s.Get(t.Context(), 1)
	}
	if want := []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour}; !slices.Equal(waits, want) || s.got["/down"] != 4 {
		t.Errorf("the waits are %v, the requests %d", waits, s.got["/down"])
	}
}

func TestFullTextHostReceivesOneRequestAtATime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range int64(12) {
		path := fmt.Sprint("/", i)
		s.page(path, "comments.html")
		s.add(i+1, path)
		if err := s.store.WantFullText(t.Context(), i+1, time.Now(), 0); err != nil {
			t.Fatal(err)
		}
	}
	s.run()
	for range 12 {
		<-s.store.changed
	}
	for host, n := range s.most {
		if n != 1 {
			t.Errorf("%s got %d requests at once", host, n)
		}
	}
}

func TestFullTextRequestsToAHostRespectItsInterval(t *testing.T) {
	t.Parallel()
	h := hosts{interval: func(string) time.Duration { return time.Second }}
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	a, b := Page{Link: "http://a.example/1"}, Page{Link: "https://b.example/1"}
	if _, ok := h.admit(a, now); !ok {
		t.Fatal("the first request is not admitted")
	}
	if _, ok := h.admit(b, now); !ok {
		t.Fatal("another host is not admitted")
	}
	for i := range 3 {
		if at, ok := h.admit(a, now); ok || !at.Equal(now.Add(time.Duration(i+1)*time.Second)) {
			t.Errorf("turn %d is at %v, %v", i, at, ok)
		}
	}
	h.leave(a.Link, now)
	if _, ok := h.admit(a, now.Add(999*time.Millisecond)); ok {
		t.Error("a request is admitted during the pause")
	}
	if _, ok := h.admit(a, now.Add(time.Second)); !ok {
		t.Error("a request is not admitted after the pause")
	}
}

func TestShorterFullTextDoesNotReplaceTheTextOfTheFeed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.page("/a", "comments.html")
	s.add(1, "/a")
	s.store.rows[1].page.Words = strings.Repeat("The feed has it all. ", 200)
	s.run()
	if got := s.request(1); got.HTML != "" || !strings.HasSuffix(got.Problem, "has no more text than the feed.") {
		t.Errorf("the text is %+v", got)
	}
}
