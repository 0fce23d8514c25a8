package polling

import (
	"strings"
	"time"

	"cloudburst/feed"
)

// Schedule is a CDF SCHEDULE: the channel should be read once per period Every, counted from
// Start, between Earliest and Latest after the start of each period.
type Schedule struct {
	Start, Stop      time.Time     // zero: not given
	Every            time.Duration // length of a period
	Earliest, Latest time.Duration // offsets from the start of each period
}

// ParseSchedule reads a SCHEDULE. problem describes an invalid schedule.
func ParseSchedule(c *feed.Schedule) (s Schedule, problem string) {
	s.Every = spanOf(c.IntervalTime)
	if s.Every <= 0 {
		return s, "no INTERVALTIME"
	}
	s.Earliest, s.Latest = spanOf(c.EarliestTime), spanOf(c.LatestTime)
	if s.Earliest >= s.Every {
		s.Earliest = 0
	}
	if s.Latest = min(s.Latest, s.Every); s.Latest < s.Earliest {
		s.Latest = s.Earliest
	}
	// Periods start at midnight in the time zone that the schedule names.
	zone := zoneOf(c.EarliestTime.Zone)
	if zone == 0 {
		zone = zoneOf(c.LatestTime.Zone)
	}
	if at, ok := feed.ParseDate(c.StartDate); ok && c.StartDate != "" {
		s.Start = at.UTC().Add(-zone)
	} else {
		s.Start = time.Unix(0, 0).UTC().Add(-zone) // midnight
	}
	if at, ok := feed.ParseDate(c.StopDate); ok && c.StopDate != "" {
		s.Stop = at.UTC().Add(-zone)
	}
	return s, ""
}

func spanOf(c feed.Span) time.Duration {
	var d time.Duration
	for _, part := range [...]struct {
		raw  string
		unit time.Duration
	}{{c.Day, 24 * time.Hour}, {c.Hour, time.Hour}, {c.Min, time.Minute}, {c.Sec, time.Second}} {
		if n, ok := decimal(strings.TrimSpace(part.raw)); ok {
			d = min(d+times(part.unit, n), longestFresh)
		}
	}
	return d.Truncate(time.Second)
}

// zoneOf parses a time zone such as "+0100", "-5:30" or "GMT".
func zoneOf(raw string) time.Duration {
	s := strings.ReplaceAll(strings.TrimSpace(raw), ":", "")
	if len(s) < 2 || s[0] != '+' && s[0] != '-' {
		return 0
	}
	digits := s[1:]
	if len(digits) <= 2 {
		digits += "00"
	}
	n, ok := decimal(digits)
	if !ok || n > 1400 {
		return 0
	}
	d := time.Duration(int(n)/100)*time.Hour + time.Duration(int(n)%100)*time.Minute
	if s[0] == '-' {
		return -d
	}
	return d
}

// next returns the start and length of the first window after t. If t is inside a window, this
// window is skipped, because the channel was already read in it.
func (s Schedule) next(t time.Time) (from time.Time, length time.Duration) {
	if first := s.Start.Add(s.Earliest); t.Before(first) {
		return first, s.Latest - s.Earliest
	}
	since := sinceStep(t, s.Start, s.Every)
	from = t.Add(s.Earliest - since)
	if !from.After(t) {
		from = from.Add(s.Every)
	}
	return from, s.Latest - s.Earliest
}
