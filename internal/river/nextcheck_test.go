package river_test

import (
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
)

// sameNext fails the test if lists and the explanation of a feed show different next checks. It
// returns the next check.
func (w *harness) sameNext(url string) river.NextCheck {
	w.t.Helper()
	list, err := w.river.Subscriptions(w.t.Context(), river.SubscriptionQuery{Reader: "ann", SourceID: river.SourceID(url), Next: true})
	if err != nil || len(list) != 1 {
		w.t.Fatal(err, list)
	}
	e := w.explain(url)
	if list[0].Next != e.Next || e.Sentence != e.Next.Sentence(time.Now().UTC()) {
		w.t.Errorf("lists say %+v, the explanation %+v: %s", list[0].Next, e.Next, e.Sentence)
	}
	for _, c := range e.Decision.Considered {
		if e.Next.State == river.NextPlanned && c.Effect == polling.Decides && !c.Until.Equal(e.Next.At) {
			w.t.Errorf("%+v decides, but the next check is %+v", c, e.Next)
		}
	}
	return e.Next
}

func TestFeedListsAndExplanationShowTheSameNextCheck(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("", "a"), `"a"`))
		w.jitter = 0.7
		w.follow(feedURL)
		w.advance(time.Minute)
		if n, s := w.sameNext(feedURL), w.source(feedURL); n.State != river.NextPlanned || !n.At.Equal(s.NextAt) || n.Why != s.State.Reason {
			t.Errorf("planned: %+v, stored is %v", n, s.NextAt)
		}
		w.stop()
		w.advance(48 * time.Hour)
		if n := w.sameNext(feedURL); n.State != river.NextDue || !n.At.IsZero() || strings.Contains(n.Sentence(time.Now()), "next check") {
			t.Errorf("due: %+v", n)
		}
		if _, err := w.river.ReceivePush(t.Context(), feedURL, "ping"); err != nil {
			t.Fatal(err)
		}
		if n := w.sameNext(feedURL); n.State != river.NextDue || !strings.Contains(n.Why, "a change was announced") {
			t.Errorf("pushed: %+v", n)
		}
		if _, err := w.store.ClaimSource(t.Context(), river.SourceID(feedURL), time.Now(), time.Now().Add(time.Minute), 7); err != nil {
			t.Fatal(err)
		}
		if n := w.sameNext(feedURL); n.State != river.NextRunning {
			t.Errorf("claimed: %+v", n)
		}
		w.change(feedURL, func(s polling.State, now time.Time) polling.State {
			s.Gone = &polling.Gone{At: now, Reason: "410 Gone"}
			return s
		})
		if n := w.sameNext(feedURL); n.State != river.NextNever || n.Why != "410 Gone" {
			t.Errorf("gone: %+v", n)
		}
	})
}

func TestLastPushOfAHubIsShownAfterItsSubscriptionWasRenewed(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.push.set(river.PushState{PushEndpoint: feedEndpoints()[0], State: "active", Since: time.Now()}) // the subscription was renewed, and no push has arrived since
		w.serve(feedURL, tagged(rss(hubbed, "a"), `"a"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		if p := w.explain(feedURL).Push; len(p) == 0 || !p[0].PushedAt.IsZero() {
			t.Fatalf("before a push: %+v", p)
		}
		w.advance(5 * time.Minute)
		if _, err := w.river.ReceivePush(t.Context(), feedURL, "notify-"+feedEndpoints()[0].Protocol); err != nil {
			t.Fatal(err)
		}
		w.advance(10 * time.Second)
		e := w.explain(feedURL)
		if len(e.Push) == 0 || e.Push[0].PushedAt.IsZero() || !e.Push[0].PushedAt.Equal(e.Checks[0].At) || strings.Contains(e.Trust, "announced nothing") {
			t.Errorf("after a push: %+v; %s", e.Push, e.Trust)
		}
	})
}

func TestManuallyRequestedChecksAreDueAtOnce(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		other := "http://feeds.test/other.xml"
		w.serve(feedURL, tagged(rss("", "a"), `"a"`))
		w.serve(other, tagged(rss("", "b"), `"b"`))
		w.follow(feedURL, other)
		w.followAs("bob", "http://feeds.test/bob.xml")
		w.advance(10 * time.Second)
		ids := []int64{river.SourceID(feedURL), river.SourceID(other), river.SourceID("http://feeds.test/bob.xml")}
		if n, err := w.river.CheckSoon(t.Context(), "ann", ids); n != 0 || err != nil {
			t.Errorf("right after a check: %d, %v", n, err)
		}
		w.advance(2 * time.Minute)
		before := len(w.checks(feedURL))
		if n, err := w.river.CheckSoon(t.Context(), "ann", ids); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		w.advance(10 * time.Second)
		if got := len(w.checks(feedURL)); got != before+1 {
			t.Errorf("%d checks, %d before", got, before)
		}
		w.advance(2 * time.Minute)
		if n, all, err := w.river.CheckAllSoon(t.Context(), "ann"); n != 2 || all != 2 || err != nil {
			t.Errorf("all: %d of %d, %v", n, all, err)
		}
		if n, all, err := w.river.CheckAllSoon(t.Context(), "nobody"); n != 0 || all != 0 || err != nil {
			t.Errorf("of nobody: %d of %d, %v", n, all, err)
		}
		w.advance(10 * time.Second)
		if got := len(w.checks(feedURL)); got != before+2 {
			t.Errorf("%d checks of all, %d before", got, before)
		}
		if n, all, err := w.river.CheckAllSoon(t.Context(), "ann"); n != 0 || all != 2 || err != nil {
			t.Errorf("within a minute: %d of %d, %v", n, all, err)
		}
	})
}
