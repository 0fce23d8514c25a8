package feed

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Eight bytes are looked at together: repeated is a byte in all eight places.
const (
	repeated = 0x0101010101010101
	topBits  = 0x80 * repeated
)

// word gives the eight bytes of s from i on, the first lowest.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// endsRun has the top bit of each byte of w set that needs a look in a string: a
// quote, a backslash, a control character. Bits above the lowest may be wrong.
func endsRun(w uint64) uint64 {
	quote := w ^ '"'*repeated
	slash := w ^ '\\'*repeated
	return ((quote-repeated)&^quote | (slash-repeated)&^slash | (w-' '*repeated)&^w) & topBits
}

// jsonRun gives the offset of the first byte from i on that needs a look in a string,
// or the length of doc.
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

// afterJSONString gives the offset after the string that begins at i.
func afterJSONString(doc string, i int) int {
	i++
	for i < len(doc) {
		i = jsonRun(doc, i)
		switch {
		case i >= len(doc):
		case doc[i] == '"':
			return i + 1
		case doc[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return len(doc)
}

// quoted reads the string whose opening quote is at pos.
func (s *jsonScan) quoted() string {
	start := s.pos + 1
	i := jsonRun(s.doc, start)
	if i < len(s.doc) && s.doc[i] == '"' {
		s.pos = i + 1
		return s.doc[start:i]
	}
	return s.decode(start, i)
}

// decode reads the string that begins at start, has something to decode at i and
// nothing before. What it makes is put one behind the other into the arena.
func (s *jsonScan) decode(start, i int) string {
	doc, run := s.doc, start
	from := s.arena.Len()
	for {
		from = s.room(from, i-run)
		s.arena.WriteString(doc[run:i])
		if i >= len(doc) {
			s.end()
			s.pos = len(doc)
			break
		}
		switch c := doc[i]; {
		case c == '"':
			s.pos = i + 1
			return s.arena.String()[from:]
		case c == '\\':
			run = s.escape(i)
		case c == '\n' || c == '\t' || c == '\r':
			s.tell(ProblemCharacter, i, "A line end or tab stands in a text as it is; JSON writes \\n, \\r and \\t.")
			s.arena.WriteByte(c)
			run = i + 1
		default:
			s.tell(ProblemCharacter, i, "A control character stands in a text; it is left out.")
			run = i + 1
		}
		i = jsonRun(doc, run)
	}
	return s.arena.String()[from:]
}

// longestJSONEscape is more than one escape can become: see escape.
const longestJSONEscape = 16

// room sees to it that the arena takes n bytes and an escape more without moving. The
// string being made begins at from, and at what is returned afterwards. The strings
// before stay where they are: their chunk lives as long as they do.
func (s *jsonScan) room(from, n int) int {
	if s.arena.Cap()-s.arena.Len() >= n+longestJSONEscape {
		return from
	}
	part := s.arena.String()[from:]
	// Decoded text is never longer than it was, so no chunk need be larger than what
	// is left of the document, unless it is a long text that did not fit.
	size := min(max(2*len(part), 1<<18), len(s.doc)-s.pos)
	s.arena = strings.Builder{}
	s.arena.Grow(max(size, len(part)+n) + longestJSONEscape)
	s.arena.WriteString(part)
	return 0
}

// escape decodes the escape at i and gives the offset after it.
func (s *jsonScan) escape(i int) int {
	if i+1 >= len(s.doc) {
		return len(s.doc) // decode tells that the document ends
	}
	switch c := s.doc[i+1]; c {
	case '"', '\\', '/':
		s.arena.WriteByte(c)
	case 'n':
		s.arena.WriteByte('\n')
	case 't':
		s.arena.WriteByte('\t')
	case 'r':
		s.arena.WriteByte('\r')
	case 'b':
		s.arena.WriteByte('\b')
	case 'f':
		s.arena.WriteByte('\f')
	case 'u':
		return s.codeUnit(i)
	default:
		return s.oddEscape(i, c)
	}
	return i + 2
}

// codeUnit decodes \uXXXX at i, with the other half of a pair.
func (s *jsonScan) codeUnit(i int) int {
	r, ok := hex4(s.doc, i+2)
	if !ok {
		s.tell(ProblemSyntax, i, "After \\u there are no four hexadecimal digits; it is kept as written.")
		s.arena.WriteString(`\u`)
		return i + 2
	}
	i += 6
	switch {
	case r == 0:
		s.tell(ProblemCharacter, i-6, "A text has the character 0; it becomes U+FFFD.")
		r = utf8.RuneError
	case utf16.IsSurrogate(r):
		if i+1 < len(s.doc) && s.doc[i] == '\\' && s.doc[i+1] == 'u' {
			if low, ok := hex4(s.doc, i+2); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					s.arena.WriteRune(pair)
					return i + 6
				}
			}
		}
		s.tell(ProblemCharacter, i-6, "Half of a surrogate pair stands alone; it becomes U+FFFD.")
		r = utf8.RuneError
	}
	s.arena.WriteRune(r)
	return i
}

// hex4 reads four hexadecimal digits.
func hex4(s string, i int) (r rune, ok bool) {
	if i+4 > len(s) {
		return 0, false
	}
	for _, c := range []byte(s[i : i+4]) {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | d
	}
	return r, true
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0'), true
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// oddEscape decodes what JavaScript has and JSON has not. Any other backslash was
// hardly meant as one: it is kept.
func (s *jsonScan) oddEscape(i int, c byte) int {
	s.tell(ProblemSyntax, i, "JSON has no escape \\"+quote(s.doc[i+1:min(i+5, len(s.doc))])+".")
	switch c {
	case '\'', '`':
		s.arena.WriteByte(c)
	case 'v':
		s.arena.WriteByte('\v')
	case '\n':
	case 'x':
		high, ok1 := hexAt(s.doc, i+2)
		low, ok2 := hexAt(s.doc, i+3)
		if ok1 && ok2 && high|low != 0 {
			s.arena.WriteRune(high<<4 | low)
			return i + 4
		}
		s.arena.WriteString(`\x`)
	default:
		s.arena.WriteByte('\\')
		return i + 1
	}
	return i + 2
}

func hexAt(s string, i int) (rune, bool) {
	if i >= len(s) {
		return 0, false
	}
	return hexDigit(s[i])
}

// wrongQuotes reads a string in quotes that JSON does not have.
func (s *jsonScan) wrongQuotes(q byte) string {
	s.tell(ProblemSyntax, s.pos, "A text is in quotes that JSON does not have.")
	doc, run := s.doc, s.pos+1
	from := s.arena.Len()
	for i := run; ; i++ {
		if i < len(doc) && doc[i] != q && doc[i] != '\\' && doc[i] != 0 {
			continue
		}
		from = s.room(from, i-run)
		s.arena.WriteString(doc[run:i])
		if i >= len(doc) {
			s.end()
			s.pos = len(doc)
			break
		}
		if doc[i] == q {
			s.pos = i + 1
			break
		}
		run = i + 1
		if doc[i] == '\\' {
			run = s.escape(i)
		}
		i = run - 1
	}
	return s.arena.String()[from:]
}

// unescaped looks whether the string just read, text, which began at start, ended at
// a quote that its author forgot to escape: then something follows that no JSON has.
// The string goes on to the next quote of the same line that something sensible
// follows.
func (s *jsonScan) unescaped(start int, text string) string {
	i := afterBlanks(s.doc, s.pos)
	if i >= len(s.doc) || endsJSONValue(s.doc[i]) || i < s.sure {
		return text
	}
	switch s.doc[i] {
	case '"', '/', ':', ')', ';': // a comma is missing, a comment, …
		return text
	}
	for i = s.pos; i < len(s.doc); {
		c := s.doc[i]
		if i++; c == '\n' {
			break
		}
		if c != '"' || s.doc[i-2] == '\\' {
			continue
		}
		if j := afterBlanks(s.doc, i); j >= len(s.doc) || endsJSONValue(s.doc[j]) {
			s.tell(ProblemSyntax, s.pos-1, "Quotes within a text are not escaped; it is taken to end at the last of them.")
			return s.again(start+1, i-1)
		}
	}
	s.sure = i
	return text
}

func afterBlanks(doc string, i int) int {
	for i < len(doc) && (doc[i] == ' ' || doc[i] == '\t') {
		i++
	}
	return i
}

// again decodes from start to end, where quotes are characters like any other.
func (s *jsonScan) again(start, end int) string {
	whole := s.doc
	s.doc = whole[:end]
	from := s.room(s.arena.Len(), end-start)
	for i := start; i < end; {
		j := jsonRun(s.doc, i)
		s.arena.WriteString(s.doc[i:j])
		switch {
		case j >= end:
			i = end
		case s.doc[j] == '\\':
			i = s.escape(j)
		default:
			s.arena.WriteByte(s.doc[j])
			i = j + 1
		}
	}
	s.doc, s.pos = whole, end+1
	return s.arena.String()[from:]
}

// isJSONNumber reports whether text is a number as JSON writes it.
func isJSONNumber(text string) bool {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := digits(text[i:])
	if whole == 0 || whole > 1 && text[i] == '0' {
		return false
	}
	if i += whole; i < len(text) && text[i] == '.' {
		n := digits(text[i+1:])
		if n == 0 {
			return false
		}
		i += 1 + n
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		n := digits(text[i:])
		if n == 0 {
			return false
		}
		i += n
	}
	return i == len(text)
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// mendJSONNumber gives a number that is written as other languages do (0x1F, +1, 1.,
// .5, 007, 1_000) as JSON has it; "" when text is none.
func mendJSONNumber(text string) string {
	if len(text) > 40 {
		return ""
	}
	if n, err := strconv.ParseInt(text, 0, 64); err == nil && len(text) > 1 && text[0] == '0' && text[1]|0x20 >= 'a' {
		return strconv.FormatInt(n, 10)
	}
	t := strings.ReplaceAll(text, "_", "")
	t = strings.TrimPrefix(t, "+")
	sign := ""
	if strings.HasPrefix(t, "-") {
		sign, t = "-", t[1:]
	}
	for len(t) > 1 && t[0] == '0' && '0' <= t[1] && t[1] <= '9' {
		t = t[1:]
	}
	if strings.HasPrefix(t, ".") {
		t = "0" + t
	}
	t = strings.TrimSuffix(t, ".")
	if t = sign + t; isJSONNumber(t) {
		return t
	}
	return ""
}
