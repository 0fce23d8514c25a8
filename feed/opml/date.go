package opml

import (
	"encoding/json"
	"time"

	"cloudburst/internal/date"
)

// Date is a date as the document wrote it. OPML requires the form of RFC 822 with a year of
// four digits. In JSON it is an object with the members raw and, if the date can be parsed,
// utc.
type Date string

// DateOf formats a time as OPML requires it.
//
// spec:opml20-2007#dates
func DateOf(t time.Time) Date { return Date(t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")) }

// Time returns the date in UTC. It parses RFC 822, ISO 8601, the form of asctime, and month
// names in many languages. A missing or unknown time zone means UTC, and a missing time of day
// means midnight. ok is false when the date cannot be parsed, or when it may mean two
// different days.
func (d Date) Time() (t time.Time, ok bool) { return date.Parse(string(d)) }

// dateJSON is the JSON form of a Date.
type dateJSON struct {
	Raw string    `json:"raw,omitempty"`
	UTC time.Time `json:"utc,omitzero"`
}

// MarshalJSON encodes an object with raw and utc.
func (d Date) MarshalJSON() ([]byte, error) {
	t, _ := d.Time()
	return plainJSON(dateJSON{string(d), t})
}

// UnmarshalJSON accepts the output of MarshalJSON; it uses raw and ignores utc.
func (d *Date) UnmarshalJSON(b []byte) error {
	var v dateJSON
	err := json.Unmarshal(b, &v)
	*d = Date(v.Raw)
	return err
}
