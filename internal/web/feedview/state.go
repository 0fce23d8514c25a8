// Package feedview describes the state of followed feeds in words for pages: badges, the next check,
// and the explanation of the schedule. Start with [Badges] and [Explain].
package feedview

import (
	"net/http"
	"strings"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
	"cloudburst/internal/web/shell"
)

// Badge is a small label. The text has the whole meaning; the class only sets the colour.
type Badge struct{ Text, Class string }

// Classes of badges.
const (
	BadgeGood = "k-notify"
	BadgeWarn = "k-drop"
	BadgeBad  = "k-error"
)

// movedFor is the time for which pages show that a feed has moved.
const movedFor = 30 * 24 * time.Hour

// Condition returns the badge of the most important state of a feed, and a clause that explains the
// state. The clause can be "".
func Condition(f *river.Source, now time.Time) (Badge, string) {
	st := &f.State
	switch {
	case st.Gone != nil:
		return Badge{"gone", BadgeBad}, "its server reported it " + onDay(st.Gone.At, now) + ": " + shell.CleanText(st.Gone.Reason, 200) + ". Its items stay"
	case waiting(st, now):
		return Badge{"waiting", BadgeWarn}, "its server requested a pause until " + hour(st.Wait.Until, now)
	case st.Failure != nil && (st.Failure.Status == http.StatusUnauthorized || st.Failure.Status == http.StatusProxyAuthRequired):
		if f.Private() {
			return Badge{"login needed", BadgeWarn}, "its server rejects the login"
		}
		return Badge{"login needed", BadgeWarn}, "its server requires a login"
	case st.Failure != nil && st.Failure.Kind == polling.ErrLimited:
		return Badge{"waiting", BadgeWarn}, "its server limits requests: " + shell.CleanText(st.Failure.Text, 200)
	case st.Failure != nil:
		since := st.Since
		if since.IsZero() {
			since = st.Failure.At
		}
		return Badge{"failing", BadgeBad}, "since " + day(since, now) + ": " + shell.CleanText(st.Failure.Text, 200)
	case st.CheckedAt.IsZero():
		return Badge{"not checked yet", ""}, ""
	case st.Push.Live(now):
		return Badge{"live", BadgeGood}, ""
	}
	return Badge{}, ""
}

func waiting(st *polling.State, now time.Time) bool {
	return st.Wait != nil && st.Wait.Until.After(now) && st.Wait.Until.Sub(now) <= polling.LongestRetry
}

// moved returns the last move of a feed if it is recent.
func moved(st *polling.State, now time.Time) (polling.Move, bool) {
	if len(st.Moves) == 0 {
		return polling.Move{}, false
	}
	m := st.Moves[len(st.Moves)-1]
	return m, now.Sub(m.At) < movedFor
}

// Badges returns the badges of a feed that need attention or are unusual, its state first.
func Badges(f *river.Source, now time.Time) (all []Badge, why string) {
	b, why := Condition(f, now)
	if b.Class == BadgeBad || b.Class == BadgeWarn || f.State.CheckedAt.IsZero() {
		all = append(all, b)
	}
	if m, ok := moved(&f.State, now); ok {
		all = append(all, Badge{"moved", BadgeWarn})
		if why == "" {
			why = "it was at " + shell.ShortURL(WithoutUser(m.From)) + " before"
		}
	}
	if f.Hidden() {
		all = append(all, Badge{"private", ""})
	}
	return all, why
}

// Next is the next check of a feed.
type Next struct {
	Words string // label of At; if no time is known, the whole text
	At    shell.Moment
	Why   string // reason for the time, as one clause; "": none
}

// NextOf returns the next check for a page.
func NextOf(n river.NextCheck, now time.Time) Next {
	return Next{shell.CleanText(n.String(), 40), shell.NewMoment(now, n.At), shell.CleanText(n.Why, 600)}
}

// day writes a day for a sentence, with the time if it is recent.
func day(t, now time.Time) string {
	if d := now.Sub(t); d >= 0 && d < 48*time.Hour {
		return hour(t, now)
	}
	return t.UTC().Format("2 January 2006")
}

// onDay is like day, but begins with a preposition.
func onDay(t, now time.Time) string {
	if d := now.Sub(t); d >= 0 && d < 48*time.Hour {
		return "at " + hour(t, now)
	}
	return "on " + day(t, now)
}

// hour writes a time for a sentence: "14:20 UTC", "14:20 UTC on 3 May".
func hour(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.Format("15:04 UTC on 2 January")
}

// WithoutUser removes the user name and password from a URL.
func WithoutUser(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

// Interval is a choice for the check interval of a feed.
type Interval struct {
	Value  string // a duration in Go syntax; "": automatic
	Text   string
	Chosen bool
}

// Intervals lists the choices, with own selected. If own is not among the choices, Intervals adds it.
func Intervals(own time.Duration) []Interval {
	all := []Interval{{"", "Automatic (recommended)", false}}
	known := false
	for _, c := range []struct {
		d    time.Duration
		text string
	}{{5 * time.Minute, "every 5 minutes"}, {15 * time.Minute, "every 15 minutes"}, {30 * time.Minute, "every half hour"}, {time.Hour, "hourly"},
		{3 * time.Hour, "every 3 hours"}, {6 * time.Hour, "every 6 hours"}, {12 * time.Hour, "every 12 hours"}, {24 * time.Hour, "daily"}, {7 * 24 * time.Hour, "weekly"}} {
		all = append(all, Interval{c.d.String(), c.text, c.d == own})
		known = known || c.d == own
	}
	if own > 0 && !known {
		all = append(all, Interval{own.String(), "every " + shell.FormatDuration(own), true})
	}
	all[0].Chosen = own <= 0
	return all
}

// IntervalOf parses the value of a form; an invalid value means automatic.
func IntervalOf(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0
	}
	return min(max(d, polling.ShortestUserInterval), polling.LongestUserInterval)
}
