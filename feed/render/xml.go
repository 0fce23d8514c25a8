package render

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// root begins an XML document with its declaration and root element. attrs are alternating names
// and values, and include xmlns if the format has a default namespace. The method done inserts the
// other namespace declarations after these attributes.
func (w *writer) root(name string, attrs ...string) {
	w.b = append(w.b, `<?xml version="1.0" encoding="UTF-8"?>`...)
	w.tag(name, attrs)
	if name == "feed" {
		w.foreignAttrs(w.f.Attrs)
	}
	w.rootAt, w.rootEnd = len(w.b), len(w.b)
	w.b = append(w.b, '>')
	w.depth++
}

// done closes the root element and declares the used namespaces.
func (w *writer) done(name string) {
	w.close(name)
	w.b = append(w.b, '\n')
	w.declare()
}

// declare inserts the declarations of the used namespaces into the root element. It moves the rest
// of the document, so leave calls it after the first item: later items rarely use other namespaces.
func (w *writer) declare() {
	if w.spaces == w.declared {
		return
	}
	w.declared = w.spaces
	var buf [512]byte
	decl := buf[:0]
	for s := range spNone {
		if w.spaces&(1<<s) == 0 {
			continue
		}
		prefix, uri := s.declaration()
		decl = append(append(append(append(append(decl, ` xmlns:`...), prefix...), `="`...), uri...), '"')
	}
	w.b = slices.Replace(w.b, w.rootAt, w.rootEnd, decl...)
	w.rootEnd = w.rootAt + len(decl)
}

// line begins a new line, unless white space is significant.
func (w *writer) line() {
	if w.flat > 0 {
		return
	}
	n := len(w.b) + 1 + min(2*w.depth, len(spaces)-2)
	w.b = append(w.b, spaces...)[:n]
}

// spaces is the indentation of a line, cut to the depth. Copying the whole constant is faster
// than copying a variable length.
const spaces = "\n                                 "

// tag writes a start tag without its final >. It omits attributes without a value.
func (w *writer) tag(name string, attrs []string) {
	w.use(name)
	if w.flat > 0 {
		w.b = append(append(w.b, '<'), name...)
	} else {
		n := len(w.b) + 1 + min(2*w.depth, len(spaces)-2)
		b := append(w.b, spaces...)[:n+1]
		b[n] = '<'
		w.b = append(b, name...)
	}
	for i := 0; i+1 < len(attrs); i += 2 {
		if attrs[i+1] != "" {
			w.attr(attrs[i], attrs[i+1])
		}
	}
}

// attr writes an attribute into the current start tag. Callers mark the namespace of a name with a
// prefix as used.
func (w *writer) attr(name, value string) {
	if isPlain(value, inAttr) {
		w.b = append(append(append(append(append(w.b, ' '), name...), `="`...), value...), '"')
		return
	}
	w.b = append(append(append(w.b, ' '), name...), `="`...)
	w.escape(value, name, inAttr)
	w.b = append(w.b, '"')
}

// optional is like attr for a value that may be missing.
func (w *writer) optional(name, value string) {
	if value != "" {
		w.attr(name, value)
	}
}

// open begins an element that contains other elements. attrs alternates names and values.
func (w *writer) open(name string, attrs ...string) {
	w.tag(name, attrs)
	w.b = append(w.b, '>')
	w.depth++
}

// close ends the element that open began.
func (w *writer) close(name string) {
	w.depth--
	w.line()
	w.endTag(name)
}

func (w *writer) endTag(name string) {
	w.b = append(append(append(w.b, "</"...), name...), '>')
}

// leaf writes an element with a text; nothing if the text is empty.
func (w *writer) leaf(name, text string, attrs ...string) {
	if text != "" {
		w.element(name, text, attrs...)
	}
}

// element writes an element with a text, even if it is empty.
func (w *writer) element(name, text string, attrs ...string) {
	w.tag(name, attrs)
	if isPlain(text, inText) {
		w.b = append(append(append(append(append(w.b, '>'), text...), "</"...), name...), '>')
		return
	}
	w.b = append(w.b, '>')
	w.escape(text, name, inText)
	w.endTag(name)
}

// empty writes an element that has only attributes; nothing if all are empty.
func (w *writer) empty(name string, attrs ...string) {
	for i := 1; i < len(attrs); i += 2 {
		if attrs[i] != "" {
			w.tag(name, attrs)
			w.b = append(w.b, "/>"...)
			return
		}
	}
}

// The contexts of a text, as bits of the table specials.
const (
	inText = 1
	inAttr = 2
)

// specials marks the bytes that need escaping: bit 0 in text, bit 1 in attributes. 0xEF begins
// U+FFFE and U+FFFF, which XML forbids.
const specials = "\x03\x03\x03\x03\x03\x03\x03\x03\x03\x02\x02\x03\x03\x03\x03\x03" +
	"\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03" +
	"\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00" + // " &
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x03\x00" + // < >
	none64 + // letters
	none64 + none32 + // continuation and lead bytes
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03" + // 0xEF
	none16

const (
	none16 = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	none32 = none16 + none16
	none64 = none32 + none32
)

// escape writes a text with XML escaping. It omits characters that XML forbids, with a warning
// that names the part of the feed.
//
// spec:xml10-2008#characters
func (w *writer) escape(s, where string, in byte) {
	if isPlain(s, in) {
		w.b = append(w.b, s...)
		return
	}
	reported := !utf8.ValidString(s)
	if reported {
		w.warnCharacters(where)
		s = strings.ToValidUTF8(s, "")
	}
	from := 0
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			found := unusual(s[i:i+8], in)
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		}
		if specials[s[i]]&in == 0 {
			i++
			continue
		}
		with, width := entity(s, i)
		if width == 0 {
			i++
			continue
		}
		if with == "" && !reported {
			reported = true
			w.warnCharacters(where)
		}
		w.b = append(append(w.b, s[from:i]...), with...)
		i += width
		from = i
	}
	w.b = append(w.b, s[from:]...)
}

// isPlain is a fast check that a text is ASCII and needs no escaping, as most short texts do
// not.
func isPlain(s string, in byte) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	same := uint64(in&inAttr/inAttr) * 0x04 * each // so that & also matches "
	n := len(s)
	if n >= 16 {
		found := notPlain(eight(s[n-16:]), same) | notPlain(eight(s[n-8:]), same) // some bytes are checked twice
		for i := 0; i < n-16; i += 16 {
			x := s[i : i+16]
			found |= notPlain(eight(x), same) | notPlain(eight(x[8:]), same)
		}
		return found&high == 0
	}
	if n >= 8 {
		return (notPlain(eight(s), same)|notPlain(eight(s[n-8:]), same))&high == 0
	}
	for i := range n {
		if c := s[i]; c >= utf8.RuneSelf || specials[c]&in != 0 {
			return false
		}
	}
	return true
}

// notPlain sets the highest bit of each byte that unusual reports or that is beyond ASCII.
// same is the bit in which " and & differ if both are searched for.
func notPlain(x, same uint64) uint64 {
	const each = 0x0101010101010101
	angle := (x | 0x02*each) ^ '>'*each
	amp := (x | same) ^ '&'*each
	return x | (x - 0x20*each) | (angle - each) | (amp - each)
}

// unusual checks eight bytes at once. The lowest set bit is in the first byte that may need
// escaping: a control character, <, >, &, 0xEF or, in an attribute, a quotation mark. The
// result serves only to skip bytes that need no escaping.
func unusual(s string, in byte) uint64 {
	const each, high = 0x0101010101010101, 0x8080808080808080
	x := eight(s)
	angle := (x | 0x02*each) ^ '>'*each // < and > differ in this bit
	amp := x ^ '&'*each
	if in == inAttr { // " and & differ in this bit
		amp = (x | 0x04*each) ^ '&'*each
	}
	ef := x ^ 0xEF*each
	return ((x-0x20*each)&^x | (angle-each)&^angle | (amp-each)&^amp | (ef-each)&^ef) & high
}

// entity returns the replacement of the special character at s[i], "" if it is omitted, and
// its width in bytes. The width is 0 if the character needs no replacement.
func entity(s string, i int) (with string, width int) {
	switch s[i] {
	case '&':
		return "&amp;", 1
	case '<':
		return "&lt;", 1
	case '>':
		return "&gt;", 1
	case '"':
		return "&quot;", 1
	case '\r':
		return "&#13;", 1
	case '\n':
		return "&#10;", 1
	case '\t':
		return "&#9;", 1
	case 0xEF: // U+FFFE and U+FFFF
		if s[i+1] == 0xBF && s[i+2] >= 0xBE {
			return "", 3
		}
		return "", 0
	}
	return "", 1
}

func (w *writer) warnCharacters(where string) {
	w.warn("characters", where, "Characters that the format cannot represent are omitted.")
}

// appendInt writes an integer.
func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
