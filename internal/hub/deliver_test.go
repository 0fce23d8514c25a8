package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func failing(string, int) hub.Reply { return hub.Reply{Text: "It answered 500."} }

func TestFailedNotificationIsRetriedAsConfigured(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.setReply(func(_ string, n int) hub.Reply { return hub.Reply{OK: n >= 3, Text: "It answered 500."} })
		h.change("two")
		h.settle(10 * time.Minute)
		got := h.notificationsOf(cb)
		if len(got) != 4 {
			t.Fatalf("notified %d times, want 4: %v", len(got), got)
		}
		for i, want := range []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute} {
			gap := got[i+1].at.Sub(got[i].at)
			if gap < want*8/10 || gap > want*12/10+2*time.Second {
				t.Errorf("attempt %d came %s after the previous one, want about %s", i+2, gap, want)
			}
		}
		s, ok := h.subscription(cb)
		if !ok || s.Failures != 0 || !s.NextAt.IsZero() {
			t.Errorf("after the delivery: %+v", s)
		}
	})
}

func TestRetryAfterExtendsTheDelayBeforeARetry(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.setReply(func(_ string, n int) hub.Reply {
			return hub.Reply{OK: n > 0, RetryAfter: 20 * time.Minute, Text: "It answered 503."}
		})
		h.change("two")
		h.settle(21 * time.Minute)
		got := h.notificationsOf(cb)
		if len(got) != 2 || got[1].at.Sub(got[0].at) < 20*time.Minute {
			t.Errorf("notified %v, want a second time after 20 minutes", got)
		}
	})
}

func TestHourlySweepRemovesSubscriptionsAfterThreeConsecutiveErrors(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.setReply(failing)
		for i := range 3 {
			h.change(fmt.Sprint("change ", i))
			h.settle(time.Minute)
			if s, ok := h.subscription(cb); !ok || s.Failures != i+1 {
				t.Fatalf("after change %d: subscribed %v, %d failures", i+1, ok, s.Failures)
			}
		}
		if s, ok := h.subscription(cb); !ok || s.Failures != 3 {
			t.Fatalf("before the top of the hour: %v %+v", ok, s)
		}
		before := h.count(cb)
		h.settle(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour - time.Second)))
		if _, ok := h.subscription(cb); !ok || h.count(cb) == before {
			t.Fatal("a subscription with three errors was removed before the top of the hour")
		}
		h.settle(2 * time.Second)
		if _, ok := h.subscription(cb); ok {
			t.Fatal("not removed after the top of the hour")
		}
		if n := len(h.events(event.KindDrop)); n != 1 {
			t.Errorf("the log has %d drops, want 1", n)
		}
	})
}

func TestRetriesOfOneChangeCountAsOneError(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.setReply(failing)
		h.change("two")
		h.settle(3 * time.Hour)
		if s, ok := h.subscription(cb); !ok || s.Failures != 1 || h.count(cb) < 6 {
			t.Errorf("subscribed %v, %d failures after %d attempts; want 1 failure", ok, s.Failures, h.count(cb))
		}
	})
}

func TestSuccessResetsErrorCount(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		for i, ok := range []bool{false, false, true, false, false} {
			h.setReply(func(string, int) hub.Reply { return hub.Reply{OK: ok, Text: "It answered 500."} })
			h.change(fmt.Sprint("change ", i))
			h.settle(2 * time.Second)
		}
		h.settle(2 * time.Hour)
		if s, ok := h.subscription(cb); !ok || s.Failures != 2 {
			t.Errorf("subscribed %v with %d failures, want 2", ok, s.Failures)
		}
	})
}

func TestStatus410FromSubscriberEndsSubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		names := h.subscribers(2)
		h.setReply(func(cb string, _ int) hub.Reply { return hub.Reply{OK: cb != names[0], Gone: cb == names[0]} })
		h.change("two")
		h.settle(time.Second)
		if _, ok := h.subscription(names[0]); ok {
			t.Error("the subscription that answered 410 was not removed")
		}
		if _, ok := h.subscription(names[1]); !ok {
			t.Error("the other subscription was removed")
		}
	})
}

func TestDeliverySummaryCountsRetriesAndEndedSubscriptionsSeparately(t *testing.T) {
	t.Parallel()
	for gone, want := range map[int]string{
		0: "; 3 could not be notified and will be tried again.",
		1: "; 2 could not be notified and will be tried again; 1 subscription has ended.",
		3: "; 3 subscriptions have ended.",
	} {
		withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
			names := h.subscribers(4)
			h.setReply(func(cb string, _ int) hub.Reply {
				at := slices.Index(names, cb)
				return hub.Reply{OK: at == 3, Gone: at < gone}
			})
			h.change("two")
			h.settle(time.Second)
			if got := h.events(event.KindNotify); len(got) != 1 || !strings.HasSuffix(got[0].Text, want) || got[0].Notified != 1 || got[0].Failed != 3 {
				t.Errorf("%d ended: %+v", gone, got)
			}
		})
	}
}

func TestSlowSubscribersDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxInFlight: 4000}, func(t *testing.T, h *harness) {
		names := h.subscribers(3000)
		for i, cb := range names {
			if i%10 != 0 {
				h.hold[cb] = 10 * time.Second
			}
		}
		begun := time.Now()
		h.change("two")
		h.settle(time.Minute)
		for i, cb := range names {
			got := h.notificationsOf(cb)
			if len(got) != 1 {
				t.Fatalf("%s was notified %d times, want once", cb, len(got))
			}
			if late := got[0].at.Sub(begun); i%10 == 0 && late > time.Second {
				t.Fatalf("fast callback %s was notified after %s", cb, late)
			}
			if s, ok := h.subscription(cb); !ok || s.Failures != 0 || !s.NextAt.IsZero() {
				t.Fatalf("%s: subscribed %v, %+v", cb, ok, s)
			}
		}
	})
}

func TestDeliveriesToOneSubscriberAreSequentialAndInOrder(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{PingInterval: 100 * time.Millisecond}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.hold[cb] = 10 * time.Second
		for i := range 8 {
			h.change(fmt.Sprint("change ", i))
			h.settle(time.Second)
		}
		h.settle(2 * time.Minute)
		got := h.notificationsOf(cb)
		for i := 1; i < len(got); i++ {
			if got[i].version <= got[i-1].version {
				t.Errorf("version %d after %d", got[i].version, got[i-1].version)
			}
			if got[i].at.Sub(got[i-1].at) < 10*time.Second {
				t.Errorf("concurrent deliveries: %v", got)
			}
		}
		if last := got[len(got)-1]; last.version != 8 {
			t.Errorf("the last notification was version %d, want 8", last.version)
		}
	})
}

func TestGracefulStopDeliversEachNotificationExactlyOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxInFlight: 100}, func(t *testing.T, h *harness) {
		names := h.subscribers(5000)
		for _, cb := range names {
			h.hold[cb] = 100 * time.Millisecond
		}
		h.change("two")
		h.settle(time.Second)
		h.stop()
		soFar := 0
		for _, cb := range names {
			soFar += h.count(cb)
		}
		if soFar == 0 || soFar == len(names) {
			t.Fatalf("%d of %d were notified before the stop; the test needs some and not all", soFar, len(names))
		}
		h.start(hub.Options{MaxInFlight: 100})
		h.settle(time.Minute)
		for _, cb := range names {
			if n := h.count(cb); n != 1 {
				t.Fatalf("%s was notified %d times, want once", cb, n)
			}
		}
	})
}

func TestSubscriberRegisteredDuringDeliveryReceivesNextChange(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxInFlight: 50}, func(t *testing.T, h *harness) {
		for _, cb := range h.subscribers(2000) {
			h.hold[cb] = 50 * time.Millisecond
		}
		h.change("two")
		var late []string
		for i := range 50 {
			cb := fmt.Sprintf("http://late%d.test/notify", i)
			late = append(late, cb)
			if got := h.register(cb); len(got.Accepted) != 1 {
				t.Fatalf("register: %+v", got)
			}
			h.settle(20 * time.Millisecond)
		}
		h.settle(time.Minute)
		h.change("three")
		h.settle(time.Minute)
		for _, cb := range late {
			got := h.notificationsOf(cb)
			if len(got) == 0 || got[len(got)-1].version != 2 {
				t.Errorf("%s was notified %v, want version 2 last", cb, got)
			}
		}
	})
}

func TestLogStatesNumberOfNotifiedAndNamesOfFailedSubscribers(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		names := h.subscribers(10)
		h.setReply(func(cb string, _ int) hub.Reply { return hub.Reply{OK: cb != names[3], Text: "It answered 500."} })
		h.change("two")
		h.settle(time.Second)
		notify, errs := h.events(event.KindNotify), h.events(event.KindError)
		if len(notify) != 1 || notify[0].Notified != 9 || notify[0].Failed != 1 {
			t.Errorf("notify: %+v", notify)
		}
		if len(errs) != 1 || errs[0].Peer != "s3.test" || errs[0].Public().Detail != nil {
			t.Errorf("error: %+v", errs)
		}
	})
}

func TestRemoveAndSweepNowReturnWhatTheyRemoved(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		names := h.subscribers(3)
		s, _ := h.subscription(names[0])
		gone, err := h.hub.Remove(t.Context(), []hub.Key{s.Key()}, "cli")
		if err != nil || len(gone) != 1 || gone[0].Callback != names[0] {
			t.Fatalf("remove: %+v, %v", gone, err)
		}
		h.settle(26 * time.Hour) // the hourly sweep removes expired subscriptions
		dropped, expired, err := h.hub.SweepNow(t.Context())
		if err != nil || dropped != 0 || expired != 0 {
			t.Errorf("sweep: %d dropped, %d expired, %v", dropped, expired, err)
		}
		if n := len(h.events(event.KindExpire)); n != 2 {
			t.Errorf("the log has %d expiries, want 2", n)
		}
		if _, err := h.store.Topics(t.Context(), hub.TopicQuery{}); err != nil {
			t.Error(fault.Message(err))
		}
	})
}
