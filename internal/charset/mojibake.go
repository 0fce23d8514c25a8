package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// FixDoubleEncoding reverses double encoding: UTF-8 that a program took for Latin 1 or windows-1252
// and encoded again. "cafÃ©" becomes "café". It is for single texts such as titles. It returns s
// unchanged unless all characters are bytes of that encoding and together form valid UTF-8 with
// non-ASCII characters, which real text never does by chance.
func FixDoubleEncoding(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	// Multi-byte characters begin with 0xC2 to 0xF4, which is Â to ô.
	if i+1 >= len(s) || s[i] != 0xC3 || s[i+1] < 0x82 || s[i+1] > 0xB4 {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		b, ok := latinByte(r)
		if !ok {
			return s
		}
		out = append(out, b)
	}
	if !utf8.Valid(out) {
		return s
	}
	return string(out)
}

// latinByte returns the byte of r in Latin 1 or windows-1252.
func latinByte(r rune) (byte, bool) {
	if r <= 0xFF {
		return byte(r), true
	}
	return charmap.Windows1252.EncodeRune(r)
}
