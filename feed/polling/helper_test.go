package polling_test

import (
	"net/http"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/polling"
)

// t0 returns Monday, 4 May 2026, 02:20 UTC.
func t0() time.Time { return time.Date(2026, 5, 4, 2, 20, 0, 0, time.UTC) }

const here = "https://a.example/rss.xml"

// header returns a header from alternating names and values.
func header(lines ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(lines); i += 2 {
		h.Add(lines[i], lines[i+1])
	}
	return h
}

// ok returns the answer of a check that read a feed.
func ok(hash string, hints feed.Hints, lines ...string) polling.Answer {
	return polling.Answer{Status: 200, Header: header(lines...), Hash: hash, Hints: &hints}
}

func status(code int, lines ...string) polling.Answer {
	return polling.Answer{Status: code, Header: header(lines...)}
}

func hop(code int, from, to string) polling.Hop {
	return polling.Hop{Status: code, From: from, To: to}
}

// via adds redirects to an answer.
func via(a polling.Answer, hops ...polling.Hop) polling.Answer {
	a.Hops = hops
	a.URL = hops[len(hops)-1].To
	return a
}

// timeline simulates the checks of one feed over time.
type timeline struct {
	t   *testing.T
	now time.Time
	s   polling.State
	d   polling.Decision
	o   polling.Options
}

func newTimeline(t *testing.T) *timeline {
	t.Helper()
	return &timeline{t: t, now: t0(), s: polling.New(here, t0())}
}

// check applies the answer of a check at the current time.
func (l *timeline) check(a polling.Answer) *timeline {
	l.t.Helper()
	l.s, l.d = polling.Next(l.s, a, l.now, l.o)
	return l
}

// after advances the clock and then applies the answer of a check.
func (l *timeline) after(d time.Duration, a polling.Answer) *timeline {
	l.t.Helper()
	l.now = l.now.Add(d)
	return l.check(a)
}

// wait checks the time until the next check.
func (l *timeline) wait(want time.Duration) *timeline {
	l.t.Helper()
	if got := l.d.At.Sub(l.now); got != want {
		l.t.Errorf("the next check is in %s, want %s (%s)", got, want, l.d.Reason)
	}
	if !l.s.NextAt.Equal(l.d.At) || l.s.Reason != l.d.Reason {
		l.t.Errorf("stored %s %q, decided %s %q", l.s.NextAt, l.s.Reason, l.d.At, l.d.Reason)
	}
	return l
}

func (l *timeline) outcome(want polling.Outcome) *timeline {
	l.t.Helper()
	if l.d.Outcome != want {
		l.t.Errorf("outcome %s (%s), want %s", l.d.Outcome, l.d.Failure, want)
	}
	return l
}

func (l *timeline) url(want string) *timeline {
	l.t.Helper()
	if l.s.URL != want {
		l.t.Errorf("the URL is %s, want %s", l.s.URL, want)
	}
	return l
}

// effect returns the effect of a rule on the last decision, or "" if the rule was not
// considered.
func (l *timeline) effect(r polling.Rule) polling.Effect {
	for _, c := range l.d.Considered {
		if c.Rule == r {
			return c.Effect
		}
	}
	return ""
}
