package hub_test

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestRegistrationLastsTwentyFiveHours(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		const cb = "http://a.test/n"
		h.register(cb)
		h.settle(25*time.Hour - time.Second)
		h.change("two")
		h.settle(500 * time.Millisecond)
		if n := h.count(cb); n != 1 {
			t.Fatalf("notified %d times a second before the expiry, want once", n)
		}
		h.settle(2 * time.Second)
		h.set("three")
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		if n := h.count(cb); n != 1 {
			t.Errorf("notified %d times, also after the expiry", n)
		}
	})
}

func TestRenewalExtendsExpiryAndResetsErrors(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		const cb = "http://a.test/n"
		h.register(cb)
		h.setReply(failing)
		h.change("two")
		h.settle(24 * time.Hour)
		h.setReply(nil)
		h.register(cb)
		s, ok := h.subscription(cb)
		if !ok || s.Failures != 0 || time.Until(s.ExpiresAt) != 25*time.Hour {
			t.Errorf("after the renewal: %+v", s)
		}
		if s.CreatedAt.Equal(s.RenewedAt) {
			t.Error("the renewal changed the time of registration")
		}
	})
}

func TestUnverifiedRenewalDoesNotChangeTheSubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		const cb = "http://a.test/n"
		h.register(cb)
		before, _ := h.subscription(cb)
		h.settle(time.Hour)
		h.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "It does not want it.") }
		if got := h.register(cb); len(got.Accepted) != 0 || len(got.Refused) != 1 {
			t.Fatalf("an unverified renewal: %+v", got)
		}
		if after, _ := h.subscription(cb); after != before {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
	})
}

func TestEachFeedOfARegistrationIsCheckedSeparately(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.feeds["http://feeds.test/unwanted.xml"] = "x"
		h.consent = func(_ hub.Subscription, feed string, challenge bool) error {
			if !challenge || feed == "http://feeds.test/unwanted.xml" {
				return fault.New(fault.Refused, "It does not want it.")
			}
			return nil
		}
		got, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Challenge: true,
			Feeds: []string{feedURL, "http://feeds.test/none.xml", "http://feeds.test/unwanted.xml", "not a url", feedURL}})
		if err != nil || len(got.Accepted) != 1 || got.Accepted[0] != feedURL || len(got.Refused) != 3 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestRegistrationDoesNotNotifySubscribers(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.change("two")
		h.settle(time.Second)
		h.set("three")
		h.register("http://b.test/n")
		h.settle(time.Minute)
		if n := h.count("http://a.test/n"); n != 1 {
			t.Errorf("the first subscriber was notified %d times, want once: %v", n, h.notificationsOf("http://a.test/n"))
		}
		h.change("three")
		h.settle(time.Second)
		if n := h.count("http://a.test/n"); n != 2 {
			t.Errorf("the change that a registration found was not notified: %d", n)
		}
	})
}

func TestCallbackAtOwnEndpointIsRejected(t *testing.T) {
	t.Parallel()
	own := func(cb string) bool { return cb == "http://hub.test/ping" }
	withHarness(t, hub.Options{IsOwnURL: own}, func(t *testing.T, h *harness) {
		_, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://hub.test/ping", Feeds: []string{feedURL}})
		if fault.CodeOf(err) != fault.Refused {
			t.Errorf("err = %v, want a refusal", err)
		}
	})
}

func TestCancelEndsOnlyTheGivenRegistration(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.register("http://b.test/n")
		cancel := hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{feedURL}}
		got, err := h.hub.Cancel(t.Context(), cancel)
		if err != nil || len(got.Accepted) != 1 {
			t.Fatalf("cancel: %+v, %v", got, err)
		}
		if _, ok := h.subscription("http://a.test/n"); ok {
			t.Error("the registration did not end")
		}
		if _, ok := h.subscription("http://b.test/n"); !ok {
			t.Error("another registration ended too")
		}
		if got, err := h.hub.Cancel(t.Context(), cancel); err != nil || len(got.Refused) != 1 {
			t.Errorf("cancelled twice: %+v, %v", got, err)
		}
	})
}

func TestCancelRequestWithDomainRequiresChallenge(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.consent = func(hub.Subscription, string, bool) error { return fault.New(fault.Refused, "No.") }
		got, err := h.hub.Cancel(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: []string{feedURL}, Challenge: true})
		if err != nil || len(got.Refused) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if _, ok := h.subscription("http://a.test/n"); !ok {
			t.Error("an unknown client ended the registration")
		}
	})
}

func TestPanicInARequestDoesNotAffectOtherRequests(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.consent = func(hub.Subscription, string, bool) error { panic("bad letters") }
		got, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Challenge: true, Feeds: []string{feedURL}})
		if err != nil || len(got.Refused) != 1 {
			t.Errorf("register: %+v, %v", got, err)
		}
		h.setReply(func(_ string, n int) hub.Reply {
			if n == 0 {
				panic("bad answer")
			}
			return hub.Reply{OK: true}
		})
		h.change("two")
		h.settle(2 * time.Minute)
		if s, ok := h.subscription(cb); !ok || s.Failures != 0 || h.count(cb) != 2 {
			t.Errorf("after a panic: subscribed %v, %d failures, notified %d times; want a retry", ok, s.Failures, h.count(cb))
		}
	})
}

func TestRegistrationForManySlowFeedsAnswersWithinAMinute(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		var feeds []string
		for i := range 12 {
			feed := fmt.Sprintf("http://feeds.test/%d.xml", i)
			h.feeds[feed] = "x"
			feeds = append(feeds, feed)
		}
		h.slow = 14 * time.Second // feeds are read four at a time, so the last four are not read within the time limit
		begun := time.Now()
		got, err := h.hub.Register(t.Context(), hub.Registration{Protocol: hub.HTTPPost, Callback: "http://a.test/n", Feeds: feeds})
		if err != nil || len(got.Accepted) != 8 || len(got.Refused) != 4 {
			t.Errorf("%d accepted, %d refused, %v; want 8 and 4", len(got.Accepted), len(got.Refused), err)
		}
		if took := time.Since(begun); took >= time.Minute {
			t.Errorf("answered after %s, want within a minute", took)
		}
	})
}
