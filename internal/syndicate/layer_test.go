package syndicate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/fault"
)

func noon() time.Time { return time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) }

// rss returns a feed with items that have these titles. A part that begins with "<" is written into
// the channel instead.
func rss(parts ...string) []byte {
	var head, items strings.Builder
	for _, p := range parts {
		if strings.HasPrefix(p, "<") {
			head.WriteString(p)
			continue
		}
		guid, _, _ := strings.Cut(p, ":")
		fmt.Fprintf(&items, `<item><title>%s</title><guid isPermaLink="false">urn:%s</guid><description>%s</description></item>`, p, guid, strings.Repeat("words ", 50))
	}
	return []byte(`<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><link>http://a.example/</link><description>D</description>` +
		head.String() + items.String() + `</channel></rss>`)
}

func newLayer(t *testing.T) *Layer {
	t.Helper()
	return &Layer{Now: func() time.Time { return noon().Add(time.Hour) }, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

func saved(version int64, raw []byte) Source {
	return Source{Key: "alice/rss", Version: version, Modified: noon().Add(time.Duration(version) * time.Minute), Raw: raw, URL: "http://h.example/alice/rss.xml"}
}

func get(t *testing.T, l *Layer, s Source, format string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest("GET", "/alice/feed", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	status, err := l.Serve(w, r, s, format)
	if err != nil || status != w.Code {
		t.Errorf("%s: %d for %d, %v", format, status, w.Code, err)
	}
	return w
}

// checkInvariants checks that the data structures of the cache are consistent.
func checkInvariants(t *testing.T, l *Layer) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	sum, n := int64(0), 0
	for at := l.ring.next; at != &l.ring; at = at.next {
		sum, n = sum+at.size, n+1
		if at.next.prev != at || at.of.nodes[at.key] != at || l.feeds[at.of.key] != at.of || at.version > at.of.version {
			t.Errorf("%+v is linked wrongly", at.key)
		}
	}
	kept := 0
	for _, e := range l.feeds {
		kept += len(e.nodes)
		if len(e.nodes) == 0 && len(e.flights) == 0 {
			t.Errorf("%v is cached without nodes", e.key)
		}
	}
	if sum != l.used || sum > l.Memory || n != kept {
		t.Errorf("%d bytes of %d counted as %d; %d nodes, %d of them in the ring", sum, l.Memory, l.used, kept, n)
	}
}

func TestFeedIsLoadedOnceForAllFormats(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	var loads atomic.Int64
	s := saved(1, nil)
	s.Load = func(context.Context) ([]byte, string, error) { loads.Add(1); return rss("one", "two"), "", nil }
	for range 3 {
		for _, f := range append(render.Formats(), render.Format{Type: "application/rss+xml; charset=utf-8"}) {
			w := get(t, l, s, f.Name)
			if w.Code != 200 || w.Header().Get("Content-Type") != f.Type || w.Body.Len() == 0 || w.Header().Get("Last-Modified") != "Sun, 29 Mar 2026 12:01:00 GMT" {
				t.Errorf("%s: %d %v", f.Name, w.Code, w.Header())
			}
		}
	}
	if loads.Load() != 1 {
		t.Errorf("loaded %d times", loads.Load())
	}
	a, _, err := l.Document(t.Context(), s, "atom")
	b, _, _ := l.Document(t.Context(), s, "atom")
	if err != nil || a != b {
		t.Errorf("%p and %p, %v", a, b, err)
	}
	checkInvariants(t, l)
}

func TestUploadedFormatIsServedByteForByte(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	for name, c := range map[string]struct{ raw, kind, want string }{
		"a charset of its own": {"<?xml version='1.0' encoding='ISO-8859-1'?><rss version='2.0'><channel><title>\xe9</title></channel></rss>", "", "application/rss+xml; charset=iso-8859-1"},
		"a type of its own":    {"<rss version='0.92'><channel><title>x</title></channel></rss>", "text/xml", "text/xml"},
		"RDF":                  {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>x</title></channel></rdf:RDF>`, "", "application/rdf+xml; charset=utf-8"},
		"Atom":                 {`<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>`, "", "application/atom+xml; charset=utf-8"},
		"JSON":                 {`{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, "", "application/feed+json; charset=utf-8"},
		"no feed":              {"<html><body>x</body></html>", "", "application/xml"},
	} {
		s := saved(1, []byte(c.raw))
		s.Key, s.RawType = name, c.kind
		w := get(t, l, s, "")
		if w.Body.String() != c.raw || w.Header().Get("Content-Type") != c.want || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: %v", name, w.Header())
		}
	}
}

func TestMaxAgeIsTheTTLOfTheFeedWithinBounds(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	for part, want := range map[string]string{
		"<!-- nothing -->":          "300",
		"<ttl>10</ttl>":             "600",
		"<ttl>60</ttl>":             "3600",
		"<ttl>1440</ttl>":           "3600",
		"<ttl>0</ttl>":              "300",
		"<ttl>0.1</ttl>":            "60",
		"<ttl>soon</ttl>":           "300",
		"<ttl>-5</ttl>":             "300",
		"<ttl>99999999999999</ttl>": "3600",
		`<sy:updatePeriod xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">hourly</sy:updatePeriod><sy:updateFrequency xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">4</sy:updateFrequency>`: "900",
		`<ttl>5</ttl><sy:updatePeriod xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">daily</sy:updatePeriod>`:                                                                                        "300",
		"<skipHours><hour>13</hour></skipHours>": "300",
	} {
		s := saved(1, rss(part))
		s.Key = part
		for _, format := range []string{"", "atom"} {
			if got := get(t, l, s, format).Header().Get("Cache-Control"); got != "public, max-age="+want+", must-revalidate, stale-if-error=3600" {
				t.Errorf("%s, %q: %s", part, format, got)
			}
		}
	}
}

func TestOnlyANewerVersionReplacesTheCachedFeed(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	one, two := saved(1, rss("one")), saved(2, rss("two"))
	formats := []string{"", "atom", "jsonfeed"}
	for _, f := range formats {
		get(t, l, one, f)
	}
	if w := get(t, l, two, ""); !strings.Contains(w.Body.String(), "two") {
		t.Error(w.Body)
	}
	for _, f := range formats {
		// A request for the old version may get the old or the new document. A request for the new
		// version gets the new document.
		get(t, l, one, f)
		if w := get(t, l, two, f); !strings.Contains(w.Body.String(), "two") || w.Header().Get("Last-Modified") != "Sun, 29 Mar 2026 12:02:00 GMT" {
			t.Errorf("%s: %v %s", f, w.Header(), w.Body)
		}
		if w := get(t, l, one, f); !strings.Contains(w.Body.String(), "two") {
			t.Errorf("%s: the newer version is not served", f)
		}
	}
	checkInvariants(t, l)
}

func TestContentTypeReturnedByLoadIsUsed(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	s := saved(1, nil)
	s.RawType = "application/rss+xml; charset=utf-8"
	s.Load = func(context.Context) ([]byte, string, error) {
		return rss("It\xe9m"), "application/rss+xml; charset=iso-8859-1", nil
	}
	if w := get(t, l, s, ""); w.Header().Get("Content-Type") != "application/rss+xml; charset=iso-8859-1" {
		t.Error(w.Header())
	}
	if w := get(t, l, s, "atom"); !strings.Contains(w.Body.String(), "Itém") {
		t.Error(w.Body)
	}
}

func TestErrorsAreReturnedToTheCallerWithoutResponse(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	away := errors.New("away")
	lost := saved(1, nil)
	lost.Key = "lost"
	lost.Load = func(context.Context) ([]byte, string, error) {
		return nil, "", fault.Wrap(fault.Unavailable, away, "The store is away.")
	}
	page := saved(1, []byte("<html><body>x</body></html>"))
	page.Key = "page"
	call := saved(1, rss("one"))
	call.Render = func(string) render.Options { return render.Options{Callback: "alert(1)"} }
	for _, c := range []struct {
		s      Source
		format string
		code   fault.Code
		text   string
	}{
		{saved(1, rss("one")), "word", fault.NotFound, "There is no format “word”; the formats are rss090, rss091"},
		{saved(1, rss("one")), "RSS20", fault.NotFound, "no format"},
		{lost, "", fault.Unavailable, "The store is away."},
		{page, "atom", fault.Unreadable, "cannot be read as a feed"},
		{call, "jsonp", fault.Invalid, "is not a valid name of a JavaScript function"},
	} {
		w := httptest.NewRecorder()
		_, err := l.Serve(w, httptest.NewRequest("GET", "/", nil), c.s, c.format)
		if fault.CodeOf(err) != c.code || !strings.Contains(fault.Message(err), c.text) || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("%s: %v, %v", c.format, err, w.Header())
		}
		checkInvariants(t, l)
	}
	// Errors are not cached.
	lost.Load = func(context.Context) ([]byte, string, error) { return rss("one"), "", nil }
	get(t, l, lost, "")
	if w := get(t, l, page, ""); w.Code != 200 {
		t.Error(w.Code)
	}
}

func TestPrivateFeedForbidsCachingByClientsAndProxies(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	public := saved(1, rss("one", strings.Repeat("words ", 500)))
	private := public
	private.Private = true
	for _, f := range []string{"", "atom"} {
		for range 2 {
			w := get(t, l, private, f, "Accept-Encoding", "br, gzip;q=0.5")
			if w.Header().Get("Cache-Control") != "private, no-store" || w.Header().Get("Content-Encoding") != "gzip" {
				t.Errorf("%q: %v", f, w.Header())
			}
			w = get(t, l, public, f, "Accept-Encoding", "br, gzip;q=0.5")
			if !strings.HasPrefix(w.Header().Get("Cache-Control"), "public") || w.Header().Get("Content-Encoding") != "br" {
				t.Errorf("%q: %v", f, w.Header())
			}
		}
	}
}

func TestEachCombinationOfRenderOptionsIsCachedSeparately(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	to := func(self, callback string) Source {
		s := saved(1, rss("one"))
		s.Render = func(string) render.Options {
			return render.Options{Self: self, Callback: callback, Hubs: []string{"http://hub.example/"}, Cloud: &feed.Cloud{Domain: "h"}, Alternates: []feed.Link{{Href: "x"}}, Generator: &feed.Generator{Name: "g"}}
		}
		s.Link = func(string) []string { return []string{"<" + self + `>; rel="self"`} }
		return s
	}
	for range 2 {
		for _, self := range []string{"http://h.example/a", "http://h.example/b"} {
			w := get(t, l, to(self, ""), "atom")
			if !strings.Contains(w.Body.String(), `"`+self+`"`) || w.Header().Get("Link") != "<"+self+`>; rel="self"` {
				t.Errorf("%s: %v %s", self, w.Header(), w.Body)
			}
		}
	}
	// Clients choose the names of callbacks, so the number of cached variants is limited.
	for i := range 100 {
		name := fmt.Sprint("f", i)
		if w := get(t, l, to("", name), "jsonp"); !strings.Contains(w.Body.String(), name+"(") {
			t.Errorf("%s: %s", name, w.Body)
		}
	}
	n := 0
	for k := range l.feeds[feedKey{"alice/rss", false}].nodes {
		if k.format == "jsonp" {
			n++
		}
	}
	if n != maxVariants {
		t.Errorf("%d variants of JSON-P are cached", n)
	}
	checkInvariants(t, l)
}

func TestSecondVersionWithinOneSecondIsNotAnsweredWith304(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	one, two := saved(1, rss("one")), saved(2, rss("two"))
	one.Modified, two.Modified = noon().Add(100*time.Millisecond), noon().Add(900*time.Millisecond)
	w := get(t, l, one, "")
	date := w.Header().Get("Last-Modified")
	if w := get(t, l, one, "", "If-Modified-Since", date); w.Code != 304 {
		t.Error(w.Code)
	}
	if w := get(t, l, two, "", "If-Modified-Since", date); w.Code != 200 {
		t.Error(w.Code)
	}
}

func TestWarningsOfRenderingAreReturned(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	s := saved(1, rss(strings.Split(strings.Repeat("item ", 30), " ")...))
	for range 2 {
		_, warnings, err := l.Document(t.Context(), s, "rss090")
		if err != nil || len(warnings) == 0 {
			t.Errorf("%v, %v", warnings, err)
		}
	}
}
