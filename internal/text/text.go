// Package text prepares strings from users and feeds for use in sentences: it shortens, counts and
// cleans them.
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

// Clip cuts a text to limit bytes, without a partial character, and appends an ellipsis. A text
// that is cut becomes valid UTF-8; a shorter text is returned unchanged.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// ClipRunes cuts a text to at most limit characters. The last character is an ellipsis if the text
// was cut.
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

// Head returns at most the first limit bytes of a text, without a partial character at the end.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Plural returns a number with a noun: "1 line", "2 lines".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// Thousands formats a number with thousands separators: 12,345.
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

// Host returns the host of a URL with its port, as written, for display. It returns "" if raw is
// not a URL. To get a key for limits per host, use package href.
func Host(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Host
	}
	return ""
}

// Hostname returns the host of a URL without its port, as written. It returns "" if raw is not a
// URL.
func Hostname(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return u.Hostname()
	}
	return ""
}

// ID returns the number that identifies a text: 63 bits of a digest, never 0.
func ID(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	return max(int64(binary.BigEndian.Uint64(sum[:8])>>1), 1)
}

// PlainLine returns s in one line: white space is collapsed and trimmed, and invisible characters
// are removed.
func PlainLine(s string) string {
	if isPlainLine(s) {
		return s
	}
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

// isPlainLine reports whether s consists of visible characters with single spaces between words, so
// that PlainLine changes nothing.
func isPlainLine(s string) bool {
	space := true // a leading space is not allowed either
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 || unicode.IsSpace(r) || unicode.IsControl(r) || r == '\uFEFF' || isDirectional(r) {
				return false
			}
			i += n - 1
		case c == ' ' && space || c < ' ' || c == 0x7f:
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// isDirectional reports whether c changes the direction of text. A name with such characters can
// look like another name.
func isDirectional(c rune) bool {
	return c >= '\u202A' && c <= '\u202E' || c >= '\u2066' && c <= '\u2069'
}
