package hub_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/hub"
)

// related registers a callback for each of n further URLs of the feed, which declares feedURL as its
// own, and returns the URLs and a function that counts the notifications of each callback.
func (h *harness) related(n int) (urls []string, counts func() []int) {
	h.t.Helper()
	h.abouts = map[string]hub.About{}
	for i := range n {
		u := fmt.Sprint(feedURL, "?u=", i)
		urls, h.feeds[u], h.abouts[u] = append(urls, u), "one", hub.About{Self: feedURL, Home: "http://feeds.test/"}
		got, err := h.hub.Register(h.t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://s%d.test/", i), Feeds: []string{u}, Via: "rest"})
		if err != nil || len(got.Accepted) != 1 {
			h.t.Fatalf("%+v, %v", got, err)
		}
	}
	return urls, func() (list []int) {
		for i := range n {
			list = append(list, h.count(fmt.Sprintf("http://s%d.test/", i)))
		}
		return list
	}
}

// setAll changes the feed under all of its URLs.
func (h *harness) setAll(urls []string, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range urls {
		h.feeds[u] = body
	}
}

// spec:cloudburst#ping-related
func TestPingReachesSubscribersOfAllURLsOfTheFeed(t *testing.T) {
	t.Parallel()
	for name, ping := range map[string]func(h *harness) error{
		"ping": func(h *harness) error {
			_, err := h.hub.Ping(h.t.Context(), hub.Ping{URL: feedURL, Via: "rest", Source: source(1)})
			return err
		},
		"save": func(h *harness) error {
			_, err := h.hub.Ping(h.t.Context(), hub.Ping{URL: feedURL, Via: "save", OnlyThisURL: true})
			return err
		},
		"ping of a site": func(h *harness) error {
			_, err := h.hub.Announce(h.t.Context(), hub.Announcement{URL: "http://feeds.test/", Via: "weblogs", Source: source(1)})
			return err
		},
		"changes of another server": func(h *harness) error {
			_, err := h.hub.ReceiveChanges(h.t.Context(), []string{feedURL}, "changes")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, hub.Options{SourceRate: -1}, func(t *testing.T, h *harness) {
				urls, counts := h.related(25)
				for round := range 3 {
					h.setAll(urls, fmt.Sprint("version ", round))
					before := h.documentsRead()
					if err := ping(h); err != nil {
						t.Fatal(err)
					}
					h.settle(5 * time.Second)
					if n := h.documentsRead() - before; n != len(urls) {
						t.Errorf("the ping of a feed with %d URLs read %d documents", len(urls), n)
					}
					for i, n := range counts() {
						if n != round+1 {
							t.Errorf("after %d changes, the subscriber of %s has %d notifications", round+1, urls[i], n)
						}
					}
				}
			})
		})
	}
}

// A ping costs its sender one request, so many pings must not read the further URLs more often than
// each URL can be read.
func TestPingsInOneSecondShareTheReadsOfFurtherURLs(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		urls, _ := h.related(50)
		before := h.documentsRead()
		for range 100 {
			go func() {
				_, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Via: "rest", Source: netip.MustParseAddr("192.0.2.1")})
				if err != nil {
					t.Error(err)
				}
			}()
		}
		h.settle(10 * time.Second)
		if n := h.documentsRead() - before; n < len(urls) || n > 3*len(urls) {
			t.Errorf("%d feeds were read after 100 pings of a feed with %d URLs", n, len(urls))
		}
	})
}

// A ping makes all URLs of a feed due, and their host may permit only a part of these checks at once.
func TestDueChecksContinueAtTheRateOfTheirHost(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: -1, HostRate: 2}, func(t *testing.T, h *harness) {
		var list []hub.SubscriptionInfo
		for i := range 80 {
			list = append(list, hub.SubscriptionInfo{Topic: fmt.Sprint(feedURL, "?u=", i), Subscription: hub.Subscription{Protocol: hub.HTTPPost,
				Callback: "http://a.test/n", CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}})
		}
		if _, err := h.hub.Import(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			h.setAll([]string{s.Topic}, "one")
			if err := h.store.RecordPing(t.Context(), s.Topic, time.Now(), time.Now(), nil); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		h.hub.Wake()
		for second := 0; second <= 40; second += 10 {
			h.settle(time.Until(begun.Add(time.Duration(second) * time.Second)))
			if n, most := h.documentsRead(), min(20+2*second, len(list)); n > most || n < most-10 {
				t.Errorf("after %d seconds, %d feeds were read; the rate permits %d", second, n, most)
			}
		}
		if n := h.documentsRead(); n != len(list) {
			t.Errorf("%d of %d feeds were read", n, len(list))
		}
	})
}
