package clustertest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"cloudburst/lab/outside"
)

// feeds serves feeds and counts the requests. The harness raises the versions of the feeds.
type feeds struct {
	base string
	srv  *http.Server

	*outside.Versions // key: path of a feed

	mu    sync.Mutex
	asked map[string]int // key: path of a feed; value: number of requests
}

func newFeeds() (*feeds, error) {
	f := &feeds{Versions: outside.NewVersions(), asked: map[string]int{}}
	var err error
	f.srv, f.base, err = outside.Serve("127.0.0.1", f)
	return f, err
}

// unhurried is the response time of feeds in the river. It is long enough that two nodes can
// request a feed at the same time.
const unhurried = 300 * time.Millisecond

// url returns the URL of a feed.
func (f *feeds) url(name string) string { return f.base + "/" + name }

func (f *feeds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	v, _ := f.Now(name)
	f.mu.Lock()
	f.asked[name]++
	f.mu.Unlock()
	if strings.HasPrefix(name, "read") {
		<-time.After(unhurried)
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	_, _ = fmt.Fprintf(w, "<rss version=\"2.0\"><channel><title>%s</title><link>%s</link><description>v%d.</description>"+
		"<item><title>%s version %d</title><guid isPermaLink=\"false\">%s-%d</guid></item></channel></rss>\n",
		name, f.base, v, name, v, name, v) // an error means that the client has crashed
}

// versionText matches the text with the version number of a feed.
var versionText = regexp.MustCompile(`<description>v(\d+)\.</description>`)

// reads returns the number of requests for a feed.
func (f *feeds) reads(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[name]
}
