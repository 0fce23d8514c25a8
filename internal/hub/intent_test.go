package hub_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

// request sends a WebSub request to subscribe to the feed or to unsubscribe.
func (h *harness) request(mode, callback, secret string, lease time.Duration) error {
	h.t.Helper()
	return h.hub.Request(h.t.Context(), hub.Intent{Topic: feedURL, Callback: callback, Mode: mode, Secret: secret, Lease: lease, Via: "websub"},
		netip.MustParseAddr("192.0.2.1"))
}

func (h *harness) subscribeWebSub(callback, secret string, lease time.Duration) {
	h.t.Helper()
	if err := h.request(hub.ModeSubscribe, callback, secret, lease); err != nil {
		h.t.Fatalf("request: %v", err)
	}
	h.settle(100 * time.Millisecond)
}

func (h *harness) webSub(callback string) (hub.Subscription, bool) {
	h.t.Helper()
	s, err := h.store.Subscription(h.t.Context(), hub.Key{TopicID: hub.TopicID(feedURL), ID: hub.SubscriptionID(hub.WebSub, callback)})
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		h.t.Fatal(err)
	}
	return s, err == nil
}

func (h *harness) setConfirm(f func(hub.Intent) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.confirm = f
}

func (h *harness) intentsOf(mode string) (list []hub.Intent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, in := range h.intents {
		if in.Mode == mode {
			list = append(list, in)
		}
	}
	return list
}

const sub1 = "http://s1.test/cb?token=1"

func TestConfirmedWebSubSubscriberReceivesContent(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.types = map[string]string{feedURL: "application/rss+xml; charset=iso-8859-1"}
		h.subscribeWebSub(sub1, "secret", 0)
		s, ok := h.webSub(sub1)
		if !ok || s.Secret != "secret" || time.Until(s.ExpiresAt).Round(time.Second) != 240*time.Hour {
			t.Fatalf("subscription: %v %+v", ok, s)
		}
		h.change("caf\xe9 \x00")
		h.settle(time.Second)
		got := h.notificationsOf(sub1)
		if len(got) != 1 || got[0].content != "application/rss+xml; charset=iso-8859-1|caf\xe9 \x00" {
			t.Errorf("notified: %+v", got)
		}
	})
}

// A subscriber that has confirmed receives every later change, even a change that happens before
// its subscription is stored.
func TestPingDuringVerificationReachesNewSubscriber(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.confirm = func(hub.Intent) error {
			h.set("two")
			_, err := h.ping()
			return err
		}
		h.subscribeWebSub(sub1, "", 0)
		h.settle(time.Minute)
		if got := h.notificationsOf(sub1); len(got) != 1 || !strings.HasSuffix(got[0].content, "|two") {
			t.Errorf("got %+v, want one notification with the content two", got)
		}
	})
}

func TestGrantedLeaseIsWithinHubLimits(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{
		0: 3 * time.Hour, time.Second: 5 * time.Minute, time.Hour: time.Hour, 1000 * time.Hour: 3 * time.Hour, 90*time.Minute + 300*time.Millisecond: 90 * time.Minute,
	} {
		withHarness(t, hub.Options{MaxLease: 3 * time.Hour}, func(t *testing.T, h *harness) {
			h.subscribeWebSub(sub1, "", asked)
			s, _ := h.webSub(sub1)
			if got := s.ExpiresAt.Sub(s.CreatedAt); got != want {
				t.Errorf("requested %s: granted %s, want %s", asked, got, want)
			}
			if in := h.intentsOf(hub.ModeSubscribe); len(in) != 1 || in[0].Lease != want {
				t.Errorf("requested %s: the callback received %+v", asked, in)
			}
			h.settle(want - time.Second)
			h.change("two")
			h.settle(500 * time.Millisecond)
			if n := h.count(sub1); n != 1 {
				t.Errorf("notified %d times before the lease ended", n)
			}
			h.settle(2 * time.Second)
			h.set("three")
			if _, err := h.ping(); err != nil {
				t.Fatal(err)
			}
			h.settle(time.Second)
			if n := h.count(sub1); n != 1 {
				t.Errorf("notified %d times, also after the end of the lease", n)
			}
		})
	}
}

func TestUnconfirmedRenewalKeepsSecretAndLease(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "old", time.Hour)
		before, _ := h.webSub(sub1)
		h.setConfirm(func(hub.Intent) error { return fault.New(fault.Refused, "The callback answered 404.") })
		h.subscribeWebSub(sub1, "new", 2*time.Hour)
		if after, ok := h.webSub(sub1); !ok || after != before {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
		h.setConfirm(nil)
		h.subscribeWebSub(sub1, "new", 2*time.Hour)
		if after, _ := h.webSub(sub1); after.Secret != "new" || after.ExpiresAt.Sub(after.RenewedAt) != 2*time.Hour || !after.CreatedAt.Equal(before.CreatedAt) {
			t.Errorf("after the confirmed renewal: %+v", after)
		}
	})
}

func TestUnsubscribeRequestRequiresConfirmation(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", 0)
		h.setConfirm(func(hub.Intent) error { return fault.New(fault.Refused, "The callback answered 404.") })
		if err := h.request(hub.ModeUnsubscribe, sub1, "", 0); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		if _, ok := h.webSub(sub1); !ok {
			t.Fatal("an unknown client ended the subscription")
		}
		h.setConfirm(nil)
		if err := h.request(hub.ModeUnsubscribe, sub1, "", 0); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		if _, ok := h.webSub(sub1); ok {
			t.Error("the subscription did not end")
		}
	})
}

func TestUnsubscribeRequestWithoutSubscriptionIsLogged(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", 0)
		for range 2 {
			if err := h.request(hub.ModeUnsubscribe, sub1, "", 0); err != nil {
				t.Fatal(err)
			}
			h.settle(time.Second)
		}
		var got []string
		for _, e := range h.events(event.KindCancel) {
			if !strings.Contains(e.Text, "was asked for") {
				got = append(got, fmt.Sprint(e.OK, " ", e.Text))
			}
		}
		slices.Sort(got)
		if want := []string{"false There was no such subscription.", "true Ended by its owner."}; !slices.Equal(got, want) {
			t.Errorf("log: %q, want %q", got, want)
		}
	})
}

func TestUnsubscribeRequestDoesNotReplaceSubscribeRequest(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.slow = 2 * time.Second // this read is still running when the other client sends its request
		if err := h.request(hub.ModeSubscribe, sub1, "s", 0); err != nil {
			t.Fatal(err)
		}
		h.setConfirm(func(in hub.Intent) error {
			if in.Mode == hub.ModeUnsubscribe {
				return fault.New(fault.Refused, "No.")
			}
			return nil
		})
		if err := h.request(hub.ModeUnsubscribe, sub1, "", 0); err != nil {
			t.Fatal(err)
		}
		h.settle(5 * time.Second)
		if _, ok := h.webSub(sub1); !ok {
			t.Error("the subscription was lost")
		}
	})
}

// TestLaterUnsubscribeOverridesPendingSubscribe sends a request to unsubscribe while the topic
// of the pending subscription is still being read. The callback confirms every request.
func TestLaterUnsubscribeOverridesPendingSubscribe(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.slow = 2 * time.Second
		for _, mode := range []string{hub.ModeSubscribe, hub.ModeUnsubscribe} {
			if err := h.request(mode, sub1, "s", 0); err != nil {
				t.Fatal(err)
			}
			h.settle(time.Second)
		}
		h.settle(5 * time.Second)
		if s, ok := h.webSub(sub1); ok {
			t.Errorf("subscribed: %+v", s)
		}
		if n, err := h.store.Intents(t.Context()); err != nil || n != 0 {
			t.Errorf("%d requests are pending, %v", n, err)
		}
	})
}

func TestUnreadableOrTooLargeTopicIsDeniedWithReason(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"could not be read": "", "at most 1,024 bytes": strings.Repeat("x", 1025)} {
		withHarness(t, hub.Options{MaxContent: 1024}, func(t *testing.T, h *harness) {
			h.set(body)
			h.subscribeWebSub(sub1, "", 0)
			h.settle(time.Second)
			denied := h.intentsOf(hub.ModeDenied)
			if len(denied) != 1 || !strings.Contains(denied[0].Reason, name) || denied[0].Secret != "" {
				t.Errorf("denied: %+v", denied)
			}
			if len(h.intentsOf(hub.ModeSubscribe)) != 0 {
				t.Error("the callback was verified although the topic cannot be delivered")
			}
			if n, err := h.store.Intents(t.Context()); n != 0 || err != nil {
				t.Errorf("%d requests are pending, %v", n, err)
			}
		})
	}
}

func TestTooLargeContentIsSkippedWithoutError(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxContent: 1024}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", 0)
		h.register("http://a.test/n")
		h.change(strings.Repeat("y", 1025))
		h.settle(time.Second)
		if h.count(sub1) != 0 || h.count("http://a.test/n") != 1 {
			t.Errorf("notified %d and %d times, want 0 and 1", h.count(sub1), h.count("http://a.test/n"))
		}
		if s, _ := h.webSub(sub1); s.Failures != 0 || !s.NextAt.IsZero() {
			t.Errorf("subscription: %+v", s)
		}
		if e := h.events(event.KindCheck); !strings.Contains(e[len(e)-1].Text, "WebSub subscribers are not notified") {
			t.Errorf("log: %q", e[len(e)-1].Text)
		}
		h.settle(2 * time.Second)
		h.change("small again")
		h.settle(time.Second)
		if got := h.notificationsOf(sub1); len(got) != 1 || got[0].content != "|small again" {
			t.Errorf("notified: %+v", got)
		}
	})
}

func TestNotificationsWithoutContentHaveEmptyBody(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxContent: 1024, NotifyWithoutContent: true}, func(t *testing.T, h *harness) {
		h.set(strings.Repeat("x", 1025))
		h.subscribeWebSub(sub1, "", 0)
		h.change(strings.Repeat("y", 1025))
		h.settle(time.Second)
		if got := h.notificationsOf(sub1); len(got) != 1 || got[0].content != "|" {
			t.Errorf("notified: %+v", got)
		}
	})
}

func TestUnansweredVerificationIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.setConfirm(func(hub.Intent) error { return fault.New(fault.Unreadable, "The callback sent no usable response.") })
		h.subscribeWebSub(sub1, "", 0)
		h.settle(5 * time.Minute)
		if n := len(h.intentsOf(hub.ModeSubscribe)); n != 3 {
			t.Errorf("%d verifications, want 3", n)
		}
		if n, _ := h.store.Intents(t.Context()); n != 0 {
			t.Errorf("%d requests are pending", n)
		}
	})
}

func TestAcknowledgedSubscriptionRequestSurvivesACrash(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.setConfirm(func(hub.Intent) error { return fault.New(fault.Unavailable, "Stopping.") })
		h.subscribeWebSub(sub1, "s", 0)
		h.stop()
		h.setConfirm(nil)
		h.start(hub.Options{})
		h.settle(10 * time.Second)
		if s, ok := h.webSub(sub1); !ok || s.Secret != "s" {
			t.Errorf("after the restart: %v %+v", ok, s)
		}
	})
}

func TestLatestRequestOfACallbackReplacesEarlierRequests(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.slow = time.Second
		for _, secret := range []string{"one", "two", "three"} {
			if err := h.request(hub.ModeSubscribe, sub1, secret, 0); err != nil {
				t.Fatal(err)
			}
			h.settle(300 * time.Millisecond)
		}
		h.settle(10 * time.Second)
		if s, ok := h.webSub(sub1); !ok || s.Secret != "three" {
			t.Errorf("subscription: %v %+v", ok, s)
		}
	})
}

func TestWebSubRetriesUntilLeaseEnds(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", 240*time.Hour)
		h.setReply(failing)
		h.change("two")
		h.settle(30 * time.Hour)
		if tries := h.count(sub1); tries < 8 || tries > 12 {
			t.Errorf("%d attempts in 30 hours", tries)
		}
		if _, ok := h.webSub(sub1); !ok {
			t.Fatal("three errors ended a WebSub subscription")
		}
		h.setReply(nil)
		h.settle(8 * time.Hour)
		if s, _ := h.webSub(sub1); s.Failures != 0 || s.Sent != 1 {
			t.Errorf("after the recovery: %+v", s)
		}
		got := h.notificationsOf(sub1)
		if last := got[len(got)-1]; last.content != "|two" {
			t.Errorf("last delivery: %+v", last)
		}
	})
}

func TestTopicPolicyRestrictsSubscriptions(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]fault.Code{hub.TopicsOpen: -1, hub.TopicsKnown: fault.Refused, hub.TopicsOwn: fault.Refused} {
		withHarness(t, hub.Options{Topics: policy, IsOwnTopic: func(u string) bool { return u == "http://own.test/f" }}, func(t *testing.T, h *harness) {
			check := func(topic string, want fault.Code) {
				t.Helper()
				err := h.hub.Request(t.Context(), hub.Intent{Topic: topic, Callback: sub1, Mode: hub.ModeSubscribe}, netip.Addr{})
				if want == -1 && err != nil || want != -1 && fault.CodeOf(err) != want {
					t.Errorf("%s, %s: %v", policy, topic, err)
				}
			}
			check(feedURL, want)
			check("http://own.test/f", -1)
			h.register("http://a.test/n")
			if policy == hub.TopicsKnown {
				check(feedURL, -1)
			}
			synctest.Wait()
		})
	}
}

func TestInvalidSubscriptionRequestsAreRejectedImmediately(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{IsOwnURL: func(c string) bool { return strings.HasPrefix(c, "http://hub.test/") }}, func(t *testing.T, h *harness) {
		for _, c := range []struct {
			in   hub.Intent
			want fault.Code
		}{
			{hub.Intent{Topic: feedURL, Callback: sub1, Mode: "publish"}, fault.Invalid},
			{hub.Intent{Topic: feedURL + "#x", Callback: sub1, Mode: hub.ModeSubscribe}, fault.Invalid},
			{hub.Intent{Topic: "ftp://a.test/", Callback: sub1, Mode: hub.ModeSubscribe}, fault.Invalid},
			{hub.Intent{Topic: feedURL, Callback: "x", Mode: hub.ModeSubscribe}, fault.Invalid},
			{hub.Intent{Topic: feedURL, Callback: sub1, Mode: hub.ModeSubscribe, Secret: strings.Repeat("s", 200)}, fault.Invalid},
			{hub.Intent{Topic: feedURL, Callback: "http://hub.test/websub", Mode: hub.ModeSubscribe}, fault.Refused},
		} {
			if err := h.hub.Request(t.Context(), c.in, netip.Addr{}); fault.CodeOf(err) != c.want || err == nil {
				t.Errorf("%+v: %v, want %v", c.in, err, c.want)
			}
		}
		if n, _ := h.store.Intents(t.Context()); n != 0 {
			t.Errorf("%d invalid requests were stored", n)
		}
	})
}

func TestRemovalByOperatorIsSentToSubscriber(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", 0)
		s, _ := h.webSub(sub1)
		if gone, err := h.hub.Remove(t.Context(), []hub.Key{s.Key()}, "cli"); err != nil || len(gone) != 1 {
			t.Fatal(gone, err)
		}
		h.settle(time.Second)
		denied := h.intentsOf(hub.ModeDenied)
		if len(denied) != 1 || !strings.Contains(denied[0].Reason, "operator") || denied[0].Callback != sub1 {
			t.Errorf("denied: %+v", denied)
		}
	})
}

func TestLogRecordsEachStepOfASubscription(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribeWebSub(sub1, "", time.Hour)
		var texts []string
		for _, e := range h.events(event.KindRegister) {
			texts = append(texts, e.Text)
			if e.Via != hub.WebSub || e.Peer != "s1.test" || strings.Contains(e.Text, "token") {
				t.Errorf("event %+v", e)
			}
		}
		if len(texts) != 2 || !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "Subscribed by WebSub until") }) {
			t.Errorf("log: %q", texts)
		}
	})
}
