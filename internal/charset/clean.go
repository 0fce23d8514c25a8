package charset

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// These constants have the same value in all eight bytes of a word.
const (
	highBits = 0x8080808080808080
	ones     = 0x0101010101010101
)

// findings is the result of one scan of a document. A position of -1 means that there is none.
type findings struct {
	high    int  // position of the first non-ASCII byte
	control int  // position of the first one-byte control character that XML forbids
	odd     int  // position of the first non-ASCII character that clean changes; only for valid documents
	valid   bool // the document is UTF-8
}

// survey scans a document once. It reads ASCII text in steps of sixteen bytes.
func survey(doc []byte) findings {
	f := findings{high: -1, control: -1, odd: -1, valid: true}
	for i := 0; i < len(doc); {
		for i+16 <= len(doc) {
			s := doc[i : i+16]
			a, b := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[8:])
			if (a|b)&highBits != 0 {
				break
			}
			if ((a-0x20*ones)|(b-0x20*ones))&highBits != 0 && forbiddenIn(a)|forbiddenIn(b) != 0 {
				f.controlIn(s, i)
			}
			i += 16
		}
		i = f.ascii(doc, i)
		if i < len(doc) && f.high < 0 {
			f.high = i
		}
		for i < len(doc) && doc[i] >= utf8.RuneSelf {
			if c := doc[i]; c > 0xC2 && c < 0xE0 && i+1 < len(doc) && isContinuation(doc[i+1]) {
				i += 2 // a valid two-byte character: most characters of Greek, Cyrillic and accented Latin texts
				continue
			}
			i += f.character(doc, i)
		}
	}
	return f
}

// ascii scans ASCII text from index i and returns the index of the next non-ASCII byte.
func (f *findings) ascii(doc []byte, i int) int {
	for i+8 <= len(doc) {
		w := binary.LittleEndian.Uint64(doc[i:])
		n := 8
		if high := w & highBits; high != 0 {
			n = bits.TrailingZeros64(high) / 8
		}
		if forbiddenIn(w&^highBits)&^w != 0 {
			f.controlIn(doc[i:i+n], i)
		}
		if i += n; n < 8 {
			return i
		}
	}
	for i < len(doc) && doc[i] < utf8.RuneSelf {
		if forbidden(doc[i]) && f.control < 0 {
			f.control = i
		}
		i++
	}
	return i
}

// forbiddenIn returns a word with the highest bit of each byte set that is a forbidden control character.
// All bytes of w must be ASCII.
func forbiddenIn(w uint64) uint64 {
	const all = 0x7f * ones // added to an ASCII byte, it sets the highest bit unless the byte is 0
	return ((w ^ '\t'*ones) + all) & ((w ^ '\n'*ones) + all) & ((w ^ '\r'*ones) + all) &^ (w + 0x60*ones) & highBits
}

// controlIn stores the position of the first control character in a part of the document, which
// starts at index i.
func (f *findings) controlIn(part []byte, i int) {
	for k, c := range part {
		if forbidden(c) && f.control < 0 {
			f.control = i + k
		}
	}
}

// character checks the non-ASCII character at index i and returns its length in bytes; 1: it is
// invalid.
func (f *findings) character(doc []byte, i int) int {
	c := doc[i]
	switch {
	case c >= 0xC2 && c <= 0xDF:
		if i+1 < len(doc) && isContinuation(doc[i+1]) {
			if c == 0xC2 && doc[i+1] < 0xA0 && f.odd < 0 && windows1252Rune(doc[i+1]) != utf8.RuneError {
				f.odd = i
			}
			return 2
		}
	case c >= 0xE0 && c <= 0xEF:
		if i+2 < len(doc) && isContinuation(doc[i+1]) && isContinuation(doc[i+2]) && (c != 0xE0 || doc[i+1] >= 0xA0) && (c != 0xED || doc[i+1] < 0xA0) {
			if c == 0xEF && doc[i+1] == 0xBF && doc[i+2] >= 0xBE && f.odd < 0 {
				f.odd = i
			}
			return 3
		}
	case c >= 0xF0 && c <= 0xF4:
		if i+3 < len(doc) && isContinuation(doc[i+1]) && isContinuation(doc[i+2]) && isContinuation(doc[i+3]) && (c != 0xF0 || doc[i+1] >= 0x90) && (c != 0xF4 || doc[i+1] < 0x90) {
			return 4
		}
	}
	f.valid = false
	return 1
}

func isContinuation(c byte) bool { return c&0xC0 == 0x80 }

// forbidden reports whether c is a control character that XML 1.0 forbids.
//
// spec:xml10-2008#characters
func forbidden(c byte) bool { return c < 0x20 && c != '\t' && c != '\n' && c != '\r' }

// windows1252Rune returns the windows-1252 character of a byte from 0x80 to 0x9F; U+FFFD: there is
// none. Programs that confuse windows-1252 with Latin 1 turn these bytes into control characters,
// which feeds never contain on purpose.
func windows1252Rune(c byte) rune {
	if c < 0x80 || c > 0x9F {
		return utf8.RuneError
	}
	switch c {
	case 0x81, 0x8D, 0x8F, 0x90, 0x9D:
		return utf8.RuneError
	}
	return charmap.Windows1252.DecodeByte(c)
}

// finding counts occurrences and stores the position of the first occurrence.
type finding struct{ first, count int }

func (f *finding) at(i int) {
	if f.count == 0 {
		f.first = i
	}
	f.count++
}

// clean removes characters that XML forbids from valid UTF-8 and converts control characters to
// windows-1252. f is the result of survey for text. A clean text is returned without a copy.
func clean(text []byte, f findings) (out []byte, dropped, latin finding) {
	start := f.control
	if f.odd >= 0 && (start < 0 || f.odd < start) {
		start = f.odd
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
		case c == 0xC2 && windows1252Rune(text[i+1]) != utf8.RuneError:
			latin.at(i)
			out = utf8.AppendRune(out, windows1252Rune(text[i+1]))
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

// ascii returns the length of the ASCII prefix of b.
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
