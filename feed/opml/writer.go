package opml

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"cloudburst/internal/xmlsafe"
)

// WriteTo writes the document as indented XML in UTF-8. The version is Document.Version if that is
// 1.0 or 1.1, and 2.0 otherwise. It adds only two things: an attribute text to every outline, and
// the type "rss" to an outline with an xmlUrl but no type. Characters that XML cannot represent
// become U+FFFD. If a name is not allowed in XML, WriteTo returns an error and writes nothing.
func (d *Document) WriteTo(w io.Writer) (int64, error) {
	b, err := d.AppendXML(nil)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// AppendXML appends the output of WriteTo to b. On an error it returns b unchanged.
func (d *Document) AppendXML(b []byte) ([]byte, error) {
	w := &writer{b: b}
	w.document(d)
	if w.err != nil {
		return b, w.err
	}
	return w.b, nil
}

// writer appends a document and remembers the first error.
type writer struct {
	b      []byte
	scope  []Namespace // declarations in scope, the innermost last
	names  []string    // attributes of the current tag
	used   []string    // prefixes that the current tag uses
	invent int         // number of generated prefixes
	err    error
}

// spec:opml20-2007#root
func (w *writer) document(d *Document) {
	version := d.Version
	if version != "1.0" && version != "1.1" {
		version = "2.0"
	}
	w.s(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<opml")
	w.begin()
	w.known("version", version)
	for _, n := range d.Namespaces {
		if n.Prefix != "" && n.URI != "" && !isNone(n.Prefix, n.URI) && n.Prefix != "xml" && w.lookup(n.Prefix) == "" {
			w.declare(n.Prefix, n.URI)
		}
	}
	w.attrs(d.Attrs)
	w.s(">\n  <head")
	inner := len(w.scope)
	w.begin()
	w.attrs(d.Head.Attrs)
	w.s(">\n")
	for n := range headNames {
		if text := *d.Head.at(n); text != "" && !d.Head.supersedes(n, text) {
			w.s("    <" + n.String() + ">")
			w.text(text)
			w.s("</" + n.String() + ">\n")
		}
	}
	w.nodes(d.Head.Unknown, 2)
	w.scope = w.scope[:inner]
	w.s("  </head>\n  <body")
	w.begin()
	w.attrs(d.BodyAttrs)
	w.s(">\n")
	w.outlines(d.Outlines, 2)
	w.nodes(d.Unknown, 2)
	w.s("  </body>\n</opml>\n")
}

// begin resets the state for a new tag.
func (w *writer) begin() { w.names, w.used = w.names[:0], w.used[:0] }

func (w *writer) s(s string) { w.b = append(w.b, s...) }

func (w *writer) indent(depth int) {
	for range depth {
		w.s("  ")
	}
}

func (w *writer) outlines(list []Outline, depth int) {
	for i := range list {
		o, inner := &list[i], len(w.scope)
		w.indent(depth)
		w.s("<outline")
		w.begin()
		w.outlineAttrs(o)
		if len(o.Outlines) == 0 && len(o.Unknown) == 0 {
			w.s("/>\n")
		} else {
			w.s(">\n")
			w.outlines(o.Outlines, depth+1)
			w.nodes(o.Unknown, depth+1)
			w.indent(depth)
			w.s("</outline>\n")
		}
		w.scope = w.scope[:inner]
	}
}

// outlineAttrs writes the attributes in the recorded order, then the attributes set later.
func (w *writer) outlineAttrs(o *Outline) {
	written, others := 0, o.Attrs
	for i := range len(o.order) {
		f := field(o.order[i])
		if f == other {
			if len(others) > 0 {
				w.attr(others[0])
				others = others[1:]
			}
			continue
		}
		written |= 1 << f
		w.field(o, f, true)
	}
	for f := fieldText; f < fields; f++ {
		if written&(1<<f) == 0 {
			w.field(o, f, f == fieldText)
		}
	}
	w.attrs(others)
}

// field writes a known attribute. If the attribute is empty, it is written only if must is true.
func (w *writer) field(o *Outline, f field, must bool) {
	value := o.value(f)
	switch {
	case f == fieldType && value == "" && o.XMLURL != "":
		value = "rss"
	case f == fieldIsComment || f == fieldIsBreakpoint:
		if value == "" && !must {
			return
		}
		if value == "" {
			value = "false"
		}
	case value == "" && !must:
		return
	}
	w.known(f.String(), value)
}

// known writes an attribute whose name needs no check.
func (w *writer) known(name, value string) {
	w.names = append(w.names, name)
	w.s(" " + name + `="`)
	w.value(value)
	w.s(`"`)
}

func (w *writer) attrs(list []Attr) {
	for i := range list {
		w.attr(list[i])
	}
}

// attr writes an attribute and declares its prefix if necessary. It omits an attribute that
// the tag already has.
func (w *writer) attr(a Attr) {
	prefix, local, ok := strings.Cut(a.Name, ":")
	if !ok {
		prefix, local = "", a.Name
	}
	if prefix == "xmlns" || prefix == "" && local == "xmlns" {
		return // the writer writes declarations of its own
	}
	if !w.valid(local) || prefix != "" && !w.valid(prefix) {
		return
	}
	if prefix != "" || a.Space != "" {
		prefix = w.bound(prefix, a.Space, false)
	}
	name := local
	if prefix != "" {
		name = prefix + ":" + local
	}
	unique := name
	if prefix != "" {
		unique = w.lookup(prefix) + " " + local // compare by namespace, because two prefixes may have the same namespace
	}
	if slices.Contains(w.names, unique) {
		return
	}
	w.names = append(w.names, unique)
	w.s(" " + name + `="`)
	w.value(a.Value)
	w.s(`"`)
}

// valid reports whether XML allows a name. If not, it sets the writer's error.
func (w *writer) valid(name string) bool {
	if simpleName(name) || xmlsafe.IsName(name) {
		return true
	}
	if w.err == nil {
		w.err = fmt.Errorf("opml: %q is not a valid name of an element or attribute", name)
	}
	return false
}

// lookup returns the namespace of a prefix, or "" if the prefix is undeclared.
func (w *writer) lookup(prefix string) string {
	if prefix == "xml" {
		return xmlURI
	}
	for i := len(w.scope) - 1; i >= 0; i-- {
		if w.scope[i].Prefix == prefix {
			return w.scope[i].URI
		}
	}
	return ""
}

// declare writes a namespace declaration into the current tag.
func (w *writer) declare(prefix, uri string) {
	if prefix != "" && !w.valid(prefix) {
		return
	}
	w.scope = append(w.scope, Namespace{prefix, uri})
	w.s(" xmlns")
	if prefix != "" {
		w.s(":" + prefix)
	}
	w.s(`="`)
	w.value(uri)
	w.s(`"`)
}

// bound returns a prefix that is bound to uri in the current tag. It is the preferred prefix,
// unless the tag uses that prefix for another namespace.
func (w *writer) bound(prefix, uri string, element bool) string {
	now := w.lookup(prefix)
	switch {
	case prefix == "" && !element:
		prefix = w.other(uri) // an attribute without a prefix has no namespace
	case uri == "" && prefix != "" && now == "":
		w.declare(prefix, undeclared+prefix) // strict programs reject a document with an undeclared prefix
	case now == uri, uri == "" && prefix != "":
	case prefix == "xml", slices.Contains(w.used, prefix):
		prefix = w.other(uri)
	default:
		w.declare(prefix, uri)
	}
	w.used = append(w.used, prefix)
	return prefix
}

// other returns a prefix that is already bound to uri, or a new one.
func (w *writer) other(uri string) string {
	for _, n := range w.scope {
		if n.URI == uri && n.Prefix != "" && w.lookup(n.Prefix) == uri {
			return n.Prefix
		}
	}
	prefix := ""
	for prefix == "" || w.lookup(prefix) != "" {
		w.invent++
		prefix = fmt.Sprintf("ns%d", w.invent)
	}
	w.declare(prefix, uri)
	return prefix
}

func (w *writer) nodes(list []Node, depth int) {
	for i := range list {
		w.indent(depth)
		w.node(&list[i])
		w.s("\n")
	}
}

// node writes an element without adding white space, which would become part of its content.
func (w *writer) node(n *Node) {
	if n.Name == "" {
		w.text(n.Text)
		return
	}
	if !w.valid(n.Name) || n.Prefix != "" && !w.valid(n.Prefix) {
		return
	}
	inner := len(w.scope)
	name := n.Name
	if n.Prefix != "" {
		name = n.Prefix + ":" + n.Name
	}
	w.begin()
	w.s("<" + name)
	w.bound(n.Prefix, n.Space, true)
	w.attrs(n.Attrs)
	if n.Text == "" && len(n.Children) == 0 {
		w.s("/>")
	} else {
		w.s(">")
		w.text(n.Text)
		for i := range n.Children {
			w.node(&n.Children[i])
		}
		w.s("</" + name + ">")
	}
	w.scope = w.scope[:inner]
}

// value appends an attribute value. White space other than a space becomes a reference, because
// parsers would turn it into a space.
func (w *writer) value(s string) { w.escaped(s, true) }

func (w *writer) text(s string) { w.escaped(s, false) }

func (w *writer) escaped(s string, attr bool) {
	s = clean(s)
	done := 0
	for i := range len(s) {
		var ref string
		switch c := s[i]; {
		case c > '>':
			continue
		case c == '&':
			ref = "&amp;"
		case c == '<':
			ref = "&lt;"
		case c == '>':
			ref = "&gt;"
		case c == '\r':
			ref = "&#13;"
		case c == '"' && attr:
			ref = "&quot;"
		case c == '\n' && attr:
			ref = "&#10;"
		case c == '\t' && attr:
			ref = "&#9;"
		default:
			continue
		}
		w.b = append(append(w.b, s[done:i]...), ref...)
		done = i + 1
	}
	w.s(s[done:])
}

// clean is like xmlsafe.Clean with a fast path for strings that need no change.
func clean(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c < 0x20 && c != '\n' && c != '\t' && c != '\r' {
			return xmlsafe.Clean(s)
		}
	}
	return s
}
