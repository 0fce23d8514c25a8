package abusetest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cloudburst/lab/outside"
)

// These are the addresses of clients, callbacks and feeds.
const (
	internet      = "127.0.0.0/9" // addresses that the program may call
	inside        = "127.200.0.1" // an address that the program must not call
	visitorHost   = "127.9.9.9"   // address of the well-behaved visitor
	victims       = "127.66.0.1"  // host that requested nothing
	feedHosts     = "127.10.0."   // prefix of the addresses of feed hosts: feedHosts + "1" and so on
	hostileHost   = "127.30.0.1"  // address that serves harmful documents
	clientTimeout = 20 * time.Second
)

// impatient is a client with a short timeout, for requests that the program answers immediately.
var impatient = outside.Client(clientTimeout)

// from returns a client that sends its requests from the address addr. If keep is true, its
// connections stay open.
func from(addr string, keep bool) *http.Client {
	d := &net.Dialer{Timeout: clientTimeout, LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}, Control: reuse}
	return &http.Client{Timeout: clientTimeout, Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: !keep, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// reuse sets SO_REUSEADDR, so that connections from many addresses can share local ports.
// Otherwise the machine has too few free ports.
func reuse(_, _ string, c syscall.RawConn) error {
	var err error
	if cerr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, 1)
	}); cerr != nil {
		return cerr
	}
	return err
}

// source returns the n-th client address of attackers. Each address is in its own /24 network,
// because limits apply per network.
func source(n int) string { return fmt.Sprintf("127.%d.%d.7", 70+n/250%50, 1+n%250) }

// serve serves HTTP on an address until the test ends.
func serve(t *testing.T, addr string, h http.Handler) string {
	t.Helper()
	srv, base, err := outside.Serve(addr, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	return base
}

// feeds serves documents whose versions the test raises.
type feeds struct {
	*outside.Versions

	mu     sync.Mutex
	served map[string]map[int]time.Time // key: URL; value: time of the first read of each version
	reads  atomic.Int64
}

func newFeeds() *feeds {
	return &feeds{Versions: outside.NewVersions(), served: map[string]map[int]time.Time{}}
}

func (f *feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.reads.Add(1)
	at := "http://" + r.Host + r.URL.Path
	v, _ := f.Now(at)
	f.mu.Lock()
	if f.served[at] == nil {
		f.served[at] = map[int]time.Time{}
	}
	if f.served[at][v].IsZero() {
		f.served[at][v] = time.Now()
	}
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>%s</title><link>http://%s/</link><description>version %d</description></channel></rss>`, r.URL.Path, r.Host, v)
}

// readSince returns the time when a reader first received version v of a feed or a newer version.
// The time is zero if no reader received one.
func (f *feeds) readSince(url string, v int) (at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for got, when := range f.served[url] {
		if got >= v && (at.IsZero() || when.Before(at)) {
			at = when
		}
	}
	return at
}

// callbackServer is a server that records notifications and confirms every verification.
type callbackServer struct {
	host, port string
	base       string

	mu       sync.Mutex
	last     map[string]time.Time // key: path and URL of the feed; value: time of the last notification
	notified int
}

func newCallbackServer(t *testing.T, addr string) *callbackServer {
	e := &callbackServer{last: map[string]time.Time{}}
	e.base = serve(t, addr, e)
	e.host, e.port, _ = net.SplitHostPort(strings.TrimPrefix(e.base, "http://"))
	return e
}

func (e *callbackServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body)) // an invalid form contains no feed
	if r.Method == http.MethodGet {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, q.Get("challenge")+q.Get("hub.challenge")) // the client may have disconnected
		return
	}
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.notified++
	e.last[r.URL.Path+" "+form.Get("url")] = time.Now()
}

// received reports whether the callback at path was notified of the feed at or after the time
// since.
func (e *callbackServer) received(path, feed string, since time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := e.last[path+" "+feed]
	return !at.IsZero() && !at.Before(since)
}

// registration returns the pleaseNotify form that registers a callback path of e for feeds.
func (e *callbackServer) registration(path string, feeds ...string) url.Values {
	form := url.Values{"notifyProcedure": {""}, "port": {e.port}, "path": {path}, "protocol": {"http-post"}}
	for i, f := range feeds {
		form.Set(fmt.Sprintf("url%d", i+1), f)
	}
	return form
}

// each calls do repeatedly in n goroutines for the duration d.
func each(n int, d time.Duration, do func(ctx context.Context, i int)) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			for ctx.Err() == nil {
				do(ctx, i)
			}
		})
	}
	group.Wait()
}
