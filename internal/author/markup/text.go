package markup

import (
	"strings"
	"unicode"
)

// CleanText returns a text without characters that a feed format cannot contain: invalid UTF-8
// becomes U+FFFD, and characters that XML forbids are removed.
func CleanText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, isForbidden) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isForbidden(r) {
			return -1
		}
		return r
	}, s)
}

func isForbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r == '\uFFFE' || r == '\uFFFF'
}
