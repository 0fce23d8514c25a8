package feed

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file and jsonstring.go read JSON in one pass, including the invalid JSON that the web
// contains (comments, missing or extra commas, wrong quotes, a missing end and so on). Each repair
// is reported. Strings without escapes are substrings of the document.

// jsonKind is the type of a value.
type jsonKind uint8

const (
	jsonNone   jsonKind = iota // a missing or skipped value
	jsonNull                   // null
	jsonBool                   // true or false
	jsonNumber                 // text is the number as written
	jsonString                 // text is decoded
	jsonObject                 // opened: read it with key
	jsonArray                  // opened: read it with element
)

// jsonValue is a scalar, or the start of an object or array.
type jsonValue struct {
	kind jsonKind
	text string // text of a scalar; "" for an object or array
	at   int    // offset of the value in the document
}

// jsonFrame is an open object or array.
type jsonFrame struct {
	array bool
	begun bool   // the first member or element has been read
	comma bool   // a comma was read since the last value
	key   string // name of the current member
	index int    // index of the current element, from 0
}

// jsonScan reads one value after the other. value returns a scalar, or opens an object or array.
// Then key reads the members of the object, or element the elements of the array.
type jsonScan struct {
	doc    string
	pos    int
	depth  int // maximum number of open objects and arrays
	frames []jsonFrame
	arrays int    // number of open arrays in frames
	arena  []byte // buffer for decoded texts, see decode
	ended  bool   // the document ended inside a value
	sure   int    // before this offset, no string has unescaped quotes; see unescaped
	report func(kind string, offset int, message string)
}

// path returns the path of the current value, such as items[3].date_published.
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

// space skips white space and comments, and reports whether anything follows.
func (s *jsonScan) space() bool {
	for s.pos < len(s.doc) {
		switch c := s.doc[s.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			s.pos++
			for s.pos+8 <= len(s.doc) && word(s.doc, s.pos) == 0x2020202020202020 { // skip indentation eight bytes at a time
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
			r, n := utf8.DecodeRuneInString(s.doc[s.pos:])
			if !unicode.IsSpace(r) && r != '\ufeff' && r != '\u200b' {
				return true
			}
			s.report(ProblemSyntax, s.pos, "There is white space between values that JSON does not allow; it is skipped.")
			s.pos += n
		default:
			return true
		}
	}
	return false
}

// afterJSONComment returns the offset after the comment at i.
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

// end reports that the document is incomplete. It reports only once.
func (s *jsonScan) end() {
	if !s.ended {
		s.ended = true
		s.report(ProblemTruncated, len(s.doc), "The document is incomplete; the part up to its end is read.")
	}
}

// open opens the object or array at pos. It skips a value that is nested too deeply, and returns
// false.
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

// next moves to the next member or element. At the end of the object or array, it moves behind
// the end and returns false.
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

// outer reports whether c would close any of the open objects or arrays.
func (s *jsonScan) outer(c byte) bool {
	if c == ']' {
		return s.arrays > 0
	}
	return len(s.frames) > s.arrays
}

// commas skips commas that separate nothing. It reports them once.
func (s *jsonScan) commas() {
	s.report(ProblemSyntax, s.pos, "A comma separates nothing; it is skipped.")
	for s.pos < len(s.doc) && (s.doc[s.pos] == ',' || s.doc[s.pos] == ' ' || s.doc[s.pos] == '\n') {
		s.pos++
	}
}

// stray skips a meaningless character and its repetitions.
func (s *jsonScan) stray(message string) {
	s.report(ProblemSyntax, s.pos, message)
	c := s.doc[s.pos]
	for s.pos < len(s.doc) && s.doc[s.pos] == c {
		s.pos++
	}
}

// element moves to the next element of the open array, which value then reads. At the end of the
// array it returns false.
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

// key returns the name of the next member of the open object; value then reads the member's value.
// At the end of the object it returns false.
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

// value reads the next scalar, or the start of an object or array. If the value is missing, its
// kind is jsonNone.
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

// plain reads a value without quotes: a number, true, false, null, or a text whose quotes are
// missing.
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
	case "None", "undefined":
		s.report(ProblemSyntax, at, "JSON has no "+quote(text)+"; it is read as null.")
		return jsonValue{jsonNull, "null", at}
	}
	if text != "" && text[0] <= '9' && json.Valid([]byte(text)) {
		return jsonValue{jsonNumber, text, at}
	}
	s.pos = at
	s.report(ProblemSyntax, at, "A text has no quotes.")
	return jsonValue{jsonString, s.bare(",}]\n"), at}
}

func isJSONPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' ||
		c == '.' || c == '-' || c == '+' || c == '_'
}

// bare reads up to one of the characters in stops, and returns the text without surrounding
// white space.
func (s *jsonScan) bare(stops string) string {
	at := s.pos
	for s.pos < len(s.doc) && strings.IndexByte(stops, s.doc[s.pos]) < 0 {
		s.pos++
	}
	return strings.TrimSpace(s.doc[at:s.pos])
}

// pass skips the object or array that value opened.
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

// jsonSample shortens text for a message.
func jsonSample(text string) string {
	const limit = 40
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
