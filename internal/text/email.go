package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FindEmail returns the position of an e-mail address in s, or −1, −1 if there is none.
func FindEmail(s string) (begin, end int) {
	for at := strings.IndexByte(s, '@'); at >= 0; {
		begin, end = at, at+1
		for begin > 0 && mailByte(s[begin-1]) {
			begin--
		}
		if begin > 0 && s[begin-1] >= utf8.RuneSelf {
			begin = latinStart(s[:begin], begin)
		}
		for begin < at && s[begin] == '\'' { // a quotation mark before the address
			begin++
		}
		for end < len(s) && hostByte(s[end]) {
			end++
		}
		for end > at+1 && (s[end-1] == '.' || s[end-1] == '-') {
			end--
		}
		host := s[at+1 : end]
		literal := addressLiteral(s[at+1:])
		end += literal
		if begin < at && (literal > 0 || strings.IndexByte(host, '.') > 0 && host[len(host)-1] != '.') {
			if rest := s[end:]; strings.HasPrefix(rest, "?subject=") {
				n := strings.IndexAny(rest, " \t\n")
				if n < 0 {
					n = len(rest)
				}
				end += n
			}
			return begin, end
		}
		next := strings.IndexByte(s[at+1:], '@')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return -1, -1
}

// addressLiteral returns the length of an IPv4 address in brackets at the start of s, or 0.
func addressLiteral(s string) int {
	const longest = len("[255.255.255.255]")
	if s == "" || s[0] != '[' {
		return 0
	}
	n := strings.IndexByte(s[:min(len(s), longest)], ']')
	if n < 0 || strings.Count(s[:n], ".") != 3 || strings.Trim(s[1:n], ".0123456789") != "" {
		return 0
	}
	return n + 1
}

// latinStart moves begin back over Latin letters beyond ASCII, as in müller@…. It stops at letters
// of other scripts, because in these scripts a text may precede the address without a space.
func latinStart(s string, begin int) int {
	for begin > 0 {
		c, n := utf8.DecodeLastRuneInString(s[:begin])
		if c < utf8.RuneSelf && !mailByte(byte(c)) || c >= utf8.RuneSelf && !unicode.Is(unicode.Latin, c) {
			break
		}
		begin -= n
	}
	return begin
}

func mailByte(c byte) bool {
	return hostByte(c) || c == '_' || c == '+' || c == '\''
}

func hostByte(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.'
}
