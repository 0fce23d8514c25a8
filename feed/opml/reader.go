package opml

import (
	"fmt"
	"strings"

	"cloudburst/internal/scan"
)

// read reads the whole text.
func (b *builder) read() {
	for first := true; ; first = false {
		// The calls below read each element to its end, so that only start tags occur here.
		switch kind := b.next(); {
		case kind == scan.EOF:
			return
		case first || b.Local == "opml":
			b.root(first)
		case b.inOPML() && (b.Local == "outline" || b.Local == "head" || b.Local == "body"):
			b.child() // an element after the root; the scanner reports it
		default:
			b.skip()
		}
	}
}

// root reads <opml>, or the first element of a document without it.
//
// spec:opml20-2007#root
func (b *builder) root(first bool) {
	if first {
		b.prefix, b.space = scan.Prefix(b.Name), b.URI("")
	}
	if b.Local != "opml" {
		b.problem(ProblemMissing, "The document has no <opml> element.")
		b.child()
		return
	}
	if first {
		b.rootAttrs()
	}
	b.content()
}

// rootAttrs reads the attributes of <opml>.
func (b *builder) rootAttrs() {
	var rest []scan.Attr
	for _, a := range b.Attrs {
		switch {
		case b.d.Version == "" && strings.EqualFold(a.Name, "version"):
			b.d.Version = strings.TrimSpace(b.value(a.Raw))
		case strings.HasPrefix(a.Name, "xmlns:"):
			b.declared(a.Name[len("xmlns:"):])
		default:
			rest = append(rest, a)
		}
	}
	b.d.Attrs = b.attrs(nil, rest)
	switch b.d.Version {
	case "1.0", "1.1", "2.0":
	case "":
		b.problem(ProblemVersion, "The document does not declare a version.")
	default:
		b.problemf(ProblemVersion, "OPML has no version %.20q; the document is read as 2.0.", b.d.Version)
	}
}

// declared stores a namespace that the root declares.
func (b *builder) declared(prefix string) {
	uri := b.URI(prefix)
	if uri == "" || isNone(prefix, uri) || prefix == "xml" || prefix == "xmlns" || prefix == "" || cleanName(prefix) != prefix {
		return
	}
	b.d.Namespaces = append(b.d.Namespaces, Namespace{prefix, uri})
}

// content reads the content of <opml>, or of a body within it.
func (b *builder) content() {
	for depth := len(b.steps); len(b.steps) >= depth; {
		switch b.next() {
		case scan.EOF:
			return
		case scan.Text:
			if b.visit == nil {
				b.stray.add(b.Chars())
			}
		case scan.Start:
			b.child()
		}
	}
}

// child reads a child element of <opml> or <body>.
func (b *builder) child() {
	in := ""
	if n := len(b.steps); n > 1 {
		in = strings.ToLower(b.steps[n-2].name)
		in = in[strings.IndexByte(in, ':')+1:]
	}
	switch inOPML := b.inOPML(); {
	case inOPML && b.Local == "outline":
		if in != "body" && in != "" && !b.outsideReported {
			b.outsideReported = true
			b.problem(ProblemStructure, "An outline is outside <body>; it and any others are moved into it.")
		}
		b.outline()
	case inOPML && b.Local == "body":
		if b.hasBody {
			b.problem(ProblemStructure, "There is a second <body>; its outlines are added after those of the first.")
		}
		b.hasBody = true
		b.d.BodyAttrs = b.attrs(b.d.BodyAttrs, b.Attrs)
		b.content()
	case inOPML && b.Local == "head":
		if b.hasHead || in == "body" || in == "outline" {
			b.problem(ProblemStructure, "This <head> is in the wrong place; it is read anyway.")
		}
		b.hasHead = true
		b.d.Head.Attrs = b.attrs(b.d.Head.Attrs, b.Attrs)
		b.head()
	case inOPML && in == "opml" && b.d.Head.field(b.Local) != nil:
		b.problem(ProblemStructure, "<"+b.Name+"> is outside <head>; it is moved into it.")
		b.headElement()
	default:
		b.d.Unknown = b.node(b.d.Unknown)
	}
}

// outline reads an outline with all outlines below it. Finished children stay on the stack after
// their parent, so that each list is allocated once, at its final size.
func (b *builder) outline() {
	if !b.mayBegin() {
		return
	}
	if b.visit != nil {
		b.pass()
		return
	}
	at, begin, depth := len(b.stack), b.Offset(), len(b.steps)
	b.stack = append(b.stack, Outline{})
	b.outlineAttrs(&b.stack[at])
	var text strayText
	var unknown []Node
	for len(b.steps) >= depth {
		switch b.next() {
		case scan.Text:
			if !b.IsSpace() {
				text.add(b.Chars())
			}
		case scan.Start:
			switch inOPML := b.inOPML(); {
			case inOPML && b.Local == "outline":
				b.outline()
			case inOPML && (b.Local == "body" || b.Local == "head"):
				b.child()
			default:
				unknown = b.node(unknown)
			}
		}
	}
	b.ended(begin)
	o := &b.stack[at] // get the pointer again, because the stack may have been reallocated
	if below := b.stack[at+1:]; len(below) > 0 {
		o.Outlines = append(make([]Outline, 0, len(below)), below...)
		clear(below)
		b.stack = b.stack[:at+1]
	}
	if len(text) > 0 && o.Text == "" {
		o.Text, text = strings.Join(text, " "), nil
	}
	o.Unknown = text.node(unknown)
}

// ended records how the outline that began at an offset ended.
func (b *builder) ended(begin int) {
	const end = "</outline"
	at := b.Offset()
	switch {
	case at == begin: // the element has the form <outline …/>
	case b.From(at) == "":
		b.atEnd++
	case !hasPrefixFold(b.From(at), end):
		if b.prefix == "" {
			b.open++
		}
	}
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// finish completes the document.
func (b *builder) finish() *Document {
	d := &b.d
	if d.Outlines = b.stack; d.Outlines == nil {
		d.Outlines = []Outline{} // an empty list, which JSON encodes as [] and not as null
	}
	d.Unknown = b.stray.node(d.Unknown)
	d.Head.Unknown = b.inHeads.node(d.Head.Unknown)
	if !b.hasHead {
		b.addProblem(ProblemMissing, 0, "There is no <head>.")
	}
	if !b.hasBody {
		b.addProblem(ProblemMissing, 0, "There is no <body>.")
	}
	b.settle()
	b.unlisted += b.Unreported()
	if b.unlisted > 0 {
		d.Problems = append(d.Problems, Problem{Kind: ProblemMore, Message: fmt.Sprintf("There are %d more problems.", b.unlisted)})
	}
	return d
}
