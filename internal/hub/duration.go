package hub

import (
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
