package river_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/nettest"
	"cloudburst/internal/river"
)

// announce pushes the feed to the river, and waits until the river has handled the push.
func (w *harness) announce() {
	w.t.Helper()
	if known, err := w.river.ReceivePush(w.t.Context(), feedURL, "notify-rsscloud"); !known || err != nil {
		w.t.Fatalf("%v, %v", known, err)
	}
	w.advance(500 * time.Millisecond)
}

// modifiedOrigin serves a feed as a file server does: with Last-Modified in whole seconds. If its
// status is not zero, it answers with that status instead.
type modifiedOrigin struct {
	nettest.Origin
	status atomic.Int32
}

func (o *modifiedOrigin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s := int(o.status.Load()); s != 0 {
		w.WriteHeader(s)
		return
	}
	o.Origin.ServeHTTP(w, r)
}

func withSecondsOrigin(t *testing.T, do func(*testing.T, *harness, *modifiedOrigin)) {
	t.Helper()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		o := &modifiedOrigin{}
		o.Kind = nettest.OriginSeconds
		o.Set([]byte(rss("", "a")))
		w.serve(feedURL, o.ServeHTTP)
		w.advance(time.Minute)
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		do(t, w, o)
	})
}

func TestSecondOfTwoChangesInOneSecondIsShown(t *testing.T) {
	t.Parallel()
	withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
		o.Set([]byte(rss("", "b", "a")))
		w.announce()
		if s := titles(w.items(feedURL)); s != "b a" {
			t.Fatalf("after the first change: %s", s)
		}
		o.Set([]byte(rss("", "c", "b", "a")))
		w.announce()
		if s := titles(w.items(feedURL)); s != "c b a" {
			t.Errorf("after the second change: %s", s)
		}
		for _, r := range w.requests() {
			if r.header.Get("If-Modified-Since")+r.header.Get("If-None-Match") != "" || r.header.Get("Cache-Control") != "no-cache" {
				t.Errorf("a check after a push sent %v", r.header)
			}
		}
	})
}

func TestPlannedCheckAfterAFullReadIsConditional(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		const modified = "Wed, 01 Dec 1999 00:00:00 GMT"
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`, "Last-Modified", modified))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.announce()
		w.advance(2 * time.Hour)
		list := w.requests()
		if len(list) < 3 {
			t.Fatalf("%d requests", len(list))
		}
		for i, r := range list {
			conditional := r.header.Get("If-None-Match") == `"v1"` && r.header.Get("If-Modified-Since") == modified
			if conditional != (i > 1) || (r.header.Get("Cache-Control") != "") != (i == 1) {
				t.Errorf("request %d sent %v", i, r.header)
			}
		}
		if c := w.checks(feedURL)[0]; c.Asked != river.AskedConditionally || c.AskedWhy != "" || c.Cause != polling.Poll {
			t.Errorf("the planned check: %+v", c)
		}
	})
}

func TestCheckRecordsWhetherTheRequestWasConditional(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		want := func(what, asked, why string) {
			t.Helper()
			if c := w.checks(feedURL)[0]; c.Asked != asked || !strings.Contains(c.AskedWhy, why) || (c.AskedWhy == "") != (why == "") {
				t.Errorf("%s: asked %q, because %q", what, c.Asked, c.AskedWhy)
			}
		}
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		want("the first check", river.AskedInFull, "never been read")
		w.announce()
		want("an ETag that is not proven", river.AskedInFull, "not yet been seen to change")
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
		w.announce()
		w.announce()
		want("a proven ETag", river.AskedConditionally, "")
		if last := w.requests()[3].header; last.Get("If-None-Match") != `"v2"` || last.Get("Cache-Control") != "no-cache" {
			t.Errorf("a proven ETag: sent %v", last)
		}
		w.advance(time.Minute)
		if _, err := w.river.Refresh(t.Context(), river.SourceID(feedURL)); err != nil {
			t.Fatal(err)
		}
		want("a proven ETag, by hand", river.AskedConditionally, "")
		w.serve(feedURL, tagged(rss("", "c", "b", "a"), `W/"v3"`))
		w.announce()
		w.announce()
		want("a weak ETag", river.AskedInFull, "weak")
		if known, err := w.river.Deliver(t.Context(), feedURL, "notify-websub", []byte(rss("", "d")), nil); !known || err != nil {
			t.Fatal(known, err)
		}
		w.advance(time.Second)
		want("content from a hub", "", "")
	})
}

func TestManualRefreshReadsInFullWithoutAProvenETag(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		o := nettest.Origin{Kind: nettest.OriginConstant}
		o.Set([]byte(rss("", "a")))
		w.serve(feedURL, o.ServeHTTP)
		w.follow(feedURL)
		w.advance(2 * time.Minute)
		o.Set([]byte(rss("", "b", "a")))
		c, err := w.river.Refresh(t.Context(), river.SourceID(feedURL))
		if err != nil || c.New != 1 || c.Asked != river.AskedInFull {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// The second change happens in the same second as the first, so it has the same Last-Modified.
// The server fails all checks after announcements, and then answers 304 to a planned check.
func TestPlannedCheckAfterAFailedPushCheckReadsInFull(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 503} {
		withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
			o.Set([]byte(rss("", "b", "a")))
			w.announce()
			o.Set([]byte(rss("", "c", "b", "a")))
			o.status.Store(int32(status))
			w.announce()
			w.advance(5 * time.Second) // wait for the follow-up check
			w.requests()
			if s := titles(w.items(feedURL)); s != "b a" || !w.source(feedURL).State.Push.Pending {
				t.Fatalf("%d: the items are %s", status, s)
			}
			if e := w.explain(feedURL); !strings.Contains(strings.Join(e.Notes, "\n"), "no check has read the feed since") {
				t.Errorf("%d: the notes are %q", status, e.Notes)
			}
			w.restart()
			o.status.Store(0)
			w.advance(time.Hour)
			if s, c := titles(w.items(feedURL)), w.checks(feedURL); s != "c b a" || !anyCheck(c, polling.Pushed, river.AskedInFull) {
				t.Errorf("%d: an hour later the items are %s", status, s)
			}
			if w.source(feedURL).State.Push.Pending {
				t.Errorf("%d: the feed was read, and a push is pending", status)
			}
			for i, r := range w.requests() {
				if (r.header.Get("If-Modified-Since") == "") != (i == 0) {
					t.Errorf("%d: request %d sent %v", status, i, r.header)
				}
			}
		})
	}
}

func anyCheck(list []river.Check, cause polling.Cause, asked string) bool {
	for _, c := range list {
		if c.Cause == cause && c.Asked == asked && c.Outcome == polling.Changed {
			return true
		}
	}
	return false
}

// A manual check replaces a pushed check that has not started.
func TestPushStaysPendingAfterAFailedManualRefresh(t *testing.T) {
	t.Parallel()
	withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
		o.Set([]byte(rss("", "b", "a")))
		w.announce()
		w.advance(2 * time.Minute)
		w.stop()
		o.status.Store(503)
		if _, err := w.store.MarkPushed(t.Context(), feedURL, "ping", time.Now().UTC()); err != nil {
			t.Fatal(err)
		}
		if c, err := w.river.Refresh(t.Context(), river.SourceID(feedURL)); err != nil || c.Outcome != polling.Failed {
			t.Fatalf("%+v, %v", c, err)
		}
		if s := w.source(feedURL); !s.PushedAt.IsZero() || !s.State.Push.Pending {
			t.Errorf("pushed at %s, pending %v", s.PushedAt, s.State.Push.Pending)
		}
	})
}

// The second change is not announced. It happens in the same second as the first change.
func TestFeedModifiedSecondsAgoIsCheckedAgain(t *testing.T) {
	t.Parallel()
	t.Run("", func(t *testing.T) { recentChange(t, func(*harness) {}) })
	t.Run("after a restart", func(t *testing.T) { recentChange(t, (*harness).restart) })
}

func recentChange(t *testing.T, meanwhile func(*harness)) {
	t.Helper()
	withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
		o.Set([]byte(rss("", "b", "a")))
		w.announce()
		o.Set([]byte(rss("", "c", "b", "a")))
		e := w.explain(feedURL)
		if !strings.HasPrefix(e.Sentence, "next check in 2 seconds: a follow-up that reads the feed in full, because it had changed less than two seconds") || strings.Contains(e.Sentence, "planned") {
			t.Errorf("explained as %s", e.Sentence)
		}
		w.sameNext(feedURL)
		w.advance(500 * time.Millisecond)
		meanwhile(w)
		w.advance(2 * time.Second)
		if s, c := titles(w.items(feedURL)), w.checks(feedURL)[0]; s != "c b a" || c.Cause != polling.FollowUp || c.Asked != river.AskedInFull {
			t.Errorf("after the follow-up: %s, %+v", s, c)
		}
		w.requests()
		w.advance(10 * time.Minute)
		if list := w.requests(); len(list) > 0 {
			t.Errorf("%d requests after the follow-up", len(list))
		}
	})
}

// A page that is generated for each request always has a recent Last-Modified.
func TestFeedModifiedAtEveryRequestIsCheckedTwiceAfterAPush(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			_, _ = io.WriteString(out, rss("<ttl>600</ttl>", "a"))
		})
		w.follow(feedURL)
		w.advance(10 * time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests without a push", n)
		}
		w.announce()
		w.advance(10 * time.Minute)
		if n := len(w.requests()); n != 2 {
			t.Errorf("%d requests after a push", n)
		}
		if _, err := w.river.Refresh(t.Context(), river.SourceID(feedURL)); err != nil {
			t.Fatal(err)
		}
		w.advance(10 * time.Minute)
		if n := len(w.requests()); n != 1 {
			t.Errorf("%d requests after a refresh", n)
		}
	})
}

func TestFollowUpCheckIgnoresSkippedHours(t *testing.T) {
	t.Parallel()
	withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
		const skipping = `<skipHours><hour>0</hour><hour>1</hour><hour>2</hour></skipHours>` // the clock of a synctest bubble starts at midnight
		o.Set([]byte(rss(skipping, "b", "a")))
		w.announce()
		o.Set([]byte(rss(skipping, "c", "b", "a")))
		w.advance(3 * time.Second)
		if s := titles(w.items(feedURL)); s != "c b a" {
			t.Errorf("after the follow-up: %s", s)
		}
	})
}

func TestFollowUpCheckRespectsRetryAfter(t *testing.T) {
	t.Parallel()
	withSecondsOrigin(t, func(t *testing.T, w *harness, o *modifiedOrigin) {
		o.Set([]byte(rss("", "b", "a")))
		w.announce()
		w.serve(feedURL, status(429, "Retry-After", "1800"))
		w.advance(3 * time.Second)
		w.requests()
		w.advance(29 * time.Minute)
		if list := w.requests(); len(list) > 0 {
			t.Errorf("%d requests before its Retry-After is over", len(list))
		}
		if _, err := w.river.Refresh(t.Context(), river.SourceID(feedURL)); fault.CodeOf(err) != fault.TooMany {
			t.Error(err)
		}
		w.serve(feedURL, o.ServeHTTP)
		w.advance(10 * time.Minute)
		list := w.requests()
		if c := w.checks(feedURL)[0]; len(list) != 1 || c.Cause != polling.FollowUp || c.Asked != river.AskedInFull {
			t.Errorf("%d requests, the last check: %+v", len(list), c)
		}
	})
}

func TestAccepted304IsVerifiedWithinAnHour(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		const daily = "<ttl>1440</ttl>"
		w.serve(feedURL, tagged(rss(daily, "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve(feedURL, tagged(rss(daily, "b", "a"), `"v2"`))
		w.announce()
		w.serve(feedURL, tagged(rss(daily, "c", "b", "a"), `"v2"`)) // from now on, the ETag stays the same when the content changes
		w.announce()
		if s := titles(w.items(feedURL)); s != "b a" {
			t.Fatalf("after a 304 the items are %s", s)
		}
		if e := w.explain(feedURL); !strings.Contains(e.Sentence, "its server answered 304 after a change was announced") {
			t.Errorf("explained as %s", e.Sentence)
		}
		w.advance(time.Hour)
		if s, c := titles(w.items(feedURL)), w.checks(feedURL)[0]; s != "c b a" || c.Cause != polling.FollowUp {
			t.Errorf("an hour later: %s, %+v", s, c)
		}
		w.serve(feedURL, tagged(rss(daily, "d", "c", "b", "a"), `"v2"`))
		w.announce()
		if s, c := titles(w.items(feedURL)), w.checks(feedURL)[0]; s != "d c b a" || !strings.Contains(c.AskedWhy, "once claimed") {
			t.Errorf("after a wrong 304: %s, %+v", s, c)
		}
	})
}

func TestStatus304WithAnotherETagCausesAFullReadAtOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"v1"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.serve(feedURL, tagged(rss("", "b", "a"), `"v2"`))
		w.announce()
		w.serve(feedURL, func(out http.ResponseWriter, r *http.Request) {
			out.Header()["ETag"] = []string{`"v3"`}
			if r.Header.Get("If-None-Match") != "" {
				out.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(out, rss("", "c", "b", "a"))
		})
		w.announce()
		w.advance(time.Second)
		if s, c := titles(w.items(feedURL)), w.checks(feedURL)[0]; s != "c b a" || c.Asked != river.AskedInFull {
			t.Errorf("%s, %+v", s, c)
		}
	})
}
