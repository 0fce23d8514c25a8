package hub_test

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestChallengesToRefusingCallbackAreRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		var asked atomic.Int64
		h.consent = func(hub.Subscription, string, bool) error {
			asked.Add(1)
			return fault.New(fault.Refused, "It knows nothing of it.")
		}
		var feeds []string
		for i := range 50 {
			feeds = append(feeds, fmt.Sprintf("http://feeds.test/%d.xml", i))
			h.feeds[feeds[i]] = "x"
		}
		r := hub.Registration{Protocol: hub.HTTPPost, Callback: "http://victim.test/n", Challenge: true, Feeds: feeds, Source: netip.MustParseAddr("192.0.2.1")}
		got, err := h.hub.Register(t.Context(), r)
		if err != nil || len(got.Refused) != 50 || asked.Load() > 8 {
			t.Errorf("%d challenges: %+v, %v", asked.Load(), got, err)
		}
		r.Feeds = feeds[:1]
		for range 50 {
			_, err = h.hub.Register(t.Context(), r)
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 || asked.Load() > 21 {
			t.Errorf("%d challenges, last registration: %v", asked.Load(), err)
		}
		other := r
		other.Source = netip.MustParseAddr("198.51.100.1")
		if _, err := h.hub.Register(t.Context(), other); err != nil {
			t.Errorf("from another source: %v", err)
		}
		h.settle(30 * time.Minute)
		h.consent = nil
		if got, err := h.hub.Register(t.Context(), r); err != nil || len(got.Accepted) != 1 {
			t.Errorf("later, with consent: %+v, %v", got, err)
		}
	})
}

func TestEachFeedOfARegistrationCountsAgainstSourceRate(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: 10}, func(t *testing.T, h *harness) {
		var feeds []string
		for i := range 50 {
			feeds = append(feeds, fmt.Sprintf("http://feeds.test/%d.xml", i))
		}
		r := hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: feeds, Source: netip.MustParseAddr("192.0.2.1")}
		for i := range 3 {
			if _, err := h.hub.Register(t.Context(), r); (fault.CodeOf(err) == fault.TooMany) != (i == 2) {
				t.Errorf("registration %d: %v", i, err)
			}
		}
	})
}

func TestLogIsTrimmedToTheMaximumNumberOfEvents(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxEvents: 20, PingInterval: time.Millisecond}, func(t *testing.T, h *harness) {
		for i := range 60 {
			if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: fmt.Sprintf("http://feeds.test/%d.xml", i), Source: netip.MustParseAddr("192.0.2.1")}); err != nil && fault.CodeOf(err) != fault.Unreadable {
				t.Fatal(err)
			}
		}
		h.settle(25 * time.Minute)
		list, err := h.store.Events(t.Context(), hub.EventQuery{Limit: 1000})
		if err != nil || len(list) > 20 || len(list) == 0 {
			t.Errorf("%d rows, %v", len(list), err)
		}
	})
}

func TestChallengesAreLimitedPerClientNetworkUnlessClientsAreUnlimited(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64][2]int{-1: {1000, 1000}, 5000: {400, 440}} {
		withHarness(t, hub.Options{SourceRate: rate, HostRate: -1}, func(t *testing.T, h *harness) {
			asked := 0
			h.consent = func(hub.Subscription, string, bool) error { asked++; return nil }
			for i := range 1000 {
				_, _ = h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://h%d.test/", i),
					Feeds: []string{feedURL}, Source: source(1), Challenge: true}) // the test counts the challenges
			}
			if asked < want[0] || asked > want[1] {
				t.Errorf("with a rate of %v, a client caused %d challenges at once, want %v", rate, asked, want)
			}
		})
	}
}
