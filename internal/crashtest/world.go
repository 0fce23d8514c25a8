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

const (
	feedTakes = 3200 * time.Millisecond // a slow feed: longer than a ping waits for its answer
	callTakes = 3 * time.Second         // a slow callback: longer than a part waits for it
	slowOneIn = 60                      // so many calls of ordinary callbacks have a slow one among them
)

// feedServer serves feeds whose version the harness raises.
type feedServer struct {
	base string
	srv  *http.Server

	mu       sync.Mutex
	versions map[string]int
	slow     map[string]bool // these take their time
	asked    map[string]int  // requests that a slow one has not answered yet
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
	f := &feedServer{versions: map[string]int{}, slow: map[string]bool{}, asked: map[string]int{}}
	var err error
	f.srv, f.base, err = serve("127.0.0.1", f)
	return f, err
}

func (f *feedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := f.base + r.URL.Path
	f.mu.Lock()
	v, slow := f.versions[url], f.slow[url]
	if slow {
		f.asked[url]++
	}
	f.mu.Unlock()
	if slow {
		select {
		case <-time.After(feedTakes):
		case <-r.Context().Done():
		}
		f.mu.Lock()
		f.asked[url]--
		f.mu.Unlock()
	}
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

// setSlow makes a feed answer later than a ping is answered, or quickly again.
func (f *feedServer) setSlow(url string, slow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow[url] = slow
}

// asking reports that somebody reads the feed and has no answer yet.
func (f *feedServer) asking(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[url] > 0
}

// subscribers receive notifications; some refuse now and then, some are slow.
type subscribers struct {
	history *history
	host    string
	port    string
	base    string
	srv     *http.Server
	calm    atomic.Bool // nobody refuses any more, nor takes long
	rng     *locked

	mu   sync.Mutex
	slow map[string]chan struct{} // by path: takes long; told when it is called
}

func newSubscribers(host string, h *history, rng *locked) (*subscribers, error) {
	s := &subscribers{history: h, rng: rng, slow: map[string]chan struct{}{}}
	var err error
	if s.srv, s.base, err = serve(host, s); err != nil {
		return nil, err
	}
	s.host, s.port, err = net.SplitHostPort(strings.TrimPrefix(s.base, "http://"))
	return s, err
}

// setSlow makes one callback take long. What is returned hears of each call of it.
func (s *subscribers) setSlow(path string, slow bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slow {
		delete(s.slow, path)
		return nil
	}
	s.slow[path] = make(chan struct{}, 1)
	return s.slow[path]
}

// takes is how long this call lasts, and whether it is refused in the end.
func (s *subscribers) takes(path string) (time.Duration, bool) {
	s.mu.Lock()
	called := s.slow[path]
	s.mu.Unlock()
	switch {
	case called != nil:
		select {
		case called <- struct{}{}:
		default:
		}
		return callTakes, false
	case s.calm.Load():
		return 0, false
	case s.rng.IntN(slowOneIn) == 0:
		return callTakes/3 + time.Duration(s.rng.IntN(int(callTakes*2/3))), s.rng.IntN(2) == 0
	}
	return 0, s.rng.IntN(10) < 2
}

func (s *subscribers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c := r.URL.Query().Get("challenge"); r.Method == http.MethodGet && c != "" {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, c) // whoever asked may be dead
		return
	}
	p := pair{feed: r.PostFormValue("url"), callback: s.base + r.URL.Path}
	end := s.history.begin(p)
	wait, refused := s.takes(r.URL.Path)
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done(): // the caller is gone before it was accepted: not told
			end(true, true)
			return
		}
	}
	end(refused, wait > 0)
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
