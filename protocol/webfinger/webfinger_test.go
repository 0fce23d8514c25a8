package webfinger

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestAccountConsistsOfUserNameAndHost(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"@alice@Example.org": "alice@example.org", "acct:alice@example.org": "alice@example.org", " alice@example.org ": "alice@example.org",
		"ACCT:Alice@example.org:8443": "Alice@example.org:8443", "alice@127.0.0.1:5337": "alice@127.0.0.1:5337",
		"alice": "", "@alice": "", "https://alice@example.org/": "", "ann:secret@example.org/feed": "", "alice@example.org/feed": "",
		"a@b@c": "", "@": "", "@@": "", "mailto:ann@example.org": "", "alice@exa mple.org": "", "": "", strings.Repeat("a", 400) + "@b": "",
	} {
		a, ok := ParseAccount(typed)
		if got := a.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %t; want %q", typed, got, ok, want)
		}
	}
}

func TestQueriesUseHTTPSExceptOnLoopback(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"@a+b@example.org":    "https://example.org/.well-known/webfinger?resource=acct%3Aa%2Bb%40example.org",
		"a@127.0.0.1:80":      "http://127.0.0.1:80/.well-known/webfinger?resource=acct%3Aa%40127.0.0.1%3A80",
		"a@localhost":         "http://localhost/.well-known/webfinger?resource=acct%3Aa%40localhost",
		"a@[::1]:80":          "http://[::1]:80/.well-known/webfinger?resource=acct%3Aa%40%5B%3A%3A1%5D%3A80",
		"a@127.0.0.1.example": "https://127.0.0.1.example/.well-known/webfinger?resource=acct%3Aa%40127.0.0.1.example",
	} {
		a, _ := ParseAccount(typed)
		if got := a.URL(); got != want {
			t.Errorf("%s: %s; want %s", typed, got, want)
		}
		u, err := url.Parse(a.URL())
		if back, ok := Split(u.Query().Get("resource")); err != nil || !ok || back != a {
			t.Errorf("%s: %v %v", typed, back, err)
		}
	}
}

func TestDocumentNamesFeedAndPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ doc, feed, page string }{
		{`{"subject":"acct:a@b","links":[{"rel":"http://webfinger.net/rel/profile-page","type":"text/html","href":"https://b/@a"},{"rel":"http://schemas.google.com/g/2010#updates-from","type":"application/atom+xml","href":"https://b/a.atom"}]}`, "https://b/a.atom", "https://b/@a"},
		{`{"links":[{"rel":"alternate","type":"text/html","href":"https://b/"},{"rel":"alternate","type":"application/rss+xml; charset=utf-8","href":"https://b/rss"}]}`, "https://b/rss", "https://b/"},
		{`{"subject":"acct:a@b","links":[{"rel":"self","type":"application/activity+json","href":"https://b/users/a"},{"rel":"http://webfinger.net/rel/profile-page","href":"https://b/@a"}]}`, "", "https://b/@a"},
		{`{"links":[{"rel":"http://schemas.google.com/g/2010#updates-from","href":"javascript:alert(1)"},{"rel":5,"href":7},{"rel":"alternate","href":"https://b/"}]}`, "", "https://b/"},
		{`{"subject":"acct:a@b"}`, "", ""},
		{`{"subject":"acct:a@b","links":{}}`, "", ""},
		{`{"links":["x",null,[],{"rel":"alternate","type":"text/html","href":"https://b/","titles":[]},{"rel":"http://schemas.google.com/g/2010#updates-from","href":"https://b/rss","titles":"x"}]}`, "https://b/rss", "https://b/"},
	} {
		d, ok := Read([]byte(c.doc))
		if feed, page := d.Feed(); !ok || feed != c.feed || page != c.page {
			t.Errorf("%s: %q %q %t", c.doc, feed, page, ok)
		}
	}
	for _, other := range []string{"", "<rss/>", "[]", "{}", `{"version":"https://jsonfeed.org/version/1.1","items":[]}`, `{"links":{}}`} {
		if _, ok := Read([]byte(other)); ok {
			t.Errorf("%s is a document", other)
		}
	}
}

func TestHandlerAnswersQueries(t *testing.T) {
	t.Parallel()
	h := &Handler{Find: func(_ context.Context, resource string) (*Document, error) {
		switch resource {
		case "acct:alice@example.org":
			return &Document{Subject: resource, Links: []Link{{Rel: RelProfile, Href: "https://example.org/alice/"}, {Rel: RelUpdates, Href: "https://example.org/alice/rss.xml"}, {Rel: RelAvatar, Href: "https://example.org/a.png"}}}, nil
		case "acct:broken@example.org":
			return nil, errors.New("no store")
		}
		return nil, nil
	}}
	for _, c := range []struct {
		method, query string
		status, links int
	}{
		{"GET", "resource=acct:alice@example.org", 200, 3},
		{"GET", "resource=acct%3Aalice%40example.org&rel=" + url.QueryEscape(RelUpdates), 200, 1},
		{"GET", "resource=acct%3Aalice%40example.org&rel=" + url.QueryEscape(RelUpdates) + "&rel=" + url.QueryEscape(RelAvatar), 200, 2},
		{"GET", "resource=acct%3Aalice%40example.org&rel=other", 200, 0},
		{"GET", "resource=acct:bob@example.org", 404, 0},
		{"GET", "", 400, 0}, {"GET", "resource=", 400, 0}, {"GET", "resource=alice", 400, 0}, {"GET", "resource=a:", 400, 0},
		{"GET", "resource=acct:a@b&resource=acct:c@d", 400, 0}, {"GET", "resource=%zz", 400, 0},
		{"GET", "resource=acct:broken@example.org", 503, 0},
		{"POST", "resource=acct:alice@example.org", 405, 0},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, Path+"?"+c.query, nil))
		if w.Code != c.status || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: %d %v", c.method, c.query, w.Code, w.Header())
		}
		if c.status != http.StatusOK {
			continue
		}
		var d Document
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || len(d.Links) != c.links || d.Subject != "acct:alice@example.org" || w.Header().Get("Content-Type") != Type {
			t.Errorf("%s: %v %+v %v", c.query, err, d, w.Header())
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"subject":"acct:a@b","links":[{"rel":"alternate","type":"text/html","href":"https://b/","titles":{"en":"A"}}]}`))
	f.Add([]byte(`{"links":null}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		d, ok := Read(doc)
		if feed, page := d.Feed(); !ok && feed+page != "" {
			t.Errorf("%q %q", feed, page)
		}
	})
}

func FuzzParseAccount(f *testing.F) {
	for _, s := range []string{"@a@b", "acct:a@b", "a@[::1]:80", "a@b@c", "%@b", "@\v@0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := ParseAccount(s)
		if !ok {
			return
		}
		if back, ok := Split(a.Resource()); !ok || back != a {
			t.Errorf("%q: %+v became %+v", s, a, back)
		}
	})
}
