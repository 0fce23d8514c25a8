package hub_test

import (
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/hub"
)

func (h *harness) registerCNWS(callback string) hub.Registered {
	h.t.Helper()
	got, err := h.hub.Register(h.t.Context(), hub.Registration{Protocol: hub.CNWS, Callback: callback, Feeds: []string{feedURL}, Via: "cnws"})
	if err != nil {
		h.t.Fatalf("register %s: %v", callback, err)
	}
	return got
}

func (h *harness) cnws(callback string) (hub.Subscription, bool) {
	s, err := h.store.Subscription(h.t.Context(), hub.Key{TopicID: hub.TopicID(feedURL), ID: hub.SubscriptionID(hub.CNWS, callback)})
	return s, err == nil
}

const cnwsCallback = "http://c.test/notify"

func unreachable(string, int) hub.Reply { return hub.Reply{Text: "No answer.", Timeout: true} }

func TestCNWSSubscriptionDoesNotExpire(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.abouts = map[string]hub.About{feedURL: {Title: "Site", Description: "Words"}}
		got := h.registerCNWS(cnwsCallback)
		if got.About.Title != "Site" || got.About.Description != "Words" || !got.Expires.Equal(hub.Forever()) {
			t.Errorf("registered: %+v", got)
		}
		h.settle(60 * time.Hour)
		h.change("two")
		h.settle(time.Second)
		if n := h.count(cnwsCallback); n != 1 {
			t.Errorf("notified %d times after sixty hours", n)
		}
	})
}

func TestRepeatedCNWSRegistrationIsNotVerifiedAgain(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		asked := 0
		h.consent = func(hub.Subscription, string, bool) error { asked++; return nil }
		h.registerCNWS(cnwsCallback)
		before, _ := h.cnws(cnwsCallback)
		h.settle(time.Hour)
		if got := h.registerCNWS(cnwsCallback); len(got.Accepted) != 1 || asked != 1 {
			t.Errorf("registered again: %+v, %d challenges", got, asked)
		}
		if after, _ := h.cnws(cnwsCallback); after != before {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
	})
}

func TestRepeatedCNWSRegistrationSucceedsWhileTopicIsUnreadable(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.abouts = map[string]hub.About{feedURL: {Title: "The feed"}}
		h.registerCNWS(cnwsCallback)
		h.set("") // the feed is unreadable
		got := h.registerCNWS(cnwsCallback)
		if len(got.Accepted) != 1 || len(got.Refused) != 0 || got.About.Title != "The feed" {
			t.Errorf("registered again: %+v", got)
		}
	})
}

func TestUnreachableCNWSSubscriberIsRemovedAfterADay(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.registerCNWS(cnwsCallback)
		h.setReply(unreachable)
		h.change("two")
		h.settle(24*time.Hour - time.Minute)
		if _, ok := h.cnws(cnwsCallback); !ok {
			t.Fatal("removed within a day")
		}
		h.settle(10 * time.Minute) // after repeated timeouts there is no delivery for up to 5 minutes
		if s, ok := h.cnws(cnwsCallback); ok {
			t.Errorf("not removed after the last attempt: %+v", s)
		}
		tries := h.notificationsOf(cnwsCallback)
		last := tries[len(tries)-1].at.Sub(tries[0].at)
		if last < 24*time.Hour || last > 24*time.Hour+6*time.Minute || len(tries) < 20 {
			t.Errorf("%d attempts, the last after %s", len(tries), last)
		}
		if drops := h.events(event.KindDrop); len(drops) != 1 {
			t.Errorf("the log has %d drops", len(drops))
		}
	})
}

func TestChangesDoNotExtendTheRemovalDeadline(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.registerCNWS(cnwsCallback)
		h.setReply(unreachable)
		for i := range 9 {
			h.change(string(rune('b' + i)))
			h.settle(3 * time.Hour)
		}
		if _, ok := h.cnws(cnwsCallback); ok {
			t.Error("not removed after 27 hours without a response")
		}
	})
}

func TestRecoveredCNWSSubscriberIsNotRemoved(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.registerCNWS(cnwsCallback)
		h.setReply(unreachable)
		h.change("two")
		h.settle(23 * time.Hour)
		h.setReply(nil)
		h.registerCNWS(cnwsCallback) // the subscriber was unreachable and registers again: pending deliveries are due now,
		h.settle(6 * time.Minute)    // or when the circuit breaker of the subscriber closes
		s, ok := h.cnws(cnwsCallback)
		if !ok || s.Failures != 0 || !s.FailingSince.IsZero() || s.Sent != 1 {
			t.Fatalf("after the recovery: %v %+v", ok, s)
		}
		h.setReply(unreachable)
		h.settle(2 * time.Hour)
		h.change("three")
		h.settle(20 * time.Hour)
		if _, ok := h.cnws(cnwsCallback); !ok {
			t.Error("the earlier outage still counts")
		}
	})
}

func TestCNWSSubscriberThatAnswersFalseIsRemoved(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.registerCNWS(cnwsCallback)
		h.setReply(func(string, int) hub.Reply {
			return hub.Reply{Gone: true, Text: "The subscriber answered false: it wants no more."}
		})
		h.change("two")
		h.settle(time.Second)
		if _, ok := h.cnws(cnwsCallback); ok {
			t.Error("the subscription was not removed")
		}
		if drops := h.events(event.KindDrop); len(drops) != 1 || drops[0].Text != "The subscriber answered false: it wants no more." {
			t.Errorf("log: %+v", drops)
		}
	})
}

func TestOneChangeNotifiesSubscribersOfAllProtocols(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.register("http://a.test/n")
		h.registerCNWS(cnwsCallback)
		h.subscribeWebSub(sub1, "", 0)
		h.change("two")
		h.settle(time.Second)
		for _, cb := range []string{"http://a.test/n", cnwsCallback, sub1} {
			if n := h.count(cb); n != 1 {
				t.Errorf("%s was notified %d times", cb, n)
			}
		}
		counts, err := h.store.Subscribers(t.Context(), hub.TopicID(feedURL), time.Now())
		if err != nil || counts[hub.HTTPPost] != 1 || counts[hub.CNWS] != 1 || counts[hub.WebSub] != 1 {
			t.Errorf("counts %v, %v", counts, err)
		}
	})
}

func TestRetryAfterIsRespectedOnlyUpToTheLastRetry(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for _, c := range []struct {
		name                     string
		asks                     time.Duration
		minWebSub, maxWebSub     int // deliveries in a day
		minRssCloud, maxRssCloud int
	}{
		{"short Retry-After", time.Second, 6, 11, 25, 35},
		{"Retry-After of a day", 24 * time.Hour, 6, 11, 23, 26},
	} {
		withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
			h.subscribeWebSub(sub1, "", 240*time.Hour)
			h.register("http://a.test/n")
			h.setReply(func(string, int) hub.Reply { return hub.Reply{Text: "It answered 503.", RetryAfter: c.asks} })
			h.change("two")
			h.settle(24 * time.Hour)
			if n := h.count(sub1); n < c.minWebSub || n > c.maxWebSub {
				t.Errorf("%s: %d WebSub deliveries in a day", c.name, n)
			}
			if n := h.count("http://a.test/n"); n < c.minRssCloud || n > c.maxRssCloud {
				t.Errorf("%s: %d rssCloud deliveries in a day", c.name, n)
			}
		})
	}
}
