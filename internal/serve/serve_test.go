package serve

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
)

func noon() time.Time { return time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC) }

const noonText = "Sun, 29 Mar 2026 12:00:00 GMT"

// feedOf returns a document that compresses well.
func feedOf(bytes int) []byte {
	return []byte("<rss>" + strings.Repeat("<item>words</item>", bytes/18) + "</rss>")
}

func request(d http.Handler, method string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/rss.xml", nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func TestServeReturnsTheStatusItSent(t *testing.T) {
	t.Parallel()
	d := New(feedOf(2000), Options{Modified: noon()})
	for _, c := range []struct {
		method string
		status int
		header []string
	}{
		{"GET", 200, nil},
		{"HEAD", 200, nil},
		{"GET", 304, []string{"If-None-Match", "*"}},
		{"GET", 412, []string{"If-Match", `"a"`}},
		{"GET", 406, []string{"Accept-Encoding", "*;q=0"}},
		{"OPTIONS", 204, nil},
		{"POST", 405, nil},
	} {
		r, w := httptest.NewRequest(c.method, "/", nil), httptest.NewRecorder()
		for i := 0; i+1 < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		if got := d.Answer(w, r); got != c.status || w.Code != c.status {
			t.Errorf("%s %v: %d, and %d was sent", c.method, c.header, got, w.Code)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("If-Match", `"a"`)
	if got := d.NotModified(httptest.NewRecorder(), r); got != 412 {
		t.Errorf("%d", got)
	}
	if got := New(nil, Options{Delta: "feed"}).Answer(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)); got != 226 {
		t.Errorf("%d", got)
	}
}

func unpacked(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r io.Reader = w.Body
	switch w.Header().Get("Content-Encoding") {
	case "gzip":
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case "br":
		r = brotli.NewReader(w.Body)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestResponseContainsTheHeadersOfTheDocument(t *testing.T) {
	t.Parallel()
	body := feedOf(5000)
	d := New(body, Options{
		Type: "application/rss+xml; charset=utf-8", Modified: noon().Add(700 * time.Millisecond), Cache: "public, max-age=300", Vary: "A-IM",
		Link: []string{`<http://h.example/>; rel="hub"`, `<http://a.example/>; rel="self"`}, Feed: true, Brotli: true,
	})
	w := request(d, "GET")
	want := http.Header{
		"Content-Type": {"application/rss+xml; charset=utf-8"}, "Content-Length": {fmt.Sprint(len(body))}, "Accept-Ranges": {"none"}, "Etag": {`"` + d.Tag() + `"`},
		"Last-Modified": {noonText}, "Cache-Control": {"public, max-age=300"}, "Vary": {"Accept-Encoding, A-IM"},
		"Link":                          {`<http://h.example/>; rel="hub"`, `<http://a.example/>; rel="self"`},
		"Content-Security-Policy":       {"sandbox; default-src 'none'"},
		"X-Content-Type-Options":        {"nosniff"},
		"Access-Control-Allow-Origin":   {"*"},
		"Access-Control-Expose-Headers": {exposedHeaders},
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" || w.Code != 200 || w.Body.String() != string(body) {
		t.Errorf("%d %s", w.Code, diff)
	}
	w = request(d, "GET", "If-None-Match", `"`+d.Tag()+`"`)
	for _, name := range []string{"Content-Type", "Content-Length", "Accept-Ranges", "Content-Security-Policy", "X-Content-Type-Options"} {
		delete(want, name)
	}
	if diff := cmp.Diff(want, w.Header()); diff != "" || w.Code != 304 || w.Body.Len() > 0 {
		t.Errorf("%d %s", w.Code, diff)
	}
	if len(d.Tag()) != 32 || New(append(feedOf(5000), ' '), Options{}).Tag() == d.Tag() || New(feedOf(5000), Options{}).Tag() != d.Tag() {
		t.Errorf("tag %s", d.Tag())
	}
}

func TestResponseContainsOnlyBodyAndETagByDefault(t *testing.T) {
	t.Parallel()
	w := request(New([]byte("x"), Options{}), "GET", "If-Modified-Since", noonText, "Origin", "http://a.example")
	want := http.Header{"Content-Type": {"text/plain; charset=utf-8"} /* net/http's guess */, "Content-Length": {"1"}, "Accept-Ranges": {"none"}, "Etag": w.Header()["Etag"], "Vary": {"Accept-Encoding"}}
	if diff := cmp.Diff(want, w.Header()); diff != "" || w.Code != 200 || w.Body.String() != "x" {
		t.Errorf("%d %s", w.Code, diff)
	}
	if w := request(New(nil, Options{}), "GET"); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "0" {
		t.Errorf("nothing: %d %v", w.Code, w.Header())
	}
}

// The last three columns of the table contain the expected Content-Encoding. "-" means no encoding,
// and 406 is the status of a rejected request.
func TestAcceptEncodingSelectsTheCompression(t *testing.T) {
	t.Parallel()
	body := feedOf(5000)
	with := New(body, Options{Brotli: true})
	without := New(body, Options{})
	packed := New(body, Options{Packed: true, Brotli: true})
	small := New([]byte("<rss/>"), Options{Brotli: true})
	for _, c := range []struct{ accept, with, without, small string }{
		{"", "-", "-", "-"},
		{"gzip", "gzip", "gzip", "-"},
		{"br", "br", "-", "-"},
		{"gzip, deflate, br, zstd", "br", "gzip", "-"},
		{"gzip;q=1.0, br;q=0.9", "gzip", "gzip", "-"},
		{"gzip;q=0.8,br;q=0.801", "br", "gzip", "-"},
		{"GZIP;Q=0.5", "gzip", "gzip", "-"},
		{"x-gzip", "gzip", "gzip", "-"},
		{"*", "gzip", "gzip", "-"},
		{"*;q=0", "406", "406", "406"},
		{"*;q=0, gzip", "gzip", "gzip", "gzip"},
		{"gzip;q=0", "-", "-", "-"},
		{"gzip;q=0, *", "-", "-", "-"},
		{"gzip;q=0.000", "-", "-", "-"},
		{"identity", "-", "-", "-"},
		{"identity, gzip;q=0.5", "-", "-", "-"},
		{"identity;q=0.5, gzip;q=0.4, br", "br", "-", "-"},
		{"identity;q=0", "406", "406", "406"},
		{"identity;q=0, deflate", "406", "406", "406"},
		{"identity;q=0, gzip", "gzip", "gzip", "gzip"},
		{"identity;q=0, br", "br", "406", "br"},
		{"identity;q=0, *", "gzip", "gzip", "gzip"},
		{"deflate, zstd", "-", "-", "-"},
		{"gzip;q=2", "-", "-", "-"},
		{"gzip;q=-1", "-", "-", "-"},
		{"gzip;q=", "-", "-", "-"},
		{"gzip;q=nan", "-", "-", "-"},
		{"gzip;level=9;q=0.5", "gzip", "gzip", "-"},
		{"gzip;q=0.0001", "-", "-", "-"},
		{",,, gzip ,", "gzip", "gzip", "-"},
		{"gzipped, brotli", "-", "-", "-"},
	} {
		for i, d := range []*Document{with, without, small, packed} {
			want := []string{c.with, c.without, c.small, c.with}[i]
			header := []string{"Accept-Encoding", c.accept}
			if c.accept == "" {
				header = nil
			}
			w := request(d, "GET", header...)
			got := w.Header().Get("Content-Encoding")
			switch {
			case w.Code == 406:
				got = "406"
			case got == "":
				got = "-"
			}
			if got != want {
				t.Errorf("%q, %d: %s, want %s", c.accept, i, got, want)
				continue
			}
			if w.Header().Get("Vary") != "Accept-Encoding" && w.Code == 200 {
				t.Errorf("%q: Vary %q", c.accept, w.Header().Get("Vary"))
			}
			length := fmt.Sprint(w.Body.Len())
			if want != "406" && (w.Header().Get("Content-Length") != length || unpacked(t, w) != string(d.Bytes())) {
				t.Errorf("%q, %d: not the document, or not its length", c.accept, i)
			}
		}
	}
	if w := request(with, "GET", "Accept-Encoding", "deflate", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Error("the second header line is ignored")
	}
}

func TestEachRepresentationHasItsOwnStrongETag(t *testing.T) {
	t.Parallel()
	d := New(feedOf(5000), Options{Brotli: true})
	for accept, want := range map[string]string{"identity": `"` + d.Tag() + `"`, "gzip": `"` + d.Tag() + `-gz"`, "br": `"` + d.Tag() + `-br"`} {
		w := request(d, "GET", "Accept-Encoding", accept)
		if got := w.Header().Get("ETag"); got != want || BaseTag(got) != d.Tag() {
			t.Errorf("%s: %s", accept, got)
		}
		// A client that has one representation has the document, even if it accepts other encodings
		// now.
		for _, now := range []string{"identity", "gzip", "br"} {
			if w := request(d, "GET", "Accept-Encoding", now, "If-None-Match", want); w.Code != 304 {
				t.Errorf("%s, then %s: %d", accept, now, w.Code)
			}
		}
	}
}

func TestConditionalRequestReturns304OnlyIfUnchanged(t *testing.T) {
	t.Parallel()
	d := New(feedOf(5000), Options{Modified: noon(), Now: func() time.Time { return noon().Add(time.Hour) }})
	tag := `"` + d.Tag() + `"`
	for _, c := range []struct {
		name   string
		status int
		header []string
	}{
		{"none", 200, nil},
		{"same tag", 304, []string{"If-None-Match", tag}},
		{"weak", 304, []string{"If-None-Match", "W/" + tag}},
		{"any", 304, []string{"If-None-Match", "*"}},
		{"in a list", 304, []string{"If-None-Match", `"a", W/"b" ,` + tag}},
		{"after a comma in quotes", 304, []string{"If-None-Match", `"a,b",` + tag}},
		{"in another line", 304, []string{"If-None-Match", `"a"`, "If-None-Match", tag}},
		{"without quotes", 304, []string{"If-None-Match", d.Tag()}},
		{"after what is none", 304, []string{"If-None-Match", `W/, x y, ` + tag}},
		{"another", 200, []string{"If-None-Match", `"a"`}},
		{"in another's quotes", 200, []string{"If-None-Match", `"a,` + d.Tag() + `"`}},
		{"a part of it", 200, []string{"If-None-Match", tag[:20] + `"`}},
		{"an empty one", 200, []string{"If-None-Match", ""}},
		{"another, and the date", 200, []string{"If-None-Match", `"a"`, "If-Modified-Since", noonText}},
		{"the same, and an old date", 304, []string{"If-None-Match", tag, "If-Modified-Since", "Sun, 29 Mar 2020 12:00:00 GMT"}},
		{"the date", 304, []string{"If-Modified-Since", noonText}},
		{"the date, as of RFC 850", 304, []string{"If-Modified-Since", "Sunday, 29-Mar-26 12:00:00 GMT"}},
		{"the date, as C has it", 304, []string{"If-Modified-Since", "Sun Mar 29 12:00:00 2026"}},
		{"a later date", 304, []string{"If-Modified-Since", "Sun, 29 Mar 2026 12:30:00 GMT"}},
		{"an older date", 200, []string{"If-Modified-Since", "Sun, 29 Mar 2026 11:59:59 GMT"}},
		{"a date of the future", 200, []string{"If-Modified-Since", "Sun, 29 Mar 2026 13:02:00 GMT"}},
		{"a clock that is a little ahead", 304, []string{"If-Modified-Since", "Sun, 29 Mar 2026 13:00:30 GMT"}},
		{"no date", 200, []string{"If-Modified-Since", "yesterday"}},
		{"two dates", 200, []string{"If-Modified-Since", noonText, "If-Modified-Since", noonText}},
		{"to match: same", 200, []string{"If-Match", `"a", ` + tag}},
		{"to match: any", 200, []string{"If-Match", "*"}},
		{"to match: packed", 200, []string{"If-Match", `"` + d.Tag() + `-gz"`}},
		{"to match: weak", 412, []string{"If-Match", "W/" + tag}},
		{"to match: another", 412, []string{"If-Match", `"a"`}},
		{"to match: another, though it has this one", 412, []string{"If-Match", `"a"`, "If-None-Match", tag}},
		{"to match, and it has it", 304, []string{"If-Match", tag, "If-None-Match", tag}},
		{"unmodified", 200, []string{"If-Unmodified-Since", noonText}},
		{"modified", 412, []string{"If-Unmodified-Since", "Sun, 29 Mar 2026 11:59:59 GMT"}},
		{"modified, but the tag is right", 200, []string{"If-Match", tag, "If-Unmodified-Since", "Sun, 29 Mar 2026 11:59:59 GMT"}},
		{"unmodified since no date", 200, []string{"If-Unmodified-Since", "x"}},
		{"a range", 200, []string{"Range", "bytes=0-9"}},
		{"a range of this version", 200, []string{"Range", "bytes=0-9", "If-Range", tag}},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := request(d, method, c.header...)
			if w.Code != c.status {
				t.Errorf("%s, %s: %d, want %d", method, c.name, w.Code, c.status)
			}
			if w.Code == 200 && (w.Header().Get("Content-Length") != fmt.Sprint(len(d.Bytes())) || (w.Body.Len() == 0) != (method == "HEAD")) {
				t.Errorf("%s, %s: %d bytes of %s", method, c.name, w.Body.Len(), w.Header().Get("Content-Length"))
			}
		}
	}
	same := New(feedOf(5000), Options{Modified: noon(), NoSince: true})
	if w := request(same, "GET", "If-Modified-Since", noonText); w.Code != 200 || w.Header().Get("Last-Modified") != noonText {
		t.Errorf("two of one second: %d %v", w.Code, w.Header())
	}
}

func TestUnsupportedMethodReturns405WithAllow(t *testing.T) {
	t.Parallel()
	d := New(feedOf(5000), Options{Feed: true, Type: "text/xml", Cache: "public"})
	for _, method := range []string{"POST", "PUT", "DELETE", "TRACE", "get"} {
		w := request(d, method)
		if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" || w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
	w := request(d, "OPTIONS", "Origin", "http://a.example", "Access-Control-Request-Headers", "if-none-match")
	h := w.Header()
	if w.Code != 204 || h.Get("Allow") != "GET, HEAD, OPTIONS" || h.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "If-None-Match") {
		t.Errorf("%d %v", w.Code, h)
	}
	if h := request(New(nil, Options{}), "OPTIONS").Header(); h.Get("Access-Control-Allow-Origin") != "" || h.Get("Allow") == "" {
		t.Errorf("no feed: %v", h)
	}
}

func TestDeltaIsSentWithStatus226(t *testing.T) {
	t.Parallel()
	d := New(feedOf(2000), Options{Delta: "feed", Tag: "whole", Cache: "no-store, im", Vary: "A-IM, If-None-Match"})
	w := request(d, "GET", "Accept-Encoding", "gzip", "If-None-Match", `"old-gz"`)
	h := w.Header()
	if w.Code != 226 || h.Get("IM") != "feed" || h.Get("ETag") != `"whole-gz"` || h.Get("Vary") != "Accept-Encoding, A-IM, If-None-Match" || unpacked(t, w) != string(feedOf(2000)) {
		t.Errorf("%d %v", w.Code, h)
	}
	w = httptest.NewRecorder()
	d.NotModified(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 304 || w.Header().Get("ETag") != `"whole"` {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestHeadersSetByTheCallerAreKept(t *testing.T) {
	t.Parallel()
	d := New(feedOf(2000), Options{})
	for range 2 {
		w := httptest.NewRecorder()
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Cache-Control", "no-cache")
		d.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		w.Header().Add("Vary", "Cookie") // this must not change the slice that all responses share
		if got := w.Result().Header; cmp.Diff([]string{"Accept", "Accept-Encoding"}, got["Vary"]) != "" || got.Get("Cache-Control") != "no-cache" {
			t.Errorf("%v", got)
		}
	}
	w := request(d, "GET")
	w.Header().Add("Vary", "Cookie")
	if got := request(d, "GET").Header()["Vary"]; len(got) != 1 {
		t.Errorf("%v", got)
	}
}

func TestPackedDocumentIsStoredOnlyAsGzip(t *testing.T) {
	t.Parallel()
	body := feedOf(100_000)
	d := New(body, Options{Packed: true, Level: 9})
	if d.plain.body != nil || d.Size() > len(body)/4 || !bytes.Equal(d.Bytes(), body) {
		t.Errorf("%d bytes for %d", d.Size(), len(body))
	}
	if w := request(d, "GET"); w.Body.String() != string(body) || w.Header().Get("Content-Length") != fmt.Sprint(len(body)) {
		t.Error("the decompressed body differs")
	}
	// Data that gzip cannot compress is stored uncompressed.
	noise := make([]byte, 10_000)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise)
	d = New(noise, Options{Packed: true})
	if w := request(d, "GET", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" || !bytes.Equal(w.Body.Bytes(), noise) {
		t.Errorf("%v", w.Header())
	}
	if full := New(body, Options{Brotli: true}); full.Size() < len(body)+2*len(full.packed.body) {
		t.Errorf("%d", full.Size())
	}
}

func TestCompressedRepresentationsAreBuiltOnce(t *testing.T) {
	t.Parallel()
	d := New(feedOf(40_000), Options{Brotli: true, Packed: true})
	small := New([]byte("<rss/>"), Options{})
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if w := request(d, "GET", "Accept-Encoding", "br"); w.Header().Get("Content-Encoding") != "br" || w.Body.Len() == 0 {
				t.Errorf("%d %v", w.Code, w.Header())
			}
			if w := request(small, "GET", "Accept-Encoding", "gzip, identity;q=0"); w.Header().Get("Content-Encoding") != "gzip" {
				t.Errorf("%d %v", w.Code, w.Header())
			}
			_ = d.Size()
		})
	}
	group.Wait()
}

// discardWriter is a ResponseWriter that does not allocate.
type discardWriter struct {
	head   http.Header
	status int
	n      int
}

func (s *discardWriter) Header() http.Header         { return s.head }
func (s *discardWriter) WriteHeader(status int)      { s.status = status }
func (s *discardWriter) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }

// This test is not parallel, because it counts allocations.
func TestServingACachedDocumentDoesNotAllocate(t *testing.T) {
	d := New(feedOf(40_000), Options{
		Type: "application/rss+xml; charset=utf-8", Modified: noon(), Cache: "public, max-age=300, must-revalidate", Tags: FeedTags("alice"), Feed: true, Brotli: true,
		Link: []string{`<http://h.example/>; rel="hub"`, `<http://a.example/>; rel="self"`},
	})
	request(d, "GET", "Accept-Encoding", "br")
	tag := `"` + d.Tag() + `-gz"`
	for name, header := range map[string][]string{
		"plain":        nil,
		"gzip":         {"Accept-Encoding", "gzip"},
		"brotli":       {"Accept-Encoding", "gzip, deflate, br;q=0.9, zstd, gzip;q=0.1"},
		"304, tag":     {"Accept-Encoding", "gzip, deflate", "If-None-Match", tag},
		"304, list":    {"If-None-Match", `"a", W/"b", ` + tag},
		"304, date":    {"If-Modified-Since", noonText},
		"304, later":   {"If-Modified-Since", "Sun, 29 Mar 2026 12:30:00 GMT"},
		"to match":     {"If-Match", tag},
		"tag and date": {"If-None-Match", `"a"`, "If-Modified-Since", noonText, "Accept-Encoding", "gzip"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := &discardWriter{head: make(http.Header, 32)}
		if n := testing.AllocsPerRun(100, func() { clear(w.head); d.ServeHTTP(w, r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if strings.HasPrefix(name, "304") && (w.status != 304 || w.n != 0) {
			t.Errorf("%s: %d, %d bytes", name, w.status, w.n)
		}
	}
}

func BenchmarkServeCachedDocument(b *testing.B) {
	d := New(feedOf(40_000), Options{Type: "text/xml", Modified: noon(), Cache: "public", Feed: true})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	r.Header.Set("If-None-Match", `"`+d.Tag()+`-gz"`)
	w := &discardWriter{head: make(http.Header, 32)}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.head)
		d.ServeHTTP(w, r)
	}
}
