package render

import (
	"time"

	"cloudburst/feed"
)

// appendRFC822 writes a time in the form that RSS requires: Fri, 20 Nov 2026 08:30:00 GMT.
//
// spec:rss20-2003#dates
func appendRFC822(b []byte, t time.Time) []byte {
	const names, months = "MonTueWedThuFriSatSun", "JanFebMarAprMayJunJulAugSepOctNovDec"
	days, second := inUTC(t)
	year, month, day := calendar(days)
	n, m := names[3*(days%7):][:3], months[3*month-3:][:3]
	b = append(b, n[0], n[1], n[2], ',', ' ', digit(day/10), digit(day), ' ', m[0], m[1], m[2], ' ',
		digit(year/1000), digit(year/100), digit(year/10), digit(year), ' ')
	return append(appendClock(b, second), " GMT"...)
}

// inUTC returns the number of days since Monday, 1 January of the year 1, and the second of the day.
// Years outside 1 to 9999 become the first or last second of that range.
func inUTC(t time.Time) (days, second uint32) {
	const day = 86_400
	unix := uint64(min(max(t.Unix(), firstSecond), lastSecond) - firstSecond)
	return uint32(unix / day), uint32(unix % day)
}

// The first and the last second of the years with four digits, as Unix seconds.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

// calendar returns the date of a day of inUTC. Three results are faster than a struct, which would
// be written to memory.
func calendar(days uint32) (year, month, day uint32) {
	// Years begin in March here, so that a leap day is the last day of a year. A century has
	// 36,524.25 days on average, and a year 365.25. The months from March on have 31, 30, 31, 30,
	// 31, 31 days and so on, so the month is the number of the day times 2141/65536.
	const toMarch, century, fourYears = 306, 146_097, 1461
	n := 4*(days+toMarch) + 3
	hundreds := n / century
	n = n%century | 3
	month = 2141*(n%fourYears/4) + 197_913
	year, month, day = 100*hundreds+n/fourYears, month>>16, month&0xffff/2141+1
	if month > 12 { // January and February belong to the next calendar year
		return year + 1, month - 12, day
	}
	return year, month, day
}

// digit returns the last digit of n.
func digit(n uint32) byte { return byte('0' + n%10) }

// appendClock writes the time of day as 08:30:00.
func appendClock(b []byte, second uint32) []byte {
	minute := second / 60
	hour := minute / 60
	minute, second = minute%60, second%60
	return append(b, digit(hour/10), digit(hour), ':', digit(minute/10), digit(minute), ':', digit(second/10), digit(second))
}

// appendRFC3339 writes a time in the form that Atom and W3CDTF require: 2026-11-20T08:30:00Z. It
// writes fractions of a second if there are any.
func appendRFC3339(b []byte, t time.Time) []byte {
	days, second := inUTC(t)
	year, month, day := calendar(days)
	b = append(b, digit(year/1000), digit(year/100), digit(year/10), digit(year), '-', digit(month/10), digit(month), '-', digit(day/10), digit(day), 'T')
	b = appendClock(b, second)
	if t.Nanosecond() > 0 {
		b = t.AppendFormat(b, ".999999999")
	}
	return append(b, 'Z')
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
