package publishhttp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

// memoryFiles stores files in memory.
type memoryFiles map[string]struct {
	author.File
	bytes []byte
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

func (s memoryFiles) Open(_ context.Context, user, hash string) (author.File, io.ReadSeekCloser, error) {
	for h, f := range s {
		if user == f.User && len(hash) >= 16 && strings.HasPrefix(h, hash) {
			return f.File, opened{bytes.NewReader(f.bytes)}, nil
		}
	}
	return author.File{}, nil, fault.New(fault.NotFound, "There is no such file.")
}

func (memoryFiles) Path(f author.File) string {
	return "/" + f.User + "/media/" + f.Hash[:16] + "/" + f.Name
}

func (memoryFiles) InGroup(_ context.Context, f author.File, slug string) (bool, error) {
	return f.Name == slug+".png", nil
}

func (s memoryFiles) put(name, kind, body string) string {
	hash := strings.Repeat(string(rune('a'+len(s))), 64)
	f := author.File{User: "alice", Hash: hash, Name: name, Type: kind, Size: int64(len(body)), AddedAt: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	s[hash] = struct {
		author.File
		bytes []byte
	}{f, []byte(body)}
	return s.Path(f)
}

func askMedia(f *Feeds, method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestUploadedFilesAreImmutableAndSupportRangeRequests(t *testing.T) {
	t.Parallel()
	s := memoryFiles{}
	f := &Feeds{Media: s}
	path := s.put("a.mp3", "audio/mpeg", "0123456789")
	res := askMedia(f, "GET", path)
	if res.StatusCode != 200 || bodyOf(t, res) != "0123456789" || res.Header.Get("Content-Length") != "10" {
		t.Error(res)
	}
	for name, want := range map[string]string{
		"Content-Type": "audio/mpeg", "Etag": `"` + strings.Repeat("a", 64) + `"`, "Cache-Control": "public, max-age=31536000, immutable", "Cache-Tag": "author-alice",
		"Content-Disposition": `inline; filename="a.mp3"`, "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*", "Accept-Ranges": "bytes",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if res := askMedia(f, "GET", path, "Range", "bytes=3-5"); res.StatusCode != 206 || bodyOf(t, res) != "345" || res.Header.Get("Content-Range") != "bytes 3-5/10" {
		t.Error(res)
	}
	if res := askMedia(f, "GET", path, "Range", "bytes=20-"); res.StatusCode != 416 {
		t.Error(res)
	}
	if res := askMedia(f, "GET", path, "If-None-Match", `"`+strings.Repeat("a", 64)+`"`); res.StatusCode != 304 {
		t.Error(res)
	}
	if res := askMedia(f, "HEAD", path); res.StatusCode != 200 || bodyOf(t, res) != "" || res.Header.Get("Content-Length") != "10" {
		t.Error(res)
	}
	if res := askMedia(f, "OPTIONS", path); res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error(res)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if res := askMedia(f, method, path); res.StatusCode != 405 {
			t.Error(method, res.StatusCode)
		}
	}
}

func TestUploadedFilesCannotRunScripts(t *testing.T) {
	t.Parallel()
	s := memoryFiles{}
	f := &Feeds{Media: s}
	for _, c := range []struct{ name, kind, place string }{
		{"a.png", "image/png", "inline"}, {"a.mp4", "video/mp4", "inline"}, {"a.pdf", "application/pdf", "inline"},
		{"a.txt", "text/plain; charset=utf-8", "attachment"}, {"page.html", "application/octet-stream", "attachment"},
		{"a.zip", "application/zip", "attachment"}, {"a.svg", "image/svg+xml", "attachment"},
	} {
		res := askMedia(f, "GET", s.put(c.name, c.kind, "<script>alert(1)</script>"))
		if got := res.Header.Get("Content-Disposition"); !strings.HasPrefix(got, c.place+";") {
			t.Errorf("%s: %s", c.name, got)
		}
		if got := res.Header.Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || c.kind != "application/pdf" && !strings.HasPrefix(got, "sandbox;") {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestAlternativeURLsOfAFileRedirectToItsURL(t *testing.T) {
	t.Parallel()
	s := memoryFiles{}
	f := &Feeds{Media: s}
	path := s.put("a.png", "image/png", "x")
	for _, other := range []string{"/alice/media/" + strings.Repeat("a", 64) + "/a.png", "/alice/media/" + strings.Repeat("a", 16) + "/evil.html"} {
		if res := askMedia(f, "GET", other); res.StatusCode != 301 || res.Header.Get("Location") != path {
			t.Errorf("%s: %d to %s", other, res.StatusCode, res.Header.Get("Location"))
		}
	}
	for _, none := range []string{
		"/alice/media/", "/alice/media/" + strings.Repeat("a", 16), "/alice/media/" + strings.Repeat("a", 16) + "/", "/alice/media/" + strings.Repeat("b", 16) + "/a.png",
		"/bob/media/" + strings.Repeat("a", 16) + "/a.png", "/alice/media/" + strings.Repeat("a", 16) + "/x/a.png",
	} {
		if res := askMedia(f, "GET", none); res.StatusCode != 404 {
			t.Errorf("%s: %d", none, res.StatusCode)
		}
	}
}

// slow is a writer that counts its deadlines.
type slow struct {
	*httptest.ResponseRecorder
	deadlines int
}

func (s *slow) SetWriteDeadline(time.Time) error {
	s.deadlines++
	return nil
}

func TestLongDownloadExtendsTheWriteDeadline(t *testing.T) {
	t.Parallel()
	s := memoryFiles{}
	path := s.put("a.mp4", "video/mp4", strings.Repeat("x", 1<<20))
	w := &slow{ResponseRecorder: httptest.NewRecorder()}
	(&Feeds{Media: s}).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Body.Len() != 1<<20 || w.deadlines < 8 {
		t.Errorf("%d bytes with %d deadlines", w.Body.Len(), w.deadlines)
	}
}
