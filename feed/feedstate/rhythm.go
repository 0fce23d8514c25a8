package feedstate

import (
	"slices"
	"strings"
	"time"

	"cloudburst/feed"
)

// ParseTTL reads the minutes of <ttl> as people write them: "60", "60.0", "60
// minutes", "2 hours". problem says why it means nothing; then d is 0.
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
		return 0, "less than nothing"
	case !ok || unit == 0:
		return 0, "not a number of minutes"
	}
	if d = times(unit, n); d <= 0 {
		return 0, "no time at all"
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

// decimal reads digits with at most one period among them. What is too large stays
// merely large.
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

// times is n units, at most longestFresh.
func times(unit time.Duration, n float64) time.Duration {
	return time.Duration(min(float64(unit)*n, float64(longestFresh)))
}

// Syndication is what the three elements of RSS 1.0's syndication module come to.
type Syndication struct {
	Every time.Duration // between two updates; a month is 30 days, a year 365
	Base  time.Time     // an update happens at Base and every Every before and after; zero: not given
}

// ParseSyndication reads sy:updatePeriod, sy:updateFrequency and sy:updateBase. What
// is missing has the module's default: daily, once. ok is false when none means
// anything.
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

// next is when the feed is due that was read at t: with a base at the next update,
// otherwise one distance later.
func (s Syndication) next(t time.Time) time.Time {
	if s.Base.IsZero() {
		return t.Add(s.Every)
	}
	return t.Add(s.Every - sinceStep(t, s.Base, s.Every))
}

// sinceStep is the time from the last step before t, for steps of whole seconds, every, from
// base on. It is exact for any distance from base.
func sinceStep(t, base time.Time, every time.Duration) time.Duration {
	// A time.Duration holds only 292 years, so whole seconds first.
	gap := (t.Unix() - base.Unix()) % int64(every/time.Second)
	d := time.Duration(gap)*time.Second + time.Duration(t.Nanosecond()-base.Nanosecond())
	if d < 0 {
		d += every
	}
	return d
}

// post spacing

// burst is how near to one another posts count as one: many a feed is written once a
// day, ten posts at a time.
const burst = 15 * time.Minute

// observe takes in the dates of the posts.
func (s *State) observe(dates []time.Time, now time.Time) {
	if posts := newest(dates, now, 20); len(posts) > 0 {
		s.Newest = posts[0]
		s.Spacing = spacing(posts)
		return
	}
	// A feed without dates shows its rhythm by when it was seen to change.
	s.Newest = time.Time{}
	s.Changes = append(s.Changes, stamp(now))
	if n := len(s.Changes); n > keptChanges {
		s.Changes = s.Changes[n-keptChanges:]
	}
	latest := slices.Clone(s.Changes[1:]) // the first is when it was read first, not when it changed
	s.Spacing = spacing(newest(latest, now, keptChanges))
}

// spacing is the median time between posts; 0: unknown. An old post on top, or years of
// silence, do not change a median.
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

// shortestRhythm is how often a feed is asked that says nothing of its own accord.
const shortestRhythm = 15 * time.Minute

// defaultRhythm is how long to wait for a feed without hints, and why: four looks
// between two posts, fewer the longer it has been silent.
func (s State) defaultRhythm(now time.Time) (d time.Duration, text string) {
	d = DefaultRhythm
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
