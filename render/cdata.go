package render

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// markup writes HTML as the text of an element: in a CDATA section where one holds it as
// it is, which is shorter and can be read, and escaped otherwise. What means the end of
// a section, and what XML would change or cannot hold, is never in one.
//
// spec:xml10-2008#cdata
func (w *writer) markup(s, where string) {
	if !fitsCDATA(s) {
		w.escape(s, where, inText)
		return
	}
	w.b = append(append(append(w.b, "<![CDATA["...), s...), "]]>"...)
}

// markupElement writes an element with HTML in it.
func (w *writer) markupElement(name, s string) {
	w.tag(name, nil)
	w.b = append(w.b, '>')
	w.markup(s, name)
	w.endTag(name)
}

// fitsCDATA reports HTML with tags that a CDATA section holds as it is.
func fitsCDATA(s string) bool {
	if strings.IndexByte(s, '<') < 0 || strings.Contains(s, "]]>") {
		return false
	}
	const each, high = 0x0101010101010101, 0x8080808080808080
	var all uint64
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := eight(s[i : i+8])
		all |= x
		for found := (x - 0x20*each) &^ x & high; found != 0; found &= found - 1 {
			if c := s[i+bits.TrailingZeros64(found)/8]; c < ' ' && c != '\n' && c != '\t' {
				return false
			}
		}
	}
	for ; i < len(s); i++ {
		c := s[i]
		all |= uint64(c)
		if c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	if all&high == 0 {
		return true
	}
	return utf8.ValidString(s) && !strings.Contains(s, "\uFFFE") && !strings.Contains(s, "\uFFFF")
}

// eight is eight bytes as one number, the first of them lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
