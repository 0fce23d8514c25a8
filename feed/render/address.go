package render

import (
	"strings"

	"cloudburst/internal/href"
)

// address is a reference as RSS has it: whole, and of ASCII. One that is not whole
// stands on the address of the feed or of its page; "" is for what cannot be one, with a
// warning.
func (w *writer) address(s, where string) string {
	if w.plainWeb(s) {
		return s
	}
	if s != "" && schemeLen(s) == 0 {
		if base := w.base(); base != "" {
			s = href.New(base).Resolve(s)
		}
	}
	return w.uri(s, where)
}

// base is what relative references of the feed stand on, "" where nobody knows.
func (w *writer) base() string {
	for _, b := range [...]string{w.f.Base, w.f.Self, w.o.Self, w.f.Link} {
		if schemeLen(b) > 0 {
			return b
		}
	}
	return ""
}

// quietly is address without a warning, for what is looked at more than once.
func (w *writer) quietly(s string) string {
	if w.plainWeb(s) {
		return s
	}
	reported, unreported := len(w.warnings), w.unreported
	s = w.address(s, "")
	w.warnings, w.unreported = w.warnings[:reported], unreported
	return s
}

// plainWeb is the function of this name, which remembers the last two: the page of an
// item is its identifier as well, as a rule, and its file stands between them.
func (w *writer) plainWeb(s string) bool {
	if s == w.web[0] || s == w.web[1] {
		return s != ""
	}
	if !plainWeb(s) {
		return false
	}
	w.web[0], w.web[1] = s, w.web[0]
	return true
}

// plainWeb reports an address of the web as nearly all are: http or https, a host, and
// nothing but what addresses are made of. Whatever else is looked at more closely.
func plainWeb(s string) bool {
	const plain, safe = "http://", "https://"
	n := len(plain)
	if !strings.HasPrefix(s, plain) {
		if n = len(safe); !strings.HasPrefix(s, safe) {
			return false
		}
	}
	if len(s) == n || s[n] == '/' || s[n] == '?' || s[n] == '#' {
		return false
	}
	for s = s[n:]; len(s) >= 8; s = s[8:] {
		if mayNotAddress(eight(s)) && !allAddress(s[:8]) {
			return false
		}
	}
	return allAddress(s)
}

func allAddress(s string) bool {
	for i := range len(s) {
		if addressBytes[s[i]] == 0 {
			return false
		}
	}
	return true
}

// mayNotAddress looks at eight bytes at once: whether one of them may be none that
// addresses are made of. Of _ and ~ it says so, too, which stand among others.
func mayNotAddress(x uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	angle := (x | 0x02*each) ^ '>'*each // < and > differ in this bit
	quote, tick := x^'"'*each, x^'`'*each
	braces := (x | 0x20*each) + (0x80-'{')*each // from { on and, without the bit, from [ on
	return (x|(x-'!'*each)|(angle-each)|(quote-each)|(tick-each)|braces)&high != 0
}

// addressBytes is 1 for the bytes that addresses are made of.
const addressBytes = none32 +
	"\x00\x01\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // without space and "
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x01\x00\x01" + // without < and >
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x01" + // without [, \, ] and ^
	"\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // without `
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x01\x00" + // without {, |, } and DEL
	none64 + none64
