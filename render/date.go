package render

import (
	"time"

	"cloudburst/feed"
)

// appendRFC822 writes a moment as RSS has it: Fri, 20 Nov 2026 08:30:00 GMT.
//
// spec:rss20-2003#dates
func appendRFC822(b []byte, t time.Time) []byte {
	const days, months = "SunMonTueWedThuFriSat", "JanFebMarAprMayJunJulAugSepOctNovDec"
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	d, m := 3*int(t.Weekday()), 3*int(month-1)
	b = append(append(b, days[d:d+3]...), ", "...)
	b = append(appendDigits(b, day, 2), ' ')
	b = append(append(b, months[m:m+3]...), ' ')
	b = append(appendDigits(b, year, 4), ' ')
	return append(appendClock(b, hour, minute, second), " GMT"...)
}

// appendRFC3339 writes a moment as Atom and W3CDTF have it: 2026-11-20T08:30:00Z.
// Parts of a second are written where there are any.
func appendRFC3339(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = append(appendDigits(b, year, 4), '-')
	b = append(appendDigits(b, int(month), 2), '-')
	b = append(appendDigits(b, day, 2), 'T')
	b = appendClock(b, hour, minute, second)
	if n := t.Nanosecond(); n > 0 {
		b = appendDigits(append(b, '.'), n, 9)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return append(b, 'Z')
}

func appendClock(b []byte, hour, minute, second int) []byte {
	b = append(appendDigits(b, hour, 2), ':')
	b = append(appendDigits(b, minute, 2), ':')
	return appendDigits(b, second, 2)
}

// appendDigits writes n with at least width digits.
func appendDigits(b []byte, n, width int) []byte {
	var room [20]byte
	i := len(room)
	for n > 0 || width > 0 {
		i--
		room[i] = byte('0' + n%10)
		n /= 10
		width--
	}
	return append(b, room[i:]...)
}

// moment reports whether a date can be written: its year has four digits. What was
// written and means nothing gets a warning.
func (w *writer) moment(d *feed.Date, where string) bool {
	if d.UTC.IsZero() {
		if d.Raw != "" {
			w.warn("date", where, "This date cannot be read and is left out: ", short(d.Raw), ".")
		}
		return false
	}
	if y := d.UTC.UTC().Year(); y < 1 || y > 9999 {
		w.warn("date", where, "The year of this date does not have four digits; it is left out.")
		return false
	}
	return true
}

// dateRFC822 writes a date in an element, if there is one.
func (w *writer) dateRFC822(name string, d *feed.Date) {
	if w.moment(d, name) {
		w.tag(name, nil)
		w.b = append(appendRFC822(append(w.b, '>'), d.UTC), "</"...)
		w.b = append(append(w.b, name...), '>')
	}
}

// dateRFC3339 writes a date in an element, if there is one.
func (w *writer) dateRFC3339(name string, d *feed.Date) {
	if w.moment(d, name) {
		w.tag(name, nil)
		w.b = append(appendRFC3339(append(w.b, '>'), d.UTC), "</"...)
		w.b = append(append(w.b, name...), '>')
	}
}
