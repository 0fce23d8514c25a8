package polling_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
)

// randomEvent applies a random event to a feed: a check, a push, a delivery, the start or end of a
// push subscription, another interval of the user, or Revive. derived reports whether the new
// decision follows from the state alone.
func randomEvent(r *rand.Rand, s polling.State, now time.Time) (_ polling.State, derived bool) {
	o := polling.Options{Jitter: r.Float64()}
	switch r.IntN(10) {
	case 0:
		s.Push.Since, s.Push.Until = now, pick(r, time.Time{}, now.Add(30*time.Hour), now.Add(240*time.Hour))
	case 1:
		s.Push.Since, s.Push.Until = time.Time{}, time.Time{}
	case 2:
		s.Interval = pick(r, 0, 0, 30*time.Minute, 3*24*time.Hour)
		if !s.CheckedAt.IsZero() {
			s, _ = polling.Plan(s, now, o)
			return s, true
		}
	}
	a := randomAnswer(r, s)
	a.Cause = pick(r, polling.Poll, polling.Poll, polling.Pushed, polling.Pushed, polling.Delivered, polling.ByHand, polling.FollowUp)
	if s.CheckedAt.IsZero() {
		a.Cause = polling.Poll
	}
	s, d := polling.Next(s, a, now, o)
	if d.Gone {
		return polling.Revive(s, now), false
	}
	return s, d.Outcome != polling.Postponed && d.Outcome != polling.Doubtful
}

// TestExplanationMatchesStoredFeedState simulates many feeds and calls Explain between the events.
func TestExplanationMatchesStoredFeedState(t *testing.T) {
	t.Parallel()
	rules := map[polling.Rule]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		s, now := polling.New(here, t0()), t0()
		for step := range 40 {
			var derived bool
			s, derived = randomEvent(r, s, now)
			e := polling.Explain(s, now.Add(time.Duration(r.Int64N(int64(40*time.Hour)))), polling.Options{})
			what := fmt.Sprintf("seed %d step %d: %s (stored: %s at %s)", seed, step, e, s.Reason, s.NextAt)
			if s.CheckedAt.IsZero() {
				continue
			}
			if !e.At.Equal(s.NextAt) || e.Reason != s.Reason || len(e.Considered) == 0 {
				t.Fatalf("%s: the time or the reason differs", what)
			}
			first := e.Considered[0]
			if first.Effect != polling.Decides || !strings.HasPrefix(s.Reason, first.Text) {
				t.Fatalf("%s: the first consideration is %s %s", what, first.Text, first.Effect)
			}
			moved := false
			for _, c := range e.Considered[1:] {
				if c.Effect == polling.Decides {
					t.Fatalf("%s: two considerations decide: %s and %s", what, first.Text, c.Text)
				}
				moved = moved || c.Effect == polling.Moves || c.Effect == polling.Bounds
			}
			if wait := first.Until.Sub(s.CheckedAt).Abs() + 24*time.Hour; !moved && derived && s.PolledAt.Equal(now) && e.At.Sub(first.Until).Abs() > wait/10+10*time.Minute {
				t.Fatalf("%s: the deciding time is %s", what, first.Until)
			}
			if derived && first.Rule == polling.RulePlanned {
				t.Fatalf("%s: the decision does not follow from the state", what)
			}
			rules[first.Rule]++
			now = now.Add(time.Duration(r.Int64N(int64(pick(r, time.Minute, 2*time.Hour, 30*time.Hour)))))
		}
	}
	for _, rule := range []polling.Rule{polling.RulePush, polling.RuleTTL, polling.RuleBackOff, polling.RuleUserInterval, polling.RuleDefault, polling.RulePlanned, polling.RuleRetryAfter} {
		if rules[rule] < 10 {
			t.Errorf("%s decided only %d times", rule, rules[rule])
		}
	}
}

func TestPushNeverDelaysACheck(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 8))
		l := newTimeline(t).check(ok("1", randomHints(r)))
		for n := range 400 {
			l.now = l.now.Add(7 * time.Minute)
			if !l.now.Before(l.s.NextAt) {
				if wait := l.now.Sub(l.s.PolledAt); wait > 9*24*time.Hour || len(l.s.Hints.SkipHours)+len(l.s.Hints.SkipDays) == 0 && wait > 25*time.Hour {
					t.Fatalf("seed %d: the last poll was %s ago: %s", seed, wait, l.s.Reason)
				}
				l.check(ok(fmt.Sprint(n), l.s.Hints))
				continue
			}
			a := ok(fmt.Sprint(n), l.s.Hints)
			a.Cause = pick(r, polling.Pushed, polling.Delivered)
			before := l.s
			l.o.Jitter = r.Float64()
			l.check(a)
			if l.s.Reason == before.Reason && !l.s.NextAt.Equal(before.NextAt) {
				t.Fatalf("seed %d: a push moved the check from %s to %s: %s", seed, before.NextAt, l.s.NextAt, l.s.Reason)
			}
		}
	}
}

func TestAnnouncementFromTrustedHubPlansDailyCheck(t *testing.T) {
	t.Parallel()
	l := newTimeline(t)
	a := ok("1", l.s.Hints)
	l.check(a).wait(time.Hour)
	l.now = l.now.Add(10 * time.Minute)
	l.s.Push.Since = l.now // a hub confirms a subscription, which alone does not change the plan
	if e := polling.Explain(l.s, l.now, polling.Options{}); e.Considered[0].Rule != polling.RuleDefault {
		t.Errorf("before the first announcement: %s", e)
	}
	l.now = l.now.Add(10 * time.Minute)
	a = ok("2", l.s.Hints)
	a.Cause = polling.Pushed
	l.check(a)
	e := polling.Explain(l.s, l.now, polling.Options{})
	if want := t0().Add(24 * time.Hour); !l.s.NextAt.Equal(want) || e.Considered[0].Rule != polling.RulePush || !e.Considered[0].Until.Equal(want) {
		t.Errorf("after the first announcement: %s, %+v", e, e.Considered[0])
	}
}
