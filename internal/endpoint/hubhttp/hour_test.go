package hubhttp

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/route"
	"cloudburst/protocol/weblogs"
)

func TestArchiveServesChangesOfEachHour(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	f.add(noon().Add(-2*time.Hour-time.Millisecond), "nine")
	f.add(noon().Add(-2*time.Hour), "ten")
	f.add(noon().Add(-time.Hour-time.Millisecond), "late")
	f.add(noon().Add(-time.Hour), "eleven")
	f.add(noon().Add(10*time.Minute), "now")
	mux, clock := listRoutes(t, f, func(g *Endpoints) { g.KeepChanges = 48 * time.Hour })
	clock.set(noon().Add(30 * time.Minute))
	const immutable = "public, max-age=31536000, immutable"
	for _, c := range []struct {
		path, want, cache string
		status            int
	}{
		{"/2026/03/29/09.xml", "nine", immutable, 200},
		{"/2026/03/29/10.xml", "late ten", immutable, 200},
		{"/2026/03/29/11.xml", "eleven", immutable, 200},
		{"/2026/03/29/12.xml", "now", "public, max-age=60", 200},
		{"/2026/03/28/00.xml", "", immutable, 200},
		{"/2026/03/29/13.xml", "has not started", "no-store", 404},
		{"/2027/01/01/00.xml", "has not started", "no-store", 404},
		{"/2026/03/27/13.xml", "", immutable, 200},
		{"/2026/03/27/12.xml", "longer available; changes are stored for 2 days", "no-store", 404},
		{"/1999/12/31/23.xml", "longer available", "no-store", 404},
		{"/2026/03/29/24.xml", "404 page", "", 404},
		{"/2026/02/30/10.xml", "404 page", "", 404},
		{"/2026/3/29/10.xml", "404 page", "", 404},
		{"/2026/03/29/9.xml", "404 page", "", 404},
		{"/2026/03/29/+9.xml", "404 page", "", 404},
		{"/2026/03/29/10.XML", "404 page", "", 404},
		{"/2026/03/29/10", "404 page", "", 404},
		{"/२०२६/03/29/10.xml", "404 page", "", 404},
		{"/a/b/c/d", "404 page", "", 404},
	} {
		w := ask(mux, "GET", c.path)
		if w.Code != c.status || w.Header().Get("Cache-Control") != c.cache {
			t.Errorf("%s: %d %s %s", c.path, w.Code, w.Header(), w.Body)
		}
		if c.status == 200 && named(t, w) != c.want || !strings.Contains(w.Body.String(), strings.Split(c.want, " ")[0]) {
			t.Errorf("%s: %s", c.path, w.Body)
		}
	}
	w := ask(mux, "GET", "/2026/03/29/10.xml")
	if body := w.Body.String(); !strings.Contains(body, `updated="Sun, 29 Mar 2026 11:00:00 GMT" count="2"`) || !strings.Contains(body, `name="ten" url="http://site.example/ten" when="60"`) {
		t.Error(body)
	}
}

func TestArchiveOfTheCurrentHourIsCachedBriefly(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	f.add(noon().Add(-time.Second), "one")
	mux, clock := listRoutes(t, f, nil)
	cache := func() string { return ask(mux, "GET", "/2026/03/29/11.xml").Header().Get("Cache-Control") }
	if got := cache(); got != "public, max-age=60" {
		t.Error(got)
	}
	// Another node has stored a row late.
	f.mu.Lock()
	f.rows = append(f.rows, hub.Change{Node: 2, Seq: 1, At: noon().Add(-2 * time.Second), Name: "two", URL: siteURL})
	f.mu.Unlock()
	clock.set(noon().Add(2 * time.Minute))
	if got := cache(); !strings.HasSuffix(got, "immutable") {
		t.Error(got)
	}
	before := f.reads
	clock.set(noon().Add(3 * time.Hour))
	if got := named(t, ask(mux, "GET", "/2026/03/29/11.xml")); got != "one two" || f.reads != before {
		t.Errorf("%s after %d reads more", got, f.reads-before)
	}
}

func TestArchiveOfAnHourIsLimitedAndCachedCompressed(t *testing.T) {
	t.Parallel()
	f := &fakeChanges{}
	for i := range 60_000 {
		f.rows = append(f.rows, hub.Change{Node: 1, Seq: int64(60_000 - i), At: noon().Add(-time.Second - time.Duration(i)*10*time.Millisecond), URL: siteURL})
	}
	mux, clock := listRoutes(t, f, nil)
	clock.set(noon().Add(time.Hour))
	plain := ask(mux, "GET", "/2026/03/29/11.xml")
	packed := ask(mux, "GET", "/2026/03/29/11.xml", "Accept-Encoding", "gzip")
	c, err := weblogs.ReadChanges(plain.Body.Bytes(), weblogs.ReadOptions{})
	if err != nil || len(c.List) != 50_000 || c.Count != 50_000 || fmt.Sprint(plain.Body.Len()) != plain.Header().Get("Content-Length") {
		t.Errorf("%d rows, %s, %v", len(c.List), plain.Header(), err)
	}
	if !bytes.Equal(unpacked(t, packed.Body.Bytes()), plain.Body.Bytes()) {
		t.Error("the compressed document differs")
	}
	if d := hourOfArchive(plain.Body.Bytes(), noon(), true); d.Size() > plain.Body.Len()/4 {
		t.Errorf("%d bytes for %d", d.Size(), plain.Body.Len())
	}
}

func TestCacheOfHourlyArchivesIsBounded(t *testing.T) {
	t.Parallel()
	d := &changeLists{hours: map[int64]*hourDocument{}}
	for i := range 100 {
		at := noon().Add(time.Duration(i) * time.Hour)
		d.cacheHour(at, &hourDocument{doc: liveDocument(nil, at), final: true, used: at})
		d.cachedHour(noon(), at) // makes the first hour the most recently used one
	}
	if len(d.hours) != archivesKept || d.hours[noon().Unix()] == nil || d.hours[noon().Add(99*time.Hour).Unix()] == nil {
		t.Errorf("%d hours", len(d.hours))
	}
	big := make([]byte, archivesBytes)
	d.cacheHour(noon().Add(-time.Hour), &hourDocument{doc: liveDocument(big, noon()), final: true, used: noon()})
	if len(d.hours) != 1 {
		t.Errorf("%d hours next to a huge one", len(d.hours))
	}
}

func TestInvalidArchivePathsAreHandledAsNotFound(t *testing.T) {
	t.Parallel()
	mux, _ := listRoutes(t, &fakeChanges{}, func(g *Endpoints) {
		g.NotFound = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	})
	if w := ask(mux, "GET", "/some/page/of/ours"); w.Code != http.StatusTeapot || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %s", w.Code, w.Header())
	}
	bare := http.NewServeMux()
	route.Mount(bare, (&Endpoints{Hub: &fakeHub{}}).Routes(), nil)
	if w := ask(bare, "GET", "/changes.xml"); w.Code != 404 {
		t.Errorf("without a list: %d", w.Code)
	}
}
