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
	soonest     = 2 * time.Second  // between two readings
	latest      = 30 * time.Second // between two readings
	readings    = 24               // in a watch, unless it is short or long
	cancelTime  = 5 * time.Second
	confirmTime = 10 * time.Second // for a WebSub hub to ask back
)

// watching is one watch for a change of the feed.
type watching struct {
	x         *exam
	begun     time.Time
	was       answer // the last reading
	heard     chan heard
	confirmed chan struct{} // a WebSub hub asked whether the subscription is wanted
	ended     chan struct{} // and whether its end is

	asked   []string         // protocols in which a hub was asked to tell
	told    map[string]heard // the first news in each
	changed time.Duration    // into the watch, when it was seen; 0: not yet
}

// heard is news from a hub.
type heard struct {
	via     string
	at      time.Time
	changed time.Time // when the hub heard of the change; zero: it does not say
}

// watch waits for a change of the feed, and whether its hubs tell of it.
func (x *exam) watch(ctx context.Context) bool {
	if x.d.Watch <= 0 {
		return true
	}
	w := &watching{x: x, heard: make(chan heard, 64), confirmed: make(chan struct{}, 1), ended: make(chan struct{}, 1), told: map[string]heard{}}
	leave := w.register(ctx)
	defer leave()
	x.asked = 0
	w.was = x.get(ctx, x.first.url, how{most: maxBody})
	if ctx.Err() != nil {
		return false
	}
	x.add(SubjectWatch, "watch", OK, fmt.Sprintf("Now change the feed, and ping as you always do: it is watched for %s.", span(x.d.Watch)), "")
	w.begun = x.d.now()
	w.wait(ctx)
	if ctx.Err() == nil {
		w.conclude()
	}
	return true
}

// wait reads the feed now and then, until all is known or the time is over.
func (w *watching) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, w.x.d.Watch)
	defer cancel()
	tick := time.NewTicker(min(max(w.x.d.Watch/readings, soonest), latest))
	defer tick.Stop()
	for w.changed == 0 || len(w.told) < len(w.asked) {
		select {
		case <-ctx.Done():
			return
		case n := <-w.heard:
			if _, ok := w.told[n.via]; !ok {
				w.told[n.via] = n
			}
			w.look(ctx)
		case <-tick.C:
			w.look(ctx)
		}
	}
}

// since is how far into the watch something was; never 0.
func (w *watching) since(at time.Time) time.Duration {
	return max(at.Sub(w.begun), time.Millisecond)
}

// look reads the feed, as somebody who has it, until it has changed. What cannot be
// read now is read later.
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
	x.asked = 0 // a watch has a pace, not a number
	got := x.get(ctx, x.first.url, how{header: h, most: maxBody})
	switch {
	case !got.ok():
		return
	case w.was.ok() && x.isNews(&w.was, &got):
		w.changed = w.since(x.d.now())
	}
	w.was = got
}

// isNews compares two readings. Of a feed that is different each time only the items
// count.
func (x *exam) isNews(was, is *answer) bool {
	if string(was.body) == string(is.body) {
		return false
	}
	if !x.restless {
		return true
	}
	a, err := feed.ParseBytes(was.body, &feed.Options{URL: was.url, Header: was.header})
	if err != nil {
		return true
	}
	b, err := feed.ParseBytes(is.body, &feed.Options{URL: is.url, Header: is.header})
	return err == nil && !slices.Equal(ids(a), ids(b))
}

// conclude says what came of it.
func (w *watching) conclude() {
	x := w.x
	const id = "watch-change"
	switch {
	case w.changed == 0 && len(w.told) == 0:
		x.add(SubjectWatch, id, Note, fmt.Sprintf("The feed did not change in %s, as far as could be seen from here.", span(x.d.Watch)), "If you did change it, see whether the file is where the server takes it from, and whether a cache holds it back.")
		return
	case w.changed == 0:
		x.add(SubjectWatch, id, Warning, "From here the feed is the same as before, although a hub tells of a change.", "See whether a cache holds the feed back: the hub and readers then see different feeds.")
	case len(w.asked) == 0:
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed, seen after %s. Whether a hub tells of it was not tried.", span(w.changed)), "")
	default:
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed, seen after %s.", span(w.changed)), "")
	}
	for _, via := range w.asked {
		w.concludeHub(via)
	}
}

func (w *watching) concludeHub(via string) {
	x := w.x
	const id = "watch-told"
	n, ok := w.told[via]
	if !ok {
		x.add(SubjectWatch, id, Problem, fmt.Sprintf("The %s hub told nothing until the end of the watch: nobody pinged it, or it did not see the change.", via),
			"After each change tell the hub, from the program that publishes or by hand:\ncloudburst ping "+shellWord(x.feed))
		return
	}
	after := ""
	if !n.changed.IsZero() {
		after = fmt.Sprintf(", %s after it had heard of it", span(n.at.Sub(n.changed)))
	}
	x.add(SubjectWatch, id, OK, fmt.Sprintf("The %s hub told after %s%s.", via, span(w.since(n.at)), after), "")
}
