package readercheck

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/opml"
	"cloudburst/internal/fulltest"
)

// testServer is a Server with a clock that the test controls.
type testServer struct {
	Server
	t   *testing.T
	now time.Time
}

func newTestServer(t *testing.T) *testServer {
	c := &testServer{t: t, now: time.Date(2026, 11, 20, 9, 20, 0, 0, time.UTC)} // this day is a Friday
	c.Now = func() time.Time { return c.now }
	return c
}

// get sends one request and follows no redirect.
func (c *testServer) get(path string, header ...string) *httptest.ResponseRecorder {
	c.t.Helper()
	ctx, cancel := context.WithCancel(c.t.Context())
	r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
	r.RemoteAddr = "192.0.2.7:1000"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if strings.Contains(path, "silent") || strings.Contains(path, "dripping") {
		cancel() // the client closes the connection
	}
	defer cancel()
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

func (c *testServer) verdicts() map[int]Verdict {
	c.t.Helper()
	list := c.Reports()
	if len(list) != 1 {
		c.t.Fatalf("%d readers were distinguished", len(list))
	}
	out := map[int]Verdict{}
	for _, m := range list[0].Rules {
		out[m.Number] = m.Verdict
	}
	return out
}

func TestFeedReaderThatIgnoresTheRulesFails(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	c := newTestServer(t)
	for round := range 100 {
		for _, u := range c.Probes("") {
			if round > 0 && strings.Contains(u, "endless") {
				continue // each response has 64 MiB
			}
			path := u + "?t=" + c.now.Format("150405")
			w := c.get(path, "User-Agent", "Naive", "Referer", "http://a.test/", "Cookie", "seen=1", "If-Modified-Since", c.now.Format(http.TimeFormat))
			for hops := 0; w.Code/100 == 3 && w.Code != 304 && hops < 20; hops++ {
				w = c.get(w.Header().Get("Location"), "User-Agent", "Naive")
			}
		}
		c.now = c.now.Truncate(time.Hour).Add(time.Hour)
	}
	got := c.verdicts()
	for _, m := range []int{2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 23, 24, 28, 29} {
		if got[m] != Broken {
			t.Errorf("rule %d is %s", m, got[m])
		}
	}
}

func TestRequestsWithoutValidatorsAreDetected(t *testing.T) {
	t.Parallel()
	c := newTestServer(t)
	for range 3 {
		c.get("/probe/etag/feed")
		c.now = c.now.Add(20 * time.Second)
	}
	got := c.verdicts()
	for _, m := range []int{1, 9, 22} {
		if got[m] != Broken {
			t.Errorf("rule %d is %s", m, got[m])
		}
	}
}

func TestAcceptingAMoveAfterOneRedirectBreaksTheRule(t *testing.T) {
	t.Parallel()
	c := newTestServer(t)
	c.get("/probe/moved/feed")
	c.now = c.now.Add(time.Hour)
	if w := c.get("/probe/moved/feed"); w.Code != 301 || !strings.HasSuffix(w.Header().Get("Location"), "/probe/moved/new") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	c.get("/probe/moved/new")
	if got := c.verdicts()[16]; got != Open {
		t.Errorf("after following: %s", got)
	}
	c.now = c.now.Add(time.Hour)
	c.get("/probe/moved/new")
	if got := c.verdicts()[16]; got != Broken {
		t.Errorf("after requesting directly: %s", got)
	}
}

func TestStartPageAndOPMLAreServedWithoutReaders(t *testing.T) {
	t.Parallel()
	c := newTestServer(t)
	if w := c.get("/"); w.Code != 200 || !strings.Contains(w.Body.String(), "No reader has requested") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w := c.get("/probes.opml")
	d, err := opml.Parse(w.Body, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range d.Feeds() {
		n++
	}
	if n != len(c.Probes("")) || n < 25 {
		t.Errorf("the list has %d feeds", n)
	}
}

func TestScoreIsServedAsPageAndAsJSON(t *testing.T) {
	t.Parallel()
	c := newTestServer(t)
	c.get("/probe/etag/feed", "User-Agent", "<script>/1 (x)")
	if w := c.get("/"); strings.Contains(w.Body.String(), "<script>") || !strings.Contains(w.Body.String(), "&lt;script&gt;/1") {
		t.Errorf("the page: %s", w.Body)
	}
	var got struct{ Readers []Report }
	if err := json.Unmarshal(c.get("/report.json").Body.Bytes(), &got); err != nil || len(got.Readers) != 1 || len(got.Readers[0].Rules) != 30 {
		t.Errorf("%v %+v", err, got)
	}
	if text := got.Readers[0].String(); !strings.Contains(text, "BROKEN") || strings.Count(text, "\n") < 30 {
		t.Errorf("as text: %s", text)
	}
}

// TestBufferedDataIsNotCountedAsRead: when a reader stops after 5 MiB, some further megabytes are
// in the socket buffers of both machines.
func TestBufferedDataIsNotCountedAsRead(t *testing.T) {
	t.Parallel()
	for taken, want := range map[int64]Verdict{5 << 20: Kept, 13 << 20: Kept, 17 << 20: Broken} {
		if got := judgeEndless([]request{{Written: taken, End: time.Unix(1, 0)}}, time.Unix(2, 0)); len(got) != 1 || got[0].verdict != want {
			t.Errorf("%d bytes: %+v", taken, got)
		}
	}
}

func TestFeedReaderRulesAreNumberedConsecutively(t *testing.T) {
	t.Parallel()
	for i, m := range Rules() {
		if m.Number != i+1 || m.Title == "" {
			t.Errorf("rule %d is %+v", i+1, m)
		}
	}
}
