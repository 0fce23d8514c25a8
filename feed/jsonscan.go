package feed

import (
	"strconv"
	"strings"
)

// This file and jsonstring.go read JSON as it is found on the web: in one pass, with
// strings that are substrings of the document wherever nothing is escaped in them.
// Invalid JSON (comments, missing or extra commas, quotes of the wrong kind, a missing
// end, …) is read anyway and reported.

// jsonKind is what a value is.
type jsonKind uint8

const (
	jsonNone   jsonKind = iota // no value where one is due, or one that was passed over
	jsonNull                   // null
	jsonBool                   // true, false
	jsonNumber                 // its text as written
	jsonString                 // its text decoded
	jsonObject                 // opened: read on with key
	jsonArray                  // opened: read on with element
)

// jsonValue is a scalar, or the beginning of an object or array.
type jsonValue struct {
	kind jsonKind
	text string // of a scalar
	at   int    // offset
}

// jsonFrame is an object or array that is open.
type jsonFrame struct {
	array bool
	begun bool   // the first member or element was read
	comma bool   // one was read since the last value
	key   string // of the member being read
	index int    // of the element being read, from 0
}

// jsonScan reads values one after the other: value gives a scalar or opens an object
// or array; key and element go on within it.
type jsonScan struct {
	doc    string
	pos    int
	depth  int // how many objects and arrays may be open
	frames []jsonFrame
	arrays int    // how many of the frames are arrays
	arena  []byte // room for decoded texts
	ended  bool   // the document ended in the middle
	sure   int    // before this offset no quotes are forgotten to be escaped: see unescaped
	report func(kind string, offset int, message string)
}

// path is where the reader is: items[3].date_published.
func (s *jsonScan) path() string {
	var b strings.Builder
	for _, f := range s.frames {
		switch {
		case f.array && !f.begun:
		case f.array:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(f.index))
			b.WriteByte(']')
		case f.key != "":
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(jsonSample(f.key))
		}
	}
	return b.String()
}

// space passes over white space and comments, and reports whether anything follows.
func (s *jsonScan) space() bool {
	for s.pos < len(s.doc) {
		switch c := s.doc[s.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			s.pos++
			for s.pos+8 <= len(s.doc) && word(s.doc, s.pos) == 0x2020202020202020 { // indentation
				s.pos += 8
			}
		case c == '/' && s.pos+1 < len(s.doc) && (s.doc[s.pos+1] == '/' || s.doc[s.pos+1] == '*'):
			s.report(ProblemSyntax, s.pos, "JSON has no comments; this comment is skipped.")
			s.pos = afterJSONComment(s.doc, s.pos)
		case c < ' ' || c == 0x7f:
			s.report(ProblemCharacter, s.pos, "There is a control character between values; it is skipped.")
			for s.pos < len(s.doc) && (s.doc[s.pos] < ' ' || s.doc[s.pos] == 0x7f) {
				s.pos++
			}
		case c >= 0x80:
			n := otherSpace(s.doc[s.pos:])
			if n == 0 {
				return true
			}
			s.report(ProblemSyntax, s.pos, "There is white space between values that JSON does not allow; it is skipped.")
			for n > 0 {
				s.pos += n
				n = otherSpace(s.doc[s.pos:])
			}
		default:
			return true
		}
	}
	return false
}

// afterJSONComment gives the offset after the comment at i.
func afterJSONComment(doc string, i int) int {
	end := "\n"
	if doc[i+1] == '*' {
		end = "*/"
	}
	n := strings.Index(doc[i+2:], end)
	if n < 0 {
		return len(doc)
	}
	return i + 2 + n + len(end)
}

// otherSpace gives the length of a white space beyond ASCII that s begins with: what
// word processors and web pages leave in hand-made files.
func otherSpace(s string) int {
	for _, w := range [...]string{"\u00a0", "\ufeff", "\u2028", "\u2029", "\u200b", "\u3000"} {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// end reports once that the document is incomplete.
func (s *jsonScan) end() {
	if !s.ended {
		s.ended = true
		s.report(ProblemTruncated, len(s.doc), "The document is incomplete; the part up to its end is read.")
	}
}

// open enters the object or array at pos. One that is too deep is passed over.
func (s *jsonScan) open(array bool) bool {
	if len(s.frames) >= s.depth {
		s.report(ProblemLimit, s.pos, "A value is nested more than "+strconv.Itoa(s.depth)+" levels deep; it is skipped.")
		s.skip()
		return false
	}
	s.pos++
	s.frames = append(s.frames, jsonFrame{array: array})
	if array {
		s.arrays++
	}
	return true
}

func (s *jsonScan) pop() {
	if s.frames[len(s.frames)-1].array {
		s.arrays--
	}
	s.frames = s.frames[:len(s.frames)-1]
}

// next goes to where the next member or element begins. It is false when the object
// or array is at its end, which then is behind the reader.
func (s *jsonScan) next(closer byte) bool {
	f := &s.frames[len(s.frames)-1]
	for s.space() {
		switch c := s.doc[s.pos]; c {
		case ',':
			if f.comma || !f.begun {
				s.commas()
				continue
			}
			f.comma, f.key = true, ""
			s.pos++
		case closer:
			if f.comma {
				s.report(ProblemSyntax, s.pos, "There is a comma before the end of a list; it is skipped.")
			}
			s.pos++
			s.pop()
			return false
		case '}', ']':
			if s.outer(c) {
				s.report(ProblemSyntax, s.pos, "A "+string(closer)+" is missing; it is assumed here.")
				s.pop()
				return false
			}
			s.stray("A " + string(c) + " closes nothing; it is skipped.")
		case ':':
			s.stray("A colon is used where a comma is expected; it is skipped.")
		default:
			if f.begun && !f.comma {
				s.report(ProblemSyntax, s.pos, "A comma is missing between two values.")
			}
			f.begun, f.comma = true, false
			return true
		}
	}
	s.end()
	s.pop()
	return false
}

// outer reports whether c closes anything that is open.
func (s *jsonScan) outer(c byte) bool {
	if c == ']' {
		return s.arrays > 0
	}
	return len(s.frames) > s.arrays
}

// commas passes over commas that part nothing, many at once.
func (s *jsonScan) commas() {
	s.report(ProblemSyntax, s.pos, "A comma separates nothing; it is skipped.")
	for s.pos < len(s.doc) && (s.doc[s.pos] == ',' || s.doc[s.pos] == ' ' || s.doc[s.pos] == '\n') {
		s.pos++
	}
}

// stray passes over a character that means nothing here, as often as it stands there.
func (s *jsonScan) stray(message string) {
	s.report(ProblemSyntax, s.pos, message)
	c := s.doc[s.pos]
	for s.pos < len(s.doc) && s.doc[s.pos] == c {
		s.pos++
	}
}

// element goes to the next element of the array that is open; value then reads it. At
// the end of the array it is false.
func (s *jsonScan) element() bool {
	f := &s.frames[len(s.frames)-1]
	begun := f.begun
	if !s.next(']') {
		return false
	}
	if begun {
		f.index++
	}
	return true
}

// key gives the name of the next member of the object that is open; value then reads
// what it has. At the end of the object it is false.
func (s *jsonScan) key() (string, bool) {
	f := &s.frames[len(s.frames)-1]
	for s.next('}') {
		switch c := s.doc[s.pos]; {
		case c == '"':
			f.key = s.quoted()
		case c == '\'' || c == '`':
			f.key = s.wrongQuotes(c)
		case c == '{' || c == '[':
			s.report(ProblemSyntax, s.pos, "An object contains a value without a name; it is skipped.")
			s.skip()
			continue
		default:
			s.report(ProblemSyntax, s.pos, "A name has no quotes.")
			if f.key = s.bare(":,}]{[\"'\n"); f.key == "" {
				continue
			}
		}
		if !s.space() {
			s.end()
			s.pop()
			return "", false
		}
		if s.doc[s.pos] == ':' {
			s.pos++
		} else {
			s.report(ProblemSyntax, s.pos, "A colon is missing after a name.")
		}
		return f.key, true
	}
	return "", false
}

// value reads the next value, of an object or array only where it begins. Where there
// is none its kind is jsonNone.
func (s *jsonScan) value() jsonValue {
	for s.space() {
		at := s.pos
		switch c := s.doc[s.pos]; {
		case c == '"':
			text := s.quoted()
			if !s.ends(s.pos) {
				text = s.unescaped(at, text)
			}
			return jsonValue{jsonString, text, at}
		case c == '{':
			if s.open(false) {
				return jsonValue{jsonObject, "", at}
			}
			return jsonValue{jsonNone, "", at}
		case c == '[':
			if s.open(true) {
				return jsonValue{jsonArray, "", at}
			}
			return jsonValue{jsonNone, "", at}
		case c == ',' || c == '}' || c == ']':
			s.report(ProblemSyntax, s.pos, "A value is missing.")
			return jsonValue{jsonNone, "", at}
		case c == ':':
			s.stray("There is one colon too many; it is skipped.")
		case c == '\'' || c == '`':
			return jsonValue{jsonString, s.wrongQuotes(c), at}
		default:
			return s.plain()
		}
	}
	s.end()
	return jsonValue{jsonNone, "", s.pos}
}

// plain reads what has no quotes: a number, true, false, null, or words that somebody
// forgot to quote.
func (s *jsonScan) plain() jsonValue {
	at := s.pos
	i := at
	for i < len(s.doc) && isJSONPlain(s.doc[i]) {
		i++
	}
	text := s.doc[at:i]
	s.pos = i
	switch text {
	case "null":
		return jsonValue{jsonNull, text, at}
	case "true", "false":
		return jsonValue{jsonBool, text, at}
	}
	if isJSONNumber(text) {
		return jsonValue{jsonNumber, text, at}
	}
	if kind, means := oddJSONWord(text); kind != jsonNone {
		if means == text {
			s.report(ProblemSyntax, at, "JSON has no number "+quote(text)+".")
		} else {
			s.report(ProblemSyntax, at, "JSON has no "+quote(text)+"; it is read as "+means+".")
		}
		return jsonValue{kind, means, at}
	}
	s.pos = at
	s.report(ProblemSyntax, at, "A text has no quotes.")
	return jsonValue{jsonString, s.bare(",}]\n"), at}
}

func isJSONPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' ||
		c == '.' || c == '-' || c == '+' || c == '_'
}

// oddJSONWord says what other languages' words, and their numbers, mean.
func oddJSONWord(text string) (kind jsonKind, means string) {
	switch strings.ToLower(text[:min(len(text), 16)]) {
	case "true":
		return jsonBool, "true"
	case "false":
		return jsonBool, "false"
	case "null", "none", "nil", "undefined":
		return jsonNull, "null"
	case "nan", "-nan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity":
		return jsonNumber, text
	}
	if repairJSONNumber(text) != "" {
		return jsonNumber, repairJSONNumber(text)
	}
	return jsonNone, ""
}

// bare reads up to one of the stops, and gives it without white space around.
func (s *jsonScan) bare(stops string) string {
	at := s.pos
	for s.pos < len(s.doc) && strings.IndexByte(stops, s.doc[s.pos]) < 0 {
		s.pos++
	}
	return strings.TrimSpace(s.doc[at:s.pos])
}

// pass leaves the object or array that value opened, unread.
func (s *jsonScan) pass(v jsonValue) {
	if v.kind != jsonObject && v.kind != jsonArray {
		return
	}
	s.pop()
	if s.pos = v.at; !s.skip() {
		s.end()
	}
}

// skip skips the object or array at pos without reporting problems. It returns false if
// the document ends within the value.
func (s *jsonScan) skip() bool {
	depth := 0
	for i := s.pos; i < len(s.doc); {
		switch s.doc[i] {
		case '"':
			i = afterJSONString(s.doc, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.pos = i + 1
				return true
			}
		case '/':
			if i+1 < len(s.doc) && (s.doc[i+1] == '/' || s.doc[i+1] == '*') {
				i = afterJSONComment(s.doc, i)
				continue
			}
		}
		i++
	}
	s.pos = len(s.doc)
	return false
}

// jsonSample is text for a message, shortened.
func jsonSample(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
