// Package scan reads XML as found on the web: fast, in time proportional to its length for any
// input, and without fatal errors. Its events are balanced: every start has an end, in the right
// order. Repairs are reported as problems.
//
// Start with [New] and [Reader.Next]; read leaves with [Reader.Leaf].
//
// A [Reader] works on a UTF-8 string (see package charset) and returns substrings of this string.
// It copies only text with entities, into chunks that many texts share.
//
// Package xmlsafe reads protocol calls, which must be well-formed.
package scan

import "strings"

// Kind is the kind of an event.
type Kind uint8

// These are the kinds of events.
const (
	EOF   Kind = iota // the end; every element has ended
	Start             // start of an element: Name, Local, Space, Attrs
	End               // end of an element: Name
	Text              // text, which Reader.Chars returns
)

// These are the kinds of problems. Their values are stable.
const (
	Truncated = "truncated"
	Unclosed  = "unclosed"
	StrayEnd  = "stray-end"
	Markup    = "markup"
	Attribute = "attribute"
	Entity    = "entity"
	Character = "character"
	Junk      = "junk"
	Limit     = "limit"
)

// Options configure a Reader; zero fields mean the defaults in brackets.
type Options struct {
	Depth      int // maximum nesting [100]; deeper elements are ignored, but not their text
	Attributes int // maximum number per element [256]; further attributes are ignored
	// Space maps a namespace to the caller's number. It is called once per declaration, and once
	// with an empty uri for an undeclared prefix. depth is the depth of the declaring element, 1
	// for the root. If Space is nil, all numbers are 0.
	Space func(prefix, uri string, depth int) int
	// Closes reports whether an element is not allowed inside the open element. The Reader then
	// closes the open element, because the end tag of this element must be missing. Local names are
	// in lowercase, prefixes as written.
	Closes func(openPrefix, open, prefix, local string) bool
	// Cut is the length of the part of the document that is complete, if the caller has cut the
	// document. After it, a missing end is not a problem. 0: the caller has not cut the document.
	Cut int
	// Problem is called for each repair, with a byte offset. After Problem returns false, the
	// Reader only counts further problems, except a few of kind Limit.
	Problem func(kind string, offset int, message string) (more bool)
}

// Attr is an attribute of the current element, as written.
type Attr struct {
	Name string // name as written, including the prefix
	Raw  string // text between the quotes, not decoded
}

// frame is an open element.
type frame struct {
	name     string // name as written, including the prefix
	lang     string
	colon    int32 // index of the colon in name; -1 without a prefix
	upper    bool  // name has uppercase letters
	space    int32
	bindings int32 // number of bindings outside the element
	outer    int32 // namespace of unprefixed names outside the element
}

type binding struct {
	prefix, uri string
	space       int
}

// Reader returns the events of one document.
type Reader struct {
	// These fields describe the current Start or End.
	Name  string // qualified name, as written
	Local string // name without prefix, in lowercase
	Space int    // number of the namespace from Options.Space; 0 without a namespace
	Attrs []Attr // attributes; valid until the next call of Next
	Base  string // xml:base of this element, not inherited, decoded; "": none

	doc  string
	base int // bytes that Extend dropped before doc
	// baseLines is the number of line ends in the dropped part.
	baseLines int
	kind      Kind
	pos       int
	tok       int // index in doc where the current token begins
	opt       Options
	stack     []frame
	bindings  []binding
	// unprefixed is the current namespace of unprefixed names.
	unprefixed int
	names      map[string]struct{} // names of the attributes; nil if there are few
	undeclared []binding           // prefixes that the document uses without a declaration
	lower      map[string]string
	entities   map[string]string
	expanded   int // bytes expanded from the document's own entities
	arena      []byte
	empty      bool // the current Start is an empty element: its End follows
	ends       int  // number of elements to close next
	over       int  // open elements beyond the depth limit
	rooted     bool // the root has begun
	endless    bool // a document type with a bracket has no end
	chars      string
	cdata      bool
	cr         bool // the document has carriage returns
	copied     bool // the source of the current element cannot be returned unchanged
	quiet      int  // problems before this offset are already reported
	mute       bool // Options.Problem is nil or has returned false
	unreported int  // number of problems that were not reported because mute is true
	limits     int  // number of problems of kind Limit that were reported although mute is true
	lines      lineCount
	lang       string // default language of the document
	docType    string
	sibling    string
	within     int
	inside     int               // up to this offset, elements with the name sibling are nested; see nested
	looked     int               // number of bytes that nested has read ahead
	ahead      int               // number of tags that nested has read ahead
	tags       int               // number of start tags that were read
	absentFrom [len(closers)]int // offsets after which closers do not occur, see find
}

// New returns a Reader for a document in UTF-8.
func New(doc string, o Options) *Reader {
	if o.Depth <= 0 {
		o.Depth = 100
	}
	if o.Attributes <= 0 {
		o.Attributes = 256
	}
	r := &Reader{doc: doc, opt: o, stack: make([]frame, 0, 16), Attrs: make([]Attr, 0, 8), cr: strings.IndexByte(doc, '\r') >= 0}
	if o.Problem == nil {
		r.mute, r.limits = true, maxLimits
	}
	return r
}

// Depth returns the number of open elements. It includes the current element at its Start, but not
// at its End.
func (r *Reader) Depth() int { return len(r.stack) }

// Offset returns the byte offset where the current event begins.
func (r *Reader) Offset() int { return r.base + r.tok }

// Lang returns the xml:lang of the current element, which may be inherited; "" without one.
func (r *Reader) Lang() string {
	if len(r.stack) == 0 {
		return r.lang
	}
	return r.stack[len(r.stack)-1].lang
}

// SetDefaultLang sets the language for elements without xml:lang.
func (r *Reader) SetDefaultLang(lang string) { r.lang = lang }

// Open returns the name, as written, of the open element at a depth, from 1.
func (r *Reader) Open(depth int) string { return r.stack[depth-1].name }

// OpenLocal returns the local name, in lowercase, of the open element at a depth.
func (r *Reader) OpenLocal(depth int) string { return r.local(&r.stack[depth-1]) }

// local returns the lowercase name of an open element without its prefix.
func (r *Reader) local(f *frame) string {
	name := f.name[f.colon+1:]
	if f.upper {
		return r.lowered(name)
	}
	return name
}

// prefix returns the prefix of an open element; "" without one.
func (f *frame) prefix() string { return f.name[:max(f.colon, 0)] }

// Siblings declares that elements of this name, as written, are never nested in each other, nor in
// other elements of the format below depth. The next start tag with this name closes the open elements
// below depth, so that a missing end tag affects only one element. Complete elements with this name
// inside an element of another vocabulary are its content. Siblings returns the previous values; an
// empty name disables the rule.
func (r *Reader) Siblings(name string, depth int) (before string, within int) {
	before, within = r.sibling, r.within
	r.sibling, r.within = name, depth
	return before, within
}

// Chars returns the decoded text of a Text event.
func (r *Reader) Chars() string {
	if r.cdata {
		return r.newlines(r.chars)
	}
	return r.Decode(r.chars)
}

// IsSpace reports whether the text of a Text event is only white space.
func (r *Reader) IsSpace() bool { return isSpace(r.chars) }

// problem reports a problem, unless it was reported when the Reader read the same place before. It
// formats the message only if the problem is reported. In message, fixed words alternate with words
// of the document, which are shortened.
func (r *Reader) problem(kind string, offset int, message ...string) {
	r.copied = r.copied || kind != Entity && kind != Character
	switch {
	case offset < r.quiet, r.opt.Cut > 0 && offset >= r.opt.Cut:
	case r.mute && (kind != Limit || r.limits >= maxLimits):
		r.unreported++
	default:
		r.report(kind, offset, message)
	}
}

// maxLimits is the maximum number of problems of kind Limit that are reported after Options.Problem
// returned false.
const maxLimits = 3

func (r *Reader) report(kind string, offset int, message []string) {
	if r.mute {
		r.limits++
	}
	const longest = 60
	var b strings.Builder
	for i, s := range message {
		if i%2 == 1 && len(s) > longest {
			n := longest
			for s[n]&0xc0 == 0x80 && n > 0 {
				n--
			}
			s = s[:n] + "…"
		}
		b.WriteString(s)
	}
	if !r.opt.Problem(kind, r.base+offset, b.String()) {
		r.mute = true
	}
}

// Unreported returns the number of problems that were not reported because Options.Problem had
// returned false or is nil.
func (r *Reader) Unreported() int { return r.unreported }

// Kind returns the kind of the current event.
func (r *Reader) Kind() Kind { return r.kind }

// Next moves to the next event. After EOF, every call returns EOF.
func (r *Reader) Next() Kind {
	r.kind = r.next()
	return r.kind
}

func (r *Reader) next() Kind {
	if r.empty {
		r.empty = false
		return r.pop()
	}
	for {
		if r.ends > 0 {
			r.ends--
			return r.pop()
		}
		if r.pos >= len(r.doc) {
			return r.finish()
		}
		r.tok = r.pos
		if r.doc[r.pos] != '<' {
			if r.text() {
				return Text
			}
			continue
		}
		if kind, ok := r.markup(); ok {
			return kind
		}
	}
}

// finish closes the open elements at the end of the document, one per call.
func (r *Reader) finish() Kind {
	r.tok = len(r.doc)
	if len(r.stack) == 0 {
		return EOF
	}
	if top := &r.stack[len(r.stack)-1]; r.quiet <= len(r.doc) {
		r.problem(Truncated, len(r.doc), "The document ends inside <", top.name, ">; the part before the end is used.")
		r.quiet = len(r.doc) + 1
	}
	return r.pop()
}

func (r *Reader) pop() Kind {
	f := &r.stack[len(r.stack)-1]
	r.Name, r.Local, r.Space = f.name, r.local(f), int(f.space)
	r.bindings, r.unprefixed = r.bindings[:f.bindings], int(f.outer)
	r.stack = r.stack[:len(r.stack)-1]
	r.Attrs = r.Attrs[:0]
	r.kind = End // for methods that read a whole element without Next
	return End
}

// text reads text up to the next markup. It returns false outside the root element.
func (r *Reader) text() bool {
	begin, from := r.pos, r.pos+1
	for {
		i := strings.IndexByte(r.doc[from:], '<')
		if i < 0 {
			r.pos = len(r.doc)
			break
		}
		r.pos = from + i
		if r.opens(r.pos) {
			break
		}
		from = r.pos + 1
	}
	r.chars, r.cdata = r.doc[begin:r.pos], false
	if len(r.stack) > 0 {
		return true
	}
	if !isSpace(r.chars) {
		where := "before the first tag"
		if r.rooted {
			where = "after the end of the document"
		}
		r.problem(Junk, begin, "There is text ", where, "; it is ignored.")
	}
	return false
}

// opens reports whether the < at i begins markup. Otherwise the < is text.
func (r *Reader) opens(i int) bool {
	if i+1 >= len(r.doc) {
		r.problem(Markup, i, "A < is not escaped; it is read as text. Write &lt; instead.")
		return false
	}
	c := r.doc[i+1]
	if nameStart(c) || c == '!' || c == '?' || c == '/' {
		return true
	}
	r.problem(Markup, i, "A < is not escaped; it is read as text. Write &lt; instead.")
	return false
}

// markup reads the construct that begins with the < at pos. It returns false if there is no event
// for the caller.
func (r *Reader) markup() (Kind, bool) {
	rest := r.doc[r.pos:]
	if len(rest) < 2 {
		r.pos = len(r.doc)
		r.problem(Truncated, r.tok, "The document ends in a tag.")
		return EOF, false
	}
	switch c := rest[1]; {
	case c == '/':
		return r.endTag()
	case nameStart(c):
		return r.startTag()
	case c == '?':
		if r.pos > 0 && len(rest) > 5 && strings.EqualFold(rest[:5], "<?xml") && space(rest[5]) {
			r.problem(Junk, r.pos, "The XML declaration must be at the very beginning of the document.")
		}
		r.skipTo("?>", 2, "A processing instruction does not end.")
		return EOF, false
	case c == '!':
		return r.declaration(rest)
	}
	return Text, r.text()
}

// declaration reads <!…: a comment, a CDATA section or a document type.
func (r *Reader) declaration(rest string) (Kind, bool) {
	switch {
	case strings.HasPrefix(rest, "<!--"):
		r.copied = true
		r.skipTo("-->", 4, "A comment does not end.")
	case len(rest) >= 9 && strings.EqualFold(rest[:9], "<![CDATA["):
		return r.cdataSection()
	case len(rest) >= 9 && strings.EqualFold(rest[:9], "<!DOCTYPE"):
		r.doctype()
	default:
		r.copied = true
		r.problem(Markup, r.pos, "This declaration is not allowed in a document; it is ignored.")
		r.skipTo(">", 2, "A declaration does not end.")
	}
	return EOF, false
}

// closers are the strings that find searches for.
var closers = [...]string{"?>", "-->", "]]>", ">"}

// find returns the offset of the first closer at or after the offset from, or -1. It does not
// search again for a closer that is missing, so that a document with many unclosed constructs takes
// linear time.
func (r *Reader) find(closer string, from int) int {
	for k, c := range closers {
		if c != closer {
			continue
		}
		if from > len(r.doc) || r.absentFrom[k] > 0 && from >= r.absentFrom[k] {
			return -1
		}
		if i := strings.Index(r.doc[from:], closer); i >= 0 {
			return from + i
		}
		r.absentFrom[k] = from
	}
	return -1
}

// skipTo skips a construct that ends with closer, or at the next > if closer is missing.
func (r *Reader) skipTo(closer string, opener int, message string) {
	begin := r.pos
	if i := r.find(closer, r.pos+opener); i >= 0 {
		r.pos = i + len(closer)
		return
	}
	r.problem(Markup, begin, message, "", " It is taken to end at the next >.")
	if i := r.find(">", r.pos+opener); i >= 0 {
		r.pos = i + 1
	} else {
		r.pos = len(r.doc)
	}
}

// cdataSection reads <![CDATA[…]]>. A section without an end extends to the end tag of its element.
func (r *Reader) cdataSection() (Kind, bool) {
	begin := r.pos + len("<![CDATA[")
	r.copied = true
	end := r.find("]]>", begin)
	if end >= 0 {
		r.pos = end + len("]]>")
	} else {
		end = len(r.doc)
		r.problem(Markup, r.pos, "A CDATA section does not end; it is taken to go to the end of its element.")
		if n := len(r.stack); n > 0 {
			if i := strings.Index(r.doc[begin:], "</"+r.stack[n-1].name); i >= 0 {
				end = begin + i
			}
		}
		r.pos = end
	}
	r.chars, r.cdata = r.doc[begin:end], true
	return Text, len(r.stack) > 0 && len(r.chars) > 0
}

func nameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func isSpace(s string) bool {
	for i := range len(s) {
		if !space(s[i]) {
			return false
		}
	}
	return true
}
