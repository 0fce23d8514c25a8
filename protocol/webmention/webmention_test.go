package webmention_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/protocol/webmention"
)

func replaceOrigin(s, origin string) string { return strings.ReplaceAll(s, "ORIGIN", origin) }

const target = "https://me.example/post"

func TestLinkToTargetIsFoundInEachMediaType(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("<div>", 50_000) + `<a href="https://me.example/post">x</a>`
	for _, tt := range []struct {
		contentType, doc string
		want             bool
	}{
		{"text/html", `<a href="https://me.example/post">x</a>`, true},
		{"text/html", `<a href="HTTPS://Me.Example:443/post">x</a>`, true},
		{"text/html", `<img src="https://me.example/post">`, true},
		{"text/html", `<video poster="https://me.example/post"></video>`, true},
		{"text/html", `<blockquote cite="https://me.example/post">x</blockquote>`, true},
		{"text/html", `<data class="u-in-reply-to" value="https://me.example/post"></data>`, true},
		{"text/html", `<base href="https://me.example/"><a href="post">x</a>`, true},
		{"text/html", deep, true},
		{"text/html", `<noscript><a href="https://me.example/post">x</a></noscript>`, true},
		{"text/html", `<a href="https://me.example/post2">x</a>`, false},
		{"text/html", `<a href="https://me.example/post#c">x</a>`, false},
		{"text/html", `<!-- <a href="https://me.example/post">x</a> -->`, false},
		{"text/html", `<pre>&lt;a href="https://me.example/post"></pre>`, false},
		{"text/html", `<script>'<a href="https://me.example/post">'</script>`, false},
		{"text/html", `<template><a href="https://me.example/post">x</a></template>`, false},
		{"text/html", `https://me.example/post`, false},
		{"", `<!doctype html><a href="https://me.example/post">x</a>`, true},
		{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="https://me.example/post"/></body></html>`, true},
		{"application/json", `{"in-reply-to":["https://me.example/post"]}`, true},
		{"application/activity+json", `{"a":{"b":[{"c":"https://me.example/post"}]}}`, true},
		{"application/json", `{"https://me.example/post":"see https://me.example/post"}`, false},
		{"application/json", strings.Repeat("[", 100_000), false},
		{"text/plain", "See https://me.example/post.", true},
		{"text/plain; charset=utf-8", "(https://me.example/post)", true},
		{"text/plain", "https://me.example/post2 https://me.example/post/a https://me.example/post.html", false},
		{"image/png", "https://me.example/post", false},
	} {
		if got := webmention.Mentions([]byte(tt.doc), tt.contentType, "https://you.example/reply", target); got != tt.want {
			t.Errorf("%s %.90s: %t, want %t", tt.contentType, tt.doc, got, tt.want)
		}
	}
}

func TestExtractedLinksAreAbsoluteAndUnique(t *testing.T) {
	t.Parallel()
	doc := `<a href="/a">1</a><a href="/a">2</a><a href="mailto:a@b">3</a><img src="https://b.example/x.png"><a href="#c">4</a>`
	want := []string{"https://me.example/a", "https://b.example/x.png", "https://me.example/p#c"}
	if d := cmp.Diff(want, webmention.Links([]byte(doc), "text/html", "https://me.example/p")); d != "" {
		t.Error(d)
	}
	many := ""
	for i := range 2 * webmention.MaxLinks {
		many += fmt.Sprintf(`<a href="/%d">x</a>`, i)
	}
	if n := len(webmention.Links([]byte(many), "text/html", "https://me.example/")); n != webmention.MaxLinks {
		t.Errorf("%d links of a page with many", n)
	}
}

func TestWebmentionNeedsSourceAndTarget(t *testing.T) {
	t.Parallel()
	q := webmention.Request{Source: "https://you.example/a?b=c&d=ä", Target: target + "#x"}
	if got, err := webmention.ParseRequest(q.Encode()); err != nil || got != q {
		t.Errorf("%+v, %v", got, err)
	}
	for body, want := range map[string]string{
		"":                           "source is missing",
		"source=https://you.example": "target is missing",
		"source=ftp://you.example/&target=" + target:                                    "must begin with http",
		"source=javascript:alert(1)&target=" + target:                                   "must begin with http",
		"source=https://you.example/&target=/post":                                      "must begin with http",
		"source=https://u:p@you.example/&target=" + target:                              "user name",
		"source=" + target + "&target=" + target:                                        "same page",
		"source=HTTPS://ME.example/post%23a&target=" + target + "%23b":                  "same page",
		"source=https://you.example/&source=https://you.example/2&target=" + target:     "more than once",
		"source=https://you.example/" + strings.Repeat("a", 2048) + "&target=" + target: "bytes long",
		"source=%zz&target=" + target:                                                   "percent sign",
		"source=https://you.example/%00&target=" + target:                               "NUL",
		strings.Repeat("a=b&", 30) + "source=https://you.example/&target=" + target:     "fields",
		"source=https://you.example/%0d%0aHost:x&target=" + target:                      "control character",
		"source=https://you.example/&target=https://me.example:99999/":                  "port",
	} {
		_, err := webmention.ParseRequest([]byte(body))
		if e, ok := errors.AsType[*webmention.Error](err); !ok || e.Status != 400 || !strings.Contains(e.Msg, want) {
			t.Errorf("%.80s: %v, want %q", body, err, want)
		}
	}
}

// receiver is a Backend with one result.
type receiver struct {
	status string
	err    error
	got    []webmention.Request
}

func (r *receiver) Receive(_ context.Context, q webmention.Request) (string, error) {
	r.got = append(r.got, q)
	return r.status, r.err
}

func TestHandlerMapsBackendResultToHTTPStatus(t *testing.T) {
	t.Parallel()
	valid := string(webmention.Request{Source: "https://you.example/", Target: target}.Encode())
	for name, tt := range map[string]struct {
		backend  receiver
		body     string
		status   int
		location string
		text     string
	}{
		"accepted":             {receiver{}, valid, 202, "", "Accepted"},
		"accepted with status": {receiver{status: "https://me.example/webmention/1"}, valid, 201, "https://me.example/webmention/1", "shows the state"},
		"unknown target":       {receiver{err: &webmention.Error{Msg: "There is no such post."}}, valid, 400, "", "no such post"},
		"too many":             {receiver{err: &webmention.Error{Status: 429, Msg: "Too many.", RetryAfter: 1500 * time.Millisecond}}, valid, 429, "", "Too many"},
		"internal":             {receiver{err: errors.New("secret")}, valid, 500, "", "Something went wrong"},
		"invalid":              {receiver{}, "target=x", 400, "", "missing"},
		"large":                {receiver{}, strings.Repeat("a", webmention.MaxForm+1), 413, "", "larger"},
	} {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/webmention", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		(&webmention.Handler{Backend: &tt.backend}).ServeHTTP(rec, r)
		if rec.Code != tt.status || rec.Header().Get("Location") != tt.location || !strings.Contains(rec.Body.String(), tt.text) {
			t.Errorf("%s: %d %v %q", name, rec.Code, rec.Header(), rec.Body)
		}
		if strings.Contains(rec.Body.String(), "secret") {
			t.Errorf("%s reveals an internal error", name)
		}
		if tt.status == 429 && rec.Header().Get("Retry-After") != "2" {
			t.Errorf("%s: Retry-After %q", name, rec.Header().Get("Retry-After"))
		}
	}
	for method, status := range map[string]int{http.MethodGet: 200, http.MethodOptions: 204, http.MethodDelete: 405} {
		rec := httptest.NewRecorder()
		(&webmention.Handler{Backend: &receiver{}}).ServeHTTP(rec, httptest.NewRequest(method, "/webmention", nil))
		if rec.Code != status {
			t.Errorf("%s: %d, want %d", method, rec.Code, status)
		}
	}
}

func TestHandlerReceivesWebmentionOfTheClient(t *testing.T) {
	t.Parallel()
	backend := &receiver{status: "https://me.example/webmention/1"}
	var query url.Values
	srv := site(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/endpoint?"+r.URL.RawQuery, http.StatusPermanentRedirect)
			return
		}
		if r.URL.Path == "/page" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		query = r.URL.Query()
		(&webmention.Handler{Backend: backend}).ServeHTTP(w, r)
	})
	q := webmention.Request{Source: "https://you.example/reply", Target: target}
	got, err := (&webmention.Client{UserAgent: "test"}).Send(t.Context(), srv+"/old?query=yes", q)
	if err != nil || got != (webmention.Receipt{Status: 201, StatusURL: "https://me.example/webmention/1"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if d := cmp.Diff([]webmention.Request{q}, backend.got); d != "" || query.Get("query") != "yes" || len(query) != 1 {
		t.Errorf("query %v, %s", query, d)
	}
	backend.err = &webmention.Error{Status: 429, Msg: "Too many.", RetryAfter: time.Minute}
	_, err = (&webmention.Client{}).Send(t.Context(), srv+"/endpoint", q)
	if e, ok := errors.AsType[*webmention.Error](err); !ok || e.Status != 429 || e.RetryAfter != time.Minute {
		t.Errorf("a refusal: %v", err)
	}
	_, err = (&webmention.Client{}).Send(t.Context(), srv+"/page", q)
	if e, ok := errors.AsType[*webmention.Error](err); !ok || e.Status != http.StatusFound {
		t.Errorf("a redirect that would lose the body: %v", err)
	}
	if _, err := (&webmention.Client{}).Send(t.Context(), "ftp://x.example/", q); err == nil {
		t.Error("an ftp endpoint has a result")
	}
}

func TestWebmentionSourceMustLinkToTheTarget(t *testing.T) {
	t.Parallel()
	srv := site(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/reply":
			_, _ = w.Write([]byte(`<a href="` + target + `">x</a>`))
		case "/moved":
			http.Redirect(w, r, "/reply", http.StatusMovedPermanently)
		case "/unrelated":
			_, _ = w.Write([]byte(`<a href="/">x</a>`))
		case "/gone":
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(`<a href="` + target + `">x</a>`))
		case "/huge":
			_, _ = w.Write([]byte(strings.Repeat(" ", webmention.MaxDocument) + `<a href="` + target + `">x</a>`))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	for path, want := range map[string]struct {
		status            int
		mentions, deleted bool
	}{
		"/reply": {200, true, false}, "/moved": {200, true, false}, "/unrelated": {200, false, false},
		"/gone": {410, false, true}, "/missing": {404, false, true}, "/huge": {200, false, false},
	} {
		s, err := (&webmention.Client{}).Verify(t.Context(), webmention.Request{Source: srv + path, Target: target})
		if err != nil || s.Status != want.status || s.Mentions != want.mentions || s.Deleted() != want.deleted || len(s.Body) > webmention.MaxDocument {
			t.Errorf("%s: %d %t %t, %v", path, s.Status, s.Mentions, s.Deleted(), err)
		}
	}
	if s, _ := (&webmention.Client{}).Verify(t.Context(), webmention.Request{Source: srv + "/moved#x", Target: target}); s.URL != srv+"/reply" {
		t.Errorf("the URL after redirects is %q", s.URL)
	}
	if _, err := (&webmention.Client{}).Verify(t.Context(), webmention.Request{Source: srv + "/loop", Target: target}); err == nil {
		t.Error("an endless redirect has a result")
	}
}

func TestEndpointURLCannotInjectIntoLinkHeader(t *testing.T) {
	t.Parallel()
	if got := webmention.LinkHeader("https://me.example/a>\r\nX: \"b"); got != `<https://me.example/a%3E%0D%0AX:%20%22b>; rel="webmention"` {
		t.Error(got)
	}
}
