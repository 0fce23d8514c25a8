package clustertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"cloudburst/client"
)

// Once checks work that the cluster must do only once. A feed in the river is fetched once per
// ping. The test feed notifies its subscribers once per change.
func (w *Cluster) Once(times int) error {
	a, b, err := w.pair()
	if err != nil {
		return err
	}
	admin := &client.Client{Base: a.current().Admin}
	for i := range times {
		if _, err := admin.River("").AddSource(w.ctx, client.SourceRequest{URL: w.feeds.url(fmt.Sprint("read", i))}); err != nil {
			return err
		}
	}
	before := map[string]int{}
	for i := range times {
		feed := fmt.Sprint("read", i)
		if err := w.wait("the feed is read", func() bool { return w.feeds.reads(feed) > 0 && w.items(b, feed) > 0 }); err != nil {
			return err
		}
		before[feed] = w.feeds.reads(feed)
		w.ping(feed, []*node{[]*node{a, b}[i%2]})
		if err := w.wait("its change is read", func() bool { return w.items(a, feed) > 1 }); err != nil {
			return err
		}
	}
	if err := w.testFeed(a, b, times); err != nil {
		return err
	}
	for feed, n := range before {
		if n = w.feeds.reads(feed) - n; n != 1 {
			w.history.wrong("done twice: %s was read %d times for one ping", feed, n)
		}
	}
	return nil
}

// items returns the number of items of a feed at a node.
func (w *Cluster) items(n *node, feed string) (count int) {
	for _, err := range (&client.Client{Base: n.current().Admin}).River("").Items(w.ctx, client.ItemQuery{Source: w.feeds.url(feed)}) {
		if err != nil {
			return 0
		}
		count++
	}
	return count
}

// testFeed subscribes to the test feed at the public URL of each node, and then changes the test
// feed.
func (w *Cluster) testFeed(a, b *node, times int) error {
	const feed = "test/rss.xml"
	var notified atomic.Int64
	callback := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { notified.Add(1) }))
	defer callback.Close()
	admin := &client.Client{Base: b.current().Admin}
	line := fmt.Sprintf(`{"topic":%q,"protocol":"http-post","callback":%q,"expires_at":%q}`+"\n",
		"http://a.example/"+feed, callback.URL+"/test", time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	if _, err := admin.Import(w.ctx, strings.NewReader(line), client.ImportOptions{}); err != nil {
		return err
	}
	quarter := time.Now().Truncate(15 * time.Minute)
	for i := range times {
		if _, err := (&client.Client{Base: a.current().Admin}).TickTestFeed(w.ctx); err != nil {
			return err
		}
		if err := w.wait("the test feed's change is notified", func() bool { return notified.Load() > int64(i) }); err != nil {
			return err
		}
	}
	if err := w.idle(a); err != nil {
		return err
	}
	if !time.Now().Truncate(15 * time.Minute).Equal(quarter) {
		return nil // the feed changed on schedule during the check, so this result is ambiguous
	}
	if n := notified.Load(); n != int64(times) {
		w.history.wrong("done twice: %d changes of the test feed were notified %d times", times, n)
	}
	return nil
}

// Hour checks that a subscriber with too many errors is not removed before the full hour, even if
// another node starts.
func (w *Cluster) Hour() error {
	a, err := w.node("a", "")
	if err != nil {
		return err
	}
	w.withPending = true
	for { // repeat if a full hour passed during the check
		hour := time.Now().Truncate(time.Hour)
		feed := fmt.Sprint("failing", hour.Unix())
		dead, err := w.failing(a, feed)
		if err != nil {
			return err
		}
		b, err := w.node("b", "")
		if err != nil {
			return err
		}
		if err := w.pingAndIdle("any", b); err != nil {
			return err
		}
		there, err := w.export(b)
		if err != nil {
			return err
		}
		if !time.Now().Truncate(time.Hour).Equal(hour) {
			w.kill(b)
			continue
		}
		if !there[dead] {
			w.history.wrong("before the hour: %s was dropped at %s", dead, time.Now().Format(clock))
		}
		return nil
	}
}

// failing registers a subscriber that fails once. One failure already exceeds the configured
// limit.
func (w *Cluster) failing(n *node, feed string) (callback string, err error) {
	refused := make(chan struct{}, 100)
	dead := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusInternalServerError)
		refused <- struct{}{}
	}))
	defer dead.Close()
	callback = dead.URL + "/" + feed
	line := fmt.Sprintf(`{"topic":%q,"protocol":"http-post","callback":%q,"expires_at":%q}`+"\n",
		w.feeds.url(feed), callback, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	admin := &client.Client{Base: n.current().Admin}
	if _, err := admin.Import(w.ctx, strings.NewReader(line), client.ImportOptions{}); err != nil {
		return "", err
	}
	w.ping(feed, []*node{n})
	select {
	case <-refused:
	case <-time.After(w.EventTimeout):
		return "", fmt.Errorf("the failing callback was not notified")
	}
	return callback, w.wait("its failure is counted", func() bool {
		for s, err := range admin.Subscriptions(w.ctx, client.SubscriptionQuery{}) {
			if err == nil && s.Callback == callback && s.Failures > 0 {
				return true
			}
		}
		return false
	})
}

// pingAndIdle pings a feed at a node and waits until the node has no pending work.
func (w *Cluster) pingAndIdle(feed string, n *node) error {
	w.ping(feed, []*node{n})
	return w.sleep(time.Second)
}
