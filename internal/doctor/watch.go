package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"cloudburst/feed"
)

// Limits of a watch.
const (
	minPause    = 2 * time.Second  // minimum time between two requests
	maxPause    = 30 * time.Second // maximum time between two requests
	perWatch    = 24               // intended number of requests; minPause and maxPause have priority
	cancelTime  = 5 * time.Second
	confirmTime = 10 * time.Second // time limit for the verification by a WebSub hub
)

// watching is one watch for a change of the feed.
type watching struct {
	x         *exam
	begun     time.Time
	was       answer // last response
	received  chan notification
	confirmed chan struct{} // receives a value when a WebSub hub has verified the subscription
	ended     chan struct{} // receives a value when a WebSub hub has verified the end of the subscription

	hubs    []string                // protocols of the subscriptions
	first   map[string]notification // key: protocol; value: the first notification
	changed time.Duration           // time from the start of the watch to the detected change; 0: none
}

// notification is a notification from a hub.
type notification struct {
	via     string
	at      time.Time
	changed time.Time // when the hub detected the change; zero: unknown
}

// watch waits for a change of the feed and for the notifications of its hubs.
func (x *exam) watch(ctx context.Context) bool {
	if x.d.Watch <= 0 {
		return true
	}
	w := &watching{x: x, received: make(chan notification, 64), confirmed: make(chan struct{}, 1), ended: make(chan struct{}, 1), first: map[string]notification{}}
	leave := w.register(ctx)
	defer leave()
	x.requests = 0
	w.was = x.get(ctx, x.first.url, how{limit: maxBody})
	if ctx.Err() != nil {
		return false
	}
	x.add(SubjectWatch, "watch", OK, fmt.Sprintf("Now change the feed and ping as usual. The watch takes %s.", span(x.d.Watch)), "")
	w.begun = x.d.now()
	w.wait(ctx)
	if ctx.Err() == nil {
		w.conclude()
	}
	return true
}

// wait fetches the feed repeatedly until all results are known or the time ends.
func (w *watching) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.x.d.Watch)
	defer cancel()
	tick := time.NewTicker(min(max(w.x.d.Watch/perWatch, minPause), maxPause))
	defer tick.Stop()
	for w.changed == 0 || len(w.first) < len(w.hubs) {
		select {
		case <-ctx.Done():
			return
		case n := <-w.received:
			if _, ok := w.first[n.via]; !ok {
				w.first[n.via] = n
			}
			w.look(ctx)
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// since returns the time from the start of the watch to at. The result is never 0.
func (w *watching) since(at time.Time) time.Duration {
	return max(at.Sub(w.begun), time.Millisecond)
}

// look fetches the feed with conditional requests until the feed has changed. It repeats a failed
// request later.
func (w *watching) look(ctx context.Context) {
	if w.changed != 0 {
		return
	}
	x := w.x
	h := http.Header{}
	if tag := w.was.header.Get("ETag"); tag != "" {
		h.Set("If-None-Match", tag)
	}
	if modified := w.was.header.Get("Last-Modified"); modified != "" {
		h.Set("If-Modified-Since", modified)
	}
	x.requests = 0 // a watch limits the rate of requests, not their number
	got := x.get(ctx, x.first.url, how{header: h, limit: maxBody})
	switch {
	case !got.ok():
		return
	case w.was.ok() && x.isNews(&w.was, &got):
		w.changed = w.since(x.d.now())
	}
	w.was = got
}

// isNews reports whether two responses differ. If the bytes differ in each response, only the ids of
// items are compared.
func (x *exam) isNews(was, is *answer) bool {
	if string(was.body) == string(is.body) {
		return false
	}
	if !x.unstable {
		return true
	}
	a, err := feed.ParseBytes(was.body, &feed.Options{URL: was.url, Header: was.header})
	if err != nil {
		return true
	}
	b, err := feed.ParseBytes(is.body, &feed.Options{URL: is.url, Header: is.header})
	return err == nil && !slices.Equal(ids(a), ids(b))
}

// conclude reports the results of the watch.
func (w *watching) conclude() {
	x := w.x
	const id = "watch-change"
	switch {
	case w.changed == 0 && len(w.first) == 0:
		x.add(SubjectWatch, id, Note, fmt.Sprintf("No change of the feed was visible from here within %s.", span(x.d.Watch)), "If you changed it, check that the file is in the right place and that no cache delays it.")
		return
	case w.changed == 0:
		x.add(SubjectWatch, id, Warning, "A hub notified a change, but from here the feed is the same as before.", "Check whether a cache delays the feed: the hub and readers then see different versions.")
	case len(w.hubs) == 0:
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed; the change was visible after %s. No subscription at a hub was tried.", span(w.changed)), "")
	default:
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed; the change was visible after %s.", span(w.changed)), "")
	}
	for _, via := range w.hubs {
		w.concludeHub(via)
	}
}

func (w *watching) concludeHub(via string) {
	x := w.x
	const id = "watch-told"
	n, ok := w.first[via]
	if !ok {
		x.add(SubjectWatch, id, Problem, fmt.Sprintf("The %s hub sent no notification during the watch: it got no ping, or it did not see the change.", via),
			"Ping the hub after each change, from your publishing program or by hand:\ncloudburst ping "+shellWord(x.feed))
		return
	}
	after := ""
	if !n.changed.IsZero() {
		after = fmt.Sprintf(", %s after it learned of the change", span(n.at.Sub(n.changed)))
	}
	x.add(SubjectWatch, id, OK, fmt.Sprintf("The %s hub notified after %s%s.", via, span(w.since(n.at)), after), "")
}
