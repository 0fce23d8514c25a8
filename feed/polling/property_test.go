package polling_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func randomHints(r *rand.Rand) feed.Hints {
	h := feed.Hints{
		TTL:             pick(r, "", "", "60", "1", "0", "-1", "99999999999", "1440", "60 minutes", "x"),
		UpdatePeriod:    pick(r, "", "", "hourly", "daily", "weekly", "yearly", "never"),
		UpdateFrequency: pick(r, "", "1", "2", "0", "-4", "99999999999", "x"),
		Expired:         r.IntN(10) == 0, Complete: r.IntN(10) == 0, Archive: r.IntN(10) == 0,
	}
	for range r.IntN(4) * r.IntN(8) {
		h.SkipHours = append(h.SkipHours, fmt.Sprint(r.IntN(28)-1))
	}
	for range r.IntN(2) * r.IntN(9) {
		h.SkipDays = append(h.SkipDays, time.Weekday(r.IntN(7)).String())
	}
	if r.IntN(3) == 0 {
		h.UpdateBase.UTC = time.Unix(r.Int64N(1<<34)-1<<33, r.Int64N(1e9)).UTC()
	}
	if r.IntN(4) == 0 {
		h.Schedule = &feed.Schedule{IntervalTime: feed.Span{Day: pick(r, "", "1", "7", "x"), Hour: pick(r, "", "6", "99999"), Min: pick(r, "", "1")},
			EarliestTime: feed.Span{Hour: pick(r, "", "2", "30"), Zone: pick(r, "", "-0500", "+9", "x")}, LatestTime: feed.Span{Hour: pick(r, "", "1", "5", "50")}}
	}
	return h
}

func randomAnswer(r *rand.Rand, s polling.State) polling.Answer {
	a := polling.Answer{Status: pick(r, 200, 200, 200, 304, 304, 404, 500, 503, 429, 403, 410, 302, 204, 0), Header: header()}
	set := func(name string, values ...string) {
		if v := pick(r, values...); v != "" {
			a.Header.Set(name, v)
		}
	}
	set("ETag", "", `"a"`, `W/"b"`)
	set("Cache-Control", "", "max-age=60", "max-age=86400", "max-age=9999999999999", "no-cache", "no-store", "max-age=x")
	set("Expires", "", "", "0", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 04 May 2026 08:20:00 GMT")
	set("Retry-After", "", "", "", "1", "3600", "172800", "99999999999999", "x", "Fri, 31 Dec 9999 23:59:59 GMT")
	set("Age", "", "30", "x")
	a.Error = pick(r, "", "", "", "", "", "", polling.ErrDNS, polling.ErrTimeout, polling.ErrLocal)
	a.Cause = pick(r, polling.Poll, polling.Poll, polling.Poll, polling.ByHand)
	a.Full = r.IntN(3) == 0
	set("Last-Modified", "", "", "Mon, 04 May 2026 02:20:00 GMT")
	set("Date", "", "", "Mon, 04 May 2026 02:20:01 GMT")
	if r.IntN(5) > 0 {
		h := randomHints(r)
		a.Hints, a.Hash = &h, pick(r, "1", "2", "3", "")
	}
	for range r.IntN(3) * r.IntN(8) {
		a.Dates = append(a.Dates, t0().Add(time.Duration(r.Int64N(int64(1000*time.Hour)))-500*time.Hour))
	}
	for range r.IntN(3) * r.IntN(4) {
		from := s.URL
		if n := len(a.Hops); n > 0 {
			from = a.Hops[n-1].To
		}
		a.Hops = append(a.Hops, hop(pick(r, 301, 302, 308, 307), from, pick(r, here, there, beyond, "http://a.example/")))
	}
	if r.IntN(8) == 0 {
		a.Moved = &feed.Moved{To: pick(r, there, beyond, "x:", ""), From: pick(r, "redirect", "itunes:new-feed-url")}
		a.Moved.Gone = a.Moved.To == ""
	}
	return a
}

// TestNextCheckIsAlwaysWithinBounds simulates many feeds.
func TestNextCheckIsAlwaysWithinBounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 4))
		s, now := polling.New(here, t0()), t0()
		for step := range 40 {
			a := randomAnswer(r, s)
			o := polling.Options{Jitter: r.Float64()}
			before := s
			var d polling.Decision
			s, d = polling.Next(before, a, now, o)
			again, same := polling.Next(before, a, now, o)
			if diff := cmp.Diff(s, again); diff != "" || same.Reason != d.Reason {
				t.Fatalf("seed %d step %d: Next is not deterministic: %s", seed, step, diff)
			}
			check(t, fmt.Sprintf("seed %d step %d (%+v)", seed, step, a), s, d, now)
			if d.Gone {
				s = polling.Revive(s, now)
			}
			now = now.Add(time.Duration(r.Int64N(int64(30 * time.Hour))))
			if r.IntN(30) == 0 {
				now = now.Add(time.Duration(r.Int64N(int64(2000*time.Hour))) - 1000*time.Hour)
			}
		}
	}
}

func check(t *testing.T, what string, s polling.State, d polling.Decision, now time.Time) {
	t.Helper()
	if d.Gone {
		if !d.At.IsZero() || s.Gone == nil || d.Reason == "" {
			t.Fatalf("%s: invalid decision for a feed that is gone: %+v", what, d)
		}
		return
	}
	wait := d.At.Sub(now)
	longest := polling.Longest
	if s.Wait != nil && s.Wait.Until.After(now) {
		longest = polling.LongestRetry
	}
	skip, _ := polling.ParseSkip(s.Hints.SkipHours, s.Hints.SkipDays)
	if !skip.Empty() && s.Interval == 0 {
		longest += 8 * 24 * time.Hour // skipped time is added to the maximum wait
	}
	if skip.Within(d.At) {
		t.Fatalf("%s: check at %s, in skipped time (%s): %s", what, d.At.Format("Mon 15:04:05"), skip, d)
	}
	if wait < polling.Shortest || wait > longest {
		t.Fatalf("%s: next check in %s: %s", what, wait, d)
	}
	if s.Wait != nil && s.Wait.Until.Sub(now) <= polling.LongestRetry && d.At.Before(s.Wait.Until) {
		t.Fatalf("%s: the check is before the end of Retry-After: %s", what, d)
	}
	if d.Reason == "" || !s.NextAt.Equal(d.At) || s.URL == "" {
		t.Fatalf("%s: %+v %+v", what, s, d)
	}
	decides, moved := 0, false
	for _, c := range d.Considered {
		moved = moved || c.Effect == polling.Moves
	}
	for _, c := range d.Considered {
		hint := c.Rule == polling.RuleTTL || c.Rule == polling.RuleMaxAge || c.Rule == polling.RuleExpires || c.Rule == polling.RuleSyndication || c.Rule == polling.RuleSchedule
		if hint && !moved && c.Effect != polling.Ignored && d.At.Before(c.Until) && c.Until.Sub(now) <= polling.Longest {
			t.Fatalf("%s: the check is earlier than %s permits: %s", what, c.Text, d)
		}
		if c.Effect == polling.Decides {
			decides++
		}
		if c.Text == "" || c.Effect == "" || c.Effect == polling.Ignored && c.Note == "" {
			t.Fatalf("%s: incomplete consideration %+v", what, c)
		}
	}
	if decides != 1 || d.Considered[0].Effect != polling.Decides {
		t.Fatalf("%s: %d considerations decide: %+v", what, decides, d.Considered)
	}
	b, err := json.Marshal(s)
	if err != nil || len(b) > 8<<10 {
		t.Fatalf("%s: %d bytes, %v", what, len(b), err)
	}
	var back polling.State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(s, back); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

func TestLargerHintNeverMakesACheckEarlier(t *testing.T) {
	t.Parallel()
	for _, jitter := range []float64{0, 0.5, 1} {
		for _, skip := range [][]string{nil, {"6", "7", "20"}} {
			for name, answer := range map[string]func(n int) polling.Answer{
				"ttl": func(n int) polling.Answer { return ok("1", feed.Hints{TTL: fmt.Sprint(n), SkipHours: skip}) },
				"max-age": func(n int) polling.Answer {
					return ok("1", feed.Hints{SkipHours: skip}, "Cache-Control", fmt.Sprint("max-age=", n*60))
				},
				"Retry-After": func(n int) polling.Answer { return status(429, "Retry-After", fmt.Sprint(n*60)) },
			} {
				var last time.Time
				for n := 1; n < 4000; n += 7 {
					l := newTimeline(t)
					l.o.Jitter = jitter
					l.check(answer(n))
					// All feeds whose check would be in skipped time wait until it ends, and then
					// each has its own jitter.
					if l.d.At.Before(last.Add(-10*time.Minute)) || skip == nil && l.d.At.Before(last) {
						t.Fatalf("%s %d, jitter %v: check at %s, earlier than %s", name, n, jitter, l.d.At, last)
					}
					last = l.d.At
				}
			}
		}
	}
}

func TestMoreFailuresNeverMakeACheckEarlier(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 401, 403, 404, 408, 429, 451, 500, 502, 503, 599} {
		l, last := newTimeline(t), time.Duration(0)
		for range 50 {
			l.after(36*time.Hour, status(code))
			if got := l.d.At.Sub(l.now); got < last {
				t.Errorf("%d: wait of %s after a wait of %s", code, got, last)
			} else {
				last = got
			}
		}
		if last != polling.Longest {
			t.Errorf("%d: the longest wait is %s", code, last)
		}
	}
}

// TestPlannedCheckIsNeverInSkippedHoursOrDays simulates feeds with all kinds of hints, answers, pushes
// and user intervals, and programs that start and plan at any time.
func TestPlannedCheckIsNeverInSkippedHoursOrDays(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		s, now := polling.New(here, t0()), t0()
		for step := range 30 {
			o := polling.Options{Jitter: r.Float64()}
			var d polling.Decision
			switch {
			case step > 0 && r.IntN(6) == 0:
				s.Interval = pick(r, 0, time.Minute, 7*time.Hour, 3*24*time.Hour)
				s.Push = pick(r, polling.Push{}, polling.Push{Since: t0(), Announced: 1})
				s, d = polling.Plan(s, now, o)
			case step > 0 && r.IntN(10) == 0:
				s = polling.Resume(s, now, r.Float64())
			default:
				a := randomAnswer(r, s)
				a.Cause = pick(r, polling.Poll, polling.ByHand, polling.Pushed, polling.Delivered, polling.FollowUp)
				s, d = polling.Next(s, a, now, o)
			}
			if s.Gone != nil {
				s = polling.Revive(s, now)
				continue
			}
			skip, _ := polling.ParseSkip(s.Hints.SkipHours, s.Hints.SkipDays)
			by := s.Reason == "it was brought back by hand" || s.Reason == "it has never been read"
			if skip.Within(s.NextAt) && !by {
				t.Fatalf("seed %d step %d: check at %s, in skipped time (%s): %s", seed, step, s.NextAt.Format("Mon 15:04:05"), skip, s.Reason)
			}
			for _, c := range d.Considered {
				if c.Rule == polling.RuleSkip && c.Effect == polling.Moves {
					moved++
					if !strings.Contains(d.Reason, "moved out of "+c.Text) && s.Reason == d.Reason && d.At.Equal(c.Until) {
						t.Fatalf("seed %d step %d: the reason does not contain %s: %s", seed, step, c.Text, d.Reason)
					}
				}
			}
			now = now.Add(time.Duration(r.Int64N(int64(40 * time.Hour))))
		}
	}
	if moved < 500 {
		t.Errorf("only %d checks were moved", moved)
	}
}

// TestSkipListsOfAllHoursOrDaysAreIgnored checks lists of all hours and of all days.
func TestSkipListsOfAllHoursOrDaysAreIgnored(t *testing.T) {
	t.Parallel()
	var hours, days []string
	for h := range 24 {
		hours = append(hours, fmt.Sprint(h))
	}
	for d := range time.Weekday(7) {
		days = append(days, d.String())
	}
	for name, h := range map[string]feed.Hints{
		"all hours": {TTL: "60", SkipHours: hours}, "all days": {TTL: "60", SkipDays: days}, "both": {TTL: "60", SkipHours: hours, SkipDays: days},
	} {
		l := newTimeline(t).check(ok("1", h)).wait(time.Hour)
		if l.effect(polling.RuleSkip) != polling.Ignored || !l.s.Allowed(l.now, 1).Equal(l.now) {
			t.Errorf("%s: %+v", name, l.d.Considered)
		}
	}
}
