package feed

import (
	"time"

	"cloudburst/internal/date"
)

// ParseDate reads a date in any form that is found in feeds: RFC 822 with every
// spelling of zones, W3CDTF, ISO 8601, asctime, names of months in many languages. The
// result is UTC, of the years 1 to 9999; without a zone UTC is meant. It is false for
// what is no date, and for dates like 03/04/2026 that could be either of two days.
func ParseDate(s string) (t time.Time, ok bool) { return date.Parse(s) }
