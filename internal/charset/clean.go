package charset

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Of all eight bytes of a word:
const (
	highBits = 0x8080808080808080
	lowBits  = 0x7F7F7F7F7F7F7F7F
	ones     = 0x0101010101010101
)

// survey passes over a document once. high is the position of about the first byte
// that is not ASCII, control that of the first control character which XML
// forbids; -1 is none.
func survey(doc []byte) (high, control int) {
	high, control = -1, -1
	i := 0
	for ; i+8 <= len(doc); i += 8 {
		w := binary.LittleEndian.Uint64(doc[i:])
		if w&highBits != 0 && high < 0 {
			high = i
		}
		// Nothing carries from byte to byte here, for no byte is above 0x7F when
		// 0x60 is added.
		if below := ^((w & lowBits) + 0x60*ones | w) & highBits; below != 0 && control < 0 {
			if bad := below &^ (equal(w, '\t') | equal(w, '\n') | equal(w, '\r')); bad != 0 {
				control = i + bits.TrailingZeros64(bad)/8
			}
		}
	}
	for ; i < len(doc); i++ {
		if doc[i] >= utf8.RuneSelf && high < 0 {
			high = i
		}
		if forbidden(doc[i]) && control < 0 {
			control = i
		}
	}
	return high, control
}

// equal marks the bytes of w that are c, which is below 0x80, by their highest bit.
func equal(w uint64, c byte) uint64 {
	x := w ^ ones*uint64(c)
	return ^((x & lowBits) + lowBits | x) & highBits
}

// forbidden is true of the control characters that XML 1.0 has no way to write.
//
// spec:xml10-2008#characters
func forbidden(c byte) bool { return c < 0x20 && c != '\t' && c != '\n' && c != '\r' }

// indexNonchar gives the position of the first U+FFFE or U+FFFF from position i on
// in valid UTF-8, or -1.
func indexNonchar(text []byte, i int) int {
	for {
		n := bytes.Index(text[i:], []byte("\xEF\xBF"))
		if n < 0 {
			return -1
		}
		if i += n; text[i+2] >= 0xBE {
			return i
		}
		i += 3
	}
}

// indexLatin gives the position of the first character from U+0080 to U+009F that
// is one of windows-1252, from position i on in valid UTF-8, or -1.
func indexLatin(text []byte, i int) int {
	for {
		n := bytes.IndexByte(text[i:], 0xC2)
		if n < 0 {
			return -1
		}
		i += n
		// Where there is one there are often more.
		for near := min(i+32, len(text)); i < near; i++ {
			if text[i] == 0xC2 && meant(text[i+1]) != utf8.RuneError {
				return i
			}
		}
	}
}

// meant gives the character that the byte c from 0x80 to 0x9F is in windows-1252,
// U+FFFD when it is none. A program that took windows-1252 for Latin 1 has made a
// control character of it, which nobody means in a feed, whatever its encoding.
func meant(c byte) rune {
	if c < 0x80 || c > 0x9F {
		return utf8.RuneError
	}
	switch c {
	case 0x81, 0x8D, 0x8F, 0x90, 0x9D:
		return utf8.RuneError
	}
	return charmap.Windows1252.DecodeByte(c)
}

// firstOf is the smallest of the positions, of which -1 is none.
func firstOf(positions ...int) int {
	first := -1
	for _, p := range positions {
		if p >= 0 && (first < 0 || p < first) {
			first = p
		}
	}
	return first
}

// finding counts what was found and where it was first.
type finding struct{ first, count int }

func (f *finding) at(i int) {
	if f.count == 0 {
		f.first = i
	}
	f.count++
}

// clean drops the characters that XML forbids from valid UTF-8 and puts those of
// windows-1252 right. high and control are what survey told about text. A text
// that is clean comes back as it is.
func clean(text []byte, high, control int) (out []byte, dropped, latin finding) {
	start := control
	if high >= 0 {
		// A word of survey may begin inside a character: search from before it.
		start = firstOf(control, indexNonchar(text, high), indexLatin(text, high))
	}
	if start < 0 {
		return text, dropped, latin
	}
	out = make([]byte, start, len(text)+len(text)/16)
	copy(out, text)
	for i := start; i < len(text); {
		run := i
		for i < len(text) && text[i] >= 0x20 && text[i] != 0xC2 && text[i] != 0xEF {
			i++
		}
		out = append(out, text[run:i]...)
		if i == len(text) {
			break
		}
		switch c := text[i]; {
		case forbidden(c):
			dropped.at(i)
		case c == 0xC2 && meant(text[i+1]) != utf8.RuneError:
			latin.at(i)
			out = utf8.AppendRune(out, meant(text[i+1]))
			i++
		case c == 0xEF && text[i+1] == 0xBF && text[i+2] >= 0xBE:
			dropped.at(i)
			i += 2
		default:
			out = append(out, c)
		}
		i++
	}
	return out, dropped, latin
}

// ascii gives the length of the run of ASCII bytes that b begins with.
func ascii(b []byte) int {
	i := 0
	for i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:])&highBits == 0 {
		i += 8
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}
