package clustertest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// feeds serves feeds whose version the harness raises, and counts who asks.
type feeds struct {
	base string
	srv  *http.Server

	mu       sync.Mutex
	versions map[string]int // by path
	raised   map[string]time.Time
	asked    map[string]int // by path: requests
}

func serve(host string, h http.Handler) (*http.Server, string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }() // ends with Close
	return srv, "http://" + l.Addr().String(), nil
}

func newFeeds() (*feeds, error) {
	f := &feeds{versions: map[string]int{}, raised: map[string]time.Time{}, asked: map[string]int{}}
	var err error
	f.srv, f.base, err = serve("127.0.0.1", f)
	return f, err
}

// unhurried is what feeds that people read take to answer: long enough for two nodes to
// ask at the same time.
const unhurried = 300 * time.Millisecond

// url is the address of a feed.
func (f *feeds) url(name string) string { return f.base + "/" + name }

func (f *feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	f.mu.Lock()
	v := f.versions[name]
	f.asked[name]++
	f.mu.Unlock()
	if strings.HasPrefix(name, "read") {
		<-time.After(unhurried)
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = fmt.Fprintf(w, "<rss version=\"2.0\"><channel><title>%s</title><link>%s</link><description>v%d.</description>"+
		"<item><title>%s version %d</title><guid isPermaLink=\"false\">%s-%d</guid></item></channel></rss>\n",
		name, f.base, v, name, v, name, v) // whoever asked may be dead
}

// versionText is in each version of a feed, and in no other.
var versionText = regexp.MustCompile(`<description>v(\d+)\.</description>`)

// raise publishes the next version and says which it is, and when.
func (f *feeds) raise(name string) (int, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.versions[name]++
	f.raised[name] = time.Now()
	return f.versions[name], f.raised[name]
}

// reads is how often a feed was asked for.
func (f *feeds) reads(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[name]
}

// now is the newest state of a feed, and since when.
func (f *feeds) now(name string) (int, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.versions[name], f.raised[name]
}
