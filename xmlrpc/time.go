package xmlrpc

import (
	"strings"
	"time"
)

// parseTime reads the basic and the extended form of ISO 8601, with or
// without seconds' fractions and zone. Without a zone it is UTC: the
// specification leaves that to the server's documentation, and this is ours.
// Fractions are dropped as they could not be written back.
// spec:xmlrpc-1999#datetime
func parseTime(s string) (time.Time, bool) {
	date, clock, ok := strings.Cut(s, "T")
	if !ok {
		date, clock, ok = strings.Cut(s, " ")
	}
	if !ok {
		return time.Time{}, false
	}
	zone := "Z"
	if i := strings.IndexAny(clock, "Z+-"); i >= 0 {
		clock, zone = clock[:i], clock[i:]
	}
	// A comma before the fraction is ISO 8601's other spelling.
	clock, fraction, dotted := strings.Cut(strings.Replace(clock, ",", ".", 1), ".")
	if dotted && (fraction == "" || strings.Trim(fraction, "0123456789") != "") {
		return time.Time{}, false
	}
	for _, layout := range []string{
		"20060102T15:04:05Z0700", "20060102T15:04:05Z07:00",
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07:00",
		"20060102T150405Z0700", "20060102T150405Z07:00",
	} {
		t, err := time.Parse(layout, date+"T"+clock+zone)
		if err != nil {
			continue
		}
		t = t.UTC()
		return t, t.Year() >= 0 && t.Year() <= 9999
	}
	return time.Time{}, false
}
