package app_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pages is a web server whose paths redirect or answer the challenge of a verification. It
// records all requests.
type pages struct {
	*httptest.Server
	mu   sync.Mutex
	to   map[string]string // key: path; value: Location header of the redirect
	deaf bool              // true: the server does not answer the challenge
	got  []string          // recorded requests as method and path
}

func newPages(t *testing.T, addr string) *pages {
	t.Helper()
	p := &pages{to: map[string]string{}}
	l, err := net.Listen("tcp", addr+":0")
	if err != nil {
		t.Fatal(err)
	}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.Server.Listener.Close()
	p.Server.Listener = l
	p.Start()
	t.Cleanup(p.Close)
	return p
}

func (p *pages) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, r.Method+" "+r.URL.Path)
	switch to := p.to[r.URL.Path]; {
	case to != "":
		if r.URL.RawQuery != "" {
			to += "?" + r.URL.RawQuery // keep the query, as the tests of rsscloud-server do
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	case r.Method == http.MethodGet && !p.deaf:
		io.WriteString(w, r.URL.Query().Get("challenge"))
	}
}

func (p *pages) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.got
	p.got = nil
	return list
}

func (p *pages) wants(feed string) url.Values {
	u, _ := url.Parse(p.URL) // httptest created the URL, so it is valid
	return url.Values{"port": {u.Port()}, "path": {"/old"}, "protocol": {"http-post"}, "domain": {u.Hostname()}, "url1": {feed}}
}

func TestCallbackRedirectOnTheSameHostIsFollowed(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f, p := newFeed(t), newPages(t, "127.0.0.1")
	p.to["/old"], p.to["/between"] = "/between", "/new"
	feed := f.URL + "/rss.xml"
	if _, body := post(t, r.base+"/rsscloud/pleaseNotify", p.wants(feed)); !strings.Contains(body, `success="true"`) {
		t.Fatal(body)
	}
	if got := p.requests(); !slices.Equal(got, []string{"GET /old", "GET /between", "GET /new"}) {
		t.Errorf("the registration requested %q", got)
	}
	for i := range 2 {
		f.set(fmt.Sprintf("<rss><channel><title>%d</title></channel></rss>", i))
		post(t, r.base+"/rsscloud/ping", url.Values{"url": {feed}})
		var got []string
		wait(t, "a notification", func() bool { got = append(got, p.requests()...); return len(got) > 0 })
		if !slices.Equal(got, []string{"POST /new"}) {
			t.Errorf("change %d: %q", i, got)
		}
	}
}

func TestCallbackRedirectToOtherHostOrOwnListenerIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, conf(t, t.TempDir()))
	f, victim := newFeed(t), newPages(t, "127.0.0.2")
	victim.deaf = true
	feed := f.URL + "/rss.xml"
	for to, reason := range map[string]string{
		victim.URL + "/x": "another host, which did not answer the challenge", r.admin + "/v1/topics": "redirects to this server itself", r.base + "/rsscloud/ping": "redirects to this server itself",
	} {
		p := newPages(t, "127.0.0.1")
		if _, body := post(t, r.base+"/rsscloud/pleaseNotify", p.wants(feed)); !strings.Contains(body, `success="true"`) {
			t.Fatal(body)
		}
		p.mu.Lock()
		p.to["/old"] = to
		p.mu.Unlock()
		p.requests()
		f.set("<rss><channel><title>" + url.QueryEscape(to) + "</title></channel></rss>")
		post(t, r.base+"/rsscloud/ping", url.Values{"url": {feed}})
		wait(t, "the reason in the log", func() bool { _, log := get(t, r.base+"/log"); return strings.Contains(log, reason) })
		form := p.wants(feed)
		form.Del("domain")
		if _, body := post(t, r.base+"/rsscloud/pleaseNotify", form); !strings.Contains(body, `success="false"`) || !strings.Contains(body, reason) {
			t.Errorf("%s: %s", to, body)
		}
	}
	if got := victim.requests(); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "POST") }) || len(got) == 0 {
		t.Errorf("the other host got %q, want a challenge and no notification", got)
	}
}
