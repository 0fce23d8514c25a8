package feed

import (
	"time"

	"cloudburst/internal/date"
)

// ParseDate parses a date in any form that is common in feeds: RFC 822 with every
// spelling of zones, W3CDTF, ISO 8601, asctime, month names in many languages. The
// result is in UTC, in the years 1 to 9999; a date without a zone is taken as UTC. ok is
// false if s is not a date or is ambiguous, like 03/04/2026.
func ParseDate(s string) (t time.Time, ok bool) { return date.Parse(s) }
