package hub_test

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestUnverifiedReadsOfAHostAreLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.feeds["http://feeds.test/followed.xml"] = "x"
		registration := func(source, n int, feeds ...string) hub.Registration {
			for i := range n {
				f := fmt.Sprintf("http://Feeds.test/%d-%d.xml", source, i)
				h.feeds[f] = "x"
				feeds = append(feeds, f)
			}
			return hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://c%d.test/n", source), Challenge: true, Feeds: feeds,
				Source: netip.AddrFrom4([4]byte{192, 0, byte(source), 1})}
		}
		if got, err := h.hub.Register(t.Context(), registration(1, 0, "http://feeds.test/followed.xml")); err != nil || len(got.Accepted) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		h.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "It knows nothing of it.") }
		before := len(h.fetches)
		for i := range 20 { // each registration has another source and another callback host
			if _, err := h.hub.Register(t.Context(), registration(10+i, 50)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second) // one more read is allowed after this time
		}
		if n := len(h.fetches) - before; n < 100 || n > 160 {
			t.Errorf("1000 feeds without consent: %d were read, want 100 and those of one registration", n)
		}
		h.consent = nil
		got, err := h.hub.Register(t.Context(), registration(50, 1, "http://feeds.test/followed.xml"))
		if err != nil || len(got.Accepted) != 1 || len(got.Refused) != 1 || got.Accepted[0] != "http://feeds.test/followed.xml" {
			t.Errorf("one subscribed feed and one other: %+v, %v", got, err)
		}
		h.settle(10 * time.Minute)
		if got, err := h.hub.Register(t.Context(), registration(51, 50)); err != nil || len(got.Accepted) != 50 {
			t.Errorf("later: %d accepted, %+v, %v", len(got.Accepted), got.Refused, err)
		}
		for i := range 6 { // accepted registrations do not count against the limit
			if got, err := h.hub.Register(t.Context(), registration(60+i, 50)); err != nil || len(got.Accepted) != 50 {
				t.Errorf("registration %d: %d accepted, %+v, %v", i, len(got.Accepted), got.Refused, err)
			}
		}
	})
}

func TestConcurrentRegistrationsDoNotCountAsUnverified(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: -1, HostRate: 1e6}, func(t *testing.T, h *harness) {
		const all = 400
		h.consent = func(hub.Subscription, string, bool) error { time.Sleep(100 * time.Millisecond); return nil }
		for i := range all {
			h.feeds[fmt.Sprintf("http://feeds.test/%d.xml", i)] = "x"
		}
		var group sync.WaitGroup
		for i := range all {
			group.Go(func() {
				got, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: fmt.Sprintf("http://c%d.test/n", i), Challenge: true,
					Feeds: []string{fmt.Sprintf("http://feeds.test/%d.xml", i)}, Source: netip.MustParseAddr("192.0.2.1")})
				if err != nil || len(got.Accepted) != 1 {
					t.Errorf("registration %d: %+v, %v", i, got, err)
				}
			})
		}
		group.Wait()
	})
}

func TestUnconfirmedRequestsCountAgainstTheRateOfTheirSource(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.confirm = func(hub.Intent) error { return fault.New(fault.Refused, "It knows nothing of it.") }
		source, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1")
		ask := func(from netip.Addr, path string) error {
			err := h.hub.Request(t.Context(), hub.Intent{Topic: feedURL, Callback: "http://victim.test/" + path, Mode: hub.ModeSubscribe, Via: "websub"}, from)
			h.settle(200 * time.Millisecond)
			return err
		}
		var err error
		for i := range 60 {
			err = ask(source, fmt.Sprint(i))
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 || len(h.intents) > 22 {
			t.Errorf("%d verifications, last request: %v", len(h.intents), err)
		}
		if err := ask(other, "other"); err != nil {
			t.Errorf("from another source: %v", err)
		}
		h.settle(30 * time.Minute)
		h.confirm = nil
		for i := range 60 { // confirmed requests do not count against the limit
			if err := ask(source, fmt.Sprint("good", i)); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
		}
	})
}
