package polling_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
	"cloudburst/internal/validator"
)

// by returns an answer to a check with the given cause.
func by(c polling.Cause, a polling.Answer) polling.Answer {
	a.Cause = c
	return a
}

// inFull returns an answer to a request without validators.
func inFull(a polling.Answer) polling.Answer {
	a.Full = true
	return a
}

// sends checks the ETag that a check with a cause sends; "" means that the feed is read in full.
func (l *timeline) sends(c polling.Cause, etag string) *timeline {
	l.t.Helper()
	got := polling.RequestFor(l.s, c, l.now, l.now)
	if got.Validators.ETag != etag || !got.Revalidate || got.Full() != (got.Why != "") {
		l.t.Errorf("the check with cause %q sends %+v, want the ETag %q", c, got, etag)
	}
	if !got.Full() && (got.Validators.LastModified != "" || got.Validators.URL != l.s.URL) {
		l.t.Errorf("the check with cause %q sends %+v, want only an ETag for the feed's URL", c, got)
	}
	return l
}

// proven returns a feed whose strong ETag changed together with its content.
func proven(t *testing.T) *timeline {
	t.Helper()
	return newTimeline(t).check(ok("1", feed.Hints{}, "ETag", `"1"`)).after(time.Minute, inFull(by(polling.Pushed, ok("2", feed.Hints{}, "ETag", `"2"`))))
}

func TestCheckAfterAnnouncementSendsETagOnlyIfTrusted(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).sends(polling.Pushed, "")
	l.check(ok("1", feed.Hints{}, "ETag", `"1"`, "Last-Modified", "Sun, 03 May 2026 00:00:00 GMT"))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "").sends(polling.ByHand, "").validators(`"1"`, "Sun, 03 May 2026 00:00:00 GMT")
	l.check(ok("2", feed.Hints{}, "ETag", `"2"`, "Last-Modified", "Mon, 04 May 2026 00:00:00 GMT"))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, `"2"`).sends(polling.ByHand, `"2"`)
	if got := polling.RequestFor(l.s, polling.Pushed, l.now.Add(-time.Minute), l.now); !got.Full() {
		t.Errorf("a check for a change that was announced before the last read ended sends %+v", got)
	}
	if got := polling.RequestFor(l.s, polling.Poll, l.now, l.now); got.Validators != polling.Request(l.s) || got.Revalidate {
		t.Errorf("a planned check sends %+v", got)
	}
	l.now = l.now.Add(time.Hour)
	l.sends(polling.Pushed, "")
	l.check(inFull(by(polling.Pushed, ok("2", feed.Hints{}, "ETag", `W/"2"`))))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "").validators(`W/"2"`, "")
}

func TestDisprovenETagIsNotSentAfterAnnouncement(t *testing.T) {
	t.Parallel()
	l := proven(t)
	l.after(time.Minute, inFull(by(polling.Pushed, ok("3", feed.Hints{}, "ETag", `"2"`))))
	l.after(time.Minute, inFull(by(polling.Pushed, ok("4", feed.Hints{}, "ETag", `"4"`))))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "")
}

func TestStatus304WithAnotherETagEndsTrustInTheETag(t *testing.T) {
	t.Parallel()
	l := proven(t)
	l.after(time.Minute, status(304, "ETag", `"3"`)).validators(`"3"`, "")
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "")
}

func TestETagOfRedirectTargetIsNotSentAfterAnnouncement(t *testing.T) {
	t.Parallel()
	const there = "https://cdn.example/rss.xml"
	l := newTimeline(t)
	for i := range 3 {
		l.after(time.Minute, via(ok(string(rune('1'+i)), feed.Hints{}, "ETag", `"`+string(rune('1'+i))+`"`), hop(302, here, there)))
	}
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "")
	if got := polling.Request(l.s); got.ETag != `"3"` || got.URL != there {
		t.Errorf("a planned check sends %+v", got)
	}
	// The answer of another URL is no evidence for the ETag of this URL.
	l.after(time.Minute, inFull(by(polling.Pushed, ok("4", feed.Hints{}, "ETag", `"4"`))))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "")
}

func TestStatus304AfterAnnouncementMustMatchTheSentETag(t *testing.T) {
	t.Parallel()
	for _, c := range []polling.Cause{polling.Pushed, polling.ByHand, polling.FollowUp} {
		l := proven(t)
		l.after(time.Minute, by(c, status(304, "ETag", `"3"`))).outcome(polling.Doubtful).sends(c, "")
		l = proven(t)
		l.after(time.Minute, by(c, status(304))).outcome(polling.Unchanged)
		l = proven(t)
		l.after(time.Minute, inFull(by(c, status(304)))).outcome(polling.Failed)
		if l.s.Failure.Kind != polling.ErrUnexpected304 {
			t.Errorf("%s: %+v", c, l.s.Failure)
		}
	}
	proven(t).after(time.Minute, status(304, "ETag", `"3"`)).outcome(polling.Unchanged)
}

func TestFailedCheckAfterPushIsRepeatedDespitePlanned304(t *testing.T) {
	t.Parallel()
	for _, bad := range []polling.Answer{{Error: polling.ErrTimeout}, {Error: polling.ErrLocal}, status(503), status(503, "Retry-After", "60"), status(404), inFull(status(304)), {Status: 200, Looks: "html"}} {
		l := proven(t)
		l.after(time.Minute, by(polling.Pushed, bad))
		for range 2 {
			if c := polling.DueFor(l.s, l.now); c != polling.Pushed {
				t.Fatalf("after %+v the next check has the cause %q", bad, c)
			}
			l.now = l.now.Add(time.Minute)
			l.sends(polling.DueFor(l.s, l.now), "")
			l.check(status(304)).outcome(polling.Unchanged)
		}
		l.after(time.Minute, by(polling.Delivered, polling.Answer{}))
		if !l.s.Push.Pending {
			t.Fatalf("after %+v delivered content settles the pending announcement", bad)
		}
		l.after(time.Minute, inFull(by(polling.Pushed, ok("3", feed.Hints{}, "ETag", `"3"`)))).outcome(polling.Changed)
		if c := polling.DueFor(l.s, l.now); c != polling.Poll {
			t.Errorf("after %+v and a read the next check has the cause %q", bad, c)
		}
		if l.s.Push.Missed != 0 {
			t.Errorf("the hub missed %d changes: it announced them all", l.s.Push.Missed)
		}
	}
	l := proven(t)
	l.after(time.Minute, by(polling.Pushed, polling.Answer{Error: polling.ErrTimeout}))
	l.after(time.Minute, ok("3", feed.Hints{}, "ETag", `"3"`))
	if l.s.Push.Pending {
		t.Error("a planned check that read a changed document does not settle the announcement")
	}
}

const (
	modified = "Mon, 04 May 2026 02:20:00 GMT"
	dated    = "Mon, 04 May 2026 02:20:01 GMT"
)

func TestFeedModifiedSecondsAgoIsReadAgainOnlyAfterAnnouncement(t *testing.T) {
	t.Parallel()
	recent := func(hash string) polling.Answer {
		return inFull(ok(hash, feed.Hints{}, "Last-Modified", modified, "Date", dated))
	}
	for c, want := range map[polling.Cause]bool{polling.Poll: false, polling.ByHand: false, polling.Delivered: false, polling.FollowUp: false, polling.Pushed: true} {
		l := newTimeline(t).check(ok("1", feed.Hints{}))
		l.after(time.Minute, by(c, recent("2")))
		planned := l.s.NextAt
		if l.s.FollowUpAt.IsZero() == want {
			t.Fatalf("after a check with the cause %q the follow-up is at %s", c, l.s.FollowUpAt)
		}
		if !want {
			continue
		}
		if got := l.s.DueAt(); !got.Equal(l.now.Add(validator.Settled)) || polling.Due(l.s, l.now) || !polling.Due(l.s, got) || !l.d.At.Equal(planned) {
			t.Errorf("due at %s, planned for %s", got, planned)
		}
		l.after(time.Second, status(304))
		if l.s.FollowUpAt.IsZero() {
			t.Error("a 304 to a planned check cancels the follow-up")
		}
		l.now = l.s.FollowUpAt
		if got := polling.DueFor(l.s, l.now); got != polling.FollowUp {
			t.Errorf("the follow-up has the cause %q", got)
		}
		polled := l.s.PolledAt
		l.sends(polling.FollowUp, "").check(by(polling.FollowUp, recent("3"))).outcome(polling.Changed)
		if !l.s.FollowUpAt.IsZero() || !l.s.PolledAt.Equal(polled) || l.s.Push.Missed != 0 {
			t.Errorf("after the follow-up: %+v", l.s)
		}
	}
}

func TestFailedFollowUpCheckIsRepeatedByTheNextPlannedCheck(t *testing.T) {
	t.Parallel()
	for _, bad := range []polling.Answer{{Error: polling.ErrTimeout}, {Error: polling.ErrLocal}, status(429, "Retry-After", "600")} {
		for _, c := range []polling.Cause{polling.Pushed, polling.FollowUp} {
			l := newTimeline(t).check(ok("1", feed.Hints{}))
			l.after(time.Minute, inFull(by(polling.Pushed, ok("2", feed.Hints{}, "Last-Modified", modified, "Date", dated))))
			l.after(3*time.Second, by(c, bad))
			if !l.s.DueAt().Equal(l.s.NextAt) || l.s.NextAt.Sub(l.now) < polling.Shortest {
				t.Errorf("after %+v the feed is due at %s, planned for %s", bad, l.s.DueAt(), l.s.NextAt)
			}
			l.now = l.s.NextAt
			l.sends(polling.DueFor(l.s, l.now), "")
		}
	}
}

func TestFeedIsReadInFullWithinAnHourAfterTrusted304(t *testing.T) {
	t.Parallel()
	l := proven(t)
	full := l.now
	l.after(time.Minute, by(polling.Pushed, status(304)))
	l.after(time.Minute, by(polling.ByHand, status(304)))
	if !l.s.FollowUpAt.Equal(full.Add(validator.BelievedFor)) {
		t.Fatalf("the follow-up is at %s", l.s.FollowUpAt)
	}
	l.now = l.s.FollowUpAt
	l.sends(polling.DueFor(l.s, l.now), "")
	l.check(inFull(by(polling.FollowUp, ok("3", feed.Hints{}, "ETag", `"3"`))))
	l.now = l.now.Add(time.Minute)
	l.sends(polling.Pushed, "") // a change stayed hidden for an hour, so no ETag is trusted now

	l = proven(t)
	l.after(time.Minute, by(polling.Pushed, status(304)))
	l.after(time.Minute, ok("2", feed.Hints{}, "ETag", `"2"`))
	if !l.s.FollowUpAt.IsZero() {
		t.Error("the follow-up is still due after a planned check read the feed")
	}
	l = proven(t)
	l.after(time.Minute, status(304))
	if !l.s.FollowUpAt.IsZero() {
		t.Error("a 304 to a planned check causes a follow-up")
	}
}

// TestFollowUpCheckIsPlannedWithinBounds simulates many feeds. A follow-up is due after 2.2 seconds, or
// within an hour. Only a push, a trusted 304 or a failed follow-up causes one. A 304 to a
// planned check does not change it.
func TestFollowUpCheckIsPlannedWithinBounds(t *testing.T) {
	t.Parallel()
	soon, hourly, put := 0, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		s, now := polling.New(here, t0()), t0()
		for step := range 60 {
			a := randomAnswer(r, s)
			a.Cause = pick(r, polling.Poll, polling.Pushed, polling.Pushed, polling.ByHand, polling.Delivered)
			if r.IntN(2) == 0 {
				a.Cause = polling.DueFor(s, now)
			}
			if r.IntN(2) == 0 && s.Validators.ETag != "" {
				a = polling.Answer{Cause: a.Cause, Status: 304, Header: header("ETag", s.Validators.ETag)}
			}
			before := s
			var d polling.Decision
			s, d = polling.Next(s, a, now, polling.Options{})
			wait := s.FollowUpAt.Sub(now)
			skipping := len(s.Hints.SkipHours)+len(s.Hints.SkipDays) > 0
			switch {
			case d.Gone:
				if !s.FollowUpAt.IsZero() || s.Push.Pending {
					t.Fatalf("seed %d step %d: the feed is gone, but a check is planned", seed, step)
				}
				s = polling.Revive(s, now)
			case s.FollowUpAt.IsZero():
			case s.FollowUpAt.Equal(before.FollowUpAt):
			case s.FollowUpAt.Equal(s.NextAt) && !before.FollowUpAt.IsZero():
				put++
			case a.Cause == polling.Pushed && s.Evidence.Recent && wait == validator.Settled:
				soon++
			case s.Evidence.Believed && (skipping || s.FollowUpAt.Equal(s.Evidence.FullAt.Add(validator.BelievedFor))):
				hourly++
			default:
				t.Fatalf("seed %d step %d: after %+v the follow-up is %s away", seed, step, a, wait)
			}
			if a.Cause == polling.Poll && a.Status == 304 && d.Outcome == polling.Unchanged && (!s.FollowUpAt.Equal(before.FollowUpAt) || s.Push.Pending != before.Push.Pending) {
				t.Fatalf("seed %d step %d: a 304 to a planned check changed the pending verification", seed, step)
			}
			now = now.Add(time.Duration(r.Int64N(int64(pick(r, 4*time.Second, 10*time.Minute, 2*time.Hour)))))
		}
	}
	if min(soon, hourly, put) < 50 {
		t.Errorf("follow-ups: %d after recent changes, %d after a 304, %d delayed", soon, hourly, put)
	}
}
