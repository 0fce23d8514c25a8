package sanitize

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// These words of eight bytes have the lowest bit (ones) or the highest bit (highs) of each byte
// set.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word returns the eight bytes of s from i on.
func word(s string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(s[i : i+8])) }

// isPlain reports whether s has no markup and only characters that XML allows.
func isPlain(s string) bool { return skipPlain(s, 0) == len(s) }

// skipPlain returns the index of the first character from i on that is markup or that XML forbids;
// len(s) if there is none.
func skipPlain(s string, i int) int {
	for i < len(s) {
		for i+8 <= len(s) {
			w := word(s, i)
			angle, and := (w|0x02*ones)^'>'*ones, w^'&'*ones
			// The lowest marked byte is "<", ">", "&", below a space, or not ASCII. The bytes after it may
			// be marked without being one of these.
			if marked := (w | (w - 0x20*ones) | (angle - ones) | (and - ones)) & highs; marked != 0 {
				i += bits.TrailingZeros64(marked) / 8
				break
			}
			i += 8
		}
		for i < len(s) {
			c := s[i]
			if c == '<' || c == '>' || c == '&' || c < ' ' && c != '\n' && c != '\t' {
				return i
			}
			if c >= utf8.RuneSelf {
				if i = skipBeyondASCII(s, i); i < len(s) && s[i] >= utf8.RuneSelf {
					return i
				}
				continue
			}
			if i++; i+8 <= len(s) && s[i] < utf8.RuneSelf { // continue with words
				break
			}
		}
	}
	return i
}

// skipVisible returns the index of the first character of s from i on that does not belong to
// visibleClass; len(s) if there is none.
func skipVisible(s string, i int) int {
	for i+8 <= len(s) {
		w := word(s, i)
		angle, quote, del := (w|0x02*ones)^'>'*ones, (w|0x04*ones)^'&'*ones, w^0x7f*ones
		if marked := (w | (w - '!'*ones) | (angle - ones) | (quote - ones) | (del - ones)) & highs; marked != 0 {
			return i + bits.TrailingZeros64(marked)/8
		}
		i += 8
	}
	for i < len(s) && valueClass(s[i]) == visibleClass {
		i++
	}
	return i
}

// isText reports whether s is UTF-8 with only characters that XML allows. It does not check ASCII
// characters; the callers do.
func isText(s string) bool {
	for i := 0; i < len(s); {
		for i+8 <= len(s) {
			if high := word(s, i) & highs; high != 0 {
				i += bits.TrailingZeros64(high) / 8
				break
			}
			i += 8
		}
		for i < len(s) && s[i] < utf8.RuneSelf {
			i++
		}
		if i = skipBeyondASCII(s, i); i < len(s) && s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// skipBeyondASCII returns the end of the valid non-ASCII characters from i on. A non-ASCII byte at the
// end belongs to an invalid character, or to one that XML forbids.
func skipBeyondASCII(s string, i int) int {
	for i < len(s) && s[i] >= utf8.RuneSelf {
		if i+4 <= len(s) {
			w := binary.LittleEndian.Uint32([]byte(s[i : i+4]))
			switch {
			case w&0xc0e0 == 0x80c0 && w&0x1e != 0:
				i += 2
				continue
			case w&0xc0c0f0 == 0x8080e0 && w&0x200f != 0 && w&0x200f != 0x200d && w&0xfeffff != 0xbebfef:
				i += 3
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 || !isXML(r) {
			return i
		}
		i += n
	}
	return i
}

// isXML reports whether an XML document may contain r.
func isXML(r rune) bool {
	return r >= ' ' && r != 0xfffe && r != 0xffff || r == '\n' || r == '\t' || r == '\r'
}
