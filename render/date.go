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
	m := inUTC(t)
	d, n := 3*m.weekday, 3*(m.month-1)
	b = append(append(b, days[d:d+3]...), ", "...)
	b = append(append2(b, m.day), ' ')
	b = append(append(b, months[n:n+3]...), ' ')
	b = append(append4(b, m.year), ' ')
	return append(appendClock(b, m.second), " GMT"...)
}

// calendar is a date in UTC, with the second of the day.
type calendar struct{ year, month, day, weekday, second int }

// inUTC takes a moment of the years 1 to 9999 apart; one of another year is the first
// or the last of these.
func inUTC(t time.Time) calendar {
	const day, monday = 86_400, 1
	unix := min(max(t.Unix(), firstSecond), lastSecond)
	days := (unix - firstSecond) / day // since Monday, 1 January of the year 1
	m := calendar{second: int((unix - firstSecond) % day), weekday: int(days+monday) % 7}

	// Years begin in March here, so that leap days are their ends; an era has 400.
	const era, toMarch = 146_097, 306
	n := int(days) + toMarch
	m.year = n / era * 400
	n %= era
	year := (n - n/1460 + n/36_524 - n/146_096) / 365
	n -= 365*year + year/4 - year/100
	m.year += year
	month := (5*n + 2) / 153
	m.day = n - (153*month+2)/5 + 1
	if m.month = month + 3; m.month > 12 {
		m.month -= 12
		m.year++
	}
	return m
}

// The first and the last second that have a year of four digits.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

// appendRFC3339 writes a moment as Atom and W3CDTF have it: 2026-11-20T08:30:00Z.
// Parts of a second are written where there are any.
func appendRFC3339(b []byte, t time.Time) []byte {
	m := inUTC(t)
	b = append(append4(b, m.year), '-')
	b = append(append2(b, m.month), '-')
	b = append(append2(b, m.day), 'T')
	b = appendClock(b, m.second)
	if n := t.Nanosecond(); n > 0 {
		b = appendDigits(append(b, '.'), n, 9)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return append(b, 'Z')
}

// appendClock writes the time of a second of a day.
func appendClock(b []byte, second int) []byte {
	b = append(append2(b, second/3600), ':')
	b = append(append2(b, second/60%60), ':')
	return append2(b, second%60)
}

func append2(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

func append4(b []byte, n int) []byte { return append2(append2(b, n/100), n%100) }

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
	if s := d.UTC.Unix(); s < firstSecond || s > lastSecond {
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
