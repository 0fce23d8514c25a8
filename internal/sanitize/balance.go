package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// The builder writes the allowed part of a text and closes every element by the rules of browsers.
// The rules define which elements end other elements, which parts a table needs, and which
// formatting continues after a paragraph. A parser then has nothing to repair. Repairs could change
// the meaning of the markup, or make the markup longer, each time a program parses it.

// builder holds the state of one run over a text.
type builder struct {
	z       *Sanitizer
	out     []byte
	stack   []open
	pending []open // formatting elements to reopen, in the order of opening; an entry with a nil element is a marker
	seq     int
	credit  int // bytes that reopened formatting may still add
	silent  int // number of open elements whose text is dropped
	skip    string
	fresh   bool // the last token was a <pre> start tag
	preAt   int  // index in out where the content of the last <pre> begins; -1: none
	drawn   bool // the current svg, or the last one, has a shape
}

// open is an open element.
type open struct {
	e        *element
	from, to int // the start tag is builder.out[from:to]
	seq      int
	ended    bool // the element has an end tag in the source, and ends after its last open child
}

// balance returns the allowed part of s, properly nested.
func (z *Sanitizer) balance(s string) string {
	s = unambiguous(s)
	buf := z.buffers.get(len(s) + len(s)/8)
	b := builder{z: z, out: buf.b, credit: len(s) + formattingCredit, preAt: -1}
	defer func() {
		buf.b = b.out
		z.buffers.put(buf)
	}()
	b.read(s, nil)
	b.popTo(0)
	return string(b.out)
}

// formattingCredit plus the length of the text is the maximum number of bytes that reopened
// formatting adds to the output.
const formattingCredit = 4096

// unambiguous escapes two constructs in s that parsers interpret differently: CDATA sections, and a
// last "<" that comparison finds.
func unambiguous(s string) string {
	// XML parsers show the content of CDATA sections; browsers treat a section as a comment up to
	// the first ">". Escape the start of each section, so that the content counts as text.
	s = strings.ReplaceAll(s, "<![CDATA[", "&lt;![CDATA[")
	if i := comparison(s); i >= 0 {
		s = s[:i] + "&lt;" + s[i+1:]
	}
	return s
}

// read processes the tokens of s until enough returns true, and returns the length of the processed
// part. It calls enough after each token, except after a start tag for which token returns false.
// If enough is nil, read processes all of s.
func (b *builder) read(s string, enough func() bool) (n int) {
	t := html.NewTokenizer(strings.NewReader(s))
	for {
		kind := t.Next()
		n += len(t.Raw())
		whole := true
		switch kind {
		case html.ErrorToken:
			return len(s)
		case html.TextToken:
			if b.silent == 0 && b.skip == "" {
				b.text(string(t.Text()))
			}
			b.fresh = false
		case html.StartTagToken:
			whole = b.token(t, false)
		case html.SelfClosingTagToken:
			whole = b.token(t, isClosed(t.Raw()))
		case html.EndTagToken:
			name, _ := t.TagName()
			b.fresh = false
			b.end(string(name))
		}
		if whole && enough != nil && enough() {
			return n
		}
	}
}

// comparison returns the index of the last "<" of s if it is text, not a tag: a name follows, but
// no ">" and no attributes, as in "a<b". It returns -1 if there is none.
func comparison(s string) int {
	i := strings.LastIndexByte(s, '<')
	if i < 0 || i+1 == len(s) || s[i+1]|0x20 < 'a' || s[i+1]|0x20 > 'z' || strings.ContainsAny(s[i:], ">=\"") {
		return -1
	}
	return i
}

// isClosed reports whether a tag that ends in "/>" closes its element. In <a
// href=http://example.com/> the slash belongs to the URL.
func isClosed(raw []byte) bool {
	if n := len(raw); n >= 3 {
		c := raw[n-3]
		return c <= ' ' || c == '"' || c == '\'' || bytes.IndexByte(raw, '=') < 0
	}
	return false
}

// token processes a start tag. It returns false if the tokenizer could have special rules for the
// text after the tag.
func (b *builder) token(t *html.Tokenizer, closed bool) bool {
	raw, more := t.TagName()
	name := string(raw)
	b.fresh = false
	switch name {
	case "script", "style":
		if closed || b.inside(foreign) && name == "style" {
			t.NextIsNotRawText()
		}
		if !closed {
			b.silent++
		}
		return false
	case "applet":
		if !closed {
			b.silent++
		}
		return false
	case "iframe", "noembed", "noframes", "noscript":
		t.NextIsNotRawText() // read their content as markup; it is for programs without scripts or frames
		if name == "iframe" && b.skip == "" && b.silent == 0 {
			b.frame(attributesOf(t, more))
		}
		return false
	case "title", "textarea":
		if closed || b.inside(foreign) {
			t.NextIsNotRawText()
		}
	}
	if b.skip != "" {
		return false
	}
	b.start(name, attributesOf(t, more), closed)
	return ordinaries.get(name) != nil
}

// attributesOf returns an iterator over the attributes of the current tag. more reports whether
// there are any.
func attributesOf(t *html.Tokenizer, more bool) func() (key, value string, more bool) {
	return func() (string, string, bool) {
		if !more {
			return "", "", false
		}
		var k, v []byte
		k, v, more = t.TagAttr()
		return string(k), string(v), more
	}
}

// top returns the innermost open element, nil if there is none.
func (b *builder) top() *element {
	if len(b.stack) == 0 {
		return nil
	}
	return b.stack[len(b.stack)-1].e
}

// inside reports whether the innermost open element has one of the traits.
func (b *builder) inside(t trait) bool { return len(b.stack) > 0 && b.top().is(t) }

// start begins an element by its name.
func (b *builder) start(name string, next func() (string, string, bool), closed bool) {
	if b.inside(foreign) {
		if b.startForeign(name, next, closed) {
			return
		}
	}
	e := elements[name]
	if e == nil {
		switch name {
		case "svg", "math":
			e = elements[name+" "+name]
		default:
			return
		}
	}
	if e.is(tablePart) {
		if !b.openTableContext(e) {
			return
		}
	} else {
		if b.inTable() {
			if e.name != "table" && !e.is(void) {
				return // skip the tag, because e cannot contain rows; its content gets a cell of its own
			}
			if e.name == "table" {
				b.popTo(b.lastTable())
			} else {
				b.openTableContext(elements["td"])
				b.open(elements["td"], nil)
			}
		}
		b.endOthers(e)
	}
	b.openWith(e, next, closed)
}

// openWith begins e if the nesting is not too deep. If closed is true, it also ends e.
func (b *builder) openWith(e *element, next func() (string, string, bool), closed bool) {
	levels := 1
	if e.name == "table" {
		levels += 3 // the section, the row and the cell that the table needs
	}
	if len(b.stack)+levels > maxDepth && !e.is(void) {
		return
	}
	if !e.is(block|special) || e.is(void) && !e.is(tablePart) {
		b.reopen()
	}
	b.open(e, next)
	if closed && !e.is(void) {
		b.endTop()
	}
}

// endTop ends the innermost element; its formatting does not continue.
func (b *builder) endTop() {
	b.stack[len(b.stack)-1].ended = true
	b.popTo(len(b.stack) - 1)
}

// open writes the start tag of e.
func (b *builder) open(e *element, next func() (string, string, bool)) {
	if next == nil {
		next = func() (string, string, bool) { return "", "", false }
	}
	at := len(b.out)
	switch {
	case e.name == "svg" && !b.inside(svg):
		b.drawn, next = false, withSize(next)
	case e.is(svg) && isShape(e.name):
		b.drawn = true
	}
	b.out = b.z.appendTag(b.out, e, next)
	if e.is(void) {
		return
	}
	b.seq++
	b.stack = append(b.stack, open{e: e, from: at, to: len(b.out), seq: b.seq})
	if e.is(boundary) && e.is(tablePart) {
		b.pending = append(b.pending, open{})
	}
	if e.name == "pre" {
		b.fresh, b.preAt = true, len(b.out)
	}
}

// text processes text between tags.
func (b *builder) text(s string) {
	s = dropControls(s)
	if b.fresh { // the line end after <pre> is not content
		s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	}
	if strings.Trim(s, " \t\n\r\f") == "" {
		b.space(s)
		return
	}
	if b.inTable() {
		b.openTableContext(elements["td"])
		b.open(elements["td"], nil)
	}
	if !b.inside(foreign) {
		b.reopen()
	}
	b.writeText(s)
}

// space processes text that is only white space. It opens no table cell and reopens no formatting
// elements.
func (b *builder) space(s string) {
	if s != "" {
		b.writeText(s)
	}
}

func (b *builder) writeText(s string) {
	if b.preAt == len(b.out) && strings.HasPrefix(s, "\n") {
		b.out = append(b.out, '\n')
	}
	b.out = appendText(b.out, s)
}

// end processes an end tag.
func (b *builder) end(name string) {
	switch name {
	case "script", "style", "applet":
		b.silent = max(0, b.silent-1)
		return
	case b.skip:
		b.skip = ""
		return
	case "svg", "math":
		b.skip = ""
	}
	if b.skip != "" || b.silent > 0 && elements[name] == nil {
		return
	}
	if name == "br" {
		b.start("br", func() (string, string, bool) { return "", "", false }, false)
		return
	}
	if b.inside(foreign) && b.endForeign(name) {
		return
	}
	e := elements[name]
	switch {
	case e == nil || e.is(void):
	case e.is(tablePart) || e.name == "table":
		b.endTable(e)
	default:
		b.endElement(e)
	}
}

// endElement ends the innermost open element of e's name. If e is a heading, it ends the innermost
// open heading.
func (b *builder) endElement(e *element) {
	if e.is(formatting) && b.forget(e) {
		return
	}
	across := false
	for i := len(b.stack) - 1; i >= 0; i-- {
		at := &b.stack[i]
		switch {
		case at.e == e || e.is(heading) && at.e.is(heading):
			if across && !e.is(special) {
				at.ended = true
				return
			}
			at.ended = true
			b.popTo(i)
			return
		case at.e.is(boundary):
			return
		case e.name == "li" && (at.e.name == "ul" || at.e.name == "ol"):
			return
		}
		across = across || at.e.is(special)
	}
}

// popTo closes elements until n elements are open and the innermost open element has no end tag
// yet. Formatting elements without an end tag are reopened later.
func (b *builder) popTo(n int) {
	for len(b.stack) > n || len(b.stack) > 0 && b.stack[len(b.stack)-1].ended {
		o := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		if o.e.name == "svg" && !b.drawn && !b.inside(svg) { // an empty drawing would leave a hole in the text
			b.out = b.out[:o.from]
			continue
		}
		b.out = append(append(append(b.out, "</"...), o.e.name...), '>')
		switch {
		case o.e.is(boundary) && o.e.is(tablePart):
			b.pending = b.pending[:b.marker()]
		case o.e.is(formatting) && !o.ended:
			b.remember(o)
		}
	}
}

// marker returns the index of the last marker in pending, 0 if there is none.
func (b *builder) marker() int {
	for i := len(b.pending) - 1; i >= 0; i-- {
		if b.pending[i].e == nil {
			return i
		}
	}
	return 0
}

// afterMarker returns the index of the first formatting element that can be reopened here.
func (b *builder) afterMarker() int {
	i := b.marker()
	if i < len(b.pending) && b.pending[i].e == nil {
		i++
	}
	return i
}

// maxPending is the maximum number of formatting elements to reopen after an element.
const maxPending = 8

// remember schedules o to be reopened.
func (b *builder) remember(o open) {
	from := b.afterMarker()
	if len(b.pending)-from >= maxPending {
		return
	}
	at := len(b.pending)
	for at > from && b.pending[at-1].seq > o.seq {
		at--
	}
	b.pending = slices.Insert(b.pending, at, o)
}

// forget removes scheduled formatting of e's name, and reports whether there was any.
func (b *builder) forget(e *element) bool {
	for i := len(b.pending) - 1; i >= b.afterMarker(); i-- {
		if b.pending[i].e == e {
			b.pending = slices.Delete(b.pending, i, i+1)
			return true
		}
	}
	return false
}

// reopen reopens the scheduled formatting.
func (b *builder) reopen() {
	from := b.afterMarker()
	if from == len(b.pending) {
		return
	}
	for _, o := range b.pending[from:] {
		if b.credit -= o.to - o.from; b.credit < 0 || len(b.stack) >= maxDepth {
			break
		}
		b.out = append(b.out, b.out[o.from:o.to]...)
		b.seq++
		o.seq = b.seq
		b.stack = append(b.stack, o)
	}
	b.pending = b.pending[:from]
}
