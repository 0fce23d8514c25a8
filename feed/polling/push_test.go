package polling_test

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

// pushed returns the answer of a check after a push.
func pushed(hash string) polling.Answer {
	a := ok(hash, feed.Hints{})
	a.Cause = polling.Pushed
	return a
}

// live returns a feed whose hub has pushed one change, an hour after the first check.
func live(t *testing.T) *timeline {
	t.Helper()
	l := newTimeline(t).check(ok("0", feed.Hints{}))
	l.s.Push.Since = l.now
	l.after(time.Minute, pushed("1")).outcome(polling.Changed)
	if !l.s.Push.Live(l.now) {
		t.Fatalf("%+v", l.s.Push)
	}
	return l.after(time.Hour-time.Minute, ok("1", feed.Hints{}))
}

func TestFeedWithWorkingPushIsPolledOnceADay(t *testing.T) {
	t.Parallel()
	l := live(t).wait(24 * time.Hour)
	l.check(ok("1", feed.Hints{TTL: "60"})).wait(24 * time.Hour)
	l.o.Jitter = 1
	l.check(ok("1", feed.Hints{})).wait(24*time.Hour - 144*time.Minute)
}

func TestPushIsReportedAsLiveOnlyAfterAnAnnouncement(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("0", feed.Hints{}))
	l.s.Push.Since = l.now
	l.after(time.Hour, ok("0", feed.Hints{})).wait(time.Hour)
	if l.s.Push.Live(l.now) {
		t.Error("Live is true before the first announcement")
	}
}

func TestPushesDoNotDelayTheBackupCheck(t *testing.T) {
	t.Parallel()
	l := live(t)
	due := l.s.NextAt
	for i := range 400 { // a push every four minutes, for more than a day
		a := pushed(fmt.Sprint(i))
		if i%3 == 0 {
			a = polling.Answer{Cause: polling.Delivered}
		}
		l.after(4*time.Minute, a)
		if !l.s.NextAt.Equal(due) {
			t.Fatalf("push %d moved the check from %s to %s", i, due, l.s.NextAt)
		}
	}
	if !polling.Due(l.s, l.now) {
		t.Error("the check is not due")
	}
	l.check(ok("x", feed.Hints{})).wait(24 * time.Hour)
}

func TestBackupCheckIntervalStartsAtTheLastPoll(t *testing.T) {
	t.Parallel()
	l := live(t)
	polled := l.now
	l.after(10*time.Hour, pushed("2"))
	for _, now := range []time.Time{l.now, l.now.Add(5 * time.Hour)} {
		if _, d := polling.Plan(l.s, now, polling.Options{}); !d.At.Equal(polled.Add(24 * time.Hour)) {
			t.Errorf("polled at %s, pushed at %s, planned for %s", polled, l.now, d.At)
		}
	}
}

func TestPushDoesNotShortenRetryAfter(t *testing.T) {
	t.Parallel()
	l := live(t)
	a := pushed("2")
	a.Header = header("Retry-After", "144000") // 40 hours
	l.after(time.Hour, a).wait(40 * time.Hour)
	if l.effect(polling.RuleRetryAfter) != polling.Decides {
		t.Errorf("%+v", l.d.Considered)
	}
}

func TestPollingResumesWhenTheLeaseEnds(t *testing.T) {
	t.Parallel()
	l := live(t)
	l.s.Push.Until = l.now.Add(3 * time.Hour)
	l.after(time.Hour, ok("1", feed.Hints{})).wait(2 * time.Hour)
	l.after(2*time.Hour, ok("1", feed.Hints{})).wait(time.Hour)
	if l.effect(polling.RulePush) != "" {
		t.Errorf("%+v", l.d.Considered)
	}
	l.s.Push.Until = l.now.Add(10 * time.Minute)
	l.check(ok("1", feed.Hints{})).wait(time.Hour)
}

func TestHubThatMissesOverTenPercentOfChangesIsNotTrusted(t *testing.T) {
	t.Parallel()
	l := live(t)
	n := 100
	for range 8 {
		n++
		l.after(time.Hour, pushed(fmt.Sprint(n)))
	}
	if l.s.Push.Announced != 9 {
		t.Fatalf("%+v", l.s.Push)
	}
	l.after(20*time.Hour, ok("missed", feed.Hints{})).wait(24 * time.Hour) // one of ten changes was missed
	l.after(24*time.Hour, ok("missed again", feed.Hints{}))
	if l.s.Push.Live(l.now) || l.d.At.Sub(l.now) > 5*time.Hour || l.effect(polling.RulePush) != polling.Ignored {
		t.Errorf("%+v %s", l.s.Push, l.d)
	}
	// The hub can be trusted again later, because older changes have less weight.
	for range 200 {
		n++
		l.after(time.Hour, pushed(fmt.Sprint(n)))
	}
	if !l.s.Push.Live(l.now) || l.s.Push.Announced > 100 {
		t.Errorf("%+v", l.s.Push)
	}
}

func TestChangeFoundShortlyBeforeItsPushIsNotCountedAsMissed(t *testing.T) {
	t.Parallel()
	l := live(t)
	l.after(time.Hour, ok("2", feed.Hints{}))
	if l.s.Push.Missed != 1 {
		t.Fatalf("%+v", l.s.Push)
	}
	l.after(time.Minute, pushed("2")).outcome(polling.Unchanged)
	if l.s.Push.Missed != 0 || l.s.Push.Announced != 2 {
		t.Errorf("%+v", l.s.Push)
	}
	l.after(time.Hour, ok("3", feed.Hints{}))
	l.after(time.Hour, pushed("3")) // the push is an hour late, so the change counts as missed
	if l.s.Push.Missed != 1 || l.s.Push.Announced != 2 {
		t.Errorf("%+v", l.s.Push)
	}
}

func TestDeliveredContentDoesNotReplaceValidatorsAndHints(t *testing.T) {
	t.Parallel()
	l := newTimeline(t).check(ok("1", feed.Hints{TTL: "90"}, "ETag", `"a"`, "Cache-Control", "max-age=7200"))
	l.s.Push.Since = l.now.Add(-time.Minute)
	l.after(time.Minute, polling.Answer{Cause: polling.Delivered, Hash: "part", Hints: &feed.Hints{}, Header: header("ETag", `"hub"`)}).outcome(polling.Changed)
	l.validators(`"a"`, "")
	if l.s.Hash != "1" || l.s.Hints.TTL != "90" || l.s.Cache.From != "max-age" || l.s.Push.Announced != 1 {
		t.Errorf("%+v", l.s)
	}
	// The next poll finds the change that was delivered already, which does not count as missed.
	l.after(2*time.Hour, ok("2", feed.Hints{}))
	if l.s.Push.Missed != 0 {
		t.Errorf("%+v", l.s.Push)
	}
}
