package fetch

import (
	"strconv"
	"strings"
)

// Normal is the one spelling of an http or https URL by which it is kept: scheme and
// host in small letters, the host in ASCII, no user name, no port that goes without
// saying, no fragment, a path of at least "/". What no URL may hold in its path or query
// (blanks, quotes, characters beyond ASCII) is percent-encoded; all else stays byte for
// byte. The error is an *Error of kind BadURL, whose text says what is wrong.
func Normal(raw string) (string, error) {
	if i := strings.Index(raw, "://"); i >= 0 {
		if j := strings.IndexAny(raw[i+3:], "/?#"); j >= 0 {
			raw = raw[:i+3+j] + percentEncode(raw[i+3+j:])
		}
	}
	t, err := splitURL(raw)
	if err != nil {
		return "", withURL(err, raw)
	}
	scheme, host, usual := "http://", t.host, uint16(80)
	if t.https {
		scheme, usual = "https://", 443
	}
	if t.ip.IsValid() {
		host = t.ip.String() // an IPv4 address in the form of IPv6 is the IPv4 address
	}
	if t.ip.Is6() {
		host = "[" + host + "]"
	}
	if t.port != usual {
		host += ":" + strconv.Itoa(int(t.port))
	}
	path := t.path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + host + path, nil
}

// encoded is a path and query with the bytes that no URL may hold written as %XX.
// Control characters stay: they are refused.
func percentEncode(s string) string {
	const bad = " \"<>`"
	if !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 || strings.ContainsRune(bad, c) }) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || strings.IndexByte(bad, c) >= 0 {
			b.WriteByte('%')
			b.WriteByte("0123456789ABCDEF"[c>>4])
			b.WriteByte("0123456789ABCDEF"[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
