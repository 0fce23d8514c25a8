package feed

import (
	endian "encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// Strings are scanned eight bytes at a time. In the constant repeated, each byte is 1.
const (
	repeated = 0x0101010101010101
	topBits  = 0x80 * repeated
)

// word returns the eight bytes of s from i on, in little-endian order.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// endsRun sets the top bit of each byte of w that is a quote, a backslash or a control character.
// Only the lowest set bit is reliable.
func endsRun(w uint64) uint64 {
	quote := w ^ '"'*repeated
	slash := w ^ '\\'*repeated
	return ((quote-repeated)&^quote | (slash-repeated)&^slash | (w-' '*repeated)&^w) & topBits
}

// jsonRun returns the offset of the first quote, backslash or control character from i on, or
// the length of doc.
func jsonRun(doc string, i int) int {
	for i+8 <= len(doc) {
		if m := endsRun(word(doc, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(doc) && doc[i] != '"' && doc[i] != '\\' && doc[i] >= ' ' {
		i++
	}
	return i
}

// afterJSONString returns the offset after the string that begins at i.
func afterJSONString(doc string, i int) int {
	begin := i
	for {
		n := strings.IndexByte(doc[i+1:], '"')
		if n < 0 {
			return len(doc)
		}
		i += 1 + n
		back := i
		for back > begin+1 && doc[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
}

// quoted reads the string whose opening quote is at pos.
func (s *jsonScan) quoted() string {
	start := s.pos + 1
	i := jsonRun(s.doc, start)
	if i < len(s.doc) && s.doc[i] == '"' {
		s.pos = i + 1
		return s.doc[start:i]
	}
	return s.decode(start, i, '"')
}

// wrongQuotes reads a string in quotes that JSON does not allow.
func (s *jsonScan) wrongQuotes(q byte) string {
	s.report(ProblemSyntax, s.pos, "A text has quotes that JSON does not allow.")
	return s.decode(s.pos+1, s.pos+1, q)
}

// jsonChunk is the size in bytes of a new arena, if the decoded texts need that much.
const jsonChunk = 1 << 18

// decode decodes the string from start up to quote or the end of the document. The bytes before i
// contain no escapes and are copied. The result refers to the memory of the arena, in which used
// bytes never change.
func (s *jsonScan) decode(start, i int, quote byte) string {
	doc, buf := s.doc, s.arena
	n := i - start
	if len(buf) < n+16 {
		buf = make([]byte, max(min(len(doc)-start, jsonChunk), n)+16)
	}
	copy(buf, doc[start:i])
	for i < len(doc) {
		if n+16 > len(buf) { // always enough, because decoded text is never longer than encoded text
			more := make([]byte, min(len(doc)-i, max(2*n, jsonChunk))+n+16)
			copy(more, buf[:n])
			buf = more
		}
		if quote == '"' && i+8 <= len(doc) {
			w := word(doc, i)
			endian.LittleEndian.PutUint64(buf[n:], w)
			m := endsRun(w)
			if m == 0 {
				i, n = i+8, n+8
				continue
			}
			k := bits.TrailingZeros64(m) >> 3
			i, n = i+k, n+k
		}
		switch c := doc[i]; {
		case c == quote:
			s.pos = i + 1
			return s.keep(buf, n)
		case c == '\\':
			i, n = s.escape(i, buf, n)
		case c >= ' ':
			buf[n] = c
			i, n = i+1, n+1
		default:
			i, n = s.control(i, buf, n)
		}
	}
	s.pos = len(doc)
	if quote != 0 {
		s.end()
	}
	return s.keep(buf, n)
}

// keep returns the first n bytes of buf as a string. The rest becomes the arena for later strings.
func (s *jsonScan) keep(buf []byte, n int) string {
	s.arena = buf[n:]
	if n == 0 {
		return ""
	}
	return unsafe.String(&buf[0], n) // safe, because these bytes do not change again
}

// control copies the control character at i of a text and reports it if necessary.
func (s *jsonScan) control(i int, buf []byte, n int) (int, int) {
	switch c := s.doc[i]; c {
	case '\n', '\t', '\r':
		s.report(ProblemCharacter, i, "A text contains an unescaped line end or tab; JSON requires \\n, \\r and \\t.")
		buf[n] = c
		return i + 1, n + 1
	}
	s.noControl(i)
	return i + 1, n
}

// noControl reports a control character. Control characters have no meaning in a text, and XML
// formats cannot contain them.
func (s *jsonScan) noControl(i int) {
	s.report(ProblemCharacter, i, "A text contains a control character; it is left out.")
}

// escape decodes the escape at i to the offset n of buf, which has space for 16 more bytes. It
// returns the next offsets in doc and buf.
func (s *jsonScan) escape(i int, buf []byte, n int) (int, int) {
	if i+1 >= len(s.doc) {
		return len(s.doc), n // decode reports the end of the document
	}
	c := s.doc[i+1]
	switch c {
	case '"', '\\', '/':
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b', 'f':
		s.noControl(i)
		return i + 2, n
	case 'u':
		end, r := s.codeUnit(i)
		switch {
		case end == i+2: // invalid: keep the characters unchanged
			return end, n + copy(buf[n:], `\u`)
		case r < 0:
			return end, n
		case r < ' ' && r != '\n' && r != '\t' && r != '\r':
			s.noControl(i)
			return end, n
		}
		return end, n + utf8.EncodeRune(buf[n:], r)
	default:
		return s.oddEscape(i, buf, n)
	}
	buf[n] = c
	return i + 2, n + 1
}

// codeUnit decodes \uXXXX at i, and the second half of a surrogate pair if it follows. If that
// fails, the character is −1, and the offset is after \u or at the end of the document.
func (s *jsonScan) codeUnit(i int) (int, rune) {
	r, ok := hex4(s.doc, i+2)
	if !ok && i+6 > len(s.doc) {
		return len(s.doc), -1 // decode reports the end of the document
	}
	if !ok {
		s.report(ProblemSyntax, i, "After \\u there are not four hexadecimal digits; the text is kept as written.")
		return i + 2, -1
	}
	i += 6
	if utf16.IsSurrogate(r) {
		if i+1 < len(s.doc) && s.doc[i] == '\\' && s.doc[i+1] == 'u' {
			if low, ok := hex4(s.doc, i+2); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return i + 6, pair
				}
			}
		}
		s.report(ProblemCharacter, i-6, "A text contains half of a surrogate pair; it becomes U+FFFD.")
		r = utf8.RuneError
	}
	return i, r
}

// hex4 reads four hexadecimal digits.
func hex4(s string, i int) (r rune, ok bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var b [2]byte
	_, err := hex.Decode(b[:], []byte(s[i:i+4]))
	return rune(b[0])<<8 | rune(b[1]), err == nil
}

// oddEscape decodes escapes that JavaScript has but JSON does not. It keeps any other backslash,
// because the author probably meant the character itself.
func (s *jsonScan) oddEscape(i int, buf []byte, n int) (int, int) {
	_, size := utf8.DecodeRuneInString(s.doc[i+1:])
	s.report(ProblemSyntax, i, "JSON has no escape "+quote(s.doc[i:i+1+size])+".")
	switch c := s.doc[i+1]; c {
	case '\'', '`':
		buf[n] = c
		return i + 2, n + 1
	case 'v', '\n':
		return i + 2, n
	case 'x':
		if b, err := hex.DecodeString(s.doc[i+2 : min(i+4, len(s.doc))]); err == nil && len(b) == 1 && b[0] != 0 {
			return i + 4, n + utf8.EncodeRune(buf[n:], rune(b[0]))
		}
	}
	buf[n] = '\\'
	return i + 1, n + 1
}

// unescaped repairs a string that contains quotes without a backslash. start is the offset of the
// string, and text is its content up to the first quote. If valid JSON follows that quote, the result
// is text. Otherwise the quote belongs to the string, which then ends at a later quote on the same
// line: the first one at which the method ends finds a possible end.
func (s *jsonScan) unescaped(start int, text string) string {
	i := afterSpaces(s.doc, s.pos)
	if i < s.sure {
		return text
	}
	switch s.doc[i] {
	case '"', '/', ':', ')', ';': // the string has ended: a comma is missing, a comment follows, or similar
		return text
	}
	for i = s.pos; i < len(s.doc); {
		c := s.doc[i]
		if i++; c == '\n' {
			break
		}
		if c == '"' && s.doc[i-2] != '\\' && s.ends(i) {
			s.report(ProblemSyntax, s.pos-1, "Quotes within a text are not escaped; the last quote ends the text.")
			return s.again(start+1, i-1)
		}
	}
	s.sure = i
	return text
}

// ends reports whether a string can end before i: a comma and another member follow, or the end
// of an object, an array or the line.
func (s *jsonScan) ends(i int) bool {
	doc := s.doc
	if i = afterSpaces(doc, i); i >= len(doc) {
		return true
	}
	switch doc[i] {
	case '\n', '\r':
		return true
	case '}', ']':
		i = afterSpaces(doc, i+1)
		return i >= len(doc) || !isJSONPlain(doc[i])
	case ',':
	default:
		return false
	}
	if i = afterSpaces(doc, i+1); i >= len(doc) || !isJSONPlain(doc[i]) || s.frames[len(s.frames)-1].array {
		return true
	}
	for n := i + 40; i < n && i < len(doc) && isJSONPlain(doc[i]); { // the next member may have a name without quotes
		i++
	}
	i = afterSpaces(doc, i)
	return i < len(doc) && doc[i] == ':'
}

func afterSpaces(doc string, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\t') {
		i++
	}
	return i
}

// again decodes the text from start to end and treats quotes as ordinary characters.
func (s *jsonScan) again(start, end int) string {
	whole := s.doc
	s.doc = whole[:end]
	text := s.decode(start, start, 0)
	s.doc, s.pos = whole, end+1
	return text
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
