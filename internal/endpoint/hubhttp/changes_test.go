package hubhttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/weblogs"

	"github.com/google/go-cmp/cmp"
)

// fakeChanges is a ChangeList in memory.
type fakeChanges struct {
	mu    sync.Mutex
	rows  []hub.Change // newest first
	err   error
	took  time.Duration // duration of each query
	reads int

	within, limit atomic.Int64
}

func (f *fakeChanges) enter() func() {
	n := f.within.Add(1)
	for old := f.limit.Load(); n > old && !f.limit.CompareAndSwap(old, n); old = f.limit.Load() {
	}
	if f.took > 0 {
		time.Sleep(f.took) // advances the clock of the synctest bubble
	}
	return func() { f.within.Add(-1) }
}

func (f *fakeChanges) Changes(_ context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	defer f.enter()()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.err != nil {
		return nil, f.err
	}
	var out []hub.Change
	for _, c := range f.rows {
		in := !c.At.Before(q.Since) && (q.Until.IsZero() || c.At.Before(q.Until)) && (q.Before == (event.Cursor{}) || c.Cursor().Less(q.Before))
		if in && len(out) < q.Limit {
			out = append(out, c)
		}
	}
	return out, nil
}

func (f *fakeChanges) CountChanges(context.Context) (int64, error) {
	defer f.enter()()
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.rows)) + 1000, f.err
}

func (f *fakeChanges) add(at time.Time, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows = append([]hub.Change{{Node: 1, Seq: int64(len(f.rows) + 1), At: at, Name: name, URL: "http://site.example/" + name, Via: "weblogs"}}, f.rows...)
}

// clock is a clock whose time the test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) set(t time.Time) { c.mu.Lock(); c.t = t; c.mu.Unlock() }

func noon() time.Time { return time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) }

// listRoutes serves the lists of f at noon, and returns the clock.
func listRoutes(t *testing.T, f *fakeChanges, change func(*Endpoints)) (*http.ServeMux, *clock) {
	t.Helper()
	c := &clock{t: noon()}
	g := &Endpoints{Hub: &fakeHub{}, Changes: f, Now: c.now, Log: logTo(t)}
	if change != nil {
		change(g)
	}
	mux := http.NewServeMux()
	route.Mount(mux, g.Routes(), nil)
	return mux, c
}

func ask(mux http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// named returns the names of the sites in a list.
func named(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	c, err := weblogs.ReadChanges(w.Body.Bytes(), weblogs.ReadOptions{})
	if err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	var names []string
	for _, w := range c.List {
		names = append(names, w.Name)
	}
	return strings.Join(names, " ")
}

func TestRecentChangesCoverLastHourAndLastFiveMinutes(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	f.add(noon().Add(-61*time.Minute), "older")
	f.add(noon().Add(-60*time.Minute), "hour")
	f.add(noon().Add(-5*time.Minute-time.Millisecond), "before")
	f.add(noon().Add(-5*time.Minute), "five")
	f.add(noon().Add(-90*time.Second), "new")
	f.rows[0].Feed, f.rows[1].Name = "http://site.example/rss.xml", ""
	mux, clock := listRoutes(t, f, nil)
	w := ask(mux, "GET", "/changes.xml")
	want := `<?xml version="1.0" encoding="UTF-8"?>
<weblogUpdates version="2" updated="Sun, 29 Mar 2026 12:00:00 GMT" count="1005">
 <weblog name="new" url="http://site.example/new" when="1" rssUrl="http://site.example/rss.xml"/>
 <weblog name="site.example" url="http://site.example/five" when="5"/>
 <weblog name="before" url="http://site.example/before" when="5"/>
 <weblog name="hour" url="http://site.example/hour" when="60"/>
</weblogUpdates>
`
	if d := cmp.Diff(want, w.Body.String()); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/xml; charset=utf-8", "Cache-Control": "public, max-age=60", "Vary": "Accept-Encoding", "Access-Control-Allow-Origin": "*",
		"Last-Modified": "Sun, 29 Mar 2026 12:00:00 GMT", "Content-Length": fmt.Sprint(len(want)), "X-Content-Type-Options": "nosniff",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := named(t, ask(mux, "GET", "/shortChanges.xml")); got != "new site.example" {
		t.Errorf("short: %s", got)
	}
	clock.set(noon().Add(time.Minute))
	if got := named(t, ask(mux, "GET", "/changes.xml")); got != "new site.example before" {
		t.Errorf("a minute later: %s", got)
	}
	mux, _ = listRoutes(t, f, func(g *Endpoints) { g.When = "seconds" })
	if body := ask(mux, "GET", "/shortChanges.xml").Body.String(); !strings.Contains(body, `when="90"`) {
		t.Error(body)
	}
}

func TestWhenAttributeStatesAgeAtTimeOfRequest(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	f.add(noon().Add(20*time.Second+300*time.Millisecond), "b")
	f.add(noon().Add(45*time.Second), "a")
	mux, clock := listRoutes(t, f, nil)
	other, _ := listRoutes(t, f, func(g *Endpoints) { g.Now = clock.now }) // another node on the same store
	tags := map[string]bool{}
	for _, c := range []struct {
		at      time.Duration
		a, b    string
		updated string
	}{
		{50 * time.Second, "0", "0", "12:00:45"},
		{79 * time.Second, "0", "0", "12:01:00"},
		{81 * time.Second, "0", "1", "12:01:20"},
		{104 * time.Second, "0", "1", "12:01:20"}, // the document is still the same
		{106 * time.Second, "1", "1", "12:01:45"},
		{170 * time.Second, "2", "2", "12:02:45"},
	} {
		clock.set(noon().Add(c.at))
		w := ask(mux, "GET", "/changes.xml")
		tags[w.Header().Get("ETag")] = true
		for _, want := range []string{`/a" when="` + c.a + `"`, `/b" when="` + c.b + `"`, c.updated + " GMT"} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s after noon, without %s:\n%s", c.at, want, w.Body)
			}
		}
		if again := ask(other, "GET", "/changes.xml"); again.Body.String() != w.Body.String() || again.Header().Get("ETag") != w.Header().Get("ETag") {
			t.Errorf("%s after noon, another node has\n%s", c.at, again.Body)
		}
	}
	if len(tags) != 5 {
		t.Errorf("%d documents were made, want 5", len(tags))
	}
}

func TestRecentChangesSupportConditionalRequestsAndCompression(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	for i := range 100 {
		f.add(noon().Add(-time.Minute), fmt.Sprintf("site%d", i))
	}
	mux, _ := listRoutes(t, f, nil)
	first := ask(mux, "GET", "/changes.xml")
	tag, packedTag := first.Header().Get("ETag"), ask(mux, "GET", "/changes.xml", "Accept-Encoding", "gzip").Header().Get("ETag")
	if tag == packedTag || !strings.HasPrefix(tag, `"`) || !strings.HasPrefix(packedTag, `"`) {
		t.Fatalf("%s and %s must be strong and differ", tag, packedTag)
	}
	for _, c := range []struct {
		name   string
		method string
		header []string
		status int
		packed bool
	}{
		{"plain", "GET", nil, 200, false},
		{"packed", "GET", []string{"Accept-Encoding", "br, GZIP;q=0.5"}, 200, true},
		{"anything", "GET", []string{"Accept-Encoding", "*"}, 200, true},
		{"gzip with q=0", "GET", []string{"Accept-Encoding", "gzip;q=0, *"}, 200, false},
		{"not a number", "GET", []string{"Accept-Encoding", "gzip;q=x"}, 200, false},
		{"two header lines", "GET", []string{"Accept-Encoding", "br", "Accept-Encoding", "x-gzip"}, 200, true},
		{"identity", "GET", []string{"Accept-Encoding", "identity"}, 200, false},
		{"head", "HEAD", nil, 200, false},
		{"HEAD, compressed", "HEAD", []string{"Accept-Encoding", "gzip"}, 200, true},
		{"same", "GET", []string{"If-None-Match", tag}, 304, false},
		{"weak ETag", "GET", []string{"If-None-Match", "W/" + tag}, 304, false},
		{"ETag in a list", "GET", []string{"If-None-Match", `"x", W/"y",` + tag}, 304, false},
		{"ETag in a second header line", "GET", []string{"If-None-Match", `"x"`, "If-None-Match", tag}, 304, false},
		{"compressed, same ETag", "GET", []string{"If-None-Match", packedTag, "Accept-Encoding", "gzip"}, 304, false},
		{"ETag of the compressed form", "GET", []string{"If-None-Match", packedTag}, 304, false},
		{"any", "GET", []string{"If-None-Match", "*"}, 304, false},
		{"HEAD with the same ETag", "HEAD", []string{"If-None-Match", tag}, 304, false},
		{"another", "GET", []string{"If-None-Match", `"x"`}, 200, false},
		{"other ETag and same time", "GET", []string{"If-None-Match", `"x"`, "If-Modified-Since", "Sun, 29 Mar 2026 12:00:00 GMT"}, 200, false},
		{"same time", "GET", []string{"If-Modified-Since", "Sun, 29 Mar 2026 12:00:00 GMT"}, 304, false},
		{"later", "GET", []string{"If-Modified-Since", "Sun, 29 Mar 2026 12:00:01 GMT"}, 304, false},
		{"earlier", "GET", []string{"If-Modified-Since", "Sun, 29 Mar 2026 11:59:59 GMT"}, 200, false},
		{"invalid date", "GET", []string{"If-Modified-Since", "yesterday"}, 200, false},
		{"post", "POST", nil, 405, false},
		{"options", "OPTIONS", nil, 204, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ask(mux, c.method, "/changes.xml", c.header...)
			if w.Code != c.status || (w.Header().Get("Content-Encoding") == "gzip") != c.packed {
				t.Fatalf("%d %s", w.Code, w.Header())
			}
			body := w.Body.Bytes()
			switch {
			case c.status == 304:
				if h := w.Header(); h.Get("ETag") == "" || h.Get("Last-Modified") == "" || h.Get("Vary") == "" || h.Get("Cache-Control") != "public, max-age=60" || h.Get("Content-Type") != "" || len(body) > 0 {
					t.Errorf("%s %s", h, body)
				}
				return
			case c.status != 200:
				return
			case c.method == "HEAD":
				if len(body) > 0 || w.Header().Get("Content-Length") == "0" {
					t.Errorf("%s %s", w.Header(), body)
				}
				return
			case w.Header().Get("Content-Length") != fmt.Sprint(len(body)):
				t.Errorf("%d bytes with %s", len(body), w.Header())
			}
			if c.packed {
				body = unpacked(t, body)
			}
			if !bytes.Equal(body, first.Body.Bytes()) {
				t.Errorf("%s", body)
			}
		})
	}
}

func unpacked(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNewChangesAreListedWithinASecond(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	mux, clock := listRoutes(t, f, nil)
	w := ask(mux, "GET", "/changes.xml")
	if got := named(t, w); got != "" || w.Header().Get("Content-Encoding") != "" {
		t.Errorf("%q", got)
	}
	f.add(noon().Add(300*time.Millisecond), "one")
	clock.set(noon().Add(900 * time.Millisecond))
	before := f.reads
	if got := named(t, ask(mux, "GET", "/changes.xml")); got != "" || f.reads != before {
		t.Errorf("%q after %d reads", got, f.reads-before)
	}
	clock.set(noon().Add(time.Second))
	if got := named(t, ask(mux, "GET", "/shortChanges.xml")); got != "one" {
		t.Errorf("%q", got)
	}
	// If there are no new rows, the server makes one small query and serves the same document.
	tag := ask(mux, "GET", "/changes.xml").Header().Get("ETag")
	clock.set(noon().Add(3 * time.Second))
	before = f.reads
	if again := ask(mux, "GET", "/changes.xml").Header().Get("ETag"); again != tag || f.reads != before+1 {
		t.Errorf("%s became %s after %d reads", tag, again, f.reads-before)
	}
	f.add(noon().Add(2500*time.Millisecond), "two")
	clock.set(noon().Add(4 * time.Second))
	if w := ask(mux, "GET", "/changes.xml", "If-None-Match", tag); w.Code != 200 || named(t, w) != "two one" || w.Header().Get("Last-Modified") != "Sun, 29 Mar 2026 12:00:02 GMT" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestRecentChangesAreLimitedToFiveThousandRows(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	for i := range 5_500 {
		f.rows = append(f.rows, hub.Change{Node: 1, Seq: int64(6000 - i), At: noon().Add(-time.Duration(i) * time.Millisecond), URL: siteURL})
	}
	mux, _ := listRoutes(t, f, nil)
	for _, path := range []string{"/changes.xml", "/shortChanges.xml"} {
		if c, err := weblogs.ReadChanges(ask(mux, "GET", path).Body.Bytes(), weblogs.ReadOptions{}); err != nil || len(c.List) != 5_000 || c.Count != 6_500 {
			t.Errorf("%s: %d rows of %d, %v", path, len(c.List), c.Count, err)
		}
	}
	for i := range f.rows {
		f.rows[i].Name = strings.Repeat("&", 1024)
	}
	mux, _ = listRoutes(t, f, nil)
	w := ask(mux, "GET", "/changes.xml")
	if err := xml.Unmarshal(w.Body.Bytes(), new(struct{ XMLName xml.Name })); err != nil || w.Body.Len() > liveBytes+1024 || w.Body.Len() < liveBytes/2 {
		t.Errorf("%d bytes, %v", w.Body.Len(), err)
	}
}

func TestConcurrentRequestsForChangesShareOneQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeChanges{took: 50 * time.Millisecond}
		start := time.Now()
		f.add(start.Add(-time.Minute), "one")
		mux, _ := listRoutes(t, f, func(g *Endpoints) { g.Now = time.Now })
		var group sync.WaitGroup
		var bad atomic.Int64
		clients := func(path string) {
			for range 300 {
				group.Go(func() {
					if w := ask(mux, "GET", path); w.Code != 200 || w.Body.Len() == 0 {
						bad.Add(1)
					}
				})
			}
		}
		hour := start.UTC().Format("/2006/01/02/15.xml")
		for range 20 {
			clients("/changes.xml")
			clients("/shortChanges.xml")
			for range 10 {
				group.Go(func() { ask(mux, "GET", hour) })
			}
			time.Sleep(time.Second)
			f.add(time.Now(), "more")
		}
		group.Wait()
		if bad.Load() > 0 || f.limit.Load() != 1 {
			t.Errorf("%d failed, %d reads at once", bad.Load(), f.limit.Load())
		}
		if f.reads > 70 {
			t.Errorf("%d reads of the store for 12,000 readers in 20 s", f.reads)
		}
	})
}

func TestDisconnectedClientDoesNotCancelTheSharedQuery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeChanges{took: time.Second}
		f.add(time.Now(), "one")
		mux, _ := listRoutes(t, f, func(g *Endpoints) { g.Now = time.Now })
		ctx, cancel := context.WithCancel(t.Context())
		go mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/changes.xml", nil).WithContext(ctx))
		time.Sleep(100 * time.Millisecond)
		cancel()
		if got := named(t, ask(mux, "GET", "/changes.xml")); got != "one" || f.reads != 2 {
			t.Errorf("%q after %d reads", got, f.reads)
		}
	})
}

func TestCachedChangesAreServedWhileStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	f.add(noon(), "one")
	mux, clock := listRoutes(t, f, nil)
	f.err = errors.New("away")
	w := ask(mux, "GET", "/changes.xml")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "away") {
		t.Errorf("%d %s %s", w.Code, w.Header(), w.Body)
	}
	before := f.reads
	if w := ask(mux, "GET", "/shortChanges.xml"); w.Code != 503 || f.reads != before {
		t.Errorf("%d after %d reads more", w.Code, f.reads-before)
	}
	f.err = nil
	clock.set(noon().Add(time.Second))
	if got := named(t, ask(mux, "GET", "/changes.xml")); got != "one" {
		t.Error(got)
	}
	f.err = errors.New("away")
	clock.set(noon().Add(4 * time.Minute))
	if got := named(t, ask(mux, "GET", "/changes.xml")); got != "one" {
		t.Error(got)
	}
	clock.set(noon().Add(6 * time.Minute))
	if w := ask(mux, "GET", "/changes.xml"); w.Code != 503 {
		t.Errorf("%d", w.Code)
	}
	if w := ask(mux, "GET", "/2026/03/29/11.xml"); w.Code != 503 {
		t.Errorf("%d", w.Code)
	}
}

// BenchmarkServeRecentChanges serves a list of 5,000 rows, and reports the overhead compared with
// http.ServeContent.
func BenchmarkServeRecentChanges(b *testing.B) {
	f := &fakeChanges{}
	for i := range 5_000 {
		f.rows = append(f.rows, hub.Change{Node: 1, Seq: int64(6000 - i), At: noon().Add(-time.Duration(i) * time.Millisecond), Name: fmt.Sprintf("Site %d", i), URL: siteURL, Feed: siteFeed})
	}
	mux := http.NewServeMux()
	route.Mount(mux, (&Endpoints{Hub: &fakeHub{}, Changes: f, Now: noon}).Routes(), nil)
	doc := ask(mux, "GET", "/changes.xml").Body.Bytes()
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, "", noon(), bytes.NewReader(doc))
	})
	one := func(h http.Handler) {
		h.ServeHTTP(&discardWriter{head: http.Header{}}, httptest.NewRequest("GET", "/changes.xml", nil))
	}
	var isServerError, theirs time.Duration
	for b.Loop() {
		t0 := time.Now()
		one(mux)
		t1 := time.Now()
		one(plain)
		isServerError, theirs = isServerError+t1.Sub(t0), theirs+time.Since(t1)
	}
	b.ReportMetric(float64(isServerError)/float64(theirs), "x-ServeContent")
	b.ReportMetric(float64(len(doc)), "bytes")
}

// discardWriter is a ResponseWriter that discards the response.
type discardWriter struct{ head http.Header }

func (n *discardWriter) Header() http.Header         { return n.head }
func (n *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (n *discardWriter) WriteHeader(int)             {}
