package doctor

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"cloudburst/protocol/rsscloud"
	"cloudburst/protocol/websub"
)

// callback is the little server to which hubs tell.
type callback struct {
	host  string // by which hubs reach it; "": the address that they see
	port  int
	token string // what nobody guesses
	stop  func(context.Context)
}

// register asks the feed's hubs to tell this machine, where they can. The function
// that it gives ends that.
func (w *watching) register(ctx context.Context) (leave func()) {
	x := w.x
	const id = "watch-hub"
	clouds := x.clouds
	if x.d.Hub != "" {
		clouds = []cloudAt{{Cloud: x.ownCloud()}}
	}
	cloud := slices.IndexFunc(clouds, func(c cloudAt) bool { return x.reaches(c.Domain) })
	hubs := x.links.hubs()
	hub := slices.IndexFunc(hubs, func(h string) bool { return x.reaches(hostOf(h)) && rsscloud.CheckFeedURL(h) == nil })
	if cloud < 0 && hub < 0 {
		if len(clouds)+len(hubs) > 0 {
			x.add(SubjectWatch, id, Note, "No hub is asked to tell this machine, for none may reach it.", "If one can, say by which name:\n--callback NAME:PORT")
		} else {
			x.add(SubjectWatch, id, Note, "There is no hub that could be asked to tell this machine.", "")
		}
		return func() {}
	}
	c, err := w.listen(ctx)
	if err != nil {
		x.add(SubjectWatch, id, Warning, "Nothing can listen here for the hub: "+err.Error()+".", "Name another port:\n--callback NAME:PORT")
		return func() {}
	}
	x.asked = 0
	ends := []func(context.Context){}
	if cloud >= 0 {
		ends = append(ends, w.registerCloud(ctx, clouds[cloud].Cloud, c))
	}
	if hub >= 0 && ctx.Err() == nil {
		ends = append(ends, w.subscribe(ctx, hubs[hub], c))
	}
	return func() {
		// Also after an interruption. A hub that cannot cancel forgets by itself.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		for _, end := range ends {
			end(ctx)
		}
		c.stop(ctx)
	}
}

// reaches reports a hub that can be expected to reach this machine.
func (x *exam) reaches(host string) bool { return x.d.Callback != "" || isLoopback(host) }

func (w *watching) registerCloud(ctx context.Context, cloud rsscloud.Cloud, c callback) (end func(context.Context)) {
	g := rsscloud.Registration{Port: c.port, Path: "/rsscloud/" + c.token, Protocol: rsscloud.HTTPPost, URLs: []string{w.x.feed}, Domain: c.host}
	client := rsscloud.Client{HTTP: w.x, UserAgent: w.x.d.UserAgent}
	asking, cancel := context.WithTimeout(ctx, askTime)
	result, err := client.PleaseNotify(asking, cloud, g)
	cancel()
	w.forget()
	if !w.asks(rssCloudVia, err, result.Success, quote(result.Msg)) {
		return func(context.Context) {}
	}
	return func(ctx context.Context) { _, _ = client.Cancel(ctx, cloud, g) }
}

// The protocols in which a hub tells, as they are called.
const (
	rssCloudVia = "rssCloud"
	webSubVia   = "WebSub"
)

// subscribe asks a WebSub hub, and waits until it has asked back. The lease is as long
// as the watch, so that the hub forgets it soon even if it cannot be told.
func (w *watching) subscribe(ctx context.Context, hub string, c callback) (end func(context.Context)) {
	x := w.x
	host := c.host
	if host == "" {
		host = "127.0.0.1"
	}
	s := websub.Subscription{
		Callback: "http://" + net.JoinHostPort(host, strconv.Itoa(c.port)) + "/websub/" + c.token,
		Topic:    x.topic(), Lease: max(x.d.Watch+time.Minute, websub.MinLease).Truncate(time.Second),
	}
	client := websub.Client{HTTP: x, UserAgent: x.d.UserAgent}
	asking, cancel := context.WithTimeout(ctx, askTime)
	err := client.Subscribe(asking, hub, s)
	cancel()
	confirmed := false
	if err == nil {
		patience := time.NewTimer(confirmTime)
		defer patience.Stop()
		select {
		case <-w.confirmed:
			confirmed = true
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	w.asks(webSubVia, err, confirmed, "it did not ask back within "+span(confirmTime))
	if err != nil {
		return func(context.Context) {}
	}
	return func(ctx context.Context) {
		if client.Unsubscribe(ctx, hub, s) != nil {
			return
		}
		select { // it asks back about this too
		case <-w.ended:
		case <-ctx.Done():
		}
	}
}

// asks tells what came of asking a hub.
func (w *watching) asks(via string, err error, took bool, why string) bool {
	const id = "watch-hub"
	switch {
	case err != nil:
		w.x.add(SubjectWatch, id, Warning, fmt.Sprintf("The %s hub cannot be asked to tell this machine: %s", via, sentence(w.x.d.plain(err))), "")
	case !took:
		w.x.add(SubjectWatch, id, Warning, fmt.Sprintf("The %s hub does not tell this machine: %s", via, why), "See whether it can connect to this machine, through firewalls too, and give the name by which it does:\n--callback NAME:PORT")
	default:
		w.asked = append(w.asked, via)
		w.x.add(SubjectWatch, id, OK, fmt.Sprintf("The %s hub will tell this machine of changes.", via), "")
		return true
	}
	return false
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

// listen opens the callback.
func (w *watching) listen(ctx context.Context) (callback, error) {
	x := w.x
	c := callback{host: x.d.Callback, token: websub.NewToken()}
	port := "0"
	if h, p, err := net.SplitHostPort(x.d.Callback); err == nil {
		c.host, port = h, p
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
		return c, err
	}
	if _, port, err = net.SplitHostPort(ln.Addr().String()); err == nil {
		c.port, err = strconv.Atoi(port)
	}
	if err != nil {
		_ = ln.Close() // it was never used
		return c, err
	}
	mux := http.NewServeMux()
	mux.Handle("/rsscloud/"+c.token, &rsscloud.Subscriber{Wants: func(u string) bool { return u == x.feed }, OnNotify: w.notified, Now: x.d.now})
	mux.Handle("/websub/"+c.token, &websub.Subscriber{Callbacks: w, MaxBody: maxBody})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // it ends with stop
	}()
	c.stop = func(ctx context.Context) {
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // whoever still speaks has nothing to say any more
		}
		<-done
	}
	return c, nil
}

// notified takes a notification of an rssCloud hub.
func (w *watching) notified(ctx context.Context, n rsscloud.Received) {
	h := heard{via: rssCloudVia, at: n.At}
	if r := rsscloud.RequestFrom(ctx); r != nil {
		if t, err := time.Parse(time.RFC3339Nano, r.Header.Get(rsscloud.ChangedAtHeader)); err == nil {
			h.changed = t
		}
	}
	w.take(h)
}

// take keeps news. When many wait, the first ones are enough.
func (w *watching) take(h heard) {
	select {
	case w.heard <- h:
	default:
	}
}

// Confirm consents to what was asked for, and to its end.
func (w *watching) Confirm(_ context.Context, c websub.Confirmation) error {
	if c.Topic != w.x.topic() {
		return websub.ErrNotWanted
	}
	asked := w.confirmed
	if c.Mode == websub.ModeUnsubscribe {
		asked = w.ended
	}
	select {
	case asked <- struct{}{}:
	default: // it asks again
	}
	return nil
}

// Denied has nothing to add: without a question there is no subscription.
func (w *watching) Denied(context.Context, websub.Denial) {}

// Wanted is the feed, unsigned.
func (w *watching) Wanted(context.Context, string) (websub.Wanted, error) {
	return websub.Wanted{Topic: w.x.topic()}, nil
}

// Deliver takes the news; the content is read elsewhere.
func (w *watching) Deliver(context.Context, websub.Delivery) error {
	w.take(heard{via: webSubVia, at: w.x.d.now()})
	return nil
}
