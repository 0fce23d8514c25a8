// Package scan reads XML as it is found on the web: quickly, in time proportional to
// its length whatever the bytes are, and without ever giving up. What it hands out is
// balanced: every start has its end, in the right order, and where the document did
// not say so a problem is told.
//
// Start with [New] and [Reader.Next]; leaves are read with [Reader.Leaf].
//
// It works on a string in UTF-8 (package charset makes one) and hands out substrings
// of it. Only what holds an entity is copied, into chunks that many texts share.
//
// It is not for protocol calls, which have to be right: those are read by xmlsafe.
package scan

import "strings"

// Kind is what the reader stands on.
type Kind uint8

// The kinds of event.
const (
	EOF   Kind = iota // nothing more; every element has ended
	Start             // an element begins: Name, Local, Space, Attrs
	End               // an element ends: Name
	Text              // characters: Reader.Chars
)

// Kinds of problems; the words are stable.
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

// Options of a Reader; zero fields mean the defaults in brackets.
type Options struct {
	Depth      int // elements within one another [100]; deeper ones are passed over, their text is kept
	Attributes int // of one element [256]; the rest is passed over
	// Space gives the caller's number of a namespace. It is called once for each
	// declaration, and once with an empty uri for a prefix that is not declared; the
	// depth is that of the element with the declaration, 1 for the root. Without it
	// every number is 0.
	Space func(prefix, uri string, depth int) int
	// Closes reports whether an element cannot be within the open one, so that the end
	// of that one must have been forgotten: local names in lower case, and the prefixes
	// as written.
	Closes func(openPrefix, open, prefix, local string) bool
	// Problem is called for whatever had to be repaired, at a byte offset. Once it is
	// false no more are told but some of the kind Limit: they are counted.
	Problem func(kind string, offset int, message string) (more bool)
}

// Attr is an attribute of the current element, as written.
type Attr struct {
	Name string // with its prefix
	Raw  string // between the quotes, entities and all
}

// frame is an open element.
type frame struct {
	name     string // as written
	lang     string
	colon    int32 // where it is in name; −1 for no prefix
	upper    bool  // there are capitals in name
	space    int32
	bindings int32 // how many were in force outside it
	outer    int32 // the namespace of names without a prefix outside it
}

type binding struct {
	prefix, uri string
	space       int
}

// Reader hands out the events of one document.
type Reader struct {
	// Of the current Start and End.
	Name  string // qualified, as written
	Local string // without prefix, in lower case
	Space int    // what Options.Space made of the namespace; 0 without any
	Attrs []Attr // valid until Next
	Base  string // xml:base of this very element, decoded; "" without

	doc  string
	base int // how much of the document Extend has dropped before doc
	// baseLines is how many lines ended in there.
	baseLines int
	kind      Kind
	pos       int
	tok       int // where the current token began
	opt       Options
	stack     []frame
	bindings  []binding
	// unprefixed is the namespace in force for names without a prefix.
	unprefixed int
	names      map[string]struct{} // of the attributes, where there are many
	undeclared []binding           // prefixes used without a declaration
	lower      map[string]string
	entities   map[string]string
	expanded   int // bytes that came out of the document's own entities
	arena      []byte
	empty      bool // the current Start has no content: its End follows
	ends       int  // elements to close before going on
	over       int  // open elements beyond the depth limit
	rooted     bool // the root has begun
	endless    bool // a document type with a bracket has no end
	chars      string
	cdata      bool
	cr         bool // there are carriage returns
	copied     bool // something of the element being read is not in the source as it is
	quiet      int  // problems before this offset have been told
	mute       bool // nobody wants to know of more
	unreported int  // how many there were since then
	limits     int  // of these, those of the kind Limit that were told all the same
	lines      lineCount
	lang       string // of the document
	docType    string
	sibling    string
	within     int
	absentFrom [len(closers)]int // where closers do not occur any more: see find
}

// New starts reading a document in UTF-8.
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

// Depth is the number of open elements, the current one included at its Start and
// not at its End.
func (r *Reader) Depth() int { return len(r.stack) }

// Offset is where the current event began.
func (r *Reader) Offset() int { return r.base + r.tok }

// Lang is the xml:lang that the current element has or inherits; "" without.
func (r *Reader) Lang() string {
	if len(r.stack) == 0 {
		return r.lang
	}
	return r.stack[len(r.stack)-1].lang
}

// SetDefaultLang is the language of a document that does not say it.
func (r *Reader) SetDefaultLang(lang string) { r.lang = lang }

// Open gives the name, as written, of the open element at a depth, from 1.
func (r *Reader) Open(depth int) string { return r.stack[depth-1].name }

// OpenLocal gives the local name, in lower case, of the open element at a depth.
func (r *Reader) OpenLocal(depth int) string { return r.local(&r.stack[depth-1]) }

// local is the name of an open element without its prefix, in lower case.
func (r *Reader) local(f *frame) string {
	name := f.name[f.colon+1:]
	if f.upper {
		return r.lowered(name)
	}
	return name
}

// prefix is that of an open element; "" without.
func (f *frame) prefix() string { return f.name[:max(f.colon, 0)] }

// Siblings says that elements of this name, as written, never stand within one
// another nor in anything else below depth: one that does closes what is open there.
// An author who forgot an end tag loses one element by it and not all that follow. It
// gives what was said before; an empty name says nothing of any element.
func (r *Reader) Siblings(name string, depth int) (before string, within int) {
	before, within = r.sibling, r.within
	r.sibling, r.within = name, depth
	return before, within
}

// Chars is the decoded text of a Text event.
func (r *Reader) Chars() string {
	if r.cdata {
		return r.newlines(r.chars)
	}
	return r.Decode(r.chars)
}

// Blank reports a Text event of white space only.
func (r *Reader) Blank() bool { return blank(r.chars) }

// problem tells of one, unless it was told when the same place was read before. The
// message is put together only when somebody wants it: words of ours and words of the
// document by turns, of which the latter may be long.
func (r *Reader) problem(kind string, offset int, message ...string) {
	r.copied = r.copied || kind != Entity && kind != Character
	switch {
	case offset < r.quiet:
	case r.mute && (kind != Limit || r.limits >= maxLimits):
		r.unreported++
	default:
		r.report(kind, offset, message)
	}
}

// mostLimits is how many problems of the kind Limit are told to one who wants no more.
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

// Unreported returns how many problems were not reported.
func (r *Reader) Unreported() int { return r.unreported }

// Kind is that of the current event.
func (r *Reader) Kind() Kind { return r.kind }

// Next goes to the next event. After EOF it stays there.
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

// finish closes what is open at the end of the document, one element a call.
func (r *Reader) finish() Kind {
	r.tok = len(r.doc)
	if len(r.stack) == 0 {
		return EOF
	}
	if top := &r.stack[len(r.stack)-1]; r.quiet <= len(r.doc) {
		r.problem(Truncated, len(r.doc), "The document ends within <", top.name, ">; what there is of it is kept.")
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
	r.kind = End // also for callers that read a whole element
	return End
}

// text takes the characters up to the next markup; false means that there are none
// that matter.
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
	if !blank(r.chars) {
		where := "before the first tag"
		if r.rooted {
			where = "after the end of the document"
		}
		r.problem(Junk, begin, "There is text ", where, "; it is passed over.")
	}
	return false
}

// opens reports whether the < at i begins markup. One that does not is text.
func (r *Reader) opens(i int) bool {
	if i+1 >= len(r.doc) {
		r.problem(Markup, i, "A < stands by itself; it is taken as text. Write &lt; instead.")
		return false
	}
	c := r.doc[i+1]
	if nameStart(c) || c == '!' || c == '?' || c == '/' {
		return true
	}
	r.problem(Markup, i, "A < stands by itself; it is taken as text. Write &lt; instead.")
	return false
}

// markup takes what begins with the < at pos; false means that it is nothing for the
// caller.
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
			r.problem(Junk, r.pos, "The XML declaration has to be the very beginning of a document.")
		}
		r.skipTo("?>", 2, "A processing instruction does not end.")
		return EOF, false
	case c == '!':
		return r.declaration(rest)
	}
	return Text, r.text()
}

// declaration takes <!…: a comment, CDATA or a document type.
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
		r.problem(Markup, r.pos, "This is no declaration that a document may have; it is passed over.")
		r.skipTo(">", 2, "A declaration does not end.")
	}
	return EOF, false
}

// The closers that find looks for.
var closers = [...]string{"?>", "-->", "]]>", ">"}

// find gives the offset of a closer from an offset on, or −1. A closer that was not
// found once is not looked for again: many openers without one stay linear.
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

// skipTo passes over what ends with closer, and to the next > where it is missing.
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

// cdataSection takes <![CDATA[…]]>. One without an end goes to the end tag of its
// element.
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

func blank(s string) bool {
	for i := range len(s) {
		if !space(s[i]) {
			return false
		}
	}
	return true
}
