package sanitize

import "strings"

// Most published markup is ordinary: well-formed, harmless, and unambiguous for all parsers. The
// fast path accepts only such markup, and writes what the builder would write. The builder
// processes all other markup: uppercase elements, unclosed or misplaced elements, unusual URLs,
// scripts with content. For attributes, the fast path uses the rules of the builder.

// maxOrdinaryDepth limits the nesting of elements in ordinary markup.
const maxOrdinaryDepth = 48

// fastPath holds the state of one run over a text.
type fastPath struct {
	z *Sanitizer
	s string
	progress
	out   []byte
	buf   *buffer // buffer of out; nil while the output equals s
	stack [maxOrdinaryDepth]place
	attrs attrList

	safe progress // last position from which the builder can continue
	b    *builder // nil until the fast path uses the builder for the first time
}

// progress is a position between two tokens.
type progress struct {
	at      int // s[:at] has been read
	done    int // the output for s[:done] is in out
	written int // length of out; set in fastPath.safe only
	depth   int
	link    bool // the position is inside a link
	table   bool // the position is inside a table
	fresh   bool // the position is right after <pre>
}

// place is an open element.
type place struct {
	is       *ordinary
	in       content
	implied  bool // the source has no tags for this element
	from, to int  // the start tag is bytes [from:to] of the output
}

// fastHTML returns what the builder would return for s. ok is false if s is not ordinary.
func (z *Sanitizer) fastHTML(s string) (out string, ok bool) {
	if len(s) > z.longest {
		return "", false
	}
	q := fastPath{z: z, s: s}
	q.stack[0].in = flow
	ok = q.read()
	out = q.end()
	return out, ok && len(out) <= z.longest
}

// end returns the output, and returns the buffer to the pool.
func (q *fastPath) end() string {
	if q.buf == nil {
		return q.s
	}
	q.out = append(q.out, q.s[q.done:]...)
	s := string(q.out)
	q.buf.b = q.out
	q.z.buffers.put(q.buf)
	return s
}

// read processes the text from the current position on, and reports whether it is ordinary. If the
// text is not ordinary, q.safe is a position before the first token that is not ordinary.
func (q *fastPath) read() bool {
	s := q.s
	afterText := false
	for q.at < len(s) {
		// A "<" that begins no tag is part of the text around it. The builder must then read the
		// whole text, so q.safe stays before the text.
		if !afterText {
			q.safe = q.progress
			q.safe.written = len(q.out)
		}
		next, i := 0, q.at
		afterText = s[i] != '<'
		switch {
		case afterText:
			next = q.text(i)
		case i+1 == len(s):
			return false
		case s[i+1] == '/':
			next = q.endTag(i)
		case s[i+1] == '!':
			next = q.comment(i)
		default:
			next = q.startTag(i)
		}
		if next <= i {
			return false
		}
		q.at = next
	}
	if !afterText {
		q.safe = q.progress
		q.safe.written = len(q.out)
	}
	return q.depth == 0
}

// replace copies the text before from unchanged, and writes with in place of s[from:to].
func (q *fastPath) replace(from, to int, with string) {
	if q.buf == nil {
		q.buf = q.z.buffers.get(len(q.s) + len(q.s)/16 + 64)
		q.out = q.buf.b
	}
	q.out = append(append(q.out, q.s[q.done:from]...), with...)
	q.done = to
}

// text reads up to the next tag and returns the index of this tag, or 0 if the text is not
// ordinary. The methods for other tokens return the index after the token, or 0.
func (q *fastPath) text(i int) int {
	s := q.s
	if c := s[i]; q.fresh && (c == '\n' || c == '\r') {
		return 0 // browsers skip a line end right after <pre>
	}
	q.fresh = false
	if q.stack[q.depth].in&(flow|phrasing) == 0 {
		return q.space(i)
	}
	for {
		i = skipPlain(s, i)
		if i == len(s) {
			return i
		}
		switch c := s[i]; c {
		case '<':
			return i
		case '>':
			q.replace(i, i+1, "&gt;")
		case '&':
			is, n, ok := reference(s[i:], false)
			if !ok {
				return 0
			}
			if is = escaped(is); s[i:i+n] != is {
				q.replace(i, i+n, is)
			}
			i += n - 1
		case '\r':
			if i+1 < len(s) && s[i+1] == '\n' {
				q.replace(i, i+1, "")
			} else {
				q.replace(i, i+1, "\n")
			}
		default:
			return 0
		}
		i++
	}
}

// escaped returns the characters of a reference, which are one or two, escaped for text.
func escaped(is string) string {
	switch is {
	case "&":
		return "&amp;"
	case "<":
		return "&lt;"
	case ">":
		return "&gt;"
	}
	return is
}

// space reads white space where text is not allowed.
func (q *fastPath) space(i int) int {
	for ; i < len(q.s); i++ {
		switch q.s[i] {
		case ' ', '\t', '\n':
		case '<':
			return i
		default:
			return 0
		}
	}
	return i
}

// comment reads a comment, which is dropped.
func (q *fastPath) comment(i int) int {
	n := commentLength(q.s[i:])
	if q.fresh || n == 0 {
		return 0
	}
	q.replace(i, i+n, "")
	return i + n
}

// commentLength returns the length of the comment at the beginning of s, 0 if parsers could
// interpret the comment differently.
func commentLength(s string) int {
	const begin, end = "<!--", "-->"
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	body := s[len(begin):]
	n := strings.IndexByte(body, '>') + 1
	if n <= len(end) || body[0] == '-' || body[n-len(end):n] != end {
		return 0
	}
	within := body[:n-len(end)]
	if strings.Contains(within, "--") || strings.HasSuffix(within, "-") || !isHarmless(within) {
		return 0
	}
	return len(begin) + n
}

// isHarmless reports whether s, which will be dropped, has no "<" and no control characters.
func isHarmless(s string) bool {
	return only(s, func(c byte) bool { return c != '<' && (c >= ' ' || c == '\n' || c == '\t') })
}

// endTag reads the end tag of the innermost open element.
func (q *fastPath) endTag(i int) int {
	rest := q.s[i+len("</"):]
	if q.stack[q.depth].implied && strings.HasPrefix(rest, "table>") {
		q.replace(i, i, "</tbody>")
		q.depth--
	}
	if q.depth == 0 {
		return q.leaveOutEnd(i)
	}
	name := q.stack[q.depth].is.e.name
	if len(rest) <= len(name) || rest[:len(name)] != name || rest[len(name)] != '>' {
		return q.leaveOutEnd(i)
	}
	q.depth--
	q.fresh = false
	switch name {
	case "a":
		q.link = false
	case "table":
		q.table = false
	}
	return i + len("</") + len(name) + len(">")
}

// leaveOutEnd reads the end tag of an element that is dropped, or that has no end tag.
func (q *fastPath) leaveOutEnd(i int) int {
	n := strings.IndexByte(q.s[i:], '>') + 1
	if q.fresh || n < len("</a>") {
		return 0
	}
	name := q.s[i+len("</") : i+n-len(">")]
	if !isLowercase(name) || name == "br" {
		return 0
	}
	if e := elements[name]; e != nil && !e.is(void) {
		return 0
	}
	q.replace(i, i+n, "")
	return i + n
}

func isLowercase(name string) bool {
	return only(name, func(c byte) bool { return 'a' <= c && c <= 'z' })
}
