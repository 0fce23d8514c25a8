package render

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// dialect describes the data syntax of a programming language.
type dialect struct {
	mapOpen, mapClose   string
	listOpen, listClose string
	arrow               string // text between a key and its value
	yes                 string
	quote               func(b []byte, s string) []byte // writes a string
}

// source writes data in a language, one line per value.
func (l *dialect) source(b []byte, data []datum) []byte {
	b, _ = l.value(b, data, 0, 0)
	return b
}

// value writes data[i] with all its members. It returns the index of the next value.
func (l *dialect) value(b []byte, data []datum, i, depth int) (out []byte, next int) {
	d := &data[i]
	switch d.kind {
	case kindText:
		return l.quote(b, d.text), i + 1
	case kindInt:
		return strconv.AppendInt(b, d.n, 10), i + 1
	case kindFloat:
		return appendFloat(b, d.real), i + 1
	case kindTrue:
		return append(b, l.yes...), i + 1
	}
	open, end := l.mapOpen, l.mapClose
	if d.kind == kindList {
		open, end = l.listOpen, l.listClose
	}
	b = append(b, open...)
	next = i + 1
	for n := int64(0); n < d.n; n++ {
		if n > 0 {
			b = append(b, ',')
		}
		b = dataLine(b, depth+1)
		if key := data[next].key; key != "" {
			b = append(l.quote(b, key), l.arrow...)
		}
		b, next = l.value(b, data, next, depth+1)
	}
	if d.n > 0 {
		b = dataLine(b, depth)
	}
	return append(b, end...), next
}

func dataLine(b []byte, depth int) []byte {
	const spaces = "\n                    "
	return append(b, spaces[:1+min(2*depth, len(spaces)-1)]...)
}

// appendFloat writes a finite number so that every language reads it as floating point.
func appendFloat(b []byte, x float64) []byte {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return append(strconv.AppendInt(b, int64(x), 10), ".0"...)
	}
	return strconv.AppendFloat(b, x, 'g', -1, 64)
}

// appendASCII writes the inside of a double-quoted string in printable ASCII. Characters in special
// get a backslash before them. The function other writes characters that are unprintable or not
// ASCII.
func appendASCII(b []byte, s, special string, other func(b []byte, c rune) []byte) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'a' <= c && c <= 'z' || c == ' ' || ' ' <= c && c <= '~' && !isOneOf(c, special) {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch {
		case ' ' <= c && c <= '~':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\r':
			b = append(b, `\r`...)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b, from = other(b, r), i+n
			i += n - 1
		}
	}
	return append(append(b, s[from:]...), '"')
}

func isOneOf(c byte, special string) bool {
	for i := range len(special) {
		if special[i] == c {
			return true
		}
	}
	return false
}

// appendHex writes c in hexadecimal with at least width digits.
func appendHex(b []byte, c rune, width int) []byte {
	const digits = "0123456789abcdef"
	for at := 4 * max(width-1, (hexLen(c)-1)); at >= 0; at -= 4 {
		b = append(b, digits[c>>at&15])
	}
	return b
}

func hexLen(c rune) (n int) {
	for n = 1; c > 15; c >>= 4 {
		n++
	}
	return n
}
