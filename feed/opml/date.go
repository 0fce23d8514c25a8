package opml

import (
	"encoding/json"
	"time"

	"cloudburst/internal/date"
)

// Date is a moment as the document wrote it, which should be in the form of RFC
// 822 with a year of four digits. In JSON it is an object with raw and, where it
// can be read, utc.
type Date string

// DateOf gives a moment the form that OPML wants.
//
// spec:opml20-2007#dates
func DateOf(t time.Time) Date { return Date(t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")) }

// Time is the moment in UTC. Besides RFC 822 it reads every form of date that feeds
// have: ISO 8601, that of asctime, names of months in many languages. A date without
// a zone, or with one that nobody knows, is taken for UTC, one without a time for midnight. ok is false when it cannot
// be read, or could be either of two days.
func (d Date) Time() (t time.Time, ok bool) { return date.Parse(string(d)) }

// dateJSON is a Date in JSON.
type dateJSON struct {
	Raw string    `json:"raw,omitempty"`
	UTC time.Time `json:"utc,omitzero"`
}

// MarshalJSON gives raw and utc.
func (d Date) MarshalJSON() ([]byte, error) {
	t, _ := d.Time()
	return plainJSON(dateJSON{string(d), t})
}

// UnmarshalJSON takes what MarshalJSON gives; raw counts.
func (d *Date) UnmarshalJSON(b []byte) error {
	var v dateJSON
	err := json.Unmarshal(b, &v)
	*d = Date(v.Raw)
	return err
}
