package doctor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloudburst/feed"
	"cloudburst/rsscloud"
)

// Limits of a watch.
const (
	soonest    = 2 * time.Second  // between two readings
	latest     = 30 * time.Second //
	readings   = 24               // in a watch, unless it is short or long
	cancelTime = 5 * time.Second
)

// watching is one watch for a change of the feed.
type watching struct {
	x     *exam
	begun time.Time
	was   answer // the last reading
	heard chan heard

	registered bool
	changed    time.Duration // into the watch, when it was seen; 0: not yet
	told       time.Duration // when the hub told; 0: not yet
	after      time.Duration // how long after it heard itself, as it says; 0: it does not
}

// heard is a notification.
type heard struct {
	at      time.Time
	changed time.Time // when the hub heard of the change; zero: it does not say
}

// watch waits for a change of the feed, and whether its hub tells of it.
func (x *exam) watch(ctx context.Context) bool {
	if x.d.Watch <= 0 {
		return true
	}
	w := &watching{x: x, was: x.second, heard: make(chan heard, 64)}
	leave := w.register(ctx)
	defer leave()
	if ctx.Err() != nil {
		return false
	}
	x.add(SubjectWatch, "watch", OK, fmt.Sprintf("Now change the feed, and ping as you always do: it is watched for %s.", span(x.d.Watch)), "")
	w.begun = x.d.now()
	w.was = x.get(ctx, x.first.url, how{most: maxBody})
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
	for w.changed == 0 || w.registered && w.told == 0 {
		select {
		case <-ctx.Done():
			return
		case n := <-w.heard:
			if w.told == 0 {
				w.told = w.since(n.at)
				if !n.changed.IsZero() {
					w.after = max(n.at.Sub(n.changed), time.Millisecond)
				}
			}
			w.look(ctx)
		case <-tick.C:
			if w.changed == 0 {
				w.look(ctx)
			}
		}
	}
}

// since is how far into the watch something was; never 0.
func (w *watching) since(at time.Time) time.Duration {
	return max(at.Sub(w.begun), time.Millisecond)
}

// look reads the feed, as somebody who has it. What cannot be read now is read later.
func (w *watching) look(ctx context.Context) {
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
	if !got.ok() || w.changed != 0 {
		return
	}
	if !w.was.ok() {
		w.was = got
		return
	}
	if x.isNews(&w.was, &got) {
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
	const fix = "After each change tell the hub, from the program that publishes or by hand:\ncloudburst ping "
	switch {
	case w.changed == 0 && w.told == 0:
		x.add(SubjectWatch, id, Note, fmt.Sprintf("The feed did not change in %s, as far as could be seen from here.", span(x.d.Watch)), "If you did change it, see whether the file is where the server takes it from, and whether a cache holds it back.")
	case w.changed == 0:
		x.add(SubjectWatch, id, Warning, fmt.Sprintf("The hub told of a change after %s, and from here the feed is the same as before.", span(w.told)), "See whether a cache holds the feed back: the hub and readers then see different feeds.")
	case w.told != 0:
		after := ""
		if w.after != 0 {
			after = fmt.Sprintf(", %s after it heard of it", span(w.after))
		}
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed, seen after %s; the hub told after %s%s.", span(w.changed), span(w.told), after), "")
	case w.registered:
		x.add(SubjectWatch, id, Problem, fmt.Sprintf("The feed changed, seen after %s, and the hub told nothing until the end of the watch: nobody pinged it, or it did not see the change.", span(w.changed)), fix+shellWord(x.feed))
	default:
		x.add(SubjectWatch, id, OK, fmt.Sprintf("The feed changed, seen after %s. Whether the hub tells of it was not tried.", span(w.changed)), "")
	}
}

// register asks the feed's hub to tell this machine, where it can. The function that
// it gives ends that.
func (w *watching) register(ctx context.Context) (leave func()) {
	x := w.x
	const id = "watch-hub"
	i := slices.IndexFunc(x.clouds, func(c cloudAt) bool { return x.d.Callback != "" || isLoopback(c.Domain) })
	if i < 0 {
		if len(x.clouds) > 0 {
			x.add(SubjectWatch, id, Note, fmt.Sprintf("The hub %s is not asked to tell this machine, for it may not reach it.", x.clouds[0].Domain), "If it can, say by which name:\n--callback NAME:PORT")
		} else {
			x.add(SubjectWatch, id, Note, "There is no rssCloud hub that could be asked to tell this machine.", "")
		}
		return func() {}
	}
	cloud := x.clouds[i].Cloud
	g, stop, err := w.listen(ctx)
	if err != nil {
		x.add(SubjectWatch, id, Warning, "Nothing can listen here for the hub: "+err.Error()+".", "Name another port:\n--callback NAME:PORT")
		return func() {}
	}
	x.asked = 0
	client := rsscloud.Client{HTTP: x, UserAgent: x.d.UserAgent}
	asking, cancel := context.WithTimeout(ctx, askTime)
	result, err := client.PleaseNotify(asking, cloud, g)
	cancel()
	w.forget()
	switch {
	case err != nil:
		x.add(SubjectWatch, id, Warning, fmt.Sprintf("The hub cannot be asked to tell this machine: %s.", x.d.words(err)), "")
	case !result.Success:
		x.add(SubjectWatch, id, Warning, fmt.Sprintf("The hub does not want to tell this machine: %s", quote(result.Msg)), "See whether it can connect to this machine, through firewalls too, and give the name by which it does:\n--callback NAME:PORT")
	default:
		w.registered = true
		x.add(SubjectWatch, id, OK, "The hub took a registration, and will tell this machine of changes.", "")
	}
	return func() {
		if w.registered {
			// Also after an interruption. A hub that cannot cancel forgets by itself.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
			defer cancel()
			_, _ = client.Cancel(ctx, cloud, g)
		}
		stop()
	}
}

// forget throws away what was heard so far: the test call of the registration.
func (w *watching) forget() {
	for {
		select {
		case <-w.heard:
		default:
			return
		}
	}
}

// listen opens the callback and says how to register it.
func (w *watching) listen(ctx context.Context) (g rsscloud.Registration, stop func(), err error) {
	x := w.x
	host, port := x.d.Callback, "0"
	if h, p, err := net.SplitHostPort(x.d.Callback); err == nil {
		host, port = h, p
	}
	open := x.d.Listen
	if open == nil {
		open = func(ctx context.Context, address string) (net.Listener, error) {
			var lc net.ListenConfig
			return lc.Listen(ctx, "tcp", address)
		}
	}
	ln, err := open(ctx, ":"+port)
	if err != nil {
		return g, nil, err
	}
	var secret [8]byte
	_, _ = rand.Read(secret[:]) // it never fails
	g = rsscloud.Registration{Path: "/notify/" + hex.EncodeToString(secret[:]), Protocol: rsscloud.HTTPPost, URLs: []string{x.feed}, Domain: host}
	_, port, err = net.SplitHostPort(ln.Addr().String())
	if err == nil {
		g.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		_ = ln.Close() // it was never used
		return g, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(g.Path, &rsscloud.Subscriber{Wants: func(u string) bool { return u == x.feed }, OnNotify: w.notified, Now: x.d.now})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // it ends with stop
	}()
	return g, func() {
		_ = server.Close() // whoever still speaks has nothing to say any more
		<-done
	}, nil
}

// notified takes a notification. When many wait, the first ones are enough.
func (w *watching) notified(ctx context.Context, n rsscloud.Notice) {
	h := heard{at: n.At}
	if r := rsscloud.RequestFrom(ctx); r != nil {
		if t, err := time.Parse(time.RFC3339Nano, r.Header.Get(rsscloud.ChangedAtHeader)); err == nil {
			h.changed = t
		}
	}
	select {
	case w.heard <- h:
	default:
	}
}
