package scan

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// These limits apply to the entities that a document declares.
const (
	maxEntities  = 1000
	maxEntity    = 4096    // maximum bytes of a value
	maxExpanded  = 1 << 20 // total bytes of expanded values per document
	maxReference = 40      // maximum bytes of a reference, including the ;
)

// Decode replaces the references in raw text. Without references it returns raw itself. It keeps an
// & that begins no reference, and reports a problem.
func (r *Reader) Decode(raw string) string {
	i := strings.IndexByte(raw, '&')
	if i < 0 {
		return r.newlines(raw)
	}
	buf := r.alloc(len(raw))
	for {
		buf = append(buf, raw[:i]...)
		raw = raw[i:]
		n := 0
		if buf, n = r.reference(buf, raw); n == 0 {
			n = 1
			for r.mute && n+1 < len(raw) && raw[n] == '&' && raw[n+1] == '&' { // read a run of & in one step
				n++
				r.problem(Entity, r.tok)
			}
			buf = append(buf, raw[:n]...)
			r.problem(Entity, r.tok, "A & is not escaped: \"", sample(raw), "\". It is read as text; write &amp; instead.")
		}
		raw = raw[n:]
		if i = strings.IndexByte(raw, '&'); i < 0 {
			break
		}
	}
	buf = append(buf, raw...)
	if r.cr {
		buf = oneNewline(buf)
	}
	return r.commit(buf)
}

// reference appends the replacement of the reference at the beginning of raw and returns the length
// of the reference, 0 if there is none.
func (r *Reader) reference(buf []byte, raw string) ([]byte, int) {
	if len(raw) < 3 {
		return buf, 0
	}
	switch c := raw[1]; { // nearly all references are the five of XML
	case c == 'l' && strings.HasPrefix(raw, "&lt;"):
		return append(buf, '<'), 4
	case c == 'g' && strings.HasPrefix(raw, "&gt;"):
		return append(buf, '>'), 4
	case c == 'a' && strings.HasPrefix(raw, "&amp;"):
		return append(buf, '&'), 5
	case c == 'q' && strings.HasPrefix(raw, "&quot;"):
		return append(buf, '"'), 6
	case c == 'a' && strings.HasPrefix(raw, "&apos;"):
		return append(buf, '\''), 6
	case c <= ' ' || c == '&':
		return buf, 0
	case c == '#':
		out, n := numeric(buf, raw)
		if n > 0 && raw[n-1] != ';' {
			r.problem(Entity, r.tok, "The reference ", raw[:n], " has no ; at its end; it is accepted.")
		}
		if c, _ := utf8.DecodeLastRune(out); n > 0 && c == utf8.RuneError {
			r.problem(Character, r.tok, "There is no character ", raw[:n], " in XML; it became U+FFFD.")
		}
		return out, n
	}
	head := raw[:min(len(raw), maxReference)]
	end := strings.IndexByte(head, ';')
	if end < 2 {
		return r.unterminated(buf, head)
	}
	if value, ok := r.entities[raw[1:end]]; ok {
		if r.expanded += len(value); r.expanded > maxExpanded {
			r.problem(Limit, r.tok, "The document's own entities expand to too much text; ", raw[:end+1], " is not replaced.")
			return append(buf, raw[:end+1]...), end + 1
		}
		return append(buf, value...), end + 1
	}
	for k := 1; k < end; k++ {
		if !isAlnum(raw[k]) {
			return r.unterminated(buf, head)
		}
	}
	value := html.UnescapeString(raw[:end+1])
	if strings.HasSuffix(value, ";") && raw[1:end] != "semi" || len(value) > end {
		return buf, 0 // unknown, or only a prefix of the name is known
	}
	if !declared(r.docType, value) {
		r.problem(Entity, r.tok, "&", raw[1:end], "; is an entity of HTML, not of XML; it is accepted.")
	}
	return append(buf, value...), end + 1
}

// declared reports whether the document type declares an entity of HTML with this value. The DTD of
// Netscape's RSS 0.91 declares the letters and signs of Latin 1.
//
// spec:rss091-1999#latin-1-entities
func declared(docType, value string) bool {
	c, _ := utf8.DecodeRuneInString(value)
	return c <= 0xff && strings.Contains(docType, "rss-0.91.dtd")
}

// unterminated decodes a reference without ; that white space follows and whose name authors
// commonly write for its character: "&copy 2004", "&nbsp ".
func (r *Reader) unterminated(buf []byte, raw string) ([]byte, int) {
	n := 1
	for n < len(raw) && isAlnum(raw[n]) {
		n++
	}
	if n < 3 || n == len(raw) || raw[n] != ' ' && raw[n] != '\n' && raw[n] != '\t' && raw[n] != '\r' {
		return buf, 0
	}
	name := raw[:n]
	value := html.UnescapeString(name) // as browsers do, accept the names of HTML 2 without ;
	if value == name && isTypographic(raw[1:n]) {
		value = html.UnescapeString(name + ";")
	}
	if len(value) >= n || value[0] == '&' && name != "&amp" && name != "&AMP" || utf8.RuneCountInString(value) != 1 {
		return buf, 0 // unknown, or only a prefix of the name is known
	}
	r.problem(Entity, r.tok, "The reference ", name, " has no ; at its end; it is accepted.")
	return append(buf, value...), n
}

func isAlnum(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// isTypographic reports whether name is a typographic entity that is not in HTML 2 and not an
// ordinary word.
func isTypographic(name string) bool {
	switch name {
	case "apos", "bdquo", "bull", "euro", "hellip", "ldquo", "lsaquo", "lsquo", "mdash", "ndash", "oelig", "OElig",
		"rdquo", "rsaquo", "rsquo", "sbquo", "trade":
		return true
	}
	return false
}

// checkReferences reports the first reference unknown to XML in markup that is returned unchanged.
func (r *Reader) checkReferences(markup string) {
	for i := strings.IndexByte(markup, '&'); i >= 0; i = strings.IndexByte(markup, '&') {
		markup = markup[i:]
		switch {
		case strings.HasPrefix(markup, "&amp;"), strings.HasPrefix(markup, "&lt;"), strings.HasPrefix(markup, "&gt;"),
			strings.HasPrefix(markup, "&quot;"), strings.HasPrefix(markup, "&apos;"), strings.HasPrefix(markup, "&#"):
		default:
			r.problem(Entity, r.tok, "The markup contains a reference unknown to XML: \"", sample(markup), "\". It is unchanged.")
			return
		}
		markup = markup[1:]
	}
}

// numeric appends the character of &#…; or &#x…; and returns the length of the reference, 0 if
// there is none.
func numeric(buf []byte, raw string) ([]byte, int) {
	i, hex := 2, false
	if len(raw) > 2 && raw[2]|0x20 == 'x' {
		i, hex = 3, true
	}
	begin, n := i, 0
	for ; i < len(raw) && i < begin+10; i++ {
		d := int(raw[i])
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case hex && 'a' <= d|0x20 && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default:
			d = -1
		}
		if d < 0 {
			break
		}
		if hex {
			n = n<<4 | d
		} else {
			n = n*10 + d
		}
	}
	if i == begin || n > 1<<30 {
		return buf, 0
	}
	if i < len(raw) && raw[i] == ';' {
		i++
	} else if hex {
		return buf, 0
	}
	return utf8.AppendRune(buf, character(n)), i
}

// character returns the character with number n. As in browsers, the numbers 128 to 159 are read as
// windows-1252. The result is U+FFFD for a number that XML does not allow.
func character(n int) rune {
	const windows = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	switch {
	case n >= 0x80 && n <= 0x9f:
		for _, c := range windows {
			if n == 0x80 {
				return c
			}
			n--
		}
	case n == 0 || n > utf8.MaxRune || n >= 0xd800 && n <= 0xdfff || n == 0xfffe || n == 0xffff:
		return utf8.RuneError
	case n < 0x20 && n != '\t' && n != '\n' && n != '\r':
		return utf8.RuneError
	}
	return rune(n)
}

// newlines converts all line ends to \n, as XML requires.
func (r *Reader) newlines(s string) string {
	if !r.cr || strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return r.commit(oneNewline(append(r.alloc(len(s)), s...)))
}

// oneNewline is like newlines for a byte slice, in place.
func oneNewline(b []byte) []byte {
	n := 0
	for i := 0; i < len(b); n++ {
		k := bytes.IndexByte(b[i:], '\r')
		if k < 0 {
			return b[:n+copy(b[n:], b[i:])]
		}
		n += copy(b[n:], b[i:i+k])
		b[n] = '\n'
		if i += k + 1; i < len(b) && b[i] == '\n' {
			i++
		}
	}
	return b[:n]
}

// alloc returns an empty slice with capacity for n bytes at the end of the arena. A new chunk has a
// quarter of the size of the unread document, so that there are few chunks and little unused
// memory.
func (r *Reader) alloc(n int) []byte {
	if cap(r.arena)-len(r.arena) < n {
		r.arena = make([]byte, 0, max(n, (len(r.doc)-r.pos)/4, 256))
	}
	return r.arena[len(r.arena):]
}

// commit converts a slice of alloc, with the appended bytes, to a string.
func (r *Reader) commit(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if n := len(r.arena); cap(b) == cap(r.arena)-n && n+len(b) <= cap(r.arena) {
		r.arena = r.arena[:n+len(b)]
	}
	return unsafe.String(unsafe.SliceData(b), len(b)) // safe: the bytes are not modified later, because alloc returns the memory after them
}

// sample returns the beginning of s for a message.
func sample(s string) string {
	s = s[:min(len(s), 20)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// doctype skips <!DOCTYPE …[…]> and stores the entities that it declares. It reads nothing outside
// the document.
func (r *Reader) doctype() {
	doc, i, depth := r.doc, r.pos+len("<!DOCTYPE"), 0
	for i < len(doc) {
		switch c := doc[i]; {
		case c == '[':
			if r.endless { // an earlier document type has no end; do not search again
				i = len(doc)
				continue
			}
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			r.docType = doc[r.pos:i]
			r.pos = i + 1
			return
		case (c == '"' || c == '\''):
			if n := strings.IndexByte(doc[i+1:], c); n >= 0 && n < maxEntity {
				i += n + 1
			}
		case c == '<' && depth > 0 && strings.HasPrefix(doc[i:], "<!--"):
			if n := r.find("-->", i+4); n >= 0 {
				i = n + 2
			}
		case c == '<' && depth > 0 && strings.HasPrefix(doc[i:], "<!ENTITY"):
			i = r.declare(i+len("<!ENTITY")) - 1
		case c == '<' && depth <= 0: // the > is missing
			r.problem(Markup, r.pos, "The document type does not end.")
			r.pos = i
			return
		}
		i++
	}
	r.endless = true
	r.problem(Markup, r.pos, "The document type does not end; it is ignored.")
	r.pos += len("<!DOCTYPE")
	if n := r.find(">", r.pos); n >= 0 {
		r.pos = n + 1
	}
}

// DocType returns the document type declaration as written, without its final >; "" if there is
// none.
func (r *Reader) DocType() string { return r.docType }

// declare stores the entity declared after "<!ENTITY" and returns the offset after it.
func (r *Reader) declare(i int) int {
	doc := r.doc
	for i < len(doc) && space(doc[i]) {
		i++
	}
	begin := i
	for i < len(doc) && !space(doc[i]) && doc[i] != '>' && doc[i] != '"' && doc[i] != '\'' {
		i++
	}
	name := doc[begin:i]
	for i < len(doc) && space(doc[i]) {
		i++
	}
	if name == "" || name == "%" || i >= len(doc) || doc[i] != '"' && doc[i] != '\'' {
		return i
	}
	n := strings.IndexByte(doc[i+1:min(len(doc), i+2+maxEntity)], doc[i])
	if n < 0 || len(r.entities) >= maxEntities {
		return i + 1
	}
	if r.entities == nil {
		r.entities = make(map[string]string)
	}
	value := doc[i+1 : i+1+n]
	if _, ok := r.entities[name]; !ok {
		r.entities[name] = strings.Clone(r.Decode(value)) // Decode expands entities that are already declared
	}
	return i + 1 + n + 1
}
