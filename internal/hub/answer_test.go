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

// full is an answer with a body.
func full(f hub.Fetch, body, etag, modified string) (hub.Fetched, error) {
	sum := sha256.Sum256([]byte(body))
	return hub.Fetched{Status: 200, Hash: sum[:], Body: []byte(body), ETag: etag, LastModified: modified,
		Date: time.Now().UTC().Format(http.TimeFormat), URL: f.URL}, nil
}

// file is an origin whose feed is a file: Last-Modified counts whole seconds.
func (w *world) file(f hub.Fetch) (hub.Fetched, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return full(f, w.feeds[feedURL], "", w.modified.UTC().Format(http.TimeFormat))
}

// write changes the file.
func (w *world) write(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.feeds[feedURL], w.modified = body, time.Now()
}

func (w *world) topic() hub.Topic {
	w.t.Helper()
	topic, err := w.store.Topic(w.t.Context(), hub.TopicID(feedURL))
	if err != nil {
		w.t.Fatal(err)
	}
	return topic
}

func (w *world) reads() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.fetches)
}

func TestAChangeInTheSecondOfTheOneBeforeIsFoundAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.origin = w.file
		w.write("one")
		if got, err := w.ping(); err != nil || !got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		w.settle(300 * time.Millisecond)
		w.write("two") // and its ping is lost
		if at := w.topic().AgainAt; at.IsZero() {
			t.Fatal("the feed is not due again although it had only just changed")
		}
		w.stop()
		w.start(hub.Options{})
		w.settle(time.Second)
		if n := w.reads(); n != 1 {
			t.Errorf("the feed was read %d times within a second and a half, want once", n)
		}
		w.settle(2 * time.Second)
		if got := w.toldOf(cb); len(got) != 2 || got[1].version != 2 {
			t.Errorf("notified %+v, want of both versions", got)
		}
		w.settle(2 * time.Hour)
		if topic := w.topic(); w.reads() != 2 || !topic.AgainAt.IsZero() || topic.FullReads != 2 {
			t.Errorf("the feed was read %d times, and is due again at %s", w.reads(), topic.AgainAt)
		}
	})
}

func TestAFollowUpWithoutAChangeIsNotLogged(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.origin = w.file
		w.write("one")
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		w.settle(time.Minute)
		if n, pings, checks := w.reads(), len(w.events("ping")), len(w.events("check")); n != 2 || pings != 1 || checks != 1 {
			t.Errorf("%d reads, %d pings and %d checks in the log; want 2, 1 and 1", n, pings, checks)
		}
	})
}

func TestAFollowUpThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		w.origin = w.file
		w.write("one")
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		w.write("two")
		w.mu.Lock()
		w.origin = func(hub.Fetch) (hub.Fetched, error) { return hub.Fetched{}, fault.New(fault.Unreadable, "It is away.") }
		w.mu.Unlock()
		w.settle(4 * time.Second)
		w.mu.Lock()
		w.origin = w.file
		w.mu.Unlock()
		w.settle(time.Minute)
		if got := w.toldOf(cb); len(got) != 2 {
			t.Errorf("notified %+v, want of both versions", got)
		}
	})
}

func TestAFeedThatIsMadeForEachRequestIsReadTwiceForAPing(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.origin = func(f hub.Fetch) (hub.Fetched, error) {
			now := time.Now()
			return full(f, now.String(), "", now.UTC().Format(http.TimeFormat))
		}
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		w.settle(3 * time.Hour)
		if n := w.reads(); n != 2 {
			t.Errorf("read %d times", n)
		}
	})
}

func TestABelieved304IsVerifiedWithinAnHourAndOneThatWasWrongIsTheLast(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		cb := w.subscribers(1)[0]
		lies := false
		w.origin = func(f hub.Fetch) (hub.Fetched, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			body := w.feeds[feedURL]
			etag := fmt.Sprintf("%q", body)
			if lies {
				etag = `"two"`
			}
			if f.ETag == etag {
				return hub.Fetched{NotModified: true, Status: 304, ETag: etag, URL: f.URL}, nil
			}
			return full(f, body, etag, "")
		}
		w.change("one")
		w.settle(2 * time.Second)
		w.change("two") // proves the ETag
		w.settle(2 * time.Second)
		lies = true
		w.set("three")
		if got, err := w.ping(); err != nil || got.Changed {
			t.Fatalf("%+v, %v", got, err)
		}
		if topic := w.topic(); topic.NotModified != 1 || !topic.Evidence.Believed || topic.AgainAt.IsZero() {
			t.Errorf("after a 304: %+v", topic)
		}
		w.settle(validator.BelievedFor)
		if got := w.toldOf(cb); len(got) != 3 {
			t.Errorf("an hour after the 304: notified %+v", got)
		}
		if topic := w.topic(); topic.Evidence.Proof != validator.Refuted || !topic.AgainAt.IsZero() {
			t.Errorf("after the full read: %+v", topic)
		}
		w.change("four") // with the same ETag
		if got := w.topic(); got.NotModified != 1 || got.FullReads != 4 || got.FullBytes != int64(len("onetwothreefour")) {
			t.Errorf("costs: %d not modified, %d full reads, %d bytes", got.NotModified, got.FullReads, got.FullBytes)
		}
	})
}

func TestNoETagIsSentForAPingThatCameDuringTheReadThatGaveIt(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{AckWithin: time.Minute}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.change("one")
		w.settle(2 * time.Second)
		w.change("two")
		w.settle(2 * time.Second)
		w.slow = 500 * time.Millisecond
		w.set("three")
		go func() { _, _ = w.ping() }() // the one below is looked at
		w.settle(100 * time.Millisecond)
		if _, err := w.ping(); err != nil {
			t.Fatal(err)
		}
		if n := w.reads(); n != 4 || w.fetches[2].etag == "" || w.fetches[3].etag != "" {
			t.Errorf("%d reads: %+v", n, w.fetches)
		}
	})
}

func TestTheETagOfAFeedElsewhereIsNotSentToWhereItWasRedirected(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.origin = func(f hub.Fetch) (hub.Fetched, error) {
			got, err := full(f, w.feeds[feedURL], fmt.Sprintf("%q", w.feeds[feedURL]), "")
			got.URL = "http://elsewhere.test/"
			return got, err
		}
		for _, body := range []string{"one", "two", "three", "three"} {
			w.set(body)
			if _, err := w.ping(); err != nil {
				t.Fatal(err)
			}
			w.settle(2 * time.Second)
		}
		for _, f := range w.fetches {
			if f.etag != "" {
				t.Errorf("sent %s", f.etag)
			}
		}
		if topic := w.topic(); topic.ETag != "" || topic.Evidence.Proof != validator.Unproven {
			t.Errorf("%+v", topic)
		}
	})
}

func TestA304ToARequestWithoutConditionsIsAnError(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{}, func(t *testing.T, w *world) {
		w.subscribers(1)
		w.change("one")
		w.settle(2 * time.Second)
		w.origin = func(f hub.Fetch) (hub.Fetched, error) {
			return hub.Fetched{NotModified: true, Status: 304, URL: f.URL}, nil
		}
		if _, err := w.ping(); fault.CodeOf(err) != fault.Unreadable {
			t.Errorf("%v, want that the feed cannot be read", err)
		}
		if topic := w.topic(); topic.Version != 1 || topic.Failures != 1 || topic.NotModified != 0 {
			t.Errorf("%+v", topic)
		}
	})
}
