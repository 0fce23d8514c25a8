package polling

import (
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
)

// ParseTTL reads the minutes of <ttl> in common spellings: "60", "60.0", "60 minutes", "2 hours".
// If the value is invalid, problem describes it and d is 0.
func ParseTTL(raw string) (d time.Duration, problem string) {
	s := strings.ToLower(strings.TrimSpace(raw))
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	unit := unitOf(strings.Trim(s[i:], " \t\r\n."))
	n, ok := decimal(strings.TrimSuffix(s[:i], "."))
	switch {
	case s == "":
		return 0, "empty"
	case strings.HasPrefix(s, "-"):
		return 0, "a negative number"
	case !ok || unit == 0:
		return 0, "not a number of minutes"
	}
	if d = times(unit, n); d <= 0 {
		return 0, "zero"
	}
	return d, ""
}

func unitOf(word string) time.Duration {
	switch word {
	case "", "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "h", "hr", "hrs", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// decimal parses digits with at most one period. A number that is too large does not fail, but
// becomes a very large n.
func decimal(s string) (n float64, ok bool) {
	scale := 0.0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.' && scale == 0:
			scale = 1
		case c < '0' || c > '9':
			return 0, false
		case scale == 0:
			n, ok = min(n*10+float64(c-'0'), 1e12), true
		default:
			scale /= 10
			n, ok = n+float64(c-'0')*scale, true
		}
	}
	return n, ok
}

// times returns n units as a duration, at most longestFresh.
func times(unit time.Duration, n float64) time.Duration {
	return time.Duration(min(float64(unit)*n, float64(longestFresh)))
}

// Syndication is the update schedule of RSS 1.0's syndication module.
type Syndication struct {
	Every time.Duration // time between two updates; a month counts as 30 days, a year as 365
	Base  time.Time     // time of one update; the others are at multiples of Every before and after it. Zero: not declared
}

// ParseSyndication reads sy:updatePeriod, sy:updateFrequency and sy:updateBase. For missing
// elements, the defaults of the module apply: daily, once. problem describes an invalid value. If
// no element has a valid value, ok is false.
func ParseSyndication(h feed.Hints) (s Syndication, problem string, ok bool) {
	period, frequency := strings.ToLower(strings.TrimSpace(h.UpdatePeriod)), strings.TrimSpace(h.UpdateFrequency)
	if period == "" && frequency == "" {
		return s, "", false
	}
	if s.Every = periodOf(period); s.Every == 0 {
		return s, "not a period: hourly, daily, weekly, monthly or yearly", false
	}
	n, good := decimal(frequency)
	switch {
	case frequency == "":
	case !good || n <= 0:
		problem = "the frequency " + short(frequency) + " counts as 1"
	default:
		s.Every = max(times(1, float64(s.Every)/n).Truncate(time.Second), time.Second)
	}
	s.Base = h.UpdateBase.UTC
	return s, problem, true
}

func periodOf(word string) time.Duration {
	const day = 24 * time.Hour
	switch word {
	case "hourly":
		return time.Hour
	case "daily", "":
		return day
	case "weekly":
		return 7 * day
	case "monthly":
		return 30 * day
	case "yearly", "annually":
		return 365 * day
	}
	return 0
}

// next returns the next due time of a feed that was read at t: if there is a Base, it is the next
// update, and otherwise t plus Every.
func (s Syndication) next(t time.Time) time.Time {
	if s.Base.IsZero() {
		return t.Add(s.Every)
	}
	return t.Add(s.Every - sinceStep(t, s.Base, s.Every))
}

// sinceStep returns the time from the last step before t. Steps have whole seconds and repeat
// with the period every, starting at base. The result is exact for any distance from base.
func sinceStep(t, base time.Time, every time.Duration) time.Duration {
	// A time.Duration can represent only 292 years, so calculate in whole seconds first.
	gap := (t.Unix() - base.Unix()) % int64(every/time.Second)
	d := time.Duration(gap)*time.Second + time.Duration(t.Nanosecond()-base.Nanosecond())
	if d < 0 {
		d += every
	}
	return d
}

// The rhythm of a feed without hints follows from the time between its posts.

// burst is the maximum time between posts that count as one. Many feeds are written once a day, ten
// posts at a time.
const burst = 15 * time.Minute

// observe records the dates of the posts.
func (s *State) observe(dates []time.Time, now time.Time) {
	if posts := newest(dates, now, 20); len(posts) > 0 {
		s.Newest = posts[0]
		s.Spacing = spacing(posts)
		return
	}
	// If the posts of the feed have no dates, use the times at which changes were observed.
	s.Newest = time.Time{}
	s.Changes = append(s.Changes, stamp(now))
	if n := len(s.Changes); n > keptChanges {
		s.Changes = s.Changes[n-keptChanges:]
	}
	latest := slices.Clone(s.Changes[1:]) // the first entry is the first read of the feed, which is not a change
	s.Spacing = spacing(newest(latest, now, keptChanges))
}

// spacing returns the median time between posts; or 0 if it is unknown. A median is not affected by
// an old post at the top, or by years without posts.
func spacing(posts []time.Time) time.Duration {
	var gaps []time.Duration
	for i := 1; i < len(posts); {
		gap := posts[0].Sub(posts[i])
		if gap >= burst {
			gaps = append(gaps, gap)
			posts, i = posts[i:], 1
			continue
		}
		i++
	}
	if len(gaps) < 2 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// shortestRhythm is the minimum interval for a feed without hints.
const shortestRhythm = 15 * time.Minute

// defaultRhythm returns the wait for a feed without hints, and the reason for people. The wait
// allows four checks between two posts, and becomes longer the longer the feed has had no post.
func (s State) defaultRhythm(now time.Time) (d time.Duration, text string) {
	d = DefaultInterval
	if s.Spacing > 0 {
		d, text = s.Spacing/4, "a post about every "+span(s.Spacing)
	}
	last := s.Newest
	if last.IsZero() {
		last = s.ChangedAt
	}
	if quiet := now.Sub(last); !last.IsZero() && quiet/24 > d {
		d, text = quiet/24, "nothing new for "+span(quiet)
	}
	d = min(max(d, shortestRhythm), Longest)
	if text == "" {
		text = "no hints, so every " + span(d)
	}
	return d, text
}
