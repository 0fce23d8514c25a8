package hub_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/nettest"
)

// The tests below spell one host in eight ways and check that each limit per host still applies.

func source(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, byte(i), 1}) }

// documentsRead returns the number of documents that were read.
func (h *harness) documentsRead() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.fetches) + h.discovered
}

func TestEquivalentHostNamesShareOneCheckRate(t *testing.T) {
	t.Parallel()
	feeds := func(n int) (list []string) {
		for i := range n {
			root := nettest.Spellings("feeds.test")[i%8]
			list = append(list, fmt.Sprintf("%s/%d.xml", root, i))
		}
		return list
	}
	for name, do := range map[string]func(t *testing.T, h *harness){
		"pings of unknown feeds": func(t *testing.T, h *harness) {
			for i, u := range feeds(16) {
				if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: u, Via: "rest", Source: source(i)}); err != nil && fault.CodeOf(err) != fault.Unreadable {
					t.Error(err)
				}
			}
		},
		"pings of known feeds": func(t *testing.T, h *harness) {
			var list []hub.SubscriptionInfo
			for _, u := range feeds(16) {
				list = append(list, hub.SubscriptionInfo{Topic: u, Subscription: hub.Subscription{Protocol: hub.HTTPPost, Callback: "http://a.test/n",
					CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}})
			}
			if _, err := h.hub.Import(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			for i, u := range feeds(16) {
				_, _ = h.hub.Ping(t.Context(), hub.Ping{URL: u, Via: "rest", Source: source(i)}) // the result does not matter, only the number of reads
			}
		},
		"registrations": func(t *testing.T, h *harness) {
			for i, u := range feeds(16) {
				_, _ = h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{u}, Source: source(i)})
			}
		},
		"sites": func(t *testing.T, h *harness) {
			for i, u := range feeds(16) {
				if _, err := h.hub.Announce(t.Context(), hub.Announcement{URL: u, Source: source(i)}); err != nil {
					t.Error(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, hub.Options{HostRate: 0.1}, func(t *testing.T, h *harness) {
				for _, u := range feeds(16) {
					h.feeds[u] = "x"
				}
				do(t, h)
				h.settle(100 * time.Millisecond)
				if n := h.documentsRead(); n != 1 {
					t.Errorf("the host was read %d times, want 1", n)
				}
			})
		})
	}
}

func TestEquivalentHostNamesShareOneUnverifiedReadLimit(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: -1, HostRate: 1e6}, func(t *testing.T, h *harness) {
		h.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "It knows nothing of it.") }
		for i := range 400 {
			u := fmt.Sprintf("%s/%d.xml", nettest.Spellings("feeds.test")[i%8], i)
			h.mu.Lock()
			h.feeds[u] = "x"
			h.mu.Unlock()
			_, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://c%d.test/n", i), Challenge: true,
				Feeds: []string{u}, Source: source(i % 200)})
			if err != nil && fault.CodeOf(err) != fault.TooMany {
				t.Fatal(err)
			}
		}
		if n := h.documentsRead(); n < 90 || n > 110 {
			t.Errorf("feeds of the host were read %d times, want about 100", n)
		}
	})
}

func TestEquivalentCallbackHostsShareOneRefusalLimit(t *testing.T) {
	t.Parallel()
	no := fault.New(fault.Refused, "It knows nothing of it.")
	callback := func(i int) string { return fmt.Sprintf("%s/%d", nettest.Spellings("victim.test")[i%8], i) }
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		asked := 0
		h.consent = func(hub.Subscription, string, bool) error { asked++; return no }
		h.confirm = func(hub.Intent) error { return no }
		for i := range 60 {
			_, _ = h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: callback(i), Challenge: true, Feeds: []string{feedURL}, Source: source(1)})
			h.settle(200 * time.Millisecond)
		}
		if asked < 20 || asked > 22 {
			t.Errorf("registrations caused %d challenges, want about 20", asked)
		}
		for i := range 60 {
			_ = h.hub.Request(t.Context(), hub.Intent{Topic: feedURL, Callback: callback(i), Mode: hub.ModeSubscribe, Via: "websub"}, source(2))
			h.settle(200 * time.Millisecond)
		}
		if n := len(h.intents); n < 20 || n > 22 {
			t.Errorf("requests caused %d verifications, want about 20", n)
		}
	})
}

func TestEquivalentCallbackHostsShareOneConsentRate(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: -1, HostRate: -1}, func(t *testing.T, h *harness) {
		asked := 0
		h.consent = func(hub.Subscription, string, bool) error { asked++; return nil }
		for i := range 1000 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			_, _ = h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: u, Feeds: []string{feedURL}, Source: source(i % 250)})
		}
		if asked < 400 || asked > 440 {
			t.Errorf("the host received %d challenges at once, want about 400", asked)
		}
	})
}

func TestEquivalentHostNamesShareOneOpenRequestLimit(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		now, maxNow := 0, 0
		h.confirm = func(hub.Intent) error {
			h.mu.Lock()
			now++
			maxNow = max(maxNow, now)
			h.mu.Unlock()
			time.Sleep(10 * time.Second)
			h.mu.Lock()
			now--
			h.mu.Unlock()
			return nil
		}
		for i := range 100 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			if err := h.hub.Request(t.Context(), hub.Intent{Topic: feedURL, Callback: u, Mode: hub.ModeSubscribe, Via: "websub"}, source(i)); err != nil {
				t.Fatal(err)
			}
		}
		h.settle(time.Minute)
		h.mu.Lock()
		defer h.mu.Unlock()
		if maxNow != 32 {
			t.Errorf("%d verifications of the host ran at once, want 32", maxNow)
		}
	})
}

func TestEquivalentOriginsShareOneDeliveryLimit(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		var list []hub.SubscriptionInfo
		for i := range 200 {
			u := fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)
			h.hold[u] = 10 * time.Second
			list = append(list, hub.SubscriptionInfo{Topic: feedURL, Subscription: hub.Subscription{
				Protocol: hub.HTTPPost, Callback: u, CreatedAt: time.Now(), RenewedAt: time.Now(), ExpiresAt: time.Now().Add(25 * time.Hour)}})
		}
		if _, err := h.hub.Import(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		h.change("two")
		h.settle(time.Second)
		h.mu.Lock()
		begun := len(h.notifications)
		h.mu.Unlock()
		if live := h.hub.Live(); live.Origins != 1 || begun != 16 {
			t.Errorf("%d origins, %d deliveries running; want 1 and 16", live.Origins, begun)
		}
	})
}

func TestRedirectChallengesCountAgainstTargetHost(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		asked := 0
		for i := range 1000 {
			if h.hub.AllowChallenge(fmt.Sprintf("%s/%d", nettest.Spellings("a.test")[i%8], i)) {
				asked++
			}
		}
		if asked != 400 {
			t.Errorf("%d challenges of one host at once, want 400", asked)
		}
		if !h.hub.AllowChallenge("http://b.test/") {
			t.Error("a challenge of another host is refused")
		}
	})
}
