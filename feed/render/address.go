package render

import (
	"strings"

	"cloudburst/internal/href"
)

// address returns a reference as RSS requires it: absolute and in ASCII. It resolves a relative
// reference against the URL of the feed or of its page. For an invalid reference it returns "" and
// adds a warning.
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

// base returns the URL against which relative references of the feed are resolved, or "" if it is
// unknown.
func (w *writer) base() string {
	for _, b := range [...]string{w.f.Base, w.f.Self, w.o.Self, w.f.Link} {
		if schemeLen(b) > 0 {
			return b
		}
	}
	return ""
}

// quietly is like address, but adds no warning. It is used for references that are checked more
// than once.
func (w *writer) quietly(s string) string {
	if w.plainWeb(s) {
		return s
	}
	reported, unreported := len(w.warnings), w.unreported
	s = w.address(s, "")
	w.warnings, w.unreported = w.warnings[:reported], unreported
	return s
}

// plainWeb caches the last two results of the function plainWeb: the page of an item is usually its
// identifier too, and the enclosure is written between the two.
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

// plainWeb reports whether s is a simple web URL: http or https, a host, and only URL characters.
// Almost all URLs are simple; all others need a slower check.
func plainWeb(s string) bool {
	const plain, safe, high = "http://", "https://", 0x8080808080808080
	n := len(plain)
	if !strings.HasPrefix(s, plain) {
		if n = len(safe); !strings.HasPrefix(s, safe) {
			return false
		}
	}
	if len(s) == n || s[n] == '/' || s[n] == '?' || s[n] == '#' {
		return false
	}
	s = s[n:]
	if n = len(s); n < 16 {
		return allAddress(s)
	}
	found := mayNotAddress(eight(s[n-16:])) | mayNotAddress(eight(s[n-8:])) // some bytes are checked twice
	for i := 0; i < n-16; i += 16 {
		found |= mayNotAddress(eight(s[i:])) | mayNotAddress(eight(s[i+8:]))
	}
	return found&high == 0 || allAddress(s)
}

func allAddress(s string) bool {
	for i := range len(s) {
		if addressBytes[s[i]] == 0 {
			return false
		}
	}
	return true
}

// mayNotAddress checks eight bytes at once. It sets the highest bit of a byte that URLs must not
// contain, and also of _ and ~, which are valid but have bits in common with invalid bytes.
func mayNotAddress(x uint64) uint64 {
	const each = 0x0101010101010101
	angle := (x | 0x02*each) ^ '>'*each // only this bit differs between < and >
	quote, tick := x^'"'*each, x^'`'*each
	braces := (x | 0x20*each) + (0x80-'{')*each // finds bytes from { on and, because a bit was set, also those from [ on
	return x | (x - '!'*each) | (angle - each) | (quote - each) | (tick - each) | braces
}

// addressBytes contains 1 at the index of each byte that URLs may contain.
const addressBytes = none32 +
	"\x00\x01\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // except space and "
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x01\x00\x01" + // except < and >
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" +
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x01" + // except [, \, ] and ^
	"\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01" + // except `
	"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x01\x00" + // except {, |, } and DEL
	none64 + none64
