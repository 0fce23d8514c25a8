package date

// meridiemNext reports whether AM or PM is next.
func (r *dateReader) meridiemNext() bool {
	i := r.i
	for i < len(r.s) && r.s[i] == ' ' {
		i++
	}
	if i+1 >= len(r.s) || r.s[i]|0x20 != 'a' && r.s[i]|0x20 != 'p' {
		return false
	}
	if r.s[i+1] == '.' {
		i++
	}
	return i+1 < len(r.s) && r.s[i+1]|0x20 == 'm' && (i+2 == len(r.s) || !isLetter(r.s[i+2]))
}

// clock reads the rest of a time after its hour. separator precedes the minutes; 0: the time has no
// minutes.
func (r *dateReader) clock(hour dateNumber, separator byte) {
	r.timed = true
	r.hour = hour.value
	if separator == 0 {
		return
	}
	r.i++
	if !isDigit(r.peek(0)) {
		return // a time without minutes, such as 10h
	}
	minute := r.digits()
	r.minute = minute.value
	if r.fraction(60) || r.peek(0) != separator && r.peek(0) != ':' || !isDigit(r.peek(1)) {
		r.failed = r.failed || minute.digits > 2
		return
	}
	r.i++
	second := r.digits()
	r.second = second.value
	r.failed = r.failed || minute.digits > 2 || second.digits > 2
	if r.peek(0) == ':' && isDigit(r.peek(1)) { // a colon before the milliseconds: 10:14:55:123
		r.fractionAfter()
		return
	}
	r.fraction(1)
}

// compactClock reads hhmmss, hhmm or hh.
func (r *dateReader) compactClock(n dateNumber) {
	r.timed = true
	switch n.digits {
	case 6:
		r.hour, r.minute, r.second = n.value/10000, n.value/100%100, n.value%100
		r.fraction(1)
	case 4:
		r.hour, r.minute = n.value/100, n.value%100
		r.fraction(60)
	default:
		r.hour = n.value
		r.fraction(3600)
	}
}

// fraction reads the decimals of a number whose unit is unit seconds long, and adds them to the
// time.
func (r *dateReader) fraction(unit int) bool {
	if c := r.peek(0); c != '.' && c != ',' || !isDigit(r.peek(1)) {
		return false
	}
	// A decimal separator directly precedes a digit. The comma of "10:14, 31.12.2026" does not, and
	// in "10.14.55" the second dot precedes the seconds.
	if unit == 60 && r.dotted() {
		return false
	}
	nano := r.fractionAfter()
	if unit == 1 {
		return true
	}
	r.nano = 0
	nano *= unit
	r.second += nano / 1e9
	r.nano = nano % 1e9
	r.minute += r.second / 60
	r.second %= 60
	return true
}

// dotted reports whether the next dot separates minutes and seconds, as in "10.14.55".
func (r *dateReader) dotted() bool {
	return r.peek(0) == '.' && r.i >= 3 && r.s[r.i-3] == '.'
}

// fractionAfter reads the decimals after the next byte.
func (r *dateReader) fractionAfter() int {
	r.i++
	nano, scale := 0, int(1e9)
	for ; isDigit(r.peek(0)); r.i++ {
		if scale /= 10; scale > 0 {
			nano += int(r.s[r.i]-'0') * scale
		}
	}
	r.nano = nano
	return nano
}
