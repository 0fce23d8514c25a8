package render

import (
	"strings"
	"unicode/utf8"
)

// markup writes HTML as the text of an element. If a CDATA section preserves the text, it is used,
// because it is shorter and more readable. Text that contains the end of a section, or characters
// that XML changes or forbids, is escaped.
//
// spec:xml10-2008#cdata
func (w *writer) markup(s, where string) {
	if !fitsCDATA(s) {
		w.escape(s, where, inText)
		return
	}
	w.b = append(append(append(w.b, "<![CDATA["...), s...), "]]>"...)
}

// markupElement writes an element that contains HTML.
func (w *writer) markupElement(name, s string) {
	w.tag(name, nil)
	w.b = append(w.b, '>')
	w.markup(s, name)
	w.endTag(name)
}

// fitsCDATA reports whether s contains tags, and a CDATA section would preserve it.
func fitsCDATA(s string) bool {
	if strings.IndexByte(s, '<') < 0 || strings.Contains(s, "]]>") {
		return false
	}
	const each, high = 0x0101010101010101, 0x8080808080808080
	beyond, i := false, 0 // beyond reports that s contains bytes beyond ASCII
	for ; i <= len(s)-64; i += 64 {
		rest := s[i : i+64]
		a, b, c, d := eight(rest), eight(rest[8:]), eight(rest[16:]), eight(rest[24:])
		found := a | (a - 0x20*each) | b | (b - 0x20*each) | c | (c - 0x20*each) | d | (d - 0x20*each)
		a, b, c, d = eight(rest[32:]), eight(rest[40:]), eight(rest[48:]), eight(rest[56:])
		found |= a | (a - 0x20*each) | b | (b - 0x20*each) | c | (c - 0x20*each) | d | (d - 0x20*each)
		// This is the usual case: ASCII without control characters except line ends.
		if found&high == 0 || onlyLines(rest[:32]) && onlyLines(rest[32:]) {
			continue
		}
		control, other := look(rest)
		if control {
			return false
		}
		beyond = beyond || other
	}
	if n := len(s) - 64; !beyond && n >= 0 && onlyLines(s[n:n+32]) && onlyLines(s[n+32:]) {
		return true // the last bytes may be checked twice
	}
	if control, other := look(s[i:]); control {
		return false
	} else if !beyond && !other {
		return true
	}
	if !utf8.ValidString(s) {
		return false
	}
	return strings.IndexByte(s, 0xEF) < 0 || !strings.Contains(s, "\uFFFE") && !strings.Contains(s, "\uFFFF")
}

// onlyLines reports whether 32 bytes are ASCII without control characters except line feeds.
func onlyLines(s string) bool {
	const each, high, lf = 0x0101010101010101, 0x8080808080808080, '\n' * 0x0101010101010101
	a, b, c, d := eight(s)^lf, eight(s[8:])^lf, eight(s[16:])^lf, eight(s[24:])^lf
	// No sum carries into the next byte. After adding 0x7f, only a byte that was zero is below
	// 0x80.
	return (a|b|c|d|(a+0x7f*each)&^(a+0x60*each)|(b+0x7f*each)&^(b+0x60*each)|
		(c+0x7f*each)&^(c+0x60*each)|(d+0x7f*each)&^(d+0x60*each))&high == 0
}

// look reports whether s has a byte for which isControl is true, and whether it has a byte beyond
// ASCII.
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

// controls returns x with the highest bit set in each byte for which isControl is true, and all
// other bits clear.
func controls(x uint64) uint64 {
	const each = 0x0101010101010101
	low := x &^ (0x80 * each) // clear the highest bits, so that no addition carries into the next byte
	return ^x &^ (low + 0x60*each) &^ ((low + (0x80-'\t')*each) &^ (low + (0x7f-'\n')*each))
}

// isControl reports whether a CDATA section cannot contain c: XML changes a carriage return, and
// forbids other control characters.
func isControl(c byte) bool { return c < ' ' && c != '\n' && c != '\t' }

// eight returns the first eight bytes as a number, in little-endian order.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
