package syndicate

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// titles returns the titles of a feed's items.
func titles(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	f, err := feed.ParseBytes(w.Body.Bytes(), nil)
	if err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	var all []string
	for _, it := range f.Items {
		all = append(all, it.Title.Value)
	}
	return strings.Join(all, " ")
}

func TestDeltaContainsOnlyNewItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		old, now []string
		status   int
		items    string
	}{
		{"one is new", []string{"a", "b"}, []string{"c", "a", "b"}, 226, "c"},
		{"one has changed", []string{"a", "b"}, []string{"a", "b:2"}, 226, "b:2"},
		{"new, changed and gone", []string{"a", "b", "c"}, []string{"d", "a:2", "b"}, 226, "d a:2"},
		{"only another order", []string{"a", "b"}, []string{"b", "a"}, 304, ""},
		{"one is gone", []string{"a", "b"}, []string{"a"}, 304, ""},
		{"only a date", []string{"a"}, []string{"a", "<lastBuildDate>Sun, 29 Mar 2026 12:00:00 GMT</lastBuildDate>"}, 304, ""},
		{"the head", []string{"a"}, []string{"a", "<language>de</language>"}, 226, ""},
		{"all are new", []string{"a"}, []string{"b", "c"}, 200, "b c"},
		{"the first are new", nil, []string{"b", "c"}, 200, "b c"},
		{"all are gone", []string{"a"}, nil, 304, ""},
	} {
		for _, format := range []string{"", "rss20", "jsonfeed"} {
			l := newLayer(t)
			old, now := saved(1, rss(c.old...)), saved(2, rss(c.now...))
			tag := get(t, l, old, format, "Accept-Encoding", "gzip").Header().Get("ETag")
			// The result does not depend on whether the new version is cached or the request is
			// repeated.
			for i := range 3 {
				if i == 2 {
					get(t, l, now, format)
				}
				w := get(t, l, now, format, "A-IM", "feed", "If-None-Match", tag)
				if w.Code != c.status {
					t.Errorf("%s, %q: %d %v", c.name, format, w.Code, w.Header())
					continue
				}
				if w.Code != 304 {
					if got := titles(t, w); got != c.items {
						t.Errorf("%s, %q: %q", c.name, format, got)
					}
				}
				plain := get(t, l, now, format)
				if plain.Code != 200 || w.Header().Get("ETag") != plain.Header().Get("ETag") || plain.Header().Get("IM") != "" {
					t.Errorf("%s, %q: %d, headers %v, and of the delta %v", c.name, format, plain.Code, plain.Header(), w.Header())
				}
				if w.Code == 226 && (w.Header().Get("IM") != "feed" || w.Header().Get("Cache-Control") != "no-store, im" || w.Header().Get("Vary") != "Accept-Encoding, A-IM, If-None-Match") {
					t.Errorf("%s, %q: %v", c.name, format, w.Header())
				}
			}
			// The tag of a delta is also the tag of the newest version.
			if w := get(t, l, now, format, "A-IM", "feed", "If-None-Match", get(t, l, now, format).Header().Get("ETag")); w.Code != 304 {
				t.Errorf("%s, %q: %d", c.name, format, w.Code)
			}
			checkInvariants(t, l)
		}
	}
}

func TestRequestsWithoutUsableDeltaReceiveTheCompleteFeed(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	old, now := saved(1, rss("a", "b")), saved(2, rss("c", "a", "b"))
	tag := get(t, l, old, "").Header().Get("ETag")
	other := get(t, l, old, "jsonfeed").Header().Get("ETag")
	for _, c := range []struct {
		name   string
		header []string
	}{
		{"without A-IM", []string{"If-None-Match", tag}},
		{"another A-IM", []string{"If-None-Match", tag, "A-IM", "vcdiff, gzip"}},
		{"A-IM with q=0", []string{"If-None-Match", tag, "A-IM", "feed;q=0, gzip"}},
		{"without a tag", []string{"A-IM", "feed"}},
		{"only a date", []string{"A-IM", "feed", "If-Modified-Since", "Sun, 29 Mar 2026 12:01:00 GMT"}},
		{"unknown tag", []string{"A-IM", "feed", "If-None-Match", `"x"`}},
		{"feedparser", []string{"If-None-Match", tag, "A-IM", "feed", "Accept", "application/rss+xml,application/x-netcdf,text/xml;q=0.2"}},
		{"tag of another format", []string{"A-IM", "feed", "If-None-Match", other}},
	} {
		if w := get(t, l, now, "", c.header...); w.Code != 200 || titles(t, w) != "c a b" || w.Header().Get("IM") != "" {
			t.Errorf("%s: %d %v", c.name, w.Code, w.Header())
		}
	}
	r := httptest.NewRequest("HEAD", "/", nil)
	r.Header.Set("A-IM", "feed")
	r.Header.Set("If-None-Match", tag)
	w := httptest.NewRecorder()
	if status, err := l.Serve(w, r, now, ""); err != nil || status != 200 {
		t.Errorf("HEAD: %d %v", status, err)
	}
	for _, header := range [][]string{
		{"If-None-Match", tag, "A-IM", "FEED;q=0.5, gzip"},
		{"If-None-Match", `"x", W/` + tag, "A-IM", "vcdiff", "A-IM", "feed"},
	} {
		if w := get(t, l, now, "", header...); w.Code != 226 || titles(t, w) != "c" {
			t.Errorf("%v: %d", header, w.Code)
		}
	}
}

// Each version adds an item. A client with version n gets the items of later versions.
func TestDeltasAreServedForTheLastFiftyVersions(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	var items, tags []string
	var s Source
	for n := range 60 {
		items = append(items, fmt.Sprintf("item%d", n))
		s = saved(int64(n), rss(items...))
		tags = append(tags, get(t, l, s, "rss20").Header().Get("ETag"))
	}
	for n, tag := range tags {
		w := get(t, l, s, "rss20", "A-IM", "feed", "If-None-Match", tag, "Accept-Encoding", "gzip")
		want := 226
		switch {
		case n < 10:
			want = 200
		case n == 59:
			want = 304
		}
		if w.Code != want {
			t.Errorf("%d: %d", n, w.Code)
		}
		if w := get(t, l, s, "rss20", "A-IM", "feed", "If-None-Match", tag); want == 226 && titles(t, w) != strings.Join(items[n+1:], " ") {
			t.Errorf("%d: %s", n, titles(t, w))
		}
	}
	// If a request has several tags, the tag of the newest state counts.
	if w := get(t, l, s, "rss20", "A-IM", "feed", "If-None-Match", tags[20]+","+tags[57]+","+tags[30]); titles(t, w) != "item58 item59" {
		t.Error(titles(t, w))
	}
	checkInvariants(t, l)
}

func TestOnlyTheFirstETagsOfARequestAreRead(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	tag := get(t, l, saved(1, rss("a")), "").Header().Get("ETag")
	for n, status := range map[int]int{0: 226, maxTagsRead - 1: 226, maxTagsRead: 200, 5000: 200} {
		w := get(t, l, saved(2, rss("b", "a")), "", "A-IM", "feed", "If-None-Match", strings.Repeat(`"x", `, n)+tag)
		if w.Code != status {
			t.Errorf("after %d other tags: %d", n, w.Code)
		}
	}
}

func TestRemovedItemThatReturnsIsInTheDelta(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	first := get(t, l, saved(1, rss("a", "b")), "").Header().Get("ETag")
	second := get(t, l, saved(2, rss("a")), "").Header().Get("ETag")
	now := saved(3, rss("a", "b", "c"))
	if w := get(t, l, now, "", "A-IM", "feed", "If-None-Match", second); w.Code != 226 || titles(t, w) != "b c" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := get(t, l, now, "", "A-IM", "feed", "If-None-Match", first); w.Code != 226 || !strings.Contains(titles(t, w), "c") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A document with identical bytes is the same state in any version.
	if w := get(t, l, saved(4, rss("a", "b")), "", "A-IM", "feed", "If-None-Match", first); w.Code != 304 {
		t.Errorf("%d", w.Code)
	}
	if w := get(t, l, saved(5, rss("a", "b", "d")), "", "A-IM", "feed", "If-None-Match", first); w.Code != 226 || titles(t, w) != "d" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDeltaOfAPrivateFeedIsPrivate(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	old, now := saved(1, rss("a")), saved(2, rss("b", "a"))
	old.Private, now.Private = true, true
	public := saved(2, rss("b", "a"))
	tag := get(t, l, old, "").Header().Get("ETag")
	if w := get(t, l, now, "", "A-IM", "feed", "If-None-Match", tag); w.Code != 226 || w.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := get(t, l, public, "", "A-IM", "feed", "If-None-Match", tag); w.Code != 200 {
		t.Errorf("%d", w.Code)
	}
}

func TestDeltaHasTheHeadersOfTheCompleteFeed(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	with := func(s Source) Source {
		s.Render = func(string) render.Options { return render.Options{Self: "http://h.example/alice/rss.xml"} }
		s.Link = func(string) []string { return []string{`<http://hub.example/>; rel="hub"`} }
		return s
	}
	tag := get(t, l, with(saved(1, rss("a"))), "").Header().Get("ETag")
	w := get(t, l, with(saved(2, rss("b", "a"))), "", "A-IM", "feed", "If-None-Match", tag)
	if w.Code != 226 || !strings.Contains(w.Body.String(), "http://h.example/alice/rss.xml") || w.Header().Get("Link") == "" || w.Header().Get("Content-Type") != "application/rss+xml; charset=utf-8" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestCompleteFeedIsSentIfNoDeltaCanBeBuilt(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	// A document that is not a feed has no items to compare, and a feed in a format that cannot be
	// rendered is sent completely.
	for name, docs := range map[string][2]string{
		"no feed": {"<html><body>x</body></html>", "<html><body>y</body></html>"},
		"moved":   {"<redirect><newLocation>http://a.example/</newLocation></redirect>", "<redirect><newLocation>http://b.example/</newLocation></redirect>"},
	} {
		old, now := saved(1, []byte(docs[0])), saved(2, []byte(docs[1]))
		old.Key, now.Key = name, name
		tag := get(t, l, old, "").Header().Get("ETag")
		if w := get(t, l, now, "", "A-IM", "feed", "If-None-Match", tag); w.Code != 200 || w.Body.String() != docs[1] {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	// If the delta cannot be built, the client gets the complete document.
	loads := 0
	s := saved(2, nil)
	s.Load = func(context.Context) ([]byte, string, error) {
		if loads++; loads > 1 {
			return nil, "", context.DeadlineExceeded
		}
		return rss("b", "a"), "", nil
	}
	tag := get(t, l, saved(1, rss("a")), "").Header().Get("ETag")
	get(t, l, s, "")
	l.mu.Lock()
	l.remove(l.feeds[feedKey{s.Key, false}].nodes[nodeKey{kind: read}])
	l.mu.Unlock()
	if w := get(t, l, s, "", "A-IM", "feed", "If-None-Match", tag); w.Code != 200 || titles(t, w) != "b a" || loads != 2 {
		t.Errorf("%d after %d loads: %s", w.Code, loads, w.Body)
	}
}

// A document may be saved after its version was looked up and before it is read. The newer document
// is then read under the number of the older version.
func TestVersionSavedDuringAReadIsServedAfterwards(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	raw := rss("b", "a")
	s := saved(2, nil)
	s.Load = func(context.Context) ([]byte, string, error) { return raw, "", nil }
	tag := get(t, l, saved(1, rss("a")), "rss20").Header().Get("ETag")
	get(t, l, s, "rss20")
	forget := func(k nodeKey) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.remove(l.feeds[feedKey{s.Key, false}].nodes[k])
	}
	// The source was evicted and is read again. The document now has the item c.
	raw = rss("c", "b", "a")
	forget(nodeKey{kind: read})
	if w := get(t, l, s, "jsonfeed"); titles(t, w) != "c b a" {
		t.Errorf("%s", w.Body)
	}
	w := get(t, l, s, "rss20", "A-IM", "feed", "If-None-Match", tag)
	if w.Code != 200 || titles(t, w) != "b a" {
		t.Errorf("the cached document has another state: %d %s", w.Code, w.Body)
	}
	tag = w.Header().Get("ETag")
	// The document is requested with its own version number.
	s.Version = 3
	if w := get(t, l, s, "rss20", "A-IM", "feed", "If-None-Match", tag); w.Code != 226 || titles(t, w) != "c" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	checkInvariants(t, l)
}
