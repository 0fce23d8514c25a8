package locale

import (
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/number"
)

// Count writes a number with the separators of the language: 1,204 in English.
func (l *Locale) Count(n int64) string {
	if !l.IsEnglish() {
		return l.printer.Sprint(number.Decimal(n))
	}
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// decimal writes a number with at most one digit after the point.
func (l *Locale) decimal(f float64) string {
	if !l.IsEnglish() {
		return l.printer.Sprint(number.Decimal(f, number.MaxFractionDigits(1)))
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// Duration writes a duration in a unit that fits its size. A negative duration
// counts as 0.
func (l *Locale) Duration(d time.Duration) string {
	whole := func(d, unit time.Duration, name string) string {
		return strconv.FormatInt(int64(d/unit), 10) + " " + l.Words(name)
	}
	switch {
	case d < 0:
		return "0 ms"
	case d < time.Microsecond:
		return l.Words("under 1 µs")
	case d < time.Millisecond:
		return whole(d, time.Microsecond, "µs")
	case d < 10*time.Millisecond:
		return l.decimal(d.Seconds()*1000) + " " + l.Words("ms")
	case d < 100*time.Millisecond:
		return whole(d, time.Millisecond, "ms")
	case d < 10*time.Second:
		return l.decimal(max(d.Seconds(), 0.1)) + " " + l.Words("s")
	case d < time.Minute:
		return whole(d, time.Second, "s")
	case d < time.Hour:
		return whole(d, time.Minute, "min")
	case d < 48*time.Hour:
		return whole(d, time.Hour, "h")
	}
	return Quantity(int(d.Hours()/24), "day", "days").In(l)
}

// Relative returns the distance from now to t in words, the same words as in static/base.js.
func (l *Locale) Relative(now, t time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		if -d < time.Second {
			return l.Words("now")
		}
		if d = -d; d >= time.Hour {
			d += 30 * time.Minute // round to the nearest hour: 24 h 59 min is 25 h
		}
		if d >= 48*time.Hour {
			return l.Say("in %d days", int(d.Hours()/24)) // at least 2, so the format needs no singular
		}
		return l.Say("in %s", d.Truncate(time.Second))
	}
	switch {
	case d < time.Second:
		return l.Words("now")
	case d < 48*time.Hour:
		return l.Say("%s ago", d.Truncate(time.Second))
	case d < 7*24*time.Hour:
		return l.Say("%d days ago", int(d.Hours()/24)) // at least 2, so the format needs no singular
	}
	return l.Date(t.UTC(), "2 Jan 2006")
}

// Date writes t in a layout of package time. The order of the parts, and the names of days and months,
// follow the language.
func (l *Locale) Date(t time.Time, layout string) string {
	if l.IsEnglish() {
		return t.Format(layout)
	}
	out := t.Format(layout)
	if strings.ContainsRune(layout, '2') { // the layout has more than the name of a day or a month
		out = t.Format(l.Words(layout))
	}
	if strings.Contains(layout, "Monday") {
		out = strings.Replace(out, t.Weekday().String(), l.Words(t.Weekday().String()), 1)
	}
	if strings.Contains(layout, "January") {
		return strings.Replace(out, t.Month().String(), l.Words(t.Month().String()), 1)
	}
	if strings.Contains(layout, "Jan") {
		short := t.Month().String()[:3]
		out = strings.Replace(out, short, l.Words(short), 1)
	}
	return out
}

// Bytes writes a size in a unit that fits it.
func (l *Locale) Bytes(n int64) string {
	switch {
	case n < 1000:
		return Quantity(n, "byte", "bytes").In(l)
	case n < 1000_000:
		return l.decimal(float64(n)/1e3) + " kB"
	case n < 1000_000_000:
		return l.decimal(float64(n)/1e6) + " MB"
	}
	return l.decimal(float64(n)/1e9) + " GB"
}
