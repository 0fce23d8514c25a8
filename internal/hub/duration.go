package hub

import (
	"fmt"
	"time"
)

// RenewWithin returns the time within which a registration with this lifetime must be renewed:
// 24/25 of the lifetime, rounded down. rssCloud registrations last 25 hours and must be renewed
// every 24.
//
// spec:rsscloud-2009#renew-24h
func RenewWithin(lifetime time.Duration) time.Duration {
	d := lifetime / 25 * 24
	for _, unit := range [...]time.Duration{time.Hour, time.Minute, time.Second} {
		if d >= unit {
			return d.Truncate(unit)
		}
	}
	return d
}

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
