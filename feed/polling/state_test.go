package polling_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

// full returns a state in which every field is set.
func full(t *testing.T) polling.State {
	t.Helper()
	hints := feed.Hints{TTL: "90", SkipHours: []string{"6"}, SkipDays: []string{"Sun"}, UpdatePeriod: "daily", UpdateFrequency: "2",
		UpdateBase: feed.Date{Raw: "2000-01-01", UTC: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)},
		Schedule:   &feed.Schedule{StartDate: "2026-01-01", IntervalTime: feed.Span{Day: "1"}}, Expired: true, Complete: true, Archive: true, PodcastUpdates: "weekly"}
	a := ok("1", hints, "ETag", `W/"a"`, "Last-Modified", "Sun, 03 May 2026 00:00:00 GMT", "Cache-Control", "max-age=600", "Retry-After", "60")
	a.Dates = []time.Time{t0().Add(-time.Hour), t0().Add(-25 * time.Hour), t0().Add(-50 * time.Hour)}
	a = via(a, hop(301, here, there))
	l := newTimeline(t)
	l.s.Interval = 45 * time.Minute
	l.s.Refused = beyond
	l.s.Push = polling.Push{Since: t0().Add(-time.Hour), Until: t0().Add(time.Hour), At: t0(), Announced: 1, Missed: 2, MissedAt: t0()}
	l.s.Moves = []polling.Move{{From: "https://old.example/", To: here, At: t0(), Why: "301", Proven: true}}
	l.s.Changes = []time.Time{t0()}
	l.check(a).after(time.Hour, status(500)).after(time.Hour, status(429, "Retry-After", "77"))
	l.s.Gone = &polling.Gone{At: t0(), Reason: "410 Gone"}
	return l.s
}

func TestStateSurvivesJSONRoundTrip(t *testing.T) {
	t.Parallel()
	for _, s := range []polling.State{{}, polling.New(here, time.Now()), full(t)} {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back polling.State
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, back, cmp.AllowUnexported()); diff != "" {
			t.Error(diff)
		}
		if again, err := json.Marshal(back); err != nil || string(again) != string(b) {
			t.Errorf("%s\n%s %v", b, again, err)
		}
		if len(b) > 2048 {
			t.Errorf("%d bytes: %s", len(b), b)
		}
	}
}

func TestDecodedStateLeadsToTheSameDecisions(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`, "Cache-Control", "max-age=600"))
	b, err := json.Marshal(l.s)
	if err != nil {
		t.Fatal(err)
	}
	var s polling.State
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	for _, a := range []polling.Answer{status(304), status(404), moved(hop(301, here, there))} {
		s1, d1 := polling.Next(l.s, a, t0().Add(time.Hour), polling.Options{Jitter: 0.3})
		s2, d2 := polling.Next(s, a, t0().Add(time.Hour), polling.Options{Jitter: 0.3})
		if diff := cmp.Diff(s1, s2) + cmp.Diff(d1, d2, cmp.Comparer(func(a, b polling.Consideration) bool { return a.Text == b.Text && a.Until.Equal(b.Until) })); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNextDoesNotModifyItsInput(t *testing.T) {
	t.Parallel()
	s := full(t)
	s.Gone = nil
	before, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []polling.Answer{moved(hop(301, here, there)), status(500), status(410), ok("2", feed.Hints{}), {Cause: polling.Delivered}} {
		for _, d := range []time.Duration{time.Hour, 48 * time.Hour} {
			next, _ := polling.Next(s, a, t0().Add(d), polling.Options{})
			polling.Undo(next, t0())
			polling.Plan(s, t0().Add(d), polling.Options{})
		}
	}
	after, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

func TestServerStartKeepsPlannedChecks(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "600"}))
	if s := polling.Resume(l.s, l.now.Add(time.Hour), 0.5); !s.NextAt.Equal(l.s.NextAt) {
		t.Errorf("the check moved from %s to %s", l.s.NextAt, s.NextAt)
	}
	// Missed checks are spread, so that a thousand feeds do not start together.
	now := l.now.Add(100 * time.Hour)
	for jitter, want := range map[float64]time.Duration{0: 0, 0.5: 150 * time.Second, 1: 5 * time.Minute} {
		if s := polling.Resume(l.s, now, jitter); s.NextAt.Sub(now) != want {
			t.Errorf("jitter %v: next check in %s", jitter, s.NextAt.Sub(now))
		}
	}
}

func TestClockJumpNeitherDelaysNorAdvancesChecks(t *testing.T) {
	t.Parallel()
	const decade = 10 * 365 * 24 * time.Hour
	l := newTimeline(t)
	l.now = l.now.Add(decade) // the clock is wrong by ten years
	l.check(ok("1", feed.Hints{TTL: "600"}, "Cache-Control", "max-age=600"))
	l.now = t0()
	if !polling.Due(l.s, l.now) {
		t.Error("a check planned in ten years is not treated as a clock error")
	}
	if s := polling.Resume(l.s, l.now, 1); s.NextAt.Sub(l.now) > 5*time.Minute {
		t.Errorf("after Resume the next check is in %s", s.NextAt.Sub(l.now))
	}
	if good, _, _ := polling.Refresh(l.s, l.now); !good {
		t.Error("a check by hand is refused until the planned time")
	}
	if _, d := polling.Plan(l.s, l.now, polling.Options{}); d.At.Sub(l.now) > 24*time.Hour {
		t.Errorf("after Plan the next check is in %s", d.At.Sub(l.now))
	}
	l.check(ok("1", feed.Hints{TTL: "600"})).wait(10 * time.Hour)

	// A redirect that was observed while the clock was wrong counts from the correct time on.
	l.now = t0().Add(decade)
	l.check(moved(hop(301, here, there)))
	l.now = t0()
	for range 3 {
		l.after(10*time.Hour, moved(hop(301, here, there))).url(here)
	}
	l.after(10*time.Hour, moved(hop(301, here, there))).url(there)

	l = newTimeline(t)
	l.now = l.now.Add(decade)
	l.check(status(503, "Retry-After", "3600"))
	l.now = t0()
	if good, _, _ := polling.Refresh(l.s, l.now); !good {
		t.Error("a wait that ends in the far future applies")
	}
	l.check(status(500))
	if got := l.d.At.Sub(l.now); got > 48*time.Hour {
		t.Errorf("the wait is %s", got)
	}
}

func TestManualChecksAreLimitedToOnePerMinute(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	if good, _, _ := polling.Refresh(l.s, l.now); !good {
		t.Error("a check by hand of a new feed is refused")
	}
	l.check(ok("1", feed.Hints{TTL: "600"}))
	good, from, why := polling.Refresh(l.s, l.now.Add(59*time.Second))
	if good || !from.Equal(l.now.Add(time.Minute)) || why == "" {
		t.Errorf("%t %s %q", good, from, why)
	}
	if good, _, _ := polling.Refresh(l.s, l.now.Add(time.Minute)); !good {
		t.Error("a check by hand after a minute is refused")
	}
}

func TestFeedIsDueAtItsPlannedTime(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	if !polling.Due(l.s, l.now) {
		t.Error("a new feed is not due")
	}
	l.check(ok("1", feed.Hints{TTL: "60"}))
	for d, want := range map[time.Duration]bool{0: false, 59 * time.Minute: false, time.Hour: true, 1000 * time.Hour: true} {
		if got := polling.Due(l.s, l.now.Add(d)); got != want {
			t.Errorf("after %s: %t", d, got)
		}
	}
}
