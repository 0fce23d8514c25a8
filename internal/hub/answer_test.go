package hub_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/validator"
)

// full returns a response with a whole body, not a 304.
func full(f hub.Fetch, body, etag, modified string) (hub.Fetched, error) {
	sum := sha256.Sum256([]byte(body))
	return hub.Fetched{Status: 200, Hash: sum[:], Body: []byte(body), ETag: etag, LastModified: modified,
		Date: time.Now().UTC().Format(http.TimeFormat), URL: f.URL}, nil
}

// file answers like an origin whose feed is a file: Last-Modified has a resolution of one second.
func (h *harness) file(f hub.Fetch) (hub.Fetched, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return full(f, h.feeds[feedURL], "", h.modified.UTC().Format(http.TimeFormat))
}

// write changes the content and the modification time of the file.
func (h *harness) write(body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feeds[feedURL], h.modified = body, time.Now()
}

func (h *harness) topic() hub.Topic {
	h.t.Helper()
	topic, err := h.store.Topic(h.t.Context(), hub.TopicID(feedURL))
	if err != nil {
		h.t.Fatal(err)
	}
	return topic
}

func (h *harness) reads() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.fetches)
}

func TestChangeInTheSameSecondIsFoundAfterARestart(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.origin = h.file
		h.write("one")
		if got, err := h.ping(); err != nil || !got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		h.settle(300 * time.Millisecond)
		h.write("two") // the ping of this change is lost
		if at := h.topic().AgainAt; at.IsZero() {
			t.Fatal("no second check is planned although the feed has just changed")
		}
		h.stop()
		h.start(hub.Options{})
		h.settle(time.Second)
		if n := h.reads(); n != 1 {
			t.Errorf("the feed was read %d times within a second and a half, want once", n)
		}
		h.settle(2 * time.Second)
		if got := h.notificationsOf(cb); len(got) != 2 || got[1].version != 2 {
			t.Errorf("notified %+v, want both versions", got)
		}
		h.settle(2 * time.Hour)
		if topic := h.topic(); h.reads() != 2 || !topic.AgainAt.IsZero() || topic.FullReads != 2 {
			t.Errorf("the feed was read %d times, next check at %s", h.reads(), topic.AgainAt)
		}
	})
}

func TestFollowUpCheckWithoutChangeIsNotLogged(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.origin = h.file
		h.write("one")
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		h.settle(time.Minute)
		if n, pings, checks := h.reads(), len(h.events("ping")), len(h.events("check")); n != 2 || pings != 1 || checks != 1 {
			t.Errorf("%d reads, %d pings and %d checks in the log; want 2, 1 and 1", n, pings, checks)
		}
	})
}

func TestFailedFollowUpCheckIsRetried(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		h.origin = h.file
		h.write("one")
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		h.write("two")
		h.mu.Lock()
		h.origin = func(hub.Fetch) (hub.Fetched, error) { return hub.Fetched{}, fault.New(fault.Unreadable, "It is away.") }
		h.mu.Unlock()
		h.settle(4 * time.Second)
		h.mu.Lock()
		h.origin = h.file
		h.mu.Unlock()
		h.settle(time.Minute)
		if got := h.notificationsOf(cb); len(got) != 2 {
			t.Errorf("notified %+v, want both versions", got)
		}
	})
}

func TestFeedGeneratedPerRequestIsReadTwicePerPing(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.origin = func(f hub.Fetch) (hub.Fetched, error) {
			now := time.Now()
			return full(f, now.String(), "", now.UTC().Format(http.TimeFormat))
		}
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		h.settle(3 * time.Hour)
		if n := h.reads(); n != 2 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestTrusted304IsVerifiedAndIncorrect304EndsTheTrust(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		cb := h.subscribers(1)[0]
		staleETag := false
		h.origin = func(f hub.Fetch) (hub.Fetched, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			body := h.feeds[feedURL]
			etag := fmt.Sprintf("%q", body)
			if staleETag {
				etag = `"two"`
			}
			if f.ETag == etag {
				return hub.Fetched{NotModified: true, Status: 304, ETag: etag, URL: f.URL}, nil
			}
			return full(f, body, etag, "")
		}
		h.change("one")
		h.settle(2 * time.Second)
		h.change("two") // the ETag changes together with the feed, so the hub trusts it from now on
		h.settle(2 * time.Second)
		staleETag = true
		h.set("three")
		if got, err := h.ping(); err != nil || got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		if topic := h.topic(); topic.NotModified != 1 || !topic.Evidence.Believed || topic.AgainAt.IsZero() {
			t.Errorf("after a 304: %+v", topic)
		}
		h.settle(validator.BelievedFor)
		if got := h.notificationsOf(cb); len(got) != 3 {
			t.Errorf("an hour after the 304: notified %+v", got)
		}
		if topic := h.topic(); topic.Evidence.Proof != validator.Refuted || !topic.AgainAt.IsZero() {
			t.Errorf("after the full read: %+v", topic)
		}
		h.change("four") // the ETag does not change
		if got := h.topic(); got.NotModified != 1 || got.FullReads != 4 || got.FullBytes != int64(len("onetwothreefour")) {
			t.Errorf("costs: %d not modified, %d full reads, %d bytes", got.NotModified, got.FullReads, got.FullBytes)
		}
	})
}

func TestETagOfARunningReadIsNotSentForPingsDuringThatRead(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{AckWithin: time.Minute}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.change("one")
		h.settle(2 * time.Second)
		h.change("two")
		h.settle(2 * time.Second)
		h.slow = 500 * time.Millisecond
		h.set("three")
		go func() { _, _ = h.ping() }() // the ping below arrives during the read that this ping starts
		h.settle(100 * time.Millisecond)
		if _, err := h.ping(); err != nil {
			t.Fatal(err)
		}
		if n := h.reads(); n != 4 || h.fetches[2].etag == "" || h.fetches[3].etag != "" {
			t.Errorf("%d reads: %+v", n, h.fetches)
		}
	})
}

func TestETagOfARedirectTargetIsNotSent(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.origin = func(f hub.Fetch) (hub.Fetched, error) {
			got, err := full(f, h.feeds[feedURL], fmt.Sprintf("%q", h.feeds[feedURL]), "")
			got.URL = "http://elsewhere.test/"
			return got, err
		}
		for _, body := range []string{"one", "two", "three", "three"} {
			h.set(body)
			if _, err := h.ping(); err != nil {
				t.Fatal(err)
			}
			h.settle(2 * time.Second)
		}
		for _, f := range h.fetches {
			if f.etag != "" {
				t.Errorf("sent %s", f.etag)
			}
		}
		if topic := h.topic(); topic.ETag != "" || topic.Evidence.Proof != validator.Unproven {
			t.Errorf("%+v", topic)
		}
	})
}

func TestStatus304ToUnconditionalRequestIsAnError(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{}, func(t *testing.T, h *harness) {
		h.subscribers(1)
		h.change("one")
		h.settle(2 * time.Second)
		h.origin = func(f hub.Fetch) (hub.Fetched, error) {
			return hub.Fetched{NotModified: true, Status: 304, URL: f.URL}, nil
		}
		if _, err := h.ping(); fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("got %v, want an error about an unreadable feed", err)
		}
		if topic := h.topic(); topic.Version != 1 || topic.Failures != 1 || topic.NotModified != 0 {
			t.Errorf("%+v", topic)
		}
	})
}
