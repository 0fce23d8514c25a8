package doctest

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// harness is the network around the server. The hosts author.example and example.org serve the
// files in the folder of the guide, and a feed for other paths that end in .xml. The host
// reader.example is the subscriber; it responds as the exchanges of the guide show.
type harness struct {
	p              *place
	author, reader string // host:port of the authors' server and of the reader's server
	hub            string // port of the server under test

	mu      sync.Mutex
	answers []*exchange       // exchanges that the reader answers
	came    []string          // texts of requests to the reader that match no exchange
	learned map[string]string // key: text in the guide; value: actual text
	news    chan struct{}     // closed and replaced at each request
}

func newHarness(p *place, hub string) *harness {
	w := &harness{p: p, hub: hub, learned: map[string]string{}, news: make(chan struct{})}
	for _, b := range p.page.blocks {
		if b.kind != "http" {
			continue
		}
		x, err := parseExchange(b)
		if err != nil {
			p.t.Fatal(err)
		}
		if x.toReader() {
			w.answers = append(w.answers, x)
		}
	}
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		p.t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	w.author, w.reader = serve(w.feed), serve(w.notified)
	return w
}

// names returns pairs: a host name in the guide, and its replacement.
func (w *harness) names() []string {
	author, reader := w.author, w.reader
	_, port, _ := net.SplitHostPort(reader) // httptest created the address, so it is valid
	var pairs []string
	for _, site := range []string{"http://author.example", "http://example.org", "https://example.org"} {
		pairs = append(pairs, site, "http://"+author, url.QueryEscape(site), url.QueryEscape("http://"+author))
	}
	return append(pairs,
		"hub.example:5337", "127.0.0.1:"+w.hub, "hub.example%3A5337", "127.0.0.1%3A"+w.hub,
		`"hub.example" port="5337"`, `"127.0.0.1" port="`+w.hub+`"`,
		"reader.example:8080", reader, "reader.example%3A8080", url.QueryEscape(reader), "203.0.113.7:8080", reader,
		"domain=reader.example", "domain=127.0.0.1", "<string>reader.example</string>", "<string>127.0.0.1</string>",
		"port=8080", "port="+port, "<int>8080</int>", "<int>"+port+"</int>", "<port>8080</port>", "<port>"+port+"</port>")
}

// feed serves the files and feeds of the authors.
func (w *harness) feed(rw http.ResponseWriter, r *http.Request) {
	body, err := os.ReadFile(filepath.Join(w.p.dir, path.Clean("/"+r.URL.Path)))
	kind := "text/html; charset=utf-8"
	if path.Ext(r.URL.Path) == ".xml" {
		kind = "application/rss+xml"
	}
	switch {
	case err != nil && kind != "application/rss+xml" || strings.HasPrefix(path.Base(r.URL.Path), "none"):
		body = []byte(`<!doctype html><title>Mine</title><link rel="alternate" type="application/rss+xml" href="/rss.xml">`)
		if strings.HasPrefix(path.Base(r.URL.Path), "none") {
			rw.WriteHeader(http.StatusNotFound)
		}
	case err != nil:
		body = fmt.Appendf(nil, `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Mine</title><link>http://%s/</link><description/>`+
			`<cloud domain="127.0.0.1" port="%s" path="/rsscloud/pleaseNotify" registerProcedure="" protocol="http-post"/>`+
			`<atom:link rel="hub" href="http://127.0.0.1:%s/websub"/><atom:link rel="self" href="http://%s%s"/>`+
			`<item><title>One</title><guid isPermaLink="false">1</guid></item></channel></rss>`, w.author, w.hub, w.hub, w.author, html.EscapeString(r.URL.Path))
	}
	rw.Header().Set("Content-Type", kind)
	rw.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(len(body), bytes.Count(body, []byte("e")))))
	_, _ = rw.Write(body) // an error means that the client has disconnected
}

// notified answers the requests to the reader.
func (w *harness) notified(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { close(w.news); w.news = make(chan struct{}) }()
	var best *exchange
	var why []string
	for _, x := range w.answers {
		if err := w.like(x, r, body); err != nil {
			why = append(why, fmt.Sprintf("%s:%d: %v", x.block.page, x.block.line, err))
		} else {
			x.seen = true
			best = cmp.Or(best, x)
		}
	}
	if best == nil {
		w.came = append(w.came, w.p.back.Replace(fmt.Sprintf("%s %s\n%v\n\n%s\n", r.Method, r.RequestURI, r.Header, body))+strings.Join(why, "\n"))
		_, _ = io.WriteString(rw, r.URL.Query().Get("challenge")+r.URL.Query().Get("hub.challenge")) // an error means that the client has disconnected
		return
	}
	status, header, text := best.answerParts(w.real)
	maps.Copy(rw.Header(), header)
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, text) // an error means that the client has disconnected
}

// forget discards all requests that the reader received.
func (w *harness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.came = nil
	for _, x := range w.answers {
		x.seen = false
	}
}

// real replaces the names and values in the guide by the actual ones.
func (w *harness) real(text string) string {
	text = w.p.names.Replace(text)
	for shown, is := range w.learned {
		text = strings.ReplaceAll(text, shown, is)
	}
	return text
}

// wait waits until the reader has received the request of x. It fails the test after one minute.
func (w *harness) wait(x *exchange) {
	w.p.t.Helper()
	end := time.After(time.Minute)
	for {
		w.mu.Lock()
		seen, news, came := x.seen, w.news, strings.Join(w.came, "\n\n")
		w.mu.Unlock()
		if seen {
			return
		}
		select {
		case <-news:
		case <-end:
			w.p.t.Fatalf("%s:%d: this request did not arrive:\n%s\n\nother requests:\n%s", x.block.page, x.block.line, x.request, came)
		}
	}
}
