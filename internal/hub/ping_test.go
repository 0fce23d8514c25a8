package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

func TestPingOfAChangedFeedNotifiesEverySubscriberOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		names := h.subscribers(1200) // three batches
		h.change("two")
		h.settle(time.Second)
		for _, cb := range names {
			if got := h.notificationsOf(cb); len(got) != 1 || got[0].version != 1 {
				t.Fatalf("%s was notified %v, want once of version 1", cb, got)
			}
		}
	})
}

func TestUnchangedFeedCausesNoNotificationAndProvenETagIsSent(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		if got, err := h.ping(); err != nil || !got.Changed { // the first read of a feed counts as a change
			t.Fatalf("first ping: %+v, %v", got, err)
		}
		h.settle(2 * time.Second)
		got, err := h.ping()
		if err != nil || got.Changed || !got.Checked {
			t.Fatalf("second ping: %+v, %v", got, err)
		}
		h.settle(2 * time.Second)
		if n := h.count(cb); n != 1 {
			t.Errorf("notified %d times, want once", n)
		}
		if last := h.fetches[len(h.fetches)-1]; last.etag != "" {
			t.Errorf("the second check sent the unproven ETag %s", last.etag)
		}
		h.change("two")
		h.settle(2 * time.Second)
		if got, err := h.ping(); err != nil || got.Changed || !got.Checked {
			t.Fatalf("ping after the change: %+v, %v", got, err)
		}
		if last := h.fetches[len(h.fetches)-1]; last.etag == "" {
			t.Error("the proven ETag was not sent")
		}
		events := h.events(event.KindPing)
		if last := events[len(events)-1]; !strings.Contains(last.Text, "Not modified") {
			t.Errorf("the log has no reason for a ping without effect: %q", last.Text)
		}
	})
}

func TestPingsDuringACheckCauseOneFollowUpCheck(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{AckWithin: time.Minute}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.slow = 500 * time.Millisecond
		results := make(chan hub.PingResult, 20)
		send := func() {
			got, err := h.ping()
			if err != nil {
				t.Errorf("ping: %v", err)
			}
			results <- got
		}
		go send()
		time.Sleep(100 * time.Millisecond) // while the fetch is running
		h.set("two")
		for range 10 {
			go send()
		}
		h.settle(10 * time.Second)
		if len(results) != 11 {
			t.Fatalf("%d pings were answered, want 11", len(results))
		}
		if n := len(h.fetches); n != 2 {
			t.Fatalf("the feed was read %d times, want twice", n)
		}
		if gap := h.fetches[1].at.Sub(h.fetches[0].at); gap < time.Second {
			t.Errorf("checks at an interval of %s, want at least the ping interval", gap)
		}
		for range 11 {
			if got := <-results; got.Changed && got.Version == 2 {
				return
			}
		}
		t.Error("no ping reported the change during the check")
	})
}

func TestLastChangeOfABurstIsDelivered(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		for _, body := range []string{"a", "b", "c", "d", "e"} {
			h.set(body)
			go func() {
				if _, err := h.ping(); err != nil {
					t.Errorf("ping: %v", err)
				}
			}()
			h.settle(50 * time.Millisecond)
		}
		h.settle(5 * time.Second)
		topic, err := h.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil {
			t.Fatal(err)
		}
		notifications := h.notificationsOf(cb)
		if last := notifications[len(notifications)-1]; last.version != topic.Version || len(h.fetches) > 2 {
			t.Errorf("the last notification was of version %d of %d, after %d reads", last.version, topic.Version, len(h.fetches))
		}
	})
}

func TestPingOfASlowFeedSurvivesARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.slow = time.Minute
		begun := time.Now()
		got, err := h.ping()
		if err != nil || !got.Pending {
			t.Fatalf("ping of a slow feed: %+v, %v", got, err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("answered after %s, too late for clients with short timeouts", took)
		}
		h.stop()
		h.slow = 0
		h.start(hub.Options{})
		h.settle(time.Minute)
		if n := h.count(cb); n != 1 {
			t.Errorf("notified %d times after the restart, want once", n)
		}
		topic, err := h.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil || !topic.PingedAt.IsZero() {
			t.Errorf("the ping is still pending: %v, %v", topic.PingedAt, err)
		}
	})
}

func TestStoppingServerAnswersWaitingPings(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{AckWithin: time.Hour}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.slow = time.Minute
		var got hub.PingResult
		var err error
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			got, err = h.ping()
		}()
		synctest.Wait()
		h.hub.AnswerPings()
		synctest.Wait()
		select {
		case <-answered:
		default:
			t.Fatal("the ping still waits for the feed")
		}
		if err != nil || !got.Pending {
			t.Fatalf("got %+v, %v; want a pending ping", got, err)
		}
		if got, err := h.ping(); err != nil || !got.Pending {
			t.Errorf("later ping: got %+v, %v; want a pending ping", got, err)
		}
		h.stop()
		h.slow = 0
		h.start(hub.Options{})
		h.settle(time.Minute)
		if n := h.count(cb); n != 1 {
			t.Errorf("%d notifications after the restart, want 1", n)
		}
	})
}

func TestPingOfAnUnreadableFeedFails(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.set("")
		if _, err := h.ping(); fault.CodeOf(err) != fault.Unreadable {
			t.Fatalf("err = %v, want unreadable", err)
		}
		topic, err := h.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil || topic.Failures != 1 || topic.Error == "" {
			t.Errorf("topic: %+v, %v", topic, err)
		}
	})
}

func TestReadsOfFeedsWithoutSubscribersAreRateLimited(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		for range 5 {
			if got, err := h.ping(); err != nil || got.Known {
				t.Fatalf("ping: %+v, %v", got, err)
			}
		}
		if n := len(h.fetches); n != 1 {
			t.Errorf("read %d times at once, want once", n)
		}
		h.settle(11 * time.Second)
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		if n := len(h.fetches); n != 2 {
			t.Errorf("read %d times, want another read after ten seconds", n)
		}
		if n := len(h.events(event.KindPing)); n != 6 {
			t.Errorf("the log has %d pings, want all 6", n)
		}
	})
}

func TestPingAboveTheRateOfItsSourceIsRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{SourceRate: 1}, func(t *testing.T, h *harness) {
		var err error
		for range 11 {
			_, err = h.ping()
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("eleventh ping: %v", err)
		}
	})
}

func TestPingWithTooManyHopsIsRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.set("two")
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Hops: 4}); fault.CodeOf(err) != fault.Refused {
			t.Errorf("four hops: %v, want a refusal", err)
		}
		if _, err := h.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Hops: 3}); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Second)
		if got := h.notificationsOf(cb); len(got) != 1 || got[0].hops != 3 {
			t.Errorf("notified %+v, want once with 3 hops", got)
		}
	})
}

func TestInvalidFeedURLsAreRejected(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		for _, raw := range []string{"", "rss.xml", "ftp://a.test/x", "http://", "http:///x", "http://a.test/ x", "http://a.test/\x00", "http://a.test/#x", "http://a.test/%zz", "http://a.test/" + strings.Repeat("x", 3000), "javascript:alert(1)"} {
			_, err := h.hub.Ping(t.Context(), hub.Ping{URL: raw})
			if fault.CodeOf(err) != fault.Invalid || len(fault.Message(err)) > 400 {
				t.Errorf("ping %.40q: %v", raw, err)
			}
		}
		if len(h.fetches) != 0 {
			t.Errorf("feeds were read: %v", h.fetches)
		}
	})
}
