package render

import (
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
	var beyond uint64 // ASCII
	rest := s
	for ; len(rest) >= 32; rest = rest[32:] {
		x, y, z, v := eight(rest), eight(rest[8:]), eight(rest[16:]), eight(rest[24:])
		// Nearly all are ASCII that is no control character, where this is all.
		if (x|(x-0x20*each)|y|(y-0x20*each)|z|(z-0x20*each)|v|(v-0x20*each))&high == 0 {
			continue
		}
		beyond |= (x | y | z | v) & high
		if (controls(x)|controls(y)|controls(z)|controls(v))&high != 0 {
			return false
		}
	}
	for i := range len(rest) {
		beyond |= uint64(rest[i]) & high
		if isControl(rest[i]) {
			return false
		}
	}
	if beyond == 0 {
		return true
	}
	if !utf8.ValidString(s) {
		return false
	}
	return strings.IndexByte(s, 0xEF) < 0 || !strings.Contains(s, "\uFFFE") && !strings.Contains(s, "\uFFFF")
}

// controls has the highest bit set of each of eight bytes that isControl reports.
func controls(x uint64) uint64 {
	const each = 0x0101010101010101
	low := x &^ (0x80 * each) // so that no byte has a part in the sum of the next
	return ^x &^ (low + 0x60*each) &^ ((low + (0x80-'\t')*each) &^ (low + (0x7f-'\n')*each))
}

// isControl reports what is not the same in a section: XML makes a line feed of a
// carriage return, and has no place for others.
func isControl(c byte) bool { return c < ' ' && c != '\n' && c != '\t' }

// eight is eight bytes as one number, the first of them lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
