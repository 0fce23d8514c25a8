package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// The builder writes the allowed part of a text so that every element is closed,
// by the rules that browsers read by: which elements end which, what a table needs,
// what goes on after a paragraph. A parser has nothing left to repair in it, and it
// is repairing that makes markup mean something else the second time, or grow.

// builder is one run over a text.
type builder struct {
	z       *Sanitizer
	out     []byte
	stack   []open
	pending []open // formatting that goes on, in the order of opening; a nil element is a wall
	seq     int
	credit  int // bytes that may still be written again for formatting that goes on
	silent  int // open elements of which the text is dropped
	skip    string
	fresh   bool // the last token was the start of a pre
	preAt   int  // where the content of the last pre begins
}

// open is an element that has begun.
type open struct {
	e     *element
	tag   string // how it was begun, of formatting
	seq   int
	ended bool // it ends as soon as what is in it does
}

// balance gives the allowed part of s, nested properly.
func (z *Sanitizer) balance(s string) string {
	// Readers that know CDATA show what is in it; to a browser it is a comment as far
	// as the first ">". The words decide.
	s = strings.ReplaceAll(s, "<![CDATA[", "&lt;![CDATA[")
	if i := comparison(s); i >= 0 {
		s = s[:i] + "&lt;" + s[i+1:]
	}
	buf := z.getBuffer(len(s) + len(s)/8)
	b := builder{z: z, out: buf.b, credit: len(s) + 4096, preAt: -1}
	defer func() {
		buf.b = b.out
		z.putBuffer(buf)
	}()
	t := html.NewTokenizer(strings.NewReader(s))
	for {
		switch t.Next() {
		case html.ErrorToken:
			b.popTo(0)
			return string(b.out)
		case html.TextToken:
			if b.silent == 0 && b.skip == "" {
				b.text(string(t.Text()))
			}
			b.fresh = false
		case html.StartTagToken:
			b.token(t, false)
		case html.SelfClosingTagToken:
			b.token(t, isClosed(t.Raw()))
		case html.EndTagToken:
			name, _ := t.TagName()
			b.fresh = false
			b.end(string(name))
		}
	}
}

// comparison is where the last "<" of s is, if it begins no tag though a name follows:
// nothing ends it, and there are no attributes that were cut off with it, as in "a<b".
// It is −1 for none.
func comparison(s string) int {
	i := strings.LastIndexByte(s, '<')
	if i < 0 || i+1 == len(s) || s[i+1]|0x20 < 'a' || s[i+1]|0x20 > 'z' || strings.ContainsAny(s[i:], ">=\"") {
		return -1
	}
	return i
}

// isClosed says whether a tag that ends in "/>" is meant to be an element without
// content: in <a href=http://example.com/> the slash is of the address.
func isClosed(raw []byte) bool {
	if n := len(raw); n >= 3 {
		c := raw[n-3]
		return c <= ' ' || c == '"' || c == '\'' || bytes.IndexByte(raw, '=') < 0
	}
	return false
}

// token takes in a start tag.
func (b *builder) token(t *html.Tokenizer, closed bool) {
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
		return
	case "applet":
		if !closed {
			b.silent++
		}
		return
	case "iframe", "noembed", "noframes", "noscript":
		t.NextIsNotRawText() // what is in them is meant for readers like us
		if name == "iframe" && b.skip == "" && b.silent == 0 {
			b.frame(attributesOf(t, more))
		}
		return
	case "title", "textarea":
		if closed || b.inside(foreign) {
			t.NextIsNotRawText()
		}
	}
	if b.skip != "" {
		return
	}
	b.start(name, attributesOf(t, more), closed)
}

// attributesOf gives the attributes of the current tag one by one; more says that there
// are any.
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

// top is the element that is open innermost, nil for none.
func (b *builder) top() *element {
	if len(b.stack) == 0 {
		return nil
	}
	return b.stack[len(b.stack)-1].e
}

// inside says whether the innermost open element has one of the traits.
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
				return // it could hold no rows: what is in it gets a cell of its own
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

// openWith begins e where it is allowed, and ends it at once if it is closed.
func (b *builder) openWith(e *element, next func() (string, string, bool), closed bool) {
	levels := 1
	if e.name == "table" {
		levels += 3 // its section, row and cell must find room too
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

// endTop ends the innermost element for good.
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
	b.out = b.z.appendTag(b.out, e, next)
	if e.is(void) {
		return
	}
	b.seq++
	o := open{e: e, seq: b.seq}
	if e.is(formatting) {
		o.tag = string(b.out[at:])
	}
	b.stack = append(b.stack, o)
	if e.is(boundary) && e.is(tablePart) {
		b.pending = append(b.pending, open{})
	}
	if e.name == "pre" {
		b.fresh, b.preAt = true, len(b.out)
	}
}

// text takes in text between tags.
func (b *builder) text(s string) {
	s = dropControls(s)
	if b.fresh { // the line end after <pre> is not part of it
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

// space takes in text of white space only. It needs no cell and no formatting.
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

// end takes in an end tag.
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

// endElement ends the innermost open element of e's name, or heading of any size.
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

// popTo ends elements until n are open. Formatting goes on after what it ends with,
// unless it has been ended itself.
func (b *builder) popTo(n int) {
	for len(b.stack) > n || len(b.stack) > 0 && b.stack[len(b.stack)-1].ended {
		o := b.stack[len(b.stack)-1]
		b.stack = b.stack[:len(b.stack)-1]
		b.out = append(append(append(b.out, "</"...), o.e.name...), '>')
		switch {
		case o.e.is(boundary) && o.e.is(tablePart):
			b.pending = b.pending[:b.marker()]
		case o.e.is(formatting) && !o.ended:
			b.remember(o)
		}
	}
}

// wall is where the last wall in pending is, 0 for none.
func (b *builder) marker() int {
	for i := len(b.pending) - 1; i >= 0; i-- {
		if b.pending[i].e == nil {
			return i
		}
	}
	return 0
}

// sinceWall is where the formatting begins that can go on here.
func (b *builder) afterMarker() int {
	i := b.marker()
	if i < len(b.pending) && b.pending[i].e == nil {
		i++
	}
	return i
}

// mostPending is how many elements of formatting go on after an element.
const maxPending = 8

// remember notes that o goes on.
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

// forget ends formatting that would have gone on, and says whether there was any of
// this name.
func (b *builder) forget(e *element) bool {
	for i := len(b.pending) - 1; i >= b.afterMarker(); i-- {
		if b.pending[i].e == e {
			b.pending = slices.Delete(b.pending, i, i+1)
			return true
		}
	}
	return false
}

// reopen begins the formatting again that goes on.
func (b *builder) reopen() {
	from := b.afterMarker()
	if from == len(b.pending) {
		return
	}
	for _, o := range b.pending[from:] {
		if b.credit -= len(o.tag); b.credit < 0 || len(b.stack) >= maxDepth {
			break
		}
		b.out = append(b.out, o.tag...)
		b.seq++
		o.seq = b.seq
		b.stack = append(b.stack, o)
	}
	b.pending = b.pending[:from]
}
