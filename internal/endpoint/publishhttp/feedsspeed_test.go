package publishhttp

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"cloudburst/internal/author"
)

// nullWriter is a ResponseWriter that does nothing, so that a benchmark measures only the handler.
type nullWriter struct {
	head   http.Header
	status int
	n      int
}

func (s *nullWriter) Header() http.Header         { return s.head }
func (s *nullWriter) WriteHeader(status int)      { s.status = status }
func (s *nullWriter) Write(b []byte) (int, error) { s.n += len(b); return len(b), nil }

func TestCachedFeedIsServedWithoutAllocations(t *testing.T) {
	d := newHarness(t)
	d.Hit = nil
	d.save(t, author.Public, hostedRSS(100))
	tag := d.do(t, "GET", "/alice/rss.xml", "").Header.Get("ETag")
	w := &nullWriter{head: http.Header{}}
	for what, headers := range map[string]http.Header{
		"conditional": {"If-None-Match": {tag}},
		"packed":      {"Accept-Encoding": {"gzip, deflate, br;q=0.5"}},
		"whole":       {},
	} {
		for _, target := range []string{"/alice/rss.xml", "/alice/feed.atom"} {
			r := httptest.NewRequest("GET", target, nil).WithContext(t.Context())
			r.Header = headers
			d.ServeHTTP(w, r)
			if n := testing.AllocsPerRun(100, func() {
				clear(w.head)
				d.ServeHTTP(w, r)
			}); n != 0 {
				t.Errorf("%s %s: %v allocations", what, target, n)
			}
		}
	}
}

func BenchmarkConditionalGet(b *testing.B) {
	d := newHarness(b)
	d.Hit = nil
	if _, err := d.authors.Save(b.Context(), "alice", author.Public, []byte(hostedRSS(150)), "test"); err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/alice/rss.xml", nil)
	w := &nullWriter{head: http.Header{}}
	d.ServeHTTP(w, r)
	r.Header.Set("If-None-Match", w.head.Get("Etag"))
	b.ReportAllocs()
	for b.Loop() {
		clear(w.head)
		d.ServeHTTP(w, r)
	}
}
