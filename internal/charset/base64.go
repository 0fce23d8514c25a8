package charset

import (
	"bytes"
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// DecodeBase64 decodes a text in base64 and UTF-8, and returns other text unchanged.
func DecodeBase64(s string) string {
	compact := strings.Map(func(c rune) rune {
		if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
			return -1
		}
		return c
	}, s)
	decoded, err := base64.StdEncoding.DecodeString(compact)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(compact)
	}
	isForbidden := func(c rune) bool { return c < ' ' && forbidden(byte(c)) || c == 0xfffe || c == 0xffff }
	if err != nil || !utf8.Valid(decoded) || bytes.ContainsFunc(decoded, isForbidden) {
		return s
	}
	return string(decoded)
}
