package doctor

import (
	"cmp"
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

// callback is the server that receives notifications during a watch.
type callback struct {
	host  string // host name at which hubs reach the server; "": the address from which requests arrive
	port  int
	token string // part of the path that others cannot guess
	stop  func(context.Context)
}

// register subscribes to the feed's hubs if they can reach this machine. The returned
// function cancels the subscriptions.
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
			x.add(SubjectWatch, id, Note, "The watch subscribes to no hub, because no hub is known to reach this machine.", "If one can, give the name of this machine:\n--callback NAME:PORT")
		} else {
			x.add(SubjectWatch, id, Note, "The feed names no hub to subscribe to.", "")
		}
		return func() {}
	}
	c, err := w.listen(ctx)
	if err != nil {
		x.add(SubjectWatch, id, Warning, "Cannot listen for notifications: "+err.Error()+".", "Choose another port:\n--callback NAME:PORT")
		return func() {}
	}
	x.requests = 0
	ends := []func(context.Context){}
	if cloud >= 0 {
		ends = append(ends, w.registerCloud(ctx, clouds[cloud].Cloud, c))
	}
	if hub >= 0 && ctx.Err() == nil {
		ends = append(ends, w.subscribe(ctx, hubs[hub], c))
	}
	return func() {
		// The cancellation continues after an interruption. Otherwise the subscription would remain
		// until it expires at the hub.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		for _, end := range ends {
			end(ctx)
		}
		c.stop(ctx)
	}
}

// reaches reports whether the hub at host can probably send requests to this machine.
func (x *exam) reaches(host string) bool { return x.d.Callback != "" || isLoopback(host) }

func (w *watching) registerCloud(ctx context.Context, cloud rsscloud.Cloud, c callback) (end func(context.Context)) {
	g := rsscloud.Registration{Port: c.port, Path: "/rsscloud/" + c.token, Protocol: rsscloud.HTTPPost, URLs: []string{w.x.feed}, Domain: c.host}
	client := rsscloud.Client{HTTP: w.x, UserAgent: w.x.d.UserAgent}
	asking, cancel := context.WithTimeout(ctx, askTime)
	result, err := client.PleaseNotify(asking, cloud, g)
	cancel()
	w.forget()
	if !w.subscribed(rssCloudVia, err, result.Success, quote(result.Msg)) {
		return func(context.Context) {}
	}
	return func(ctx context.Context) { _, _ = client.Cancel(ctx, cloud, g) }
}

// Names of the protocols of notifications.
const (
	rssCloudVia = "rssCloud"
	webSubVia   = "WebSub"
)

// subscribe subscribes at a WebSub hub and waits for the verification. The lease is as
// long as the watch, so that it expires soon even if unsubscribing fails.
func (w *watching) subscribe(ctx context.Context, hub string, c callback) (end func(context.Context)) {
	x := w.x
	host := cmp.Or(c.host, "127.0.0.1")
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
	w.subscribed(webSubVia, err, confirmed, "the hub did not verify the subscription within "+span(confirmTime))
	if err != nil {
		return func(context.Context) {}
	}
	return func(ctx context.Context) {
		if client.Unsubscribe(ctx, hub, s) != nil {
			return
		}
		select { // the hub also verifies the end of a subscription
		case <-w.ended:
		case <-ctx.Done():
		}
	}
}

// subscribed reports the result of a subscription at a hub.
func (w *watching) subscribed(via string, err error, accepted bool, why string) bool {
	const id = "watch-hub"
	switch {
	case err != nil:
		w.x.add(SubjectWatch, id, Warning, fmt.Sprintf("Subscribing at the %s hub failed: %s", via, sentence(w.x.d.plain(err))), "")
	case !accepted:
		w.x.add(SubjectWatch, id, Warning, fmt.Sprintf("The %s hub does not notify this machine: %s", via, why), "Check that the hub can connect to this machine, also through firewalls, and give the right name:\n--callback NAME:PORT")
	default:
		w.hubs = append(w.hubs, via)
		w.x.add(SubjectWatch, id, OK, fmt.Sprintf("The %s hub will notify this machine of changes.", via), "")
		return true
	}
	return false
}

// forget discards earlier notifications, because a registration causes a test notification.
func (w *watching) forget() {
	for {
		select {
		case <-w.received:
		default:
			return
		}
	}
}

// listen starts the callback server.
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
		_ = ln.Close() // the listener was never used
		return c, err
	}
	mux := http.NewServeMux()
	mux.Handle("/rsscloud/"+c.token, &rsscloud.Subscriber{Wants: func(u string) bool { return sameURL(u, x.feed) }, OnNotify: w.notified, Now: x.d.now})
	mux.Handle("/websub/"+c.token, &websub.Subscriber{Callbacks: w, MaxBody: maxBody})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 15 * time.Second, MaxHeaderBytes: 64 << 10}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // Serve ends when the returned function stops the server
	}()
	c.stop = func(ctx context.Context) {
		if server.Shutdown(ctx) != nil {
			_ = server.Close() // open connections are no longer needed
		}
		<-done
	}
	return c, nil
}

// notified receives a notification of an rssCloud hub.
func (w *watching) notified(ctx context.Context, n rsscloud.Received) {
	h := notification{via: rssCloudVia, at: n.At}
	if r := rsscloud.RequestFrom(ctx); r != nil {
		if t, err := time.Parse(time.RFC3339Nano, r.Header.Get(rsscloud.ChangedAtHeader)); err == nil {
			h.changed = t
		}
	}
	w.take(h)
}

// take queues a notification. If the queue is full, it drops the notification.
func (w *watching) take(h notification) {
	select {
	case w.received <- h:
	default:
	}
}

// Confirm accepts the hub's verification of the subscription or of its end.
func (w *watching) Confirm(_ context.Context, c websub.Confirmation) error {
	if c.Topic != w.x.topic() {
		return websub.ErrNotWanted
	}
	verified := w.confirmed
	if c.Mode == websub.ModeUnsubscribe {
		verified = w.ended
	}
	select {
	case verified <- struct{}{}:
	default: // the channel is full after a repeated verification
	}
	return nil
}

// Denied does nothing: without a verification there is no subscription.
func (w *watching) Denied(context.Context, websub.Denial) {}

// Wanted accepts every topic, without a secret.
func (w *watching) Wanted(context.Context, string) (websub.Wanted, error) {
	return websub.Wanted{Topic: w.x.topic()}, nil
}

// Deliver records the notification and ignores its content.
func (w *watching) Deliver(context.Context, websub.Delivery) error {
	w.take(notification{via: webSubVia, at: w.x.d.now()})
	return nil
}
