// Package date parses dates as found in feeds. Start with [Parse].
package date

import (
	"time"
	"unicode"
	"unicode/utf8"
)

// maxDate is the maximum length of a parsed text in bytes. Longer texts are not dates.
const maxDate = 160

// Parse parses a date in any form that feeds use, and returns it in UTC: RFC 822 and its successors
// with all spellings of zones, W3CDTF and ISO 8601 with week and ordinal dates, the formats of
// asctime and date, month names in about thirty languages, 年月日, numeric dates that are unambiguous,
// Unix seconds and milliseconds. Missing parts get their minimum: the first day, the first second;
// the default zone is UTC. An English weekday decides between the two readings of 03/04/2026.
//
// ok is false if s is not a date, is ambiguous, depends on the current date (12:30), or if its year
// in UTC is not from 1 to 9999. [ParseOrder] parses ambiguous dates.
func Parse(s string) (t time.Time, ok bool) {
	t, _, ok = ParseOrder(s, OrderUnknown)
	return t, ok
}

// ParseOrder is like [Parse], but reads ambiguous numeric dates in the given order. proven is the
// order that s itself proves by a number above 12 or by the weekday; otherwise OrderUnknown.
func ParseOrder(s string, order Order) (t time.Time, proven Order, ok bool) {
	if len(s) > maxDate {
		return time.Time{}, OrderUnknown, false
	}
	r := dateReader{s: s, order: order}
	for r.i < len(r.s) && !r.failed && !r.complete() {
		r.step()
	}
	if r.ambiguous && !r.failed {
		r.resolveOrder()
	}
	t, ok = r.result()
	if !ok || r.otherDigits && (t.Year() < 1900 || t.Year() > 2199) { // with other digits, such a year is of another calendar
		return time.Time{}, OrderUnknown, false
	}
	return t, r.proven, true
}

// dateReader is the lexer and its results so far. Most parts can be in any order: the context
// determines the meaning of a number, and tables determine the meaning of a word.
type dateReader struct {
	s      string
	i      int
	failed bool

	year, month, day int // 0: unknown; dates with the year 0 are rejected
	dated            bool
	numbers          [2]dateNumber // numbers that have no meaning yet
	pending          int

	hour, minute, second, nano int
	timed                      bool
	afternoon                  int8 // 0: unknown; 1: am; 2: pm

	zone         int // seconds east of Greenwich
	zoned        bool
	zoneNamed    bool // zone was given as a name such as GMT; an offset may follow
	korean       bool // the text is Korean, so the default zone is Korean time
	maybeWeekday bool // the word read as month may also be a weekday
	words        int
	era          int // years to add to year

	weekday     int8 // 1 (Monday) to 7 (Sunday); 0: no English weekday
	order       Order
	proven      Order
	otherDigits bool           // the text has digits that are not ASCII
	ambiguous   bool           // month and day could be swapped
	location    *time.Location // location of a zone such as Europe/Oslo; nil: none
}

// dateNumber is a run of digits.
type dateNumber struct{ value, digits int }

// complete reports whether the rest of the text cannot change the result.
func (r *dateReader) complete() bool {
	return r.dated && r.timed && r.zoned && !r.zoneNamed && r.afternoon == 0
}

// dateKnown reports whether day, month and year are known. The next number is then part of the time.
func (r *dateReader) dateKnown() bool { return r.dated || r.pending == 2 && r.month != 0 }

// step reads one number, word or sign.
func (r *dateReader) step() {
	c := r.s[r.i]
	switch {
	case c >= '0' && c <= '9':
		r.number()
	case c == '+' || c == '-':
		r.sign(c == '-', 1)
	case c == '(' && r.zoned:
		for r.i < len(r.s) && r.s[r.i] != ')' { // a comment such as (Pacific Standard Time)
			r.i++
		}
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		r.word()
	case c < utf8.RuneSelf:
		r.i++ // ignore a space, comma, quotation mark or bracket
	default:
		char, n := utf8.DecodeRuneInString(r.s[r.i:])
		switch {
		case char == '−' || char == '–':
			r.sign(true, n)
		case unicode.IsDigit(char):
			r.s, r.otherDigits = r.s[:r.i]+asciiDigits(r.s[r.i:]), true
			if r.s[r.i] >= utf8.RuneSelf {
				r.i += n
			}
		case unicode.IsLetter(char):
			r.word()
		default:
			r.i += n
		}
	}
}

// digits reads a sequence of digits. The value is exact for up to 18 digits.
func (r *dateReader) digits() dateNumber {
	var n dateNumber
	for r.i < len(r.s) && r.s[r.i] >= '0' && r.s[r.i] <= '9' {
		if n.digits < 18 {
			n.value = n.value*10 + int(r.s[r.i]-'0')
		}
		n.digits++
		r.i++
	}
	return n
}

// peek returns the byte n positions ahead, 0 after the end.
func (r *dateReader) peek(n int) byte {
	if r.i+n < len(r.s) {
		return r.s[r.i+n]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// skipSpace skips spaces, but no other white space.
func (r *dateReader) skipSpace() {
	for r.peek(0) == ' ' {
		r.i++
	}
}

// number reads a number and determines its meaning from the context.
func (r *dateReader) number() {
	start := r.i
	r.zoneNamed = false
	n := r.digits()
	switch c := r.peek(0); {
	case n.digits > 18:
		r.failed = true
	case (c >= 0xE0 || c == ' ' && r.nextNonSpace() >= 0xE0) && r.unit(n):
	case !r.timed && n.digits <= 2 && c == ':' && isDigit(r.peek(1)):
		r.clock(n, ':')
	case !r.timed && n.digits <= 2 && c|0x20 == 'h' && (isDigit(r.peek(1)) || !isLetter(r.peek(1))):
		r.clock(n, c)
	case r.dateKnown() && !r.timed && n.digits <= 2 && c == '.' && isDigit(r.peek(1)) && isDigit(r.peek(2)):
		r.clock(n, '.')
	case r.dated && !r.timed && (n.digits == 6 || n.digits == 4 || n.digits == 2 && r.followsT(start)):
		r.compactClock(n)
	case !r.dated && r.pending == 0 && r.month == 0 && r.wholeDate(n):
	case r.dated:
		if !r.timed && n.digits <= 2 && r.meridiemNext() { // an hour without minutes, such as 10 pm
			r.clock(n, 0)
		}
		// Any other number here is superfluous and ignored.
	case r.timed && r.pending == 2: // a zone without its sign
	case r.pending == 2:
		if r.month == 0 || n.digits > 2 || r.numbers[1].digits != 4 && !r.meridiemNext() {
			r.failed = true
			return
		}
		r.clock(n, 0)
	default:
		r.numbers[r.pending] = n
		r.pending++
		r.ordinal()
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf }

// followsT reports whether the byte before index i is the T between date and time in ISO 8601.
func (r *dateReader) followsT(i int) bool { return i > 0 && r.s[i-1]|0x20 == 't' }

// ordinal skips the suffix of 1st, 2nd and 1er.
func (r *dateReader) ordinal() {
	switch r.peek(0) | 0x20 {
	case 's', 'n', 'r', 't', 'e':
		if !isLetter(r.peek(0)) || !isLetter(r.peek(1)) || isLetter(r.peek(2)) {
			return
		}
		switch string([]byte{r.peek(0) | 0x20, r.peek(1) | 0x20}) {
		case "st", "nd", "rd", "th", "er":
			r.i += 2
		}
	}
}

// wholeDate reads a date whose first number is n: a numeric date, or one that begins with a year.
// It returns false if n may have another meaning.
func (r *dateReader) wholeDate(n dateNumber) bool {
	c, next := r.peek(0), r.peek(1)
	switch {
	case n.digits >= 5:
		r.compact(n)
		return true
	case n.digits == 4 && (c == 'W' || c == 'w') && isDigit(next):
		r.i++
		r.week(n.value, false)
		return true
	case n.digits == 4 && (c == '-' && next|0x20 == 'w' && isDigit(r.peek(2))):
		r.i += 2
		r.week(n.value, true)
		return true
	case (c == '-' || c == '/') && isDigit(next):
		r.i++
		return r.threeNumbers(n, c)
	case c == '.' && (isDigit(next) || next == ' ' && isDigit(r.peek(2))):
		return r.threeNumbers(n, c)
	case n.digits == 4 && (c == 0 || c|0x20 == 't' && (isDigit(next) || next == 0) || c == 'Z' && next == 0):
		r.setDate(n.value, 1, 1)
		return true
	}
	return false
}

// compact reads dates without separators, and Unix times.
func (r *dateReader) compact(n dateNumber) {
	v := n.value
	switch n.digits {
	case 5:
		r.setDate(twoDigits(v/1000), 1, v%1000)
	case 6:
		r.setDate(twoDigits(v/10000), v/100%100, v%100)
	case 7:
		r.setDate(v/1000, 1, v%1000)
	case 8:
		r.setDate(v/10000, v/100%100, v%100)
	case 12, 14:
		if n.digits == 12 {
			v *= 100
		}
		r.setDate(v/1e10, v/1e8%100, v/1e6%100)
		r.hour, r.minute, r.second, r.timed = v/10000%100, v/100%100, v%100, true
		r.fraction(1)
	case 9, 10, 11:
		r.unix(v, 1)
	case 13:
		r.unix(v, 1e3)
	case 16:
		r.unix(v, 1e6)
	default:
		r.failed = true
	}
}

// unix interprets v as Unix time in units of 1/perSecond seconds. No other text may follow.
func (r *dateReader) unix(v, perSecond int) {
	t := time.Unix(int64(v/perSecond), int64(v%perSecond)*int64(1e9/perSecond)).UTC()
	r.setDate(t.Year(), int(t.Month()), t.Day())
	r.hour, r.minute, r.second = t.Clock()
	r.nano = t.Nanosecond()
	if perSecond == 1 {
		r.fraction(1)
	}
	r.timed, r.zoned = true, true
	for ; r.i < len(r.s); r.i++ {
		if c := r.s[r.i]; c != ' ' && c != '"' && c != '\'' && c != '\n' && c != '\t' && c != '\r' {
			r.failed = true
		}
	}
}

// week reads the rest of 2003-W01-1 or 2003W011.
func (r *dateReader) week(year int, extended bool) {
	n := r.digits()
	weekday := 1
	switch {
	case n.digits == 3 && !extended:
		n.value, weekday = n.value/10, n.value%10
	case n.digits != 2:
		r.failed = true
	case r.peek(0) == '-' && isDigit(r.peek(1)) && !isDigit(r.peek(2)):
		weekday = int(r.peek(1) - '0')
		r.i += 2
	}
	if n.value < 1 || n.value > 53 || weekday < 1 || weekday > 7 {
		r.failed = true
		return
	}
	// By definition, week 1 contains the fourth of January.
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC).Weekday()
	monday := 4 - (int(fourth)+6)%7
	t := time.Date(year, time.January, monday+(n.value-1)*7+weekday-1, 0, 0, 0, 0, time.UTC)
	r.setDate(t.Year(), int(t.Month()), t.Day())
}

// threeNumbers reads the second and third number of a date, which must have the same separator. The
// position is at the second number, or at the dot before it.
func (r *dateReader) threeNumbers(a dateNumber, separator byte) bool {
	back := r.i
	if separator == '.' {
		r.i++
		r.skipSpace()
	}
	b := r.digits()
	var c dateNumber
	if r.peek(0) == separator {
		at := r.i
		r.i++
		if separator == '.' {
			r.skipSpace()
		}
		if c = r.digits(); c.digits == 0 {
			r.i = at
		}
	}
	switch {
	case c.digits > 0 && a.digits == 4:
		r.setDate(a.value, b.value, c.value)
	case c.digits > 0:
		r.dayMonthYear(a, b, c, separator)
	case a.digits == 4 && b.digits == 3 && separator == '-': // year and day of the year: 2003-335
		r.setDate(a.value, 1, b.value)
	case a.digits == 4 && b.digits == 4 && separator == '-': // year, month and day: 2003-1231
		r.setDate(a.value, b.value/100, b.value%100)
	case a.digits == 4 && b.digits <= 2 && separator != '.':
		if separator == '-' && isLetter(r.peek(1)) && r.peek(0) == '-' { // day before the month's name: 2026-19-Nov
			r.failed = true
		}
		r.setDate(a.value, b.value, 1)
	case a.digits == 2 && b.digits == 3 && separator == '-': // two-digit year and day of the year: 03-335
		r.setDate(twoDigits(a.value), 1, b.value)
	case separator == '.':
		r.i = back
		return false
	default:
		r.failed = true
	}
	return true
}

// dayMonthYear interprets three numbers whose first one is not a four-digit year. 03/04/2026 is
// ambiguous.
func (r *dateReader) dayMonthYear(a, b, c dateNumber, separator byte) {
	short := c.digits <= 2
	switch {
	case a.digits > 2 || b.digits > 2 || c.digits > 4 || c.digits == 3:
		r.failed = true
	case separator == '.' && (c.digits == 1 || r.peek(0) == '.' && isDigit(r.peek(1))):
		r.failed = true // four numbers with dots are a version number or an IP address
	case separator == '.': // dates with dots always begin with the day
		r.setDate(r.fullYear(c), b.value, a.value)
	case separator == '-' && short:
		if a.digits != 2 || b.digits != 2 || c.digits != 2 {
			r.failed = true
			return
		}
		r.setDate(twoDigits(a.value), b.value, c.value) // ISO 8601 of 1988 allows two-digit years
	case b.value > 12 && a.value <= 12:
		r.setDate(r.fullYear(c), a.value, b.value)
		r.proven = MonthFirst
	case short: // 31/12/03 can mean the year 2003 or 2031
		r.failed = true
	case a.value > 12 && b.value <= 12:
		r.setDate(c.value, b.value, a.value)
		r.proven = DayFirst
	case a.value == b.value:
		r.setDate(c.value, b.value, a.value)
	default:
		r.setDate(c.value, a.value, b.value)
		r.ambiguous = true
	}
}

// fullYear completes a year of two or three digits. A year of three digits is counted from 1900.
func (r *dateReader) fullYear(n dateNumber) int {
	switch {
	case n.digits <= 2:
		return twoDigits(n.value)
	case n.digits == 3:
		return 1900 + n.value
	}
	return n.value
}

// twoDigits completes a year of two digits. Feeds are newer than 1990 and contain no dates far in
// the future.
func twoDigits(year int) int {
	if year < 90 {
		return 2000 + year
	}
	return 1900 + year
}

// setDate stores a numeric date. If month is 1, day may be the day of the year.
func (r *dateReader) setDate(year, month, day int) {
	limit := 31
	if month == 1 {
		limit = 366
	}
	if month < 1 || month > 12 || day < 1 || day > limit {
		r.failed = true
		return
	}
	r.year, r.month, r.day, r.dated = year, month, day, true
}

// result combines the parts of the date.
func (r *dateReader) result() (time.Time, bool) {
	if !r.failed && !r.dated {
		r.assignNumbers()
	}
	if r.failed || !r.dated || r.era == 0 && r.year == 0 {
		return time.Time{}, false
	}
	switch {
	case r.afternoon == 2 && r.hour < 12:
		r.hour += 12
	case r.afternoon == 1 && r.hour == 12:
		r.hour = 0
	}
	// The checks allow 24:00 and second 60, which time.Date normalizes.
	if r.hour > 24 || r.hour == 24 && r.minute+r.second+r.nano > 0 || r.minute > 59 || r.second > 60 {
		return time.Time{}, false
	}
	if r.korean && !r.zoned {
		r.zone = 9 * 3600
	}
	t := time.Date(r.era+r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second-r.zone, r.nano, time.UTC)
	if r.location != nil {
		t = time.Date(r.era+r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, r.nano, r.location).UTC()
	}
	if year := r.era + r.year; (year < 2 || year > 9998) && (t.Year() < 1 || t.Year() > 9999) {
		return time.Time{}, false
	}
	return t, true
}

// assignNumbers decides which of the pending numbers is the day and which the year, if a name or
// unit has determined the month.
func (r *dateReader) assignNumbers() {
	a, b := r.numbers[0], r.numbers[1]
	switch {
	case r.month == 0 && r.timed && r.pending == 1 && a.digits == 4: // a year after the time: 2026 10:14
		r.year, r.month, r.day = a.value, 1, 1
	case r.month == 0:
		r.failed = true
	case r.year != 0: // the year is already known from its unit
		if r.day == 0 {
			r.day = 1
		}
	case r.pending == 1 && a.digits == 4: // a month and a year: November 2026
		r.year, r.day = a.value, 1
	case r.pending != 2:
		r.failed = true
	case a.digits > 2 && b.digits <= 2: // the year first: 2026 November 19
		r.year, r.day = r.fullYear(a), b.value
	default:
		r.year, r.day = r.fullYear(b), a.value
	}
	if !r.failed && (r.day < 1 || r.day > 31) {
		r.failed = true
	}
	r.dated = !r.failed
}

// Now returns the time of a clock; nil means the system clock.
func Now(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
