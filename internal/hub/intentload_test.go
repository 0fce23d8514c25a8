package hub_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

// requests sends n requests for subscriptions of a topic at one host.
func (h *harness) requests(topic, host string, n int) {
	h.t.Helper()
	for i := range n {
		in := hub.Intent{Topic: topic, Callback: fmt.Sprintf("http://%s/cb/%d", host, i), Mode: hub.ModeSubscribe}
		if err := h.hub.Request(h.t.Context(), in, netip.Addr{}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func TestRequestsForOneHostAreProcessedInSequenceWithoutExtraReads(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		const n = 600
		h.requests(feedURL, "many.test", n)
		h.settle(2 * time.Minute)
		if asked := len(h.intentsOf(hub.ModeSubscribe)); asked != n {
			t.Errorf("%d callbacks were verified, want %d", asked, n)
		}
		if left, _ := h.store.Intents(t.Context()); left != 0 {
			t.Errorf("%d requests are pending", left)
		}
		if read := len(h.fetches); read > n {
			t.Errorf("the topic was read %d times for %d requests", read, n)
		}
	})
}

func TestDeniedSubscriptionMessagesAreRateLimitedPerHost(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.set("") // the feed is unreadable, so that all requests are denied
		h.requests(feedURL, "victim.test", 600)
		h.settle(10 * time.Second)
		if denied := len(h.intentsOf(hub.ModeDenied)); denied > 590 {
			t.Errorf("the host was called %d times in ten seconds", denied)
		}
		h.settle(2 * time.Minute)
		if denied := len(h.intentsOf(hub.ModeDenied)); denied != 600 {
			t.Errorf("%d denials were sent in total", denied)
		}
	})
}

// hangingConfirmer never gets an answer from the callbacks of one host.
type hangingConfirmer struct{ *harness }

func (s hangingConfirmer) Confirm(ctx context.Context, in hub.Intent) (event.Exchange, error) {
	if strings.Contains(in.Callback, "hanging.test") {
		select {
		case <-time.After(15 * time.Second):
		case <-ctx.Done():
		}
		return event.Exchange{}, fault.New(fault.Unreadable, "No answer.")
	}
	return s.harness.Confirm(ctx, in)
}

func TestUnresponsiveHostDoesNotDelayOtherRequests(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.stop()
		h.wrapConfirmer = func(*harness) hub.IntentConfirmer { return hangingConfirmer{h} }
		h.start(hub.Options{})
		h.requests(feedURL, "hanging.test", 500)
		h.settle(time.Second)
		h.requests(feedURL, "quick.test", 1)
		h.settle(2 * time.Second)
		if asked := len(h.intentsOf(hub.ModeSubscribe)); asked != 1 {
			t.Errorf("%d callbacks of the fast host were verified", asked)
		}
	})
}

func TestExcessSubscriptionRequestsAreRejectedBeforeAcknowledgement(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxRequests: 10}, func(t *testing.T, h *harness) {
		h.setConfirm(func(hub.Intent) error { return fault.New(fault.Unavailable, "Not now.") })
		var err error
		for i := range 11 {
			in := hub.Intent{Topic: feedURL, Callback: fmt.Sprintf("http://s%d.test/", i), Mode: hub.ModeSubscribe}
			if err = h.hub.Request(t.Context(), in, netip.Addr{}); err != nil && i < 10 {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("eleventh request: %v", err)
		}
		if n, _ := h.store.Intents(t.Context()); n != 10 {
			t.Errorf("%d requests are stored", n)
		}
		h.setConfirm(nil)
		h.settle(time.Minute)
		if err := h.request(hub.ModeSubscribe, sub1, "", 0); err != nil {
			t.Errorf("after the verifications: %v", err)
		}
		h.settle(time.Second)
	})
}

func TestStopReleasesUnfinishedSubscriptionRequests(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.slow = time.Hour
		if err := h.request(hub.ModeSubscribe, sub1, "s", 0); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		h.keepOpen = true
		h.stop()
		list, err := h.store.ClaimIntents(t.Context(), time.Now(), time.Now().Add(time.Minute), 10, 1)
		if err != nil || len(list) != 1 || list[0].Tries != 0 || list[0].Secret != "s" {
			t.Errorf("pending after the stop: %+v, %v", list, err)
		}
		if len(h.intentsOf(hub.ModeDenied)) != 0 {
			t.Error("the stop denied the request")
		}
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestRenewalSucceedsWhileTopicIsUnreadable(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "old", time.Hour)
		h.set("")
		h.subscribeWebSub(sub1, "new", 2*time.Hour)
		if s, ok := h.webSub(sub1); !ok || s.Secret != "new" {
			t.Errorf("subscription: %v %+v", ok, s)
		}
		if len(h.intentsOf(hub.ModeDenied)) != 0 {
			t.Error("a denial was sent although the subscription continues")
		}
	})
}

func TestHostLimitAppliesToAllPortsAndEquivalentNames(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		for i := range 500 {
			for _, name := range []string{"victim.test", "VICTIM.test", "victim.test."} {
				h.requests(feedURL, fmt.Sprintf("%s:%d", name, 1000+i), 1)
			}
		}
		h.settle(10 * time.Second)
		if asked := len(h.intentsOf(hub.ModeSubscribe)); asked > 700 {
			t.Errorf("the host was called %d times in ten seconds", asked)
		}
	})
}
