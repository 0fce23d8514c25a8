package abusetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/client"
	"cloudburst/lab/outside"
)

type ctx = context.Context

// load sends the requests of many concurrent clients and counts the responses.
type load struct {
	t        *testing.T
	p        *running
	feeds    *feeds
	hosts    []string
	callback *callbackServer
	savers   []*saver
	clients  []*http.Client // each client has its own source address

	acked, refused, failed, paths atomic.Int64

	mu         sync.Mutex
	version    map[string]int // key: feed; value: version of the newest acknowledged ping
	registered map[[2]string]bool
	wrong      map[string]int // key: response that is neither a success nor a rejection in the format of the endpoint
}

// saver is a user with a hosted feed. Only one client at a time saves the feed.
type saver struct {
	mu          sync.Mutex
	url, header string
	last, acked int // last is the newest version sent; acked is the newest acknowledged version
}

const loadFeeds = 200

func newLoad(t *testing.T, p *running) *load {
	l := &load{t: t, p: p, feeds: newFeeds(), callback: newCallbackServer(t, "127.20.0.1"), version: map[string]int{}, registered: map[[2]string]bool{}, wrong: map[string]int{}}
	for i := range 8 {
		l.hosts = append(l.hosts, serve(t, fmt.Sprintf("%s%d", feedHosts, 10+i), l.feeds))
	}
	for i := range 64 {
		l.clients = append(l.clients, from(source(i), true))
	}
	for i := range 4 {
		name := fmt.Sprintf("saver%d", i)
		if _, err := p.operator().AddUser(t.Context(), name, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
		token, err := p.operator().NewToken(t.Context(), name, client.TokenRequest{Label: "x", Scopes: []string{"create", "update"}})
		if err != nil {
			t.Fatal(err)
		}
		l.savers = append(l.savers, &saver{url: p.Base + "/" + name + "/rss.xml", header: "Bearer " + token.Token})
	}
	for i := 0; i < loadFeeds; i += 50 { // register existing subscribers from the address of the callback
		var some []string
		for j := range 50 {
			some = append(some, l.feed(i+j))
		}
		if a := outside.Post(t.Context(), from("127.20.0.1", false), p.Base+"/pleaseNotify", l.callback.registration("/first", some...)); !a.OK() {
			t.Fatalf("not registered: %s", a)
		}
		for _, f := range some {
			l.registered[[2]string{"/first", f}] = true
		}
	}
	return l
}

func (l *load) feed(i int) string { return fmt.Sprintf("%s/%d.xml", l.hosts[i%len(l.hosts)], i) }

// one sends one request of a random kind as client i.
func (l *load) one(ctx ctx, i int) {
	c := l.clients[i%len(l.clients)]
	switch n := rand.IntN(20); {
	case n < 15:
		l.ping(ctx, c, l.feed(rand.IntN(loadFeeds)), n%3)
	case n < 19:
		l.register(ctx, l.feed(rand.IntN(loadFeeds)))
	default:
		l.save(ctx, c, l.savers[rand.IntN(len(l.savers))])
	}
}

// ping changes a feed and sends a ping to one of three endpoints. It reports whether the ping was
// acknowledged.
func (l *load) ping(ctx ctx, c *http.Client, feed string, endpoint int) bool {
	v, _ := l.feeds.Raise(feed)
	var a outside.Answer
	var callback, refused bool
	switch endpoint {
	case 0:
		a = outside.Post(ctx, c, l.p.Base+"/ping", map[string][]string{"url": {feed}})
		callback, refused = a.OK(), a.Limited() && (strings.Contains(a.Body, `success="false"`) || a.Status == http.StatusServiceUnavailable)
	case 1:
		a = outside.Send(ctx, c, http.MethodPost, l.p.Base+"/RPC2", "text/xml", `<?xml version="1.0"?><methodCall><methodName>rssCloud.ping</methodName><params><param><value>`+feed+`</value></param></params></methodCall>`)
		callback = a.Status == http.StatusOK && strings.Contains(a.Body, "<boolean>1<")
		refused = a.Limited() || a.Status == http.StatusOK && strings.Contains(a.Body, "<fault>")
	default:
		a = outside.Send(ctx, c, http.MethodPost, l.p.Base+"/soap", "text/xml", `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><ping><url>`+feed+`</url></ping></s:Body></s:Envelope>`, "SOAPAction", `"/ping"`)
		callback = a.Status == http.StatusOK && !strings.Contains(a.Body, "Fault")
		refused = a.Limited() || strings.Contains(a.Body, "Fault")
	}
	if l.count(ctx, fmt.Sprintf("ping %d", endpoint), a, callback, refused) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.version[feed] = max(l.version[feed], v)
		return true
	}
	return false
}

// register registers a new callback for a feed.
func (l *load) register(ctx ctx, feed string) {
	path := fmt.Sprintf("/late%d", l.paths.Add(1))
	a := outside.Post(ctx, from("127.20.0.1", false), l.p.Base+"/pleaseNotify", l.callback.registration(path, feed))
	// If the request names only one feed, the response reports a reached limit as
	// success="false".
	refused := a.Limited() || a.Err == nil && a.Status == http.StatusOK && strings.Contains(a.Body, `success="false"`)
	if l.count(ctx, "register", a, a.OK(), refused) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.registered[[2]string{path, feed}] = true
	}
}

func (l *load) save(ctx ctx, c *http.Client, s *saver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	a := outside.Send(ctx, c, http.MethodPut, s.url, "application/rss+xml", saved(s.last), "Authorization", s.header)
	if l.count(ctx, "save", a, a.Status == http.StatusCreated || a.Status == http.StatusNoContent, a.Limited()) {
		s.acked = s.last
	}
}

func saved(n int) string {
	return fmt.Sprintf(`<rss version="2.0"><channel><title>a saved feed</title><link>http://a.example/</link><description>version %d.</description></channel></rss>`, n)
}

// count counts a response, and reports whether the server acknowledged the request.
func (l *load) count(ctx ctx, what string, a outside.Answer, callback, refused bool) bool {
	switch {
	case callback && a.Err == nil:
		l.acked.Add(1)
	case refused:
		l.refused.Add(1)
	case ctx.Err() != nil: // the end of the load canceled the request
	default:
		l.failed.Add(1)
		l.mu.Lock()
		defer l.mu.Unlock()
		if a.Err != nil && len(l.wrong) > 0 {
			return false
		}
		l.wrong[what+": "+a.String()]++
	}
	return callback && a.Err == nil
}

// kept checks that the server has done all the work that it acknowledged.
func (l *load) kept() {
	l.t.Helper()
	notified := func() (missing []string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for feed, v := range l.version {
			at := l.feeds.readSince(feed, v)
			for pair := range l.registered {
				if pair[1] == feed && pair[0] == "/first" && (at.IsZero() || !l.callback.received("/first", feed, at)) {
					missing = append(missing, fmt.Sprintf("/first of version %d of %s", v, feed))
				}
			}
		}
		return missing
	}
	l.within("all existing subscribers were notified of every acknowledged ping", notified)
	begun := time.Now()
	for i := range loadFeeds { // change each feed once more, to notify the new registrations
		outside.Until(l.t, "the feed can be pinged", func() bool { return l.ping(l.t.Context(), impatient, l.feed(i), 0) })
	}
	l.within("every acknowledged registration is notified of a change", func() (missing []string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for pair := range l.registered {
			if !l.callback.received(pair[0], pair[1], begun) {
				missing = append(missing, fmt.Sprint(pair))
			}
		}
		return missing
	})
	for _, s := range l.savers {
		a := outside.Send(l.t.Context(), impatient, http.MethodGet, s.url, "", "")
		var n int
		if _, rest, ok := strings.Cut(a.Body, "<description>version "); ok {
			_, _ = fmt.Sscanf(rest, "%d", &n) // n stays 0 if the version is invalid, and the check below fails
		}
		if s.acked > 0 && (n < s.acked || n > s.last) {
			l.t.Errorf("%s is version %d; %d was acknowledged, and up to %d were sent: %s", s.url, n, s.acked, s.last, a)
		}
	}
}

func (l *load) within(what string, missing func() []string) {
	l.t.Helper()
	for end := time.Now().Add(soon); ; time.Sleep(50 * time.Millisecond) {
		left := missing()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			l.t.Errorf("not true: %s: %d are missing, for example %s", what, len(left), left[0])
			return
		}
	}
}
