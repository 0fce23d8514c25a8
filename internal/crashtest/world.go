package crashtest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// feedServer serves feeds whose version the harness raises.
type feedServer struct {
	base string
	srv  *http.Server

	mu       sync.Mutex
	versions map[string]int
}

func serve(host string, h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, "", err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	go func() { _ = srv.Serve(l) }() // ends with Close
	return srv, "http://" + l.Addr().String(), nil
}

func newFeeds() (*feedServer, error) {
	f := &feedServer{versions: map[string]int{}}
	var err error
	f.srv, f.base, err = serve("127.0.0.1", f)
	return f, err
}

func (f *feedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	v := f.versions[f.base+r.URL.Path]
	f.mu.Unlock()
	tag := fmt.Sprintf(`"v%d"`, v)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/rss+xml")
	fmt.Fprintf(w, `<rss version="2.0"><channel><title>%s</title><link>%s</link><description>v%d</description></channel></rss>`, r.URL.Path, f.base, v)
}

// raise publishes the next version and says when.
func (f *feedServer) raise(url string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.versions[url]++
	return time.Now()
}

// subscribers receive notifications; some refuse now and then, some are slow.
type subscribers struct {
	history *history
	host    string
	port    string
	base    string
	srv     *http.Server
	calm    atomic.Bool // nobody refuses any more
	refuse  func() bool
}

func newSubscribers(host string, h *history, rng *locked) (*subscribers, error) {
	s := &subscribers{history: h, refuse: func() bool { return rng.IntN(10) < 2 }}
	var err error
	if s.srv, s.base, err = serve(host, s); err != nil {
		return nil, err
	}
	s.host, s.port, err = net.SplitHostPort(strings.TrimPrefix(s.base, "http://"))
	return s, err
}

func (s *subscribers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	if c := r.URL.Query().Get("challenge"); r.Method == http.MethodGet && c != "" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c) // whoever asked may be dead
		return
	}
	url := r.PostFormValue("url")
	refused := !s.calm.Load() && s.refuse()
	p := pair{feed: url, callback: s.base + r.URL.Path}
	s.history.do(func() { s.history.received[p] = append(s.history.received[p], receipt{at, refused}) })
	if refused {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// locked is a random source for several goroutines.
type locked struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (l *locked) IntN(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}
