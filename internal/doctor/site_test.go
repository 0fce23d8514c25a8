package doctor_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/doctor"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// site.text replaces BASE by the URL of the site, and HOST and PORT by the parts of this URL.
const (
	cloudElement = `<cloud domain="HOST" port="PORT" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`
	hubLink      = `<atom:link rel="hub" href="BASE/websub"/>`
	selfLink     = `<atom:link rel="self" type="application/rss+xml" href="BASE/rss.xml"/>`
	goodItems    = `<item><title>Two</title><link>BASE/2</link><guid>BASE/2</guid><pubDate>Mon, 04 May 2026 12:00:00 GMT</pubDate></item>
<item><title>One</title><link>BASE/1</link><guid>BASE/1</guid><pubDate>Mon, 04 May 2026 10:00:00 GMT</pubDate></item>
`
	goodPage = `<!DOCTYPE html><html><head><title>Harbour</title><link rel="alternate" type="application/rss+xml" href="/rss.xml"></head><body>Notes</body></html>`
)

func rss(head, items string) string {
	return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:source="http://source.scripting.com/"><channel>
<title>Harbour notes</title><link>BASE/</link><description>Notes.</description><language>en</language>
` + head + "\n" + items + "</channel></rss>\n"
}

func goodFeed() string { return rss(cloudElement+hubLink+selfLink, goodItems) }

// site is a feed with its home page and hub, on one loopback server.
type site struct {
	url  string
	body string // document at /rss.xml
	page string // document at /
	// serve handles requests for the feed; nil: the good feed.
	serve func(s *site, w http.ResponseWriter, r *http.Request)
	// paths maps paths to handlers that override all other handlers.
	paths map[string]http.HandlerFunc
	links []string // Link headers of the feed
	cloud cloud
	hub   hub

	mu    sync.Mutex
	asked []string // method and path of each request
	reads int      // number of requests for the feed
}

func newSite(t *testing.T, change func(*site)) *site {
	t.Helper()
	s := &site{body: goodFeed(), page: goodPage, paths: map[string]http.HandlerFunc{}}
	if change != nil {
		change(s)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// text replaces BASE, HOST and PORT.
func (s *site) text(text string) string {
	u, err := url.Parse(s.url)
	if err != nil {
		panic(err)
	}
	return strings.NewReplacer("BASE", s.url, "HOST", u.Hostname(), "PORT", u.Port()).Replace(text)
}

func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// read counts a request for the feed, and returns the number of requests so far.
func (s *site) read() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	return s.reads
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	if h, ok := s.paths[r.URL.Path]; ok {
		h(w, r)
		return
	}
	switch {
	case r.URL.Path == "/" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, s.text(s.page))
	case r.URL.Path == "/rss.xml" && s.serve != nil:
		s.serve(s, w, r)
	case r.URL.Path == "/rss.xml":
		s.good(w, r)
	case r.URL.Path == "/websub":
		(&websub.Handler{Backend: &s.hub}).ServeHTTP(w, r)
	default:
		(&rsscloud.Handler{Backend: &s.cloud}).ServeHTTP(w, r)
	}
}

// good serves the feed without mistakes.
func (s *site) good(w http.ResponseWriter, r *http.Request) {
	body := []byte(s.text(s.body))
	h := w.Header()
	h.Set("Content-Type", "application/rss+xml; charset=utf-8")
	h.Set("Vary", "Accept-Encoding")
	for _, l := range s.links {
		h.Add("Link", s.text(l))
	}
	h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(body)))
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(body); err != nil {
			panic(err)
		}
		if err := z.Close(); err != nil {
			panic(err)
		}
		h.Set("Content-Encoding", "gzip")
		body = b.Bytes()
	}
	http.ServeContent(w, r, "", time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC), bytes.NewReader(body))
}

// cloud accepts pings and counts other calls.
type cloud struct {
	refuse error
	answer *rsscloud.Result

	mu         sync.Mutex
	pings      []string
	registered int
}

func (c *cloud) Ping(_ context.Context, p rsscloud.PingRequest) (rsscloud.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pings = append(c.pings, p.URL)
	if c.answer != nil || c.refuse != nil {
		return *orThanks(c.answer), c.refuse
	}
	return *orThanks(nil), nil
}

func orThanks(r *rsscloud.Result) *rsscloud.Result {
	if r != nil {
		return r
	}
	return &rsscloud.Result{Success: true, Msg: rsscloud.ThanksForThePing}
}

func (c *cloud) PleaseNotify(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.registered++
	return rsscloud.Result{Success: true}, nil
}

func (c *cloud) Cancel(context.Context, rsscloud.Registration) (rsscloud.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.registered--
	return rsscloud.Result{Success: true}, nil
}

// hub is the WebSub hub of a site.
type hub struct {
	refuse error

	mu         sync.Mutex
	news       []string
	registered int
}

func (h *hub) Subscribe(context.Context, websub.Subscription) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.registered++
	return nil
}

func (h *hub) Unsubscribe(context.Context, websub.Subscription) error { return nil }

func (h *hub) Publish(_ context.Context, urls []string) []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.news = append(h.news, urls...)
	out := make([]error, len(urls))
	for i := range out {
		out[i] = h.refuse
	}
	return out
}

// examine returns the report about a path of the site.
func (s *site) examine(t *testing.T, d *doctor.Doctor, path string) doctor.Report {
	t.Helper()
	if d == nil {
		d = &doctor.Doctor{}
	}
	if d.HTTP == nil {
		// The servers of parallel tests close idle connections of the default transport.
		transport := http.DefaultTransport.(*http.Transport).Clone()
		t.Cleanup(transport.CloseIdleConnections)
		d.HTTP = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	reported := 0
	r, err := d.Examine(t.Context(), s.url+path, func(doctor.Check) { reported++ })
	if err != nil {
		t.Fatal(err)
	}
	if reported != len(r.Checks) {
		t.Errorf("reported %d of %d findings", reported, len(r.Checks))
	}
	return r
}

// found returns the findings of a report that are not ok, as "id level".
func found(r doctor.Report) []string {
	out := []string{}
	for _, c := range r.Checks {
		if c.Level != doctor.OK {
			out = append(out, c.ID+" "+string(c.Level))
		}
	}
	return out
}

func textOf(r doctor.Report, id string) string {
	var out []string
	for _, c := range r.Checks {
		if c.ID == id {
			out = append(out, c.Text+"\n"+c.Fix)
		}
	}
	return strings.Join(out, "\n")
}
