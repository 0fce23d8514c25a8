package syndicate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/render"
)

// discardWriter is a ResponseWriter that discards the body.
type discardWriter struct{ head http.Header }

func (s discardWriter) Header() http.Header         { return s.head }
func (s discardWriter) WriteHeader(int)             {}
func (s discardWriter) Write(p []byte) (int, error) { return len(p), nil }

// The test is not parallel, because it would also count the allocations of other tests.
func TestResponseFromCacheDoesNotAllocate(t *testing.T) {
	l := newLayer(t)
	o := render.Options{Self: "http://h.example/", Hubs: []string{"http://hub.example/"}, Cloud: &feed.Cloud{Domain: "h"}}
	links := []string{`<http://hub.example/>; rel="hub"`}
	// The functions of the source return prepared values, as in internal/endpoint/publishhttp.
	of := func(version int64, raw []byte) Source {
		s := saved(version, nil)
		s.Load = func(context.Context) ([]byte, string, error) { return raw, "", nil }
		s.Render = func(string) render.Options { return o }
		s.Link = func(string) []string { return links }
		return s
	}
	old, now := of(1, rss("one")), of(2, rss(strings.Repeat("words ", 5000), "one"))
	formats, before := []string{"", "atom", "jsonfeed"}, map[string]string{}
	for _, format := range formats {
		before[format] = get(t, l, old, format).Header().Get("ETag")
	}
	for _, format := range formats {
		tag := get(t, l, now, format).Header().Get("ETag")
		for _, c := range []struct {
			name   string
			status int
			header []string
		}{
			{"whole", 200, []string{"Accept-Encoding", "gzip"}},
			{"the same", 304, []string{"Accept-Encoding", "gzip", "If-None-Match", tag}},
			{"the same, and differences", 304, []string{"If-None-Match", tag, "A-IM", "feed"}},
			{"the same date", 304, []string{"If-Modified-Since", "Sun, 29 Mar 2026 12:02:00 GMT"}},
			{"another, and differences", 200, []string{"If-None-Match", `"x"`, "A-IM", "feed"}},
			{"a difference", 226, []string{"Accept-Encoding", "gzip", "If-None-Match", before[format], "A-IM", "feed"}},
			{"to match", 200, []string{"If-Match", tag}},
		} {
			r := httptest.NewRequest("GET", "/", nil)
			for i := 0; i < len(c.header); i += 2 {
				r.Header.Set(c.header[i], c.header[i+1])
			}
			w, status := discardWriter{make(http.Header, 32)}, 0
			n := testing.AllocsPerRun(100, func() {
				clear(w.head)
				var err error
				if status, err = l.Serve(w, r, now, format); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 || status != c.status {
				t.Errorf("%q, %s: %v allocations for %d", format, c.name, n, status)
			}
		}
	}
}
