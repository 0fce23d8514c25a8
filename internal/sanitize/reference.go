package sanitize

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// maxReferenceName is the maximum length of the name of a character reference.
const maxReferenceName = 32

// reference reads the character reference at the beginning of s, which is "&". It returns the
// characters and the length of the reference, or "&" and 1 if there is none. ok is false if
// browsers apply error recovery or if the character is not allowed in a text. The caller must then
// use the slow path.
func reference(s string, value bool) (is string, n int, ok bool) {
	if len(s) == 1 {
		return "&", 1, true
	}
	if s[1] == '#' {
		return numbered(s)
	}
	n = 1
	for n < len(s) && n < maxReferenceName && isAlphanumeric(s[n]) {
		n++
	}
	switch name := s[1:n]; {
	case name == "":
		return "&", 1, true
	case n == len(s) || n == maxReferenceName:
		return "", 0, false
	case s[n] == ';':
		is = named(name)
		return is, n + 1, is != ""
	case len(name) == 1 || value && s[n] == '=': // no reference has a name of one letter; a name before "=" is part of a URL
		return "&", 1, true
	case html.UnescapeString(s[:n]) == s[:n]:
		return "&", 1, true
	}
	return "", 0, false
}

// named returns the one or two characters of a name, "" if it is unknown.
func named(name string) string {
	switch name {
	case "amp":
		return "&"
	case "lt":
		return "<"
	case "gt":
		return ">"
	case "quot":
		return `"`
	case "nbsp":
		return "\u00a0"
	case "hellip":
		return "…"
	case "rsquo":
		return "’"
	case "lsquo":
		return "‘"
	case "ldquo":
		return "“"
	case "rdquo":
		return "”"
	case "ndash":
		return "–"
	case "mdash":
		return "—"
	}
	s := "&" + name + ";"
	is := html.UnescapeString(s)
	// If only a prefix of the name is a reference, UnescapeString keeps the rest of the name. The
	// result is then longer than the one or two characters of a reference.
	if is == s || utf8.RuneCountInString(is) > 2 || strings.ContainsFunc(is, func(r rune) bool { return r <= 0x20 || r == 0x7f }) {
		return ""
	}
	return is
}

// numbered reads a reference such as "&#8217;" or "&#x2019;".
func numbered(s string) (is string, n int, ok bool) {
	n, r := 2, rune(0)
	if len(s) > n && s[n]|0x20 == 'x' {
		for n++; n < len(s) && n < 10; n++ {
			d := rune(s[n])
			switch {
			case '0' <= d && d <= '9':
				d -= '0'
			case 'a' <= d|0x20 && d|0x20 <= 'f':
				d = d | 0x20 - 'a' + 10
			default:
				d = -1
			}
			if d < 0 {
				break
			}
			r = r<<4 | d
		}
	} else {
		for ; n < len(s) && n < 10 && '0' <= s[n] && s[n] <= '9'; n++ {
			r = r*10 + rune(s[n]-'0')
		}
	}
	if n == len(s) || s[n] != ';' || r < ' ' || 0x7f <= r && r < 0xa0 || r > utf8.MaxRune || !utf8.ValidRune(r) || !isXML(r) {
		return "", 0, false
	}
	return characterOf(r), n + 1, true
}

// characterOf returns string(r), without an allocation for common characters.
func characterOf(r rune) string {
	switch r {
	case 0xa0:
		return "\u00a0"
	case 0x2013:
		return "–"
	case 0x2014:
		return "—"
	case 0x2018:
		return "‘"
	case 0x2019:
		return "’"
	case 0x201c:
		return "“"
	case 0x201d:
		return "”"
	case 0x2026:
		return "…"
	}
	return string(r)
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}
