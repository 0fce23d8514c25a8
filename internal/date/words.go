package date

import (
	"fmt"
	"strings"
	"time"
)

// Times formats the number of repetitions: "once" or "3 times in a row".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times in a row", n)
}

// When formats a time for people, relative to now, in UTC like all times here.
func When(t, now time.Time) string {
	switch d := t.Sub(now); {
	case d > 0 && d < 2*time.Minute:
		return fmt.Sprintf("in %d seconds", int(d.Round(time.Second).Seconds()))
	case t.Year() == now.Year() && t.YearDay() == now.YearDay():
		return t.UTC().Format("at 15:04 UTC")
	}
	return t.UTC().Format("2 January 2006 15:04 UTC")
}

// Since formats a time for the position after the word "since".
func Since(t, now time.Time) string { return strings.TrimPrefix(When(t, now), "at ") }

// InWords formats d for people in the largest unit that divides it: "25 hours", "90 minutes".
func InWords(d time.Duration) string {
	for _, u := range [...]struct {
		unit time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}, {time.Millisecond, "millisecond"}} {
		if d < u.unit || d%u.unit != 0 {
			continue
		}
		if n := d / u.unit; n > 1 {
			return fmt.Sprintf("%d %ss", n, u.name)
		}
		return "1 " + u.name
	}
	return d.String()
}
