// Package text has the small steps by which texts of others become parts of
// sentences: cut and counted.
package text

import (
	"crypto/sha256"
	"encoding/binary"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip cuts a text of more than most bytes, without half a character, and adds an
// ellipsis then. A text that is cut comes back without invalid UTF-8.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// ClipRunes cuts a text to at most most characters, of which the last is an ellipsis
// where something is missing.
func ClipRunes(s string, limit int) string {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-1 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// Head is at most most bytes of a text, without half a character at the end.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Plural is a number with a noun: "1 line", "2 lines".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// Thousands writes the digits of a number with a comma after each three: 12,345.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(s) - 3; i > first; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Host is the host of a URL with its port, as the URL spells it, for people. It is ""
// when raw is no URL. Keys of limits come from package href.
func Host(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Host
	}
	return ""
}

// Hostname is the host of a URL without its port, as the URL spells it. It is "" when
// raw is no URL.
func Hostname(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Hostname()
	}
	return ""
}

// ID is the number by which a text is known: 63 bits of a digest, never 0.
func ID(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	return max(int64(binary.BigEndian.Uint64(sum[:8])>>1), 1)
}

// PlainLine is s in one line: white space becomes single spaces, none at the ends, and
// characters that do not show are removed.
func PlainLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c), c == '\uFEFF', isDirectional(c):
			return -1
		}
		return c
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// isTurn reports the characters that change the direction of a line: in a name they make
// it look like another.
func isDirectional(c rune) bool {
	return c >= '\u202A' && c <= '\u202E' || c >= '\u2066' && c <= '\u2069'
}
