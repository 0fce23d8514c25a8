package signaltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"cloudburst/protocol/cnws"
	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

const secret = "geheim ✓ &=%2B+"

// harness is the network around the server. It has authors with their feeds, and subscribers of
// every kind. Each cell of the table has its own topic.
type harness struct {
	server *httptest.Server

	mu       sync.Mutex
	feeds    map[string]int           // key: path of a feed; value: number of its items
	hubs     map[string]string        // key: path of a feed; value: XML elements that name its hub
	notified map[string][]received    // key: topic URL
	wants    map[string]websub.Wanted // key: token in the callback URL
}

// received is a notification that a subscriber received.
type received struct {
	by   string // ID of the kind of subscriber
	what string // error in the notification; "" for none
}

func newHarness(t *testing.T) *harness {
	w := &harness{feeds: map[string]int{}, hubs: map[string]string{}, notified: map[string][]received{}, wants: map[string]websub.Wanted{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /feed/", w.serveFeed)
	mux.HandleFunc("GET /site/", w.serveSite)
	any := func(string) bool { return true }
	for _, protocol := range []string{rsscloud.HTTPPost, rsscloud.XMLRPC, rsscloud.SOAP} {
		mux.Handle("/rsscloud/"+protocol, &rsscloud.Subscriber{Wants: any, OnNotify: func(_ context.Context, n rsscloud.Received) {
			what := ""
			if n.Protocol != protocol {
				what = "notified over " + n.Protocol
			}
			w.receive(n.URL, received{protocol, what})
		}})
	}
	mux.Handle("/websub/", &websub.Subscriber{Callbacks: w})
	mux.Handle("/cnws", &cnws.Handler{Subscriber: cnws.SubscriberFunc(func(_ context.Context, c cnws.Change) (bool, error) {
		what := ""
		w.mu.Lock()
		if n := w.feeds[pathOf(c.ResourceID)]; c.Title != title(n) {
			what = fmt.Sprintf("the title is %q, the newest item is %d", c.Title, n)
		}
		w.mu.Unlock()
		w.receive(c.ResourceID, received{"cnws", what})
		return true, nil
	})})
	w.server = httptest.NewServer(mux)
	t.Cleanup(w.server.Close)
	return w
}

func (w *harness) receive(topic string, h received) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notified[topic] = append(w.notified[topic], h)
}

func (w *harness) receivedFor(topic string) []received {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]received(nil), w.notified[topic]...)
}

// forget removes the notifications of a topic. Such notifications are, for example, test calls
// during a registration.
func (w *harness) forget(topic string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.notified, topic)
}

// feed returns the topic URL of a cell; site returns the URL of the website with this feed.
func (w *harness) feed(c cell) string { return w.server.URL + "/feed/" + c.signal + "." + c.subscriber }
func (w *harness) site(c cell) string { return w.server.URL + "/site/" + c.signal + "." + c.subscriber }

func pathOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	return "/" + path
}

func title(n int) string { return fmt.Sprintf("Nummer %d & mehr", n) }

// body returns the feed at a path in Latin-1, so that the test detects a conversion to UTF-8.
func (w *harness) body(path string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(`<?xml version="1.0" encoding="ISO-8859-1"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>Caf`+"\xe9"+`</title><link>%s%s</link><description>d</description>%s
`, w.server.URL, strings.Replace(path, "/feed/", "/site/", 1), w.hubs[path])
	for n := w.feeds[path]; n >= 0; n-- {
		text += fmt.Sprintf("<item><title>Nummer %d &amp; mehr</title><guid>%d</guid></item>\n", n, n)
	}
	return []byte(text + "</channel></rss>\n")
}

func (w *harness) serveFeed(rw http.ResponseWriter, r *http.Request) {
	body := w.body(r.URL.Path)
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	rw.Header().Set("Content-Type", "application/rss+xml")
	rw.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		rw.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = rw.Write(body)
}

// serveSite serves the HTML page that links to a feed.
func (w *harness) serveSite(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(rw, `<!doctype html><title>Site</title><link rel="alternate" type="application/rss+xml" href="%s">`,
		strings.Replace(r.URL.Path, "/site/", "/feed/", 1))
}

// change adds an item to the feed of a cell.
func (w *harness) change(c cell) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.feeds["/feed/"+c.signal+"."+c.subscriber]++
}

// Confirm and the following methods implement the WebSub callbacks.
func (w *harness) Confirm(context.Context, websub.Confirmation) error { return nil }

func (w *harness) Denied(_ context.Context, d websub.Denial) {
	w.receive(d.Topic, received{"websub", "denied: " + d.Reason})
}

func (w *harness) Wanted(_ context.Context, token string) (websub.Wanted, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wanted, ok := w.wants[token]; ok {
		return wanted, nil
	}
	return websub.Wanted{}, websub.ErrNotWanted
}

func (w *harness) Deliver(ctx context.Context, d websub.Delivery) error {
	wanted, err := w.Wanted(ctx, d.Token)
	if err != nil {
		return err
	}
	h := received{by: "websub"}
	if wanted.Secret != "" {
		h.by = "websub-secret"
	}
	switch {
	case string(d.Body) != string(w.body(pathOf(wanted.Topic))):
		h.what = fmt.Sprintf("the content differs from the feed: %q", d.Body)
	case d.ContentType != "application/rss+xml":
		h.what = "the type is " + d.ContentType
	case d.Topic != wanted.Topic:
		h.what = "the topic is " + d.Topic
	}
	w.receive(wanted.Topic, h)
	return nil
}

// callback returns the URL for a new WebSub subscription.
func (w *harness) callback(topic, secret string) string {
	token := websub.NewToken()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wants[token] = websub.Wanted{Topic: topic, Secret: secret}
	return w.server.URL + "/websub/" + token + "?keep=%7Ethis"
}
