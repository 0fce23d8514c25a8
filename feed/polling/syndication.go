package polling

import (
	"strings"
	"time"

	"cloudburst/feed"
)

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
