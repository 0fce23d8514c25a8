package render

import (
	"time"

	"cloudburst/feed"
)

// appendRFC822 writes a time in the form that RSS requires: Fri, 20 Nov 2026 08:30:00 GMT.
//
// spec:rss20-2003#dates
func appendRFC822(b []byte, t time.Time) []byte {
	const days, months = "SunMonTueWedThuFriSat", "JanFebMarAprMayJunJulAugSepOctNovDec"
	m := inUTC(t)
	b = append(b, "Sun, 00 Jan 0000 00:00:00 GMT"...)
	p := b[len(b)-29:]
	copy(p[:3], days[3*m.weekday:3*m.weekday+3])
	put2(p[5:7], m.day)
	copy(p[8:11], months[3*m.month-3:3*m.month])
	put2(p[12:14], m.year/100)
	put2(p[14:16], m.year%100)
	putClock(p[17:25], m.second)
	return b
}

// calendar is a date in UTC, with the time as the second of the day.
type calendar struct{ year, month, day, weekday, second int }

// inUTC splits a time into calendar fields. Years outside 1 to 9999 become the first or last
// second of that range.
func inUTC(t time.Time) calendar {
	const day, monday = 86_400, 1
	unix := min(max(t.Unix(), firstSecond), lastSecond)
	days := uint64(unix-firstSecond) / day // number of days since Monday, 1 January of the year 1
	m := calendar{second: int(uint64(unix-firstSecond) % day), weekday: int((days + monday) % 7)}

	// Years begin in March here, so that a leap day is the last day of a year. A century has
	// 36,524.25 days on average, and a year 365.25. The months from March on have 31, 30, 31, 30,
	// 31, 31 days and so on, so the month is the number of the day times 2141/65536.
	const toMarch, century, fourYears = 306, 146_097, 1461
	n := 4*(days+toMarch) + 3
	hundreds := n / century
	n = n%century | 3
	year, inYear := n/fourYears, n%fourYears/4
	month := 2141*inYear + 197_913
	m.year, m.month, m.day = int(100*hundreds+year), int(month>>16), int(month&0xffff/2141)+1
	if inYear >= toMarch { // January and February belong to the next calendar year
		m.month -= 12
		m.year++
	}
	return m
}

// The first and the last second of the years with four digits, as Unix seconds.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

// appendRFC3339 writes a time in the form that Atom and W3CDTF require: 2026-11-20T08:30:00Z. It
// writes fractions of a second if there are any.
func appendRFC3339(b []byte, t time.Time) []byte {
	m := inUTC(t)
	b = append(b, "0000-00-00T00:00:00"...)
	p := b[len(b)-19:]
	put2(p[:2], m.year/100)
	put2(p[2:4], m.year%100)
	put2(p[5:7], m.month)
	put2(p[8:10], m.day)
	putClock(p[11:19], m.second)
	if n := t.Nanosecond(); n > 0 {
		b = appendDigits(append(b, '.'), n, 9)
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	return append(b, 'Z')
}

// putClock writes the time of day over 00:00:00.
func putClock(p []byte, second int) {
	put2(p[:2], second/3600)
	put2(p[3:5], second/60%60)
	put2(p[6:8], second%60)
}

func put2(p []byte, n int) { p[0], p[1] = byte('0'+n/10), byte('0'+n%10) }

// appendDigits writes n with at least width digits.
func appendDigits(b []byte, n, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for n > 0 || width > 0 {
		i--
		buf[i] = byte('0' + n%10)
		n /= 10
		width--
	}
	return append(b, buf[i:]...)
}

// moment reports whether a date can be written, which requires a year of four digits. If the text
// is not a date, it adds a warning.
func (w *writer) moment(d *feed.Date, where string) bool {
	if d.UTC.IsZero() {
		if d.Raw != "" {
			w.warn("date", where, "This date cannot be read and is omitted: ", short(d.Raw), ".")
		}
		return false
	}
	if s := d.UTC.Unix(); s < firstSecond || s > lastSecond {
		w.warn("date", where, "The year of this date does not have four digits; the date is omitted.")
		return false
	}
	return true
}

// dateRFC822 writes an element with a date, if the feed has one.
func (w *writer) dateRFC822(name string, d *feed.Date) {
	if w.moment(d, name) {
		w.tag(name, nil)
		w.b = append(appendRFC822(append(w.b, '>'), d.UTC), "</"...)
		w.b = append(append(w.b, name...), '>')
	}
}

// dateRFC3339 writes an element with a date, if the feed has one.
func (w *writer) dateRFC3339(name string, d *feed.Date) {
	if w.moment(d, name) {
		w.tag(name, nil)
		w.b = append(appendRFC3339(append(w.b, '>'), d.UTC), "</"...)
		w.b = append(append(w.b, name...), '>')
	}
}
