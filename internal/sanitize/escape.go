package sanitize

import (
	"strings"
	"unicode/utf8"
)

// appendText appends s as text of an element.
func appendText(out []byte, s string) []byte { return appendEscaped(out, s, false) }

// appendValue appends s as an attribute value between double quotes. It escapes "<" too, so that
// the value begins no tag even if it is misplaced.
func appendValue(out []byte, s string) []byte { return appendEscaped(out, s, true) }

func appendEscaped(out []byte, s string, value bool) []byte {
	if !value && isPlain(s) {
		return append(out, s...)
	}
	done := 0
	for i := 0; i < len(s); {
		c, size := s[i], 1
		with := ""
		switch {
		case c == '&':
			with = "&amp;"
		case c == '<':
			with = "&lt;"
		case c == '>':
			with = "&gt;"
		case c == '"' && value:
			with = "&#34;"
		case c == '\r':
			with = "&#13;"
		case isDroppedControl(c):
			out = append(out, s[done:i]...) // skip c
			done = i + 1
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			size = n
			if r == utf8.RuneError && n == 1 || !isXML(r) {
				with = "\uFFFD"
			}
		}
		if with != "" {
			out = append(append(out, s[done:i]...), with...)
			done = i + size
		}
		i += size
	}
	return append(out, s[done:]...)
}

// isDroppedControl reports whether c is a control character that markup cannot contain.
func isDroppedControl(c byte) bool { return c < ' ' && c != '\n' && c != '\t' && c != '\r' }

// dropControls returns s without the control characters that are not written.
func dropControls(s string) string {
	for i := 0; i < len(s); i++ {
		if isDroppedControl(s[i]) {
			return strings.Map(func(r rune) rune {
				if r < ' ' && isDroppedControl(byte(r)) {
					return -1
				}
				return r
			}, s)
		}
	}
	return s
}
