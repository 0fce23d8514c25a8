package clustertest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"cloudburst/client"
	"cloudburst/protocol/wsse"
)

// listener is an open stream of server-sent events of a live page.
type listener struct {
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu   sync.Mutex
	seen []string // data of the received events
	last string   // ID of the last event
	err  error
}

// listen opens a stream and waits for its start. after is the ID of the last received event, from
// any node; the stream resumes after this event.
func (w *Cluster) listen(url, after string) (*listener, error) {
	ctx, cancel := context.WithCancel(w.ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		cancel()
		return nil, fmt.Errorf("%s: %s", url, res.Status)
	}
	l := &listener{cancel: cancel}
	begun := make(chan struct{})
	l.group.Go(func() {
		defer res.Body.Close()
		first := sync.OnceFunc(func() { close(begun) })
		defer first()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			l.take(lines.Text())
			first()
		}
		l.mu.Lock()
		l.err = lines.Err()
		l.mu.Unlock()
	})
	<-begun
	return l, nil
}

func (l *listener) take(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := strings.CutPrefix(line, "id: "); ok {
		l.last = id
	}
	if data, ok := strings.CutPrefix(line, "data: "); ok {
		l.seen = append(l.seen, data)
	}
}

// has reports whether one event contains all words.
func (l *listener) has(words ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, data := range l.seen {
		all := true
		for _, word := range words {
			all = all && strings.Contains(data, word)
		}
		if all {
			return true
		}
	}
	return false
}

// close ends the stream and returns the ID of the last event.
func (l *listener) close() string {
	l.cancel()
	l.group.Wait()
	return l.last
}

// Live opens the live log and the live river at one node while the other node makes changes. It
// then resumes the streams at the other node.
func (w *Cluster) Live() error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const feed = "live"
	if err := w.follow(a, feed, 1); err != nil {
		return err
	}
	if _, err := (&client.Client{Base: a.current().Admin}).River("").AddSource(w.ctx, client.SourceRequest{URL: w.feeds.url(feed)}); err != nil {
		return err
	}
	for _, page := range []string{"/log/stream", "/river/stream?as=html"} {
		seen := ""
		here, there := a, b
		for range 2 {
			if seen, err = w.watch(page, feed, seen, here, there); err != nil {
				return err
			}
			here, there = there, here // swap the nodes, so that the next stream resumes at the other node
		}
	}
	return nil
}

// watch opens a live page at node there, and pings a change of the feed at node here. seen is the
// last received state, or "" for a first stream; watch returns the new state.
func (w *Cluster) watch(page, feed, seen string, here, there *node) (string, error) {
	var missed string
	if seen != "" { // to test the resumption of a stream, make a change while no stream is open
		missed = w.pingedAt(feed, here)
	}
	l, err := w.listen(there.current().Base+page, seen)
	if err != nil {
		return "", err
	}
	live := w.pingedAt(feed, here)
	words := func(state string) []string {
		if strings.HasPrefix(page, "/log") {
			return []string{`"check"`, w.feeds.url(feed), "version " + state}
		}
		return []string{feed + " version " + state}
	}
	for what, state := range map[string]string{"live": live, "missed": missed} {
		if state == "" {
			continue
		}
		if err := w.wait("it is seen", func() bool { return l.has(words(state)...) }); err != nil {
			w.history.wrong("not live: the %s change of %s at node %s was never shown at node %s (state %s)", what, page, here.name, there.name, state)
		}
	}
	return l.close(), nil
}

// pingedAt changes a feed, pings it at a node, and returns the new state as text. The hub and the
// river use the same state of the feed.
func (w *Cluster) pingedAt(feed string, n *node) string {
	return fmt.Sprint(w.ping(feed, []*node{n}).state)
}

// Nonces checks that a WSSE header is accepted only once in the cluster. It sends headers that
// one node accepted for a private feed to the other node.
func (w *Cluster) Nonces(times int) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	const name = "alice"
	admin := &client.Client{Base: a.current().Admin}
	if _, err := admin.AddUser(w.ctx, name, "good at all nodes"); err != nil {
		return err
	}
	doc := []byte(`<rss version="2.0"><channel><title>Alice</title><link>http://alice.example/</link><description>x</description></channel></rss>`)
	if _, err := admin.SaveFeed(w.ctx, name, client.PrivateFeed, "", doc); err != nil {
		return err
	}
	secret, err := admin.NewSecret(w.ctx, name, "Bob")
	if err != nil {
		return err
	}
	for i := range times {
		here, there := []*node{a, b}[i%2], []*node{b, a}[i%2]
		header := wsse.Header(secret.Access.Name, secret.Access.Password, time.Now(), nil)
		if status := w.show(here, name, header); status != http.StatusOK {
			return fmt.Errorf("node %s answers a valid header with %d", here.name, status)
		}
		for _, n := range []*node{there, here} {
			if status := w.show(n, name, header); status != http.StatusUnauthorized {
				w.history.wrong("accepted again: node %s answered with %d to a header that node %s had accepted", n.name, status, here.name)
			}
		}
	}
	return nil
}

func (w *Cluster) show(n *node, user, header string) int {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodGet, n.current().Base+"/"+user+"/private/rss.xml", nil)
	if err != nil {
		return 0
	}
	req.Header.Set("X-WSSE", header)
	res, err := w.client.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
