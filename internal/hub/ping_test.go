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

func TestPingOfAChangedFeedTellsEverySubscriberOnce(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		names := w.subscribers(1200) // three pages
		w.change("two")
		w.settle(time.Second)
		for _, cb := range names {
			if got := w.toldOf(cb); len(got) != 1 || got[0].version != 1 {
				t.Fatalf("%s was told %v, want once of version 1", cb, got)
			}
		}
	})
}

func TestAnUnchangedFeedTellsNobodyAndIsReadInFullUntilItsETagIsProven(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		if got, err := w.ping(); err != nil || !got.Changed { // first seen counts as changed
			t.Fatalf("first ping: %+v, %v", got, err)
		}
		w.settle(2 * time.Second)
		got, err := w.ping()
		if err != nil || got.Changed || !got.Checked {
			t.Fatalf("second ping: %+v, %v", got, err)
		}
		w.settle(2 * time.Second)
		if n := w.count(cb); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		if last := w.fetches[len(w.fetches)-1]; last.etag != "" {
			t.Errorf("the second check sent the ETag %s, which was never seen to change", last.etag)
		}
		w.change("two")
		w.settle(2 * time.Second)
		if got, err := w.ping(); err != nil || got.Changed || !got.Checked {
			t.Fatalf("ping after the change: %+v, %v", got, err)
		}
		if last := w.fetches[len(w.fetches)-1]; last.etag == "" {
			t.Error("the proven ETag was not sent")
		}
		events := w.events(event.KindPing)
		if last := events[len(events)-1]; !strings.Contains(last.Text, "Not modified") {
			t.Errorf("the log does not say why the ping did nothing: %q", last.Text)
		}
	})
}

func TestPingsThatComeDuringACheckShareOneFollowUp(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{AckWithin: time.Minute}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.slow = 500 * time.Millisecond
		results := make(chan hub.PingResult, 20)
		send := func() {
			got, err := w.ping()
			if err != nil {
				t.Errorf("ping: %v", err)
			}
			results <- got
		}
		go send()
		time.Sleep(100 * time.Millisecond) // its fetch is under way
		w.set("two")
		for range 10 {
			go send()
		}
		w.settle(10 * time.Second)
		if len(results) != 11 {
			t.Fatalf("%d pings were answered, want 11", len(results))
		}
		if n := len(w.fetches); n != 2 {
			t.Fatalf("the feed was read %d times, want twice", n)
		}
		if gap := w.fetches[1].at.Sub(w.fetches[0].at); gap < time.Second {
			t.Errorf("the checks are %s apart, want the ping interval at least", gap)
		}
		for range 11 {
			if got := <-results; got.Changed && got.Version == 2 {
				return
			}
		}
		t.Error("no ping saw the change that came during the check")
	})
}

func TestTheLastChangeOfABurstIsDelivered(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		for _, body := range []string{"a", "b", "c", "d", "e"} {
			w.set(body)
			go func() {
				if _, err := w.ping(); err != nil {
					t.Errorf("ping: %v", err)
				}
			}()
			w.settle(50 * time.Millisecond)
		}
		w.settle(5 * time.Second)
		topic, err := w.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil {
			t.Fatal(err)
		}
		told := w.toldOf(cb)
		if last := told[len(told)-1]; last.version != topic.Version || len(w.fetches) > 2 {
			t.Errorf("told last of version %d of %d, after %d reads", last.version, topic.Version, len(w.fetches))
		}
	})
}

func TestASlowFeedIsAcknowledgedOnDiskAndCheckedAfterARestart(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.slow = time.Minute
		begun := time.Now()
		got, err := w.ping()
		if err != nil || !got.Pending {
			t.Fatalf("ping of a slow feed: %+v, %v", got, err)
		}
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("answered after %s; impatient clients have gone by then", took)
		}
		w.stop()
		w.slow = 0
		w.start(hub.Options{})
		w.settle(time.Minute)
		if n := w.count(cb); n != 1 {
			t.Errorf("told %d times after the restart, want once", n)
		}
		topic, err := w.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil || !topic.PingedAt.IsZero() {
			t.Errorf("the ping is still pending: %v, %v", topic.PingedAt, err)
		}
	})
}

func TestAServerThatStopsAnswersThePingsThatWait(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{AckWithin: time.Hour}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.slow = time.Minute
		var got hub.PingResult
		var err error
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			got, err = w.ping()
		}()
		synctest.Wait()
		w.hub.AnswerPings()
		synctest.Wait()
		select {
		case <-answered:
		default:
			t.Fatal("the ping still waits for the feed")
		}
		if err != nil || !got.Pending {
			t.Fatalf("got %+v, %v; want it to be pending", got, err)
		}
		if got, err := w.ping(); err != nil || !got.Pending {
			t.Errorf("a later ping: got %+v, %v; want it to be pending", got, err)
		}
		w.stop()
		w.slow = 0
		w.start(hub.Options{})
		w.settle(time.Minute)
		if n := w.count(cb); n != 1 {
			t.Errorf("%d notifications after the restart, want 1", n)
		}
	})
}

func TestAPingOfAFeedThatCannotBeReadFails(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.set("")
		if _, err := w.ping(); fault.CodeOf(err) != fault.Unreadable {
			t.Fatalf("err = %v, want unreadable", err)
		}
		topic, err := w.store.Topic(t.Context(), hub.TopicID(feedURL))
		if err != nil || topic.Failures != 1 || topic.Error == "" {
			t.Errorf("topic: %+v, %v", topic, err)
		}
	})
}

func TestAFeedThatNobodyFollowsIsReadOnceInAWhile(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		for range 5 {
			if got, err := w.ping(); err != nil || got.Known {
				t.Fatalf("ping: %+v, %v", got, err)
			}
		}
		if n := len(w.fetches); n != 1 {
			t.Errorf("read %d times within a moment, want once", n)
		}
		w.settle(11 * time.Second)
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		if n := len(w.fetches); n != 2 {
			t.Errorf("read %d times, want again after ten seconds", n)
		}
		if n := len(w.events(event.KindPing)); n != 6 {
			t.Errorf("the log has %d pings, want all 6", n)
		}
	})
}

func TestAPingFromAFloodingNetworkIsRefusedBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{SourceRate: 1}, func(t *testing.T, w *world) {
		var err error
		for range 11 {
			_, err = w.ping()
		}
		if fault.CodeOf(err) != fault.TooMany || fault.RetryAfter(err) <= 0 {
			t.Errorf("the eleventh ping: %v", err)
		}
	})
}

func TestNewsThatWentRoundTooManyHubsIsRefused(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.set("two")
		if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Hops: 4}); fault.CodeOf(err) != fault.Refused {
			t.Errorf("four hops: %v, want a refusal", err)
		}
		if _, err := w.hub.Ping(t.Context(), hub.Ping{URL: feedURL, Hops: 3}); err != nil {
			t.Fatal(err)
		}
		w.settle(time.Second)
		if got := w.toldOf(cb); len(got) != 1 || got[0].hops != 3 {
			t.Errorf("told %+v, want once with 3 hops", got)
		}
	})
}

func TestWhatIsNoFeedURLIsRefusedInWords(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		for _, raw := range []string{"", "rss.xml", "ftp://a.test/x", "http://", "http:///x", "http://a.test/ x", "http://a.test/\x00", "http://a.test/#x", "http://a.test/%zz", "http://a.test/" + strings.Repeat("x", 3000), "javascript:alert(1)"} {
			_, err := w.hub.Ping(t.Context(), hub.Ping{URL: raw})
			if fault.CodeOf(err) != fault.Invalid || len(fault.Message(err)) > 400 {
				t.Errorf("ping %.40q: %v", raw, err)
			}
		}
		if len(w.fetches) != 0 {
			t.Errorf("something was read: %v", w.fetches)
		}
	})
}
