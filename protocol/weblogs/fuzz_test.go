package weblogs_test

import (
	"bytes"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"cloudburst/protocol/weblogs"
	"cloudburst/protocol/xmlrpc"

	"github.com/google/go-cmp/cmp"
)

func call(method string, params ...any) []byte {
	b, err := xmlrpc.Call{Method: method, Params: params}.Marshal()
	if err != nil {
		return nil
	}
	return b
}

func FuzzParsePing(f *testing.F) {
	f.Add(call("weblogUpdates.ping", "Site", site))
	f.Add(call("weblogUpdates.ping", int64(1984), site, page, "a|b"))
	f.Add(call("weblogUpdates.extendedPing", "Site", site, rss))
	f.Add(call("weblogUpdates.extendedPing", "Site", site, page, rss, "rss|opml"))
	f.Add(call("weblogUpdates.extendedPing", []any{"x"}, nil, true, 1.5))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := xmlrpc.ParseCall(bytes.NewReader(body))
		if err != nil {
			return
		}
		for name, parse := range map[string]func([]any) (weblogs.Ping, error){"ping": weblogs.ParsePing, "extended": weblogs.ParseExtended} {
			p, err := parse(c.Params)
			if err != nil {
				if !cmp.Equal(p, weblogs.Ping{}) {
					t.Fatalf("%s: %+v with %v", name, p, err)
				}
				continue
			}
			if err := p.Check(); err != nil {
				t.Fatalf("%s returned %+v: %v", name, p, err)
			}
			params := p.Params()
			if name == "extended" {
				params = p.ExtendedParams()
			}
			again, err := parse(params)
			if p.FeedURL == "" && name == "extended" {
				p.ChangesURL, p.Tags = "", nil // a simple ping cannot contain these
			}
			if p.ChangesURL == "" && len(params) > 2 {
				again.ChangesURL = "" // ChangesURL is empty again, because the home page took its place
			}
			if d := cmp.Diff(p, again); err != nil || d != "" {
				t.Fatalf("%s: %v\n%s", name, err, d)
			}
		}
	})
}

func FuzzReadChanges(f *testing.F) {
	c := weblogs.Changes{Updated: updated(), Count: 3, List: []weblogs.Weblog{row("A & <b>", site, time.Minute), {Name: "é", URL: site, RSSURL: rss, When: updated()}}}
	f.Add(c.Append(nil, 0), "text/xml")
	f.Add([]byte("<weblogUpdates updated='x' count='-1'><weblog url='http://a.example/' when='9' name='\x85'><weblog url='"), "text/xml; charset=latin1")
	f.Add([]byte("<!DOCTYPE x><WEBLOGUPDATES version=3><weblog URL=http://a.example/ WHEN=1>"), "")
	f.Fuzz(func(t *testing.T, doc []byte, contentType string) {
		c, err := weblogs.ReadChanges(doc, weblogs.ReadOptions{ContentType: contentType, Now: updated()})
		if err != nil {
			if c != nil {
				t.Fatalf("%+v with %v", c, err)
			}
			return
		}
		for _, w := range c.List {
			if w.When.After(c.Updated) || !strings.HasPrefix(strings.ToLower(w.URL), "http") {
				t.Fatalf("%+v", w)
			}
		}
		again, err := weblogs.ReadChanges(c.Append(nil, 0), weblogs.ReadOptions{})
		c.Truncated = false
		if c.Version == "" {
			c.Version = "2"
		}
		if len(c.List) == weblogs.MaxWeblogs || len(c.Append(nil, 0)) > weblogs.MaxChanges {
			return
		}
		if d := cmp.Diff(c, again); err != nil || d != "" {
			t.Fatalf("%v\n%s", err, d)
		}
	})
}

func FuzzForm(f *testing.F) {
	f.Add("name=Site&url=http%3A%2F%2Fsite.example%2F", "")
	f.Add("", "NAME=Caf%E9&URL=http://a.example/&feed=http://a.example/rss&changesurl=x")
	f.Add("url=%zz;", "a=b&a=c")
	f.Fuzz(func(t *testing.T, query, body string) {
		b := &backend{}
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.URL = &url.URL{Path: "/", RawQuery: query}
		w := httptest.NewRecorder()
		(&weblogs.FormHandler{Backend: b}).ServeHTTP(w, r)
		if len(b.pings) > 0 && (w.Code != 200 || b.pings[0].Check() != nil) {
			t.Fatalf("%d: %+v", w.Code, b.pings)
		}
		if w.Code >= 500 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}
