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
	feedTakes = 3200 * time.Millisecond // response time of a slow feed; longer than the program delays its response to a ping
	callTakes = 3 * time.Second         // response time of a slow callback; longer than a shard waits for a callback
	slowOneIn = 60                      // one of this many calls of ordinary callbacks is slow
	missing   = "/missing"              // prefix of the paths of feeds that do not exist
)

// feedServer serves feeds. The harness raises the versions of the feeds.
type feedServer struct {
	base string
	srv  *http.Server

	*outside.Versions

	mu    sync.Mutex
	slow  map[string]bool // set of slow feeds
	asked map[string]int  // key: slow feed; value: number of requests in progress
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
	_, _ = w.Write(body) // an error means that the client has crashed
}

// document returns the media type and the bytes of one version of a feed. Both differ between
// versions, and the bytes include more than text.
func document(url string, v int) (kind string, body []byte) {
	body = fmt.Appendf(nil, "<rss version=\"2.0\"><channel>\r\n<title>%s</title><link>%s.html</link><description>v%d</description><!-- \xff\xfe\r", url, url, v)
	for i := range v * 997 % 6000 {
		body = append(body, byte('a'+(i*v)%26))
	}
	return fmt.Sprintf("application/rss+xml; version=%d", v), append(body, " -->\n</channel></rss>\r\n"...)
}

// setSlow makes a feed slow or fast. A slow feed responds later than the program responds to a
// ping.
func (f *feedServer) setSlow(url string, slow bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slow[url] = slow
}

// asking reports whether a request for the feed is in progress.
func (f *feedServer) asking(url string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[url] > 0
}

// subscribers serves callbacks that receive notifications. Some calls fail and some are slow.
type subscribers struct {
	history *history
	base    string
	srv     *http.Server
	calm    atomic.Bool // if true, no ordinary callback fails or is slow
	rng     *outside.Random

	mu   sync.Mutex
	slow map[string]chan struct{} // key: path of a slow callback; the channel receives a value for each call
}

func newSubscribers(host string, h *history, rng *outside.Random) (*subscribers, error) {
	s := &subscribers{history: h, rng: rng, slow: map[string]chan struct{}{}}
	var err error
	s.srv, s.base, err = outside.Serve(host, s)
	return s, err
}

// setSlow makes one callback slow or fast. The returned channel receives a value when the slow
// callback is called.
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

// takes returns the response time of a call, and whether the call fails.
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
		case <-r.Context().Done(): // the program disconnected before the response, so the callback does not count as notified
			end(true, true)
			return
		}
	}
	end(refused, wait > 0)
	switch {
	case !refused:
		s.sayYes(w, m)
	case m.cnws:
		w.WriteHeader(http.StatusServiceUnavailable) // any other error status would end the subscription
	default:
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// consent answers a verification request for a subscription.
func (s *subscribers) consent(w http.ResponseWriter, r *http.Request) {
	q, challenge := r.URL.Query(), ""
	if q.Has("hub.mode") {
		if !s.history.recordVerification(pair{q.Get("hub.topic"), s.base + r.URL.Path}, q, outside.Connected(r)) {
			http.NotFound(w, r)
			return
		}
		challenge = q.Get("hub.challenge")
	} else if challenge = q.Get("challenge"); challenge == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = io.WriteString(w, challenge) // an error means that the client has crashed
}

// message is a POST request to a callback in any protocol.
type message struct {
	pair
	cnws, test bool // test is true for a verification
	content    *content
}

// read parses a request to a callback in any protocol.
func (s *subscribers) read(r *http.Request) message {
	m := message{pair: pair{callback: s.base + r.URL.Path}}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return m // a crashed process sent an incomplete request
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
		_ = xml.Unmarshal(body, &change) // a change without a feed counts as wrong at the end
		m.feed, m.cnws, m.test = change.Resource, true, r.Header.Get(changedAt) == ""
	default:
		m.feed = form.Get("url")
	}
	return m
}

// sayYes responds that a message is accepted, in the format of its protocol.
func (s *subscribers) sayYes(w http.ResponseWriter, m message) {
	if m.cnws {
		w.Header().Set("Content-Type", "text/xml")
		_, _ = io.WriteString(w, cnwsDocument("<result><status>true</status></result>"))
	}
}
