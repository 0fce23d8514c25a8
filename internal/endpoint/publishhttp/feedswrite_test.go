package publishhttp

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
)

const aliceBasic = "alice:" + goodPassword

func TestPutSavesFeed(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	doc := hostedRSS(2)
	a := d.do(t, "PUT", "/alice/rss.xml", doc, "basic", aliceBasic)
	a.is(t, "the first", http.StatusCreated)
	got := d.do(t, "GET", "/alice/rss.xml", "")
	if got.body != doc {
		t.Errorf("saved is %q", got.body)
	}
	a.has(t, "the first", "Location", "https://hub.example/alice/rss.xml", "ETag", got.Header.Get("ETag"), "Last-Modified", got.Header.Get("Last-Modified"))
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(3), "Authorization", "bearer "+tokenAll).is(t, "bearer token", http.StatusNoContent)
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(4), "basic", "alice:"+tokenAll, "Content-Type", "application/xml").is(t, "token as password", http.StatusNoContent)
	d.do(t, "PUT", "/alice/private/rss.xml", hostedRSS(5), "basic", aliceBasic).has(t, "private feed", "Location", "https://hub.example/alice/private/rss.xml",
		"Cache-Control", "no-store")
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "at last", http.StatusOK, "Item 4")
	for _, c := range []struct{ doc, with, typ string }{
		{`<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>`, "application/atom+xml", "application/atom+xml; charset=utf-8"},
		{`{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, "application/feed+json", "application/feed+json; charset=utf-8"},
	} {
		d.do(t, "PUT", "/alice/rss.xml", c.doc, "basic", aliceBasic, "Content-Type", c.with).is(t, c.with, http.StatusNoContent)
		got := d.do(t, "GET", "/alice/rss.xml", "")
		if got.body != c.doc || got.Header.Get("Content-Type") != c.typ {
			t.Errorf("%s is served as %s: %s", c.with, got.Header.Get("Content-Type"), got.body)
		}
	}
	if got := strings.Join(d.accounts.tried[:2], ", "); got != "put alice 192.0.2.1, put token 192.0.2.1" {
		t.Errorf("tried were %q", got)
	}
}

func TestUnauthorizedPutHasTheSameMessageForEveryReason(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	first := ""
	for what, headers := range map[string][]string{
		"no credentials": nil, "a wrong password": {"basic", "alice:x"}, "an unknown user": {"basic", "zoe:x"}, "another user": {"basic", "carol:" + goodPassword},
		"token of another user": {"Authorization", "Bearer " + tokenOther}, "token of another user as password": {"basic", "alice:" + tokenOther},
		"unknown token": {"Authorization", "Bearer nothing"}, "empty token": {"Authorization", "Bearer"}, "incomplete header": {"Authorization", "Basic"},
		"invalid base64": {"Authorization", "Basic ???"},
	} {
		for _, method := range []string{"PUT", "DELETE"} {
			a := d.do(t, method, "/alice/rss.xml", "x", headers...)
			a.is(t, what, http.StatusUnauthorized, "wrong")
			a.has(t, what, "WWW-Authenticate", `Basic realm="feeds of alice", charset="UTF-8"`)
			if first == "" {
				first = a.body
			}
			if a.body != first {
				t.Errorf("%s: %q, not %q", what, a.body, first)
			}
		}
	}
	a := d.do(t, "PUT", "/zoe/rss.xml", "x", "basic", "zoe:x")
	a.is(t, "an unknown user", http.StatusUnauthorized, first)
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(2), "Authorization", "Bearer "+tokenDelete).is(t, "token without permission", http.StatusForbidden, "create")
	d.accounts.fail = &fault.Error{Code: fault.TooMany, Msg: "Too many.", RetryAfter: 90 * time.Second}
	a = d.do(t, "PUT", "/alice/rss.xml", hostedRSS(2), "basic", aliceBasic)
	a.is(t, "too many", http.StatusTooManyRequests, "Too many.")
	a.has(t, "too many", "Retry-After", "90")
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 1")
}

func TestInvalidPutReportsReasonAndChangesNothing(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	for _, c := range []struct {
		what, doc string
		headers   []string
		status    int
		words     string
	}{
		{"HTML page", "<!DOCTYPE html><title>x</title><p>x", nil, 422, "This is an HTML page, not a feed."},
		{"DOCTYPE", "<!DOCTYPE rss><rss version='2.0'><channel/></rss>", nil, 422, "DOCTYPE"},
		{"mismatched end tag", "<rss version='2.0'><channel></rss>", nil, 422, "in line 1"},
		{"JSON as XML", `{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[]}`, []string{"Content-Type", "text/xml"}, 422, "JSON Feed"},
		{"packed", "x", []string{"Content-Encoding", "gzip"}, 415, "gzip"},
		{"image", "x", []string{"Content-Type", "image/png"}, 415, "image/png"},
		{"multipart form", "x", []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, "multipart"},
		{"XHTML", "<html/>", []string{"Content-Type", "application/xhtml+xml"}, 415, "xhtml"},
		{"content range", "x", []string{"Content-Range", "bytes 0-1/2"}, 400, "Content-Range"},
		{"too large document", strings.Repeat(" ", author.MaxDocument+1), nil, 413, "2 MiB"},
	} {
		d.do(t, "PUT", "/alice/rss.xml", c.doc, append(c.headers, "basic", aliceBasic)...).is(t, c.what, c.status, c.words)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 1")
	if _, err := d.authors.Move(t.Context(), "alice", author.Public, "https://b.example/"); err != nil {
		t.Fatal(err)
	}
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(2), "basic", aliceBasic).is(t, "moved feed", http.StatusConflict, "https://b.example/")
}

func TestPutRespectsIfMatchAndIfNoneMatch(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	put := func(what string, n, status int, headers ...string) string {
		t.Helper()
		d.now = d.now.Add(time.Minute)
		a := d.do(t, "PUT", "/alice/rss.xml", hostedRSS(n), append(headers, "basic", aliceBasic)...)
		a.is(t, what, status)
		return a.Header.Get("ETag")
	}
	put("missing feed", 1, 412, "If-Match", "*")
	put("ETag of a missing feed", 1, 412, "If-Match", `"x"`)
	first := put("first version", 1, 201, "If-None-Match", "*")
	put("If-None-Match * of an existing feed", 2, 412, "If-None-Match", "*")
	put("If-None-Match with the current version", 2, 412, "If-None-Match", first)
	second := put("If-Match with the current version", 2, 204, "If-Match", first)
	put("If-Match with an old version", 3, 412, "If-Match", first)
	put("weak ETag", 3, 412, "If-Match", "W/"+second)
	put("ETag of the compressed form", 3, 204, "If-Match", `"x", `+strings.TrimSuffix(second, `"`)+`-gz"`)
	put("If-Match *", 4, 204, "If-Match", "*")
	modified := d.do(t, "GET", "/alice/rss.xml", "").Header.Get("Last-Modified")
	put("If-Unmodified-Since before the current version", 5, 412, "If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT")
	put("If-Unmodified-Since with the current version", 4, 204, "If-Unmodified-Since", modified)
	put("invalid If-Unmodified-Since", 4, 204, "If-Unmodified-Since", "yesterday")
	d.do(t, "DELETE", "/alice/rss.xml", "", "basic", aliceBasic, "If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT").is(t, "DELETE of a newer version", 412)
	d.do(t, "DELETE", "/alice/rss.xml", "", "basic", aliceBasic, "If-Match", first).is(t, "DELETE with an old version", 412)
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 4")
}

func TestDeleteEndsFeedAndPutRestoresIt(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.do(t, "DELETE", "/alice/rss.xml", "", "basic", aliceBasic).is(t, "missing feed", http.StatusNotFound)
	d.save(t, author.Public, hostedRSS(1))
	d.do(t, "DELETE", "/alice/rss.xml", "", "Authorization", "Bearer "+tokenDelete).is(t, "DELETE", http.StatusNoContent)
	d.do(t, "GET", "/alice/feed.json", "").is(t, "afterwards", http.StatusGone)
	d.do(t, "PUT", "/alice/rss.xml", hostedRSS(1), "basic", aliceBasic, "If-None-Match", "*").is(t, "again", http.StatusCreated)
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "at last", http.StatusOK, "Item 1")
}

func TestIncompleteBodyIsNotSaved(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.save(t, author.Public, hostedRSS(1))
	a := d.send(t, "PUT /alice/rss.xml HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+tokenAll+"\r\nContent-Length: 1000\r\n\r\n"+hostedRSS(0))
	if !strings.Contains(a, "400 Bad Request") || !strings.Contains(a, "document is incomplete") {
		t.Errorf("answered %q", a)
	}
	chunked := "PUT /alice/rss.xml HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + tokenAll + "\r\nTransfer-Encoding: chunked\r\n\r\n"
	chunk := func(s string) string { return strconv.FormatInt(int64(len(s)), 16) + "\r\n" + s + "\r\n" }
	a = d.send(t, chunked+chunk(hostedRSS(0)))
	if !strings.Contains(a, "400 Bad Request") || !strings.Contains(a, "document is incomplete") {
		t.Errorf("without the last chunk answered %q", a)
	}
	a = d.send(t, chunked+chunk(strings.Repeat(" ", author.MaxDocument))+chunk(hostedRSS(0))+"0\r\n\r\n")
	if !strings.Contains(a, "413 Request Entity Too Large") {
		t.Errorf("too much in chunks: answered %q", a)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "afterwards", http.StatusOK, "Item 1")
	half := hostedRSS(2)
	a = d.send(t, chunked+chunk(half[:100])+chunk(half[100:])+"0\r\n\r\n")
	if !strings.Contains(a, "204 No Content") {
		t.Errorf("in chunks: answered %q", a)
	}
	d.do(t, "GET", "/alice/rss.xml", "").is(t, "chunked body", http.StatusOK, "Item 2")
}

// timed is a response that records its deadlines.
type timed struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (w *timed) SetReadDeadline(at time.Time) error  { w.read = at; return nil }
func (w *timed) SetWriteDeadline(at time.Time) error { w.write = at; return nil }

func TestSlowSaveExtendsTheWriteDeadline(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	r := httptest.NewRequest("PUT", "/alice/rss.xml", strings.NewReader(hostedRSS(2)))
	r.SetBasicAuth("alice", goodPassword)
	w := &timed{ResponseRecorder: httptest.NewRecorder()}
	d.ServeHTTP(w, r)
	if w.Code != http.StatusCreated || w.read.IsZero() || w.write.Sub(w.read) < 20*time.Second {
		t.Errorf("status %d, deadlines %v and %v", w.Code, w.read, w.write)
	}
}
