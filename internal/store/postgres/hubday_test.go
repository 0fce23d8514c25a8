package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// testNetwork simulates the feeds and subscribers of a hub.
type testNetwork struct {
	mu       sync.Mutex
	feeds    map[string]string // key: URL, value: body; other URLs cannot be read
	about    map[string]hub.About
	slow     time.Duration  // how long a read of a feed takes
	hold     chan struct{}  // blocks callbacks until closed; nil: no blocking
	tries    map[string]int // key: callback, value: number of attempts
	versions map[string]int64
}

func (s *testNetwork) Fetch(_ context.Context, f hub.Fetch) (hub.Fetched, error) {
	s.mu.Lock()
	body, about, slow := s.feeds[f.URL], s.about[f.URL], s.slow
	s.mu.Unlock()
	if slow > 0 {
		<-time.After(slow)
	}
	if body == "" {
		return hub.Fetched{}, fault.New(fault.Unreadable, "The feed could not be read.")
	}
	sum := sha256.Sum256([]byte(body))
	return hub.Fetched{Hash: sum[:], Body: []byte(body), URL: f.URL, ContentType: "text/xml", About: func() hub.About { return about }, SentAt: time.Now()}, nil
}

// Notify fails the first attempt of some callbacks, and reports one as gone.
func (s *testNetwork) Notify(ctx context.Context, sub *hub.Subscription, topic *hub.Topic, _ *hub.Content, _ int) hub.Reply {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return hub.Reply{NotTried: true}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[sub.Callback]++
	switch n := s.tries[sub.Callback]; {
	case strings.HasSuffix(sub.Callback, "/gone"):
		return hub.Reply{Gone: true, Text: "Status 410."}
	case strings.HasSuffix(sub.Callback, "7") && n%2 == 1:
		return hub.Reply{Text: "Status 500."}
	}
	s.versions[sub.Callback] = max(s.versions[sub.Callback], topic.Version)
	return hub.Reply{OK: true, Took: time.Millisecond}
}

func (s *testNetwork) Verify(context.Context, hub.Subscription, hub.Topic, bool) (event.Exchange, error) {
	return event.Exchange{}, nil
}
func (s *testNetwork) Confirm(_ context.Context, in hub.Intent) (event.Exchange, error) {
	if strings.HasSuffix(in.Callback, "/no") {
		return event.Exchange{}, fault.New(fault.Refused, "The subscriber refused.")
	}
	return event.Exchange{}, nil
}
func (s *testNetwork) Deny(context.Context, hub.Intent) (event.Exchange, error) {
	return event.Exchange{}, nil
}
func (s *testNetwork) Discover(_ context.Context, url string) ([]string, error) {
	return []string{url}, nil
}

// day is a running hub with its simulated network.
type day struct {
	*testNetwork
	t     *testing.T
	store *Store
	hub   *hub.Hub
	stop  func()
}

func (d *day) start(node int64) {
	d.hub = &hub.Hub{Store: d.store, Fetch: d, Notify: d, Verify: d, Ask: d, Find: d, Bus: event.NewBus(node), Hint: d.store.Hint,
		Log:     slog.New(slog.NewTextHandler(d.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Options: hub.Options{PingInterval: time.Millisecond, Retry: []time.Duration{10 * time.Millisecond}, AckWithin: 50 * time.Millisecond}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.hub.Run(ctx) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Error(err)
		}
	})
	d.t.Cleanup(d.stop)
}

// until waits for a condition.
func (d *day) until(what string, is func() bool) {
	d.t.Helper()
	deadline, tick := time.After(2*time.Minute), time.NewTicker(5*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			d.t.Fatalf("timed out after two minutes waiting for: %s", what)
		case <-tick.C:
		}
	}
}

func (d *day) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *day) set(feed, body string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.feeds[feed] = body
}

// delivered returns how many callbacks under a host have received the given version or a newer one.
func (d *day) delivered(host string, version int64) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for callback, v := range d.versions {
		if strings.HasPrefix(callback, "http://"+host) && v >= version {
			n++
		}
	}
	return n
}

func (d *day) ping(feed string) hub.PingResult {
	d.t.Helper()
	got, err := d.hub.Ping(d.t.Context(), hub.Ping{URL: feed, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
	d.must(err)
	return got
}

const (
	large, small    = "http://feeds.test/large.xml", "http://feeds.test/small.xml"
	manySubscribers = 1200
)

// hubDay makes a hub perform all its operations, involving several topics where possible.
func hubDay(t *testing.T, s *Store) {
	d := &day{t: t, store: s, testNetwork: &testNetwork{feeds: map[string]string{large: "one", small: "one"}, about: map[string]hub.About{},
		tries: map[string]int{}, versions: map[string]int64{}}}
	d.start(1)
	d.subscribe()
	d.change()
	d.unsubscribe()
	d.handOver()
	_, _, err := d.hub.SweepNow(t.Context())
	d.must(err)
}

// subscribe registers subscribers in every protocol.
func (d *day) subscribe() {
	ctx := d.t.Context()
	var list []hub.SubscriptionInfo
	now := time.Now()
	for i := range manySubscribers {
		sub := hub.SubscriptionInfo{Topic: large, Subscription: hub.Subscription{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://many%d.test/%d", i%50, i),
			CreatedAt: now, RenewedAt: now, ExpiresAt: now.Add(time.Hour)}}
		if i%100 == 0 {
			sub.Topic = small
		}
		list = append(list, sub)
	}
	_, err := d.hub.Import(ctx, list)
	d.must(err)
	for _, protocol := range []string{hub.XMLRPC, hub.CNWS} {
		for range 2 { // register and renew
			got, err := d.hub.Register(ctx, hub.Registration{Protocol: protocol, Callback: "http://both.test/" + protocol, Feeds: []string{large, small, "http://feeds.test/none.xml"}, Via: "rest"})
			d.must(err)
			if len(got.Accepted) != 2 {
				d.t.Fatalf("registered for %q", got.Accepted)
			}
		}
	}
	_, err = d.hub.Register(ctx, hub.Registration{Protocol: hub.HTTPPost, Callback: "http://both.test/gone", Feeds: []string{large, small}, Via: "rest"})
	d.must(err)
	d.request("http://websub.test/1", hub.ModeSubscribe)
	d.request("http://websub.test/no", hub.ModeSubscribe)
}

func (d *day) request(callback, mode string) {
	for _, topic := range []string{large, small} {
		d.must(d.hub.Request(d.t.Context(), hub.Intent{Topic: topic, Callback: callback, Mode: mode, Secret: "s", Via: "websub"}, netip.MustParseAddr("192.0.2.2")))
	}
	d.decided()
}

func (d *day) decided() {
	d.until("all requests are decided", func() bool {
		n, err := d.store.Intents(d.t.Context())
		return err == nil && n == 0
	})
}

// change changes feeds, and pings them by each of their URLs.
func (d *day) change() {
	d.mu.Lock()
	d.about[small] = hub.About{Title: "Small", Self: "http://feeds.test/other.xml", Home: "http://site.test/"}
	d.mu.Unlock()
	for _, feed := range []string{large, small} {
		d.set(feed, "two")
		if got := d.ping(feed); !got.Known {
			d.t.Fatalf("the ping of %s returned %+v", feed, got)
		}
	}
	d.until("all subscribers are notified", func() bool { return d.delivered("many", 1) == manySubscribers })
	d.ping("http://feeds.test/other.xml")
	_, err := d.hub.Announce(d.t.Context(), hub.Announcement{Name: "A site", URL: "http://site.test/", Feed: large, Via: "weblogs", Source: netip.MustParseAddr("192.0.2.1")})
	d.must(err)
	d.set("http://feeds.test/unknown.xml", "one")
	d.ping("http://feeds.test/unknown.xml")
	d.mu.Lock()
	d.slow = 300 * time.Millisecond
	d.mu.Unlock()
	d.set(small, "three")
	d.ping(small) // the ping returns while the feed is still being read
	d.until("the slow subscriber is notified", func() bool { return d.delivered("both.test/xml-rpc", 2) == 1 || d.delivered("both", 2) >= 1 })
	d.mu.Lock()
	d.slow = 0
	d.mu.Unlock()
}

// unsubscribe removes subscriptions, by their owners and by the operator.
func (d *day) unsubscribe() {
	ctx := d.t.Context()
	_, err := d.hub.Cancel(ctx, hub.Registration{Protocol: hub.XMLRPC, Callback: "http://both.test/" + hub.XMLRPC, Feeds: []string{large, small}, Via: "rest"})
	d.must(err)
	d.request("http://websub.test/1", hub.ModeUnsubscribe)
	d.request("http://websub.test/2", hub.ModeSubscribe)
	var keys []hub.Key
	for _, topic := range []string{large, small} {
		keys = append(keys, hub.Key{TopicID: hub.TopicID(topic), ID: hub.SubscriptionID(hub.WebSub, "http://websub.test/2")})
	}
	gone, err := d.hub.Remove(ctx, keys, "admin")
	d.must(err)
	if len(gone) != 2 {
		d.t.Fatalf("%d were removed, want both", len(gone))
	}
	d.decided()
}

// handOver stops the hub during a delivery, and another hub continues.
func (d *day) handOver() {
	hold := make(chan struct{})
	d.mu.Lock()
	d.hold = hold
	d.mu.Unlock()
	d.set(large, "four")
	d.ping(large)
	d.stop()
	d.mu.Lock()
	d.hold = nil
	d.mu.Unlock()
	close(hold)
	d.start(2)
	d.until("the next hub has notified the rest", func() bool { return d.delivered("many", 2) >= manySubscribers-manySubscribers/100 })
	d.until("no delivery is pending", func() bool {
		c, err := d.store.Counts(d.t.Context(), time.Now())
		return err == nil && c.Pending == 0 && c.ShardsDue == 0
	})
}
