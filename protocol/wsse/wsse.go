package wsse

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"
)

// HeaderName is the name of the header.
const HeaderName = "X-WSSE"

// Window is the maximum difference between Created and the server's time, in either
// direction.
const Window = 5 * time.Minute

// Limits of a header and of its values, in bytes.
const (
	MaxHeader   = 4096
	MaxUsername = 256
	MaxNonce    = 128
	MaxDigest   = 128
	MaxCreated  = 64
)

// Token is a parsed header.
type Token struct {
	Username string
	Digest   string    // PasswordDigest, unchanged
	Nonce    string    // Nonce, unchanged
	Created  string    // Created, unchanged
	At       time.Time // Created, as a time in UTC
}

// String returns the token as the value of a header. [Parse] parses it to an equal token.
func (t Token) String() string {
	b := []byte("UsernameToken Username=")
	b = appendQuoted(b, t.Username)
	b = appendQuoted(append(b, ", PasswordDigest="...), t.Digest)
	b = appendQuoted(append(b, ", Nonce="...), t.Nonce)
	b = appendQuoted(append(b, ", Created="...), t.Created)
	return string(b)
}

// appendQuoted appends a quoted string without the characters that a header cannot contain.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case !control(c):
			b = append(b, c)
		}
	}
	return append(b, '"')
}

func control(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// Fresh reports whether the header was made at most [Window] before or after now.
//
// spec:datafeeds-2006#wsse-created
func (t Token) Fresh(now time.Time) bool {
	d := now.Sub(t.At)
	return -Window <= d && d <= Window
}

// sum returns the SHA-1 in a digest. The three possible forms differ in length.
//
// spec:datafeeds-2006#wsse-digest
func sum(digest string) (s [20]byte, ok bool) {
	if len(digest) == 40 {
		n, err := hex.Decode(s[:], []byte(digest))
		return s, err == nil && n == len(s)
	}
	raw, ok := unbase64(digest)
	if ok && len(raw) == 40 {
		n, err := hex.Decode(s[:], raw)
		return s, err == nil && n == len(s)
	}
	return s, ok && copy(s[:], raw) == len(s) && len(raw) == len(s)
}

// unbase64 decodes base64 with or without padding, in either alphabet.
func unbase64(s string) ([]byte, bool) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, false // the decoder would ignore line ends, so reject them
	}
	s = strings.TrimRight(s, "=")
	e := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		e = base64.RawURLEncoding
	}
	raw, err := e.Strict().DecodeString(s)
	return raw, err == nil
}
