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
	beyond, rest := false, s // ASCII
	for ; len(rest) >= 64; rest = rest[64:] {
		a, b, c, d := eight(rest), eight(rest[8:]), eight(rest[16:]), eight(rest[24:])
		found := a | (a - 0x20*each) | b | (b - 0x20*each) | c | (c - 0x20*each) | d | (d - 0x20*each)
		a, b, c, d = eight(rest[32:]), eight(rest[40:]), eight(rest[48:]), eight(rest[56:])
		found |= a | (a - 0x20*each) | b | (b - 0x20*each) | c | (c - 0x20*each) | d | (d - 0x20*each)
		// Nearly all is ASCII without control characters, or with the end of a line.
		if found&high == 0 || onlyLines(rest[:32]) && onlyLines(rest[32:64]) {
			continue
		}
		control, other := look(rest[:64])
		if control {
			return false
		}
		beyond = beyond || other
	}
	if n := len(s) - 64; !beyond && n >= 0 && onlyLines(s[n:n+32]) && onlyLines(s[n+32:]) {
		return true // with some bytes seen twice
	}
	if control, other := look(rest); control {
		return false
	} else if !beyond && !other {
		return true
	}
	if !utf8.ValidString(s) {
		return false
	}
	return strings.IndexByte(s, 0xEF) < 0 || !strings.Contains(s, "\uFFFE") && !strings.Contains(s, "\uFFFF")
}

// onlyLines reports 32 bytes of ASCII that have no control characters but line feeds.
func onlyLines(s string) bool {
	const each, high, lf = 0x0101010101010101, 0x8080808080808080, '\n' * 0x0101010101010101
	a, b, c, d := eight(s)^lf, eight(s[8:])^lf, eight(s[16:])^lf, eight(s[24:])^lf
	// No sum is more than a byte holds: none but 0 stays below 0x80 with 0x7f.
	return (a|b|c|d|(a+0x7f*each)&^(a+0x60*each)|(b+0x7f*each)&^(b+0x60*each)|
		(c+0x7f*each)&^(c+0x60*each)|(d+0x7f*each)&^(d+0x60*each))&high == 0
}

// look reports what isControl does, and whether there is anything beyond ASCII.
func look(s string) (control, beyond bool) {
	const high = 0x8080808080808080
	var found, all uint64
	for ; len(s) >= 8; s = s[8:] {
		x := eight(s)
		all |= x
		found |= controls(x)
	}
	for i := range len(s) {
		all |= uint64(s[i])
		control = control || isControl(s[i])
	}
	return control || found&high != 0, all&high != 0
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
