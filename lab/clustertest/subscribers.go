package clustertest

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/lab/outside"
)

// origins is the number of callback servers. There are several, so that no server limits the
// speed of deliveries.
const origins = 8

// subscribers serves all callbacks. The path of a callback is /FEED/NUMBER.
type subscribers struct {
	history *history
	takes   atomic.Int64 // response time of a callback in nanoseconds
	servers []*http.Server
	bases   []string
}

func newSubscribers(h *history) (*subscribers, error) {
	c := &subscribers{history: h}
	for i := range origins {
		srv, base, err := outside.Serve(fmt.Sprintf("127.0.2.%d", i+1), c)
		if err != nil {
			c.close()
			return nil, err
		}
		c.servers, c.bases = append(c.servers, srv), append(c.bases, base)
	}
	return c, nil
}

func (c *subscribers) close() {
	for _, s := range c.servers {
		_ = s.Close() // all clients have ended, so an error has no consequence
	}
}

// callback returns the n-th callback of a feed.
func (c *subscribers) callback(feed string, n int) string {
	return fmt.Sprintf("%s/%s/%d", c.bases[n%len(c.bases)], feed, n)
}

// sender matches the User-Agent of a node: its version and its name.
var sender = regexp.MustCompile(`^Cloudburst/(\S+) \(\+http://([a-z0-9-]+)\.example\)`)

func (c *subscribers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	if r.Method == http.MethodGet { // the request is a verification
		q := r.URL.Query()
		_, _ = io.WriteString(w, q.Get("challenge")+q.Get("hub.challenge"))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender crashed during the request
	}
	got := receipt{callback: "http://" + r.Host + r.URL.Path, begun: begun}
	if m := sender.FindStringSubmatch(r.UserAgent()); m != nil {
		got.version, got.node = m[1], m[2]
	}
	if m := versionText.FindSubmatch(body); m != nil {
		got.state, _ = strconv.Atoi(string(m[1])) // the pattern matches only digits
	}
	got.feed, _, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if wait := time.Duration(c.takes.Load()); wait > 0 {
		select {
		case <-time.After(wait):
		case <-r.Context().Done(): // the sender crashed, so it is unknown whether the delivery counts
			got.broken = true
		}
	}
	got.ended = time.Now()
	c.history.receive(got)
}
