package crashtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/lab/outside"
)

const (
	feedTakes = 3200 * time.Millisecond // a slow feed: longer than a ping waits for its answer
	callTakes = 3 * time.Second         // a slow callback: longer than a shard waits for it
	slowOneIn = 60                      // one of so many calls of ordinary callbacks is slow
	missing   = "/missing"              // prefix of missing feeds
)

// feedServer serves feeds whose version the harness raises.
type feedServer struct {
	base string
	srv  *http.Server

	*outside.Versions

	mu    sync.Mutex
	slow  map[string]bool // slow feeds
	asked map[string]int  // pending requests of slow feeds
}

func newFeeds() (*feedServer, error) {
	f := &feedServer{Versions: outside.NewVersions(), slow: map[string]bool{}, asked: map[string]int{}}
	var err error
	f.srv, f.base, err = outside.Serve("127.0.0.1", f)
	return f, err
}

func (f *feedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := f.base + r.URL.Path
	v, _ := f.Now(url)
	f.mu.Lock()
	slow := f.slow[url]
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
	if strings.HasPrefix(r.URL.Path, missing) {
		http.NotFound(w, r)
		return
	}
	kind, body := document(url, v)
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the client may have crashed
}

// document returns the type and the bytes of one version of a feed. Both differ between
// versions, and the bytes are not only text.
func document(url string, v int) (kind string, body []byte) {
	body = fmt.Appendf(nil, "<rss version=\"2.0\"><channel>\r\n<title>%s</title><link>%s.html</link><description>v%d</description><!-- \xff\xfe\r", url, url, v)
	for i := range v * 997 % 6000 {
		body = append(body, byte('a'+(i*v)%26))
	}
	return fmt.Sprintf("application/rss+xml; version=%d", v), append(body, " -->\n</channel></rss>\r\n"...)
}

// setSlow makes a feed slower than the answer to a ping, or fast again.
func (f *feedServer) setSlow(url string, slow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow[url] = slow
}

// asking reports whether a read of the feed is in progress.
func (f *feedServer) asking(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[url] > 0
}

// subscribers receive notifications; some fail at times, some are slow.
type subscribers struct {
	history *history
	base    string
	srv     *http.Server
	calm    atomic.Bool // no callback fails or is slow
	rng     *outside.Random

	mu   sync.Mutex
	slow map[string]chan struct{} // by path: a slow callback; the channel receives its calls
}

func newSubscribers(host string, h *history, rng *outside.Random) (*subscribers, error) {
	s := &subscribers{history: h, rng: rng, slow: map[string]chan struct{}{}}
	var err error
	s.srv, s.base, err = outside.Serve(host, s)
	return s, err
}

// setSlow makes one callback slow. The returned channel receives each of its calls.
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

// takes returns the duration of this call, and whether it fails.
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
	if r.Method == http.MethodGet {
		s.consent(w, r)
		return
	}
	m := s.read(r)
	if m.test {
		s.sayYes(w, m)
		return
	}
	end := s.history.begin(m.pair, outside.Connected(r), m.content)
	wait, refused := s.takes(r.URL.Path)
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done(): // the caller disconnected before the answer: does not count as notified
			end(true, true)
			return
		}
	}
	end(refused, wait > 0)
	switch {
	case !refused:
		s.sayYes(w, m)
	case m.cnws:
		w.WriteHeader(http.StatusServiceUnavailable) // any other error would end the subscription
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// consent answers a verification of a subscription.
func (s *subscribers) consent(w http.ResponseWriter, r *http.Request) {
	q, challenge := r.URL.Query(), ""
	if q.Has("hub.mode") {
		if !s.history.recordVerification(pair{q.Get("hub.topic"), s.base + r.URL.Path}, q) {
			http.NotFound(w, r)
			return
		}
		challenge = q.Get("hub.challenge")
	} else if challenge = q.Get("challenge"); challenge == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, challenge) // the client may have crashed
}

// message is a POST in any of the protocols.
type message struct {
	pair
	cnws, test bool // test: a verification
	content    *content
}

// read parses a notification of any protocol.
func (s *subscribers) read(r *http.Request) message {
	m := message{pair: pair{callback: s.base + r.URL.Path}}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m // from a crashed process
	}
	form, _ := url.ParseQuery(string(body))
	switch {
	case r.Header.Get("Link") != "":
		m.content = s.history.contentOf(r.Header, body, m.callback)
		m.feed = m.content.topic
	case strings.HasPrefix(r.Header.Get("Content-Type"), "text/xml"):
		var change struct {
			Resource string `xml:"resourceChange>resourceID"`
		}
		_ = xml.Unmarshal(body, &change) // a change without a feed is reported at the end
		m.feed, m.cnws, m.test = change.Resource, true, r.Header.Get(changedAt) == ""
	default:
		m.feed = form.Get("url")
	}
	return m
}

// sayYes accepts a message in the form of its protocol.
func (s *subscribers) sayYes(w http.ResponseWriter, m message) {
	if m.cnws {
		w.Header().Set("Content-Type", "text/xml")
		_, _ = io.WriteString(w, cnwsDocument("<result><status>true</status></result>"))
	}
}
