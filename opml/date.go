package opml

import (
	"encoding/json"
	"strings"
	"time"
)

// Date is a moment as the document wrote it, which should be in the form of RFC
// 822 with a year of four digits. In JSON it is an object with raw and, where it
// can be read, utc.
type Date string

// DateOf gives a moment the form that OPML wants.
//
// spec:opml20-2007#dates
func DateOf(t time.Time) Date { return Date(t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")) }

// Time is the moment in UTC. Besides RFC 822, with years of two digits and zones by
// name, it reads ISO 8601 and what C's asctime writes. A date without a zone is
// taken for UTC, one without a time for midnight. ok is false when it cannot be read.
func (d Date) Time() (t time.Time, ok bool) {
	text := strings.TrimSpace(string(d))
	if len(text) < len("2006-1-2") || len(text) > 64 {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return inRange(t.UTC())
	}
	text = strings.Join(strings.Fields(text), " ")
	if before, after, ok := strings.Cut(text, ","); ok && isWord(before) {
		text = strings.TrimSpace(after) // the day of the week adds nothing, and may be wrong
	}
	text, offset := cutZone(text)
	for _, layout := range [...]string{
		"2 Jan 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 06 15:04:05", "2 Jan 06 15:04", "2 Jan 2006",
		"2 January 2006 15:04:05", "2 January 2006", "Mon Jan 2 15:04:05 2006", "Jan 2 2006 15:04:05", "January 2, 2006",
		"2006-1-2T15:04:05", "2006-1-2 15:04:05", "2006-1-2T15:04", "2006-1-2 15:04", "2006-1-2", "2006/1/2 15:04:05", "2006/1/2",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return inRange(t.Add(-offset))
		}
	}
	return time.Time{}, false
}

// inRange keeps years that RFC 3339, and so JSON, can write.
func inRange(t time.Time) (time.Time, bool) {
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

func isWord(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// cutZone takes the zone off the end. A zone by an unknown name stays, so that the
// date is not read rather than read wrongly.
func cutZone(text string) (string, time.Duration) {
	colon := strings.IndexByte(text, ':')
	if colon < 0 {
		return text, 0 // without a time there is none, and -02 is a day
	}
	at := strings.LastIndexAny(text, " +-Zz")
	if at < colon {
		return text, 0
	}
	rest := strings.TrimRight(text[:at], " ")
	switch zone := text[at:]; zone[0] {
	case 'Z', 'z':
		return rest, 0
	case '+', '-':
		if offset, ok := numericZone(zone[1:]); ok {
			if zone[0] == '-' {
				offset = -offset
			}
			return rest, offset
		}
	default:
		if hours, ok := namedZone(zone[1:]); ok {
			return rest, time.Duration(hours) * time.Hour
		}
	}
	return text, 0
}

func numericZone(digits string) (time.Duration, bool) {
	digits = strings.Replace(digits, ":", "", 1)
	if len(digits) == 2 {
		digits += "00"
	}
	if len(digits) != 4 {
		return 0, false
	}
	n := 0
	for i := range 4 {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		n = 10*n + int(digits[i]-'0')
	}
	return time.Duration(n/100)*time.Hour + time.Duration(n%100)*time.Minute, n%100 < 60
}

func namedZone(name string) (hours int, ok bool) {
	switch strings.ToUpper(name) {
	case "GMT", "UT", "UTC":
		return 0, true
	case "EST", "CDT":
		return -5, true
	case "EDT":
		return -4, true
	case "CST", "MDT":
		return -6, true
	case "MST", "PDT":
		return -7, true
	case "PST":
		return -8, true
	case "CET", "BST":
		return 1, true
	case "CEST", "EET":
		return 2, true
	case "JST":
		return 9, true
	}
	return 0, false
}

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
