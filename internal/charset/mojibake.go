package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// FixDoubleEncoding reverses double encoding: a program read UTF-8 as Latin 1 or windows-1252 and
// encoded the result again. "cafÃ©" becomes "café". Use it for short texts such as titles. If the
// characters do not all correspond to bytes that form valid UTF-8 with non-ASCII characters,
// FixDoubleEncoding returns s unchanged. Real text never matches by chance.
func FixDoubleEncoding(s string) string {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	// UTF-8 characters of several bytes begin with 0xC2 to 0xF4. In Latin 1, these bytes are Â to ô.
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

// latinByte returns the byte that represents r in Latin 1 or windows-1252.
func latinByte(r rune) (byte, bool) {
	if r <= 0xFF {
		return byte(r), true
	}
	return charmap.Windows1252.EncodeRune(r)
}
