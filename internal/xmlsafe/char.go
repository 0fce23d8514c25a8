package xmlsafe

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// isChar reports whether r matches the production Char of XML 1.0.
func isChar(r rune) bool {
	return r >= 0x20 && r <= 0xD7FF || r == '\t' || r == '\n' || r == '\r' ||
		r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= 0x10FFFF
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isNameStart reports whether r matches the production NameStartChar of XML 1.0, without the colon.
func isNameStart(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
	}
	return r >= 0xC0 && r <= 0x2FF && r != 0xD7 && r != 0xF7 ||
		r >= 0x370 && r <= 0x1FFF && r != 0x37E ||
		r == 0x200C || r == 0x200D ||
		r >= 0x2070 && r <= 0x218F || r >= 0x2C00 && r <= 0x2FEF ||
		r >= 0x3001 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFDCF ||
		r >= 0xFDF0 && r <= 0xFFFD || r >= 0x10000 && r <= 0xEFFFF
}

// isNameChar reports whether r matches the production NameChar of XML 1.0, without the colon.
func isNameChar(r rune) bool {
	return isNameStart(r) || r >= '0' && r <= '9' || r == '-' || r == '.' || r == 0xB7 ||
		r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

// IsName reports whether s is a valid name of an element or attribute (NCName: a name without a
// colon).
func IsName(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	for i, r := range s {
		if i == 0 && !isNameStart(r) || !isNameChar(r) {
			return false
		}
	}
	return true
}

// badChar returns the index of the first byte that is not UTF-8 or not an XML character, or -1.
func badChar(b []byte) int {
	for i := 0; i < len(b); {
		c := b[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && !isSpace(c) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 || !isChar(r) {
			return i
		}
		i += n
	}
	return -1
}

// AppendText appends s, escaped as text or as an attribute value in double quotes. If s has a
// character that XML forbids, it returns ErrChar and dst unchanged.
func AppendText(dst []byte, s string) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if !isChar(r) || r == utf8.RuneError && n == 1 {
			return dst[:start], fmt.Errorf("%w: byte 0x%02X at offset %d of the text", ErrChar, s[i], i)
		}
		switch r {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\r':
			// A parser would convert a carriage return to a line feed.
			dst = append(dst, "&#13;"...)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst, nil
}

// AppendAttr appends s, escaped as an attribute value in double quotes. It escapes tabs and line
// feeds too, which a parser would convert to spaces.
func AppendAttr(dst []byte, s string) ([]byte, error) {
	start := len(dst)
	for s != "" {
		i := strings.IndexAny(s, "\t\n")
		if i < 0 {
			i = len(s)
		}
		var err error
		if dst, err = AppendText(dst, s[:i]); err != nil {
			return dst[:start], err
		}
		if i == len(s) {
			break
		}
		dst = fmt.Appendf(dst, "&#%d;", s[i])
		s = s[i+1:]
	}
	return dst, nil
}

// Clean replaces characters that XML forbids, and invalid UTF-8, by U+FFFD. Use it for texts that
// must be displayed even if they contain such characters.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !isChar(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
