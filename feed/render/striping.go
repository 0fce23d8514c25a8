package render

import (
	"bytes"
	"strings"

	"cloudburst/feed"
)

// RDF/XML is striped: the child elements of an item are properties, and the child of a
// property is a resource with its own properties. Nested elements of other modules do not
// follow this pattern, so they are converted to a form that RDF allows. Readers without RDF
// support ignore the difference.
//
//   - An element without attributes becomes a resource without a name
//     (parseType="Resource"), or XML (parseType="Literal") if its content does not fit.
//   - An element with attributes, which RDF forbids next to parseType, is wrapped in an
//     ext:xml element that is XML. So is an element of iTunes or Media RSS, because
//     validators reject parseType there. Package feed unwraps it again.
//
// spec:rdfxml-2014#item-properties

// stripedElement is an element in the output.
type stripedElement struct {
	name     []byte
	attrs    []byte // attributes as written, each after a space
	outer    []byte // the whole element, with its tags
	inner    []byte // the content between its tags
	children []stripedElement
	before   []byte // white space before the element
	text     bool   // the element contains text as well as elements
}

// striped converts the elements written since begin to a form that RDF allows.
func (w *writer) striped(begin int) {
	if !hasNested(w.b[begin:]) {
		return
	}
	written := bytes.Clone(w.b[begin:])
	w.b = w.b[:begin]
	elements, rest := stripedForest(written)
	for i := range elements {
		w.property(&elements[i])
	}
	w.b = append(w.b, written[rest:]...)
}

// nextTag returns the offsets of the next tag of b; begin is −1 if there is none. It treats a
// CDATA section as text.
func nextTag(b []byte, from int) (begin, end int) {
	for {
		i := bytes.IndexByte(b[from:], '<')
		if i < 0 {
			return -1, -1
		}
		begin = from + i
		if !bytes.HasPrefix(b[begin:], []byte("<![CDATA[")) {
			break
		}
		n := bytes.Index(b[begin:], []byte("]]>"))
		if n < 0 {
			return -1, -1
		}
		from = begin + n + len("]]>")
	}
	end = begin + 1
	for quote := byte(0); end < len(b); end++ {
		switch c := b[end]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return begin, end + 1
		}
	}
	return -1, -1
}

// hasNested reports whether b contains nested elements or attributes. If so, b may have to be
// converted.
func hasNested(b []byte) bool {
	depth := 0
	for begin, end := nextTag(b, 0); begin >= 0; begin, end = nextTag(b, end) {
		if b[begin+1] == '/' {
			depth--
			continue
		}
		e := stripedElement{attrs: b[begin:end]}
		if _, syntax := e.ownAttrs(); syntax || depth > 0 {
			return true
		}
		if b[end-2] != '/' {
			depth++
		}
	}
	return false
}

// stripedForest parses sibling elements up to the end of b, or up to the end tag of their
// parent.
func stripedForest(b []byte) (list []stripedElement, length int) {
	type open struct {
		e           stripedElement
		begin, body int
	}
	var stack []open
	last := 0 // offset after the previous tag
	for begin, end := nextTag(b, 0); begin >= 0; begin, end = nextTag(b, end) {
		between := b[last:begin]
		isSpace := len(bytes.TrimSpace(between)) == 0
		if n := len(stack); n > 0 && !isSpace {
			stack[n-1].e.text = true
		}
		last = end
		if b[begin+1] == '/' && len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			top.e.outer, top.e.inner = b[top.begin:end], b[top.body:begin]
			if n := len(stack); n > 0 {
				stack[n-1].e.children = append(stack[n-1].e.children, top.e)
			} else {
				list = append(list, top.e)
			}
			continue
		}
		tag := b[begin+1 : end-1]
		empty := tag[len(tag)-1] == '/'
		if empty {
			tag = tag[:len(tag)-1]
		}
		e := stripedElement{name: tag, outer: b[begin:end]}
		if i := bytes.IndexByte(tag, ' '); i >= 0 {
			e.name, e.attrs = tag[:i], tag[i:]
		}
		if isSpace {
			e.before = between
		}
		switch n := len(stack); {
		case !empty:
			stack = append(stack, open{e, begin, end})
		case n > 0:
			stack[n-1].e.children = append(stack[n-1].e.children, e)
		default:
			list = append(list, e)
		}
	}
	return list, last
}

// isXML reports whether the element's parseType already prevents RDF from reading its content.
func (e *stripedElement) isXML() bool {
	return bytes.Contains(e.attrs, []byte(` rdf:parseType="Literal"`))
}

// ownAttrs reports whether the element has attributes other than namespace declarations, and
// whether one of these attributes belongs to the syntax of RDF.
func (e *stripedElement) ownAttrs() (any, syntax bool) {
	for rest := string(e.attrs); rest != ""; {
		name, after, ok := strings.Cut(rest, `="`)
		if !ok {
			break
		}
		_, rest, _ = strings.Cut(after, `"`)
		name = strings.TrimSpace(name)
		if name == "xmlns" || strings.HasPrefix(name, "xmlns:") || strings.HasPrefix(name, "xml:") {
			continue
		}
		any = true
		switch strings.TrimPrefix(name, "rdf:") { // the first edition of RDF/XML allows these attributes without a prefix too
		case "ID", "about", "aboutEach", "aboutEachPrefix", "bagID", "parseType", "nodeID", "datatype":
			syntax = true
		}
	}
	return any, syntax
}

// property writes an element as a property.
func (w *writer) property(e *stripedElement) {
	w.b = append(w.b, e.before...)
	if e.isProperty() {
		w.b = append(w.b, e.outer...)
		return
	}
	w.use("rdf:parseType")
	if attrs, _ := e.ownAttrs(); attrs || bytes.HasPrefix(e.name, []byte("itunes:")) || bytes.HasPrefix(e.name, []byte("media:")) {
		w.b = append(append(append(w.b, `<ext:xml xmlns:ext="`+feed.XMLExtension+`" rdf:parseType="Literal">`...), e.outer...), "</ext:xml>"...)
		return
	}
	w.b = append(append(append(w.b, '<'), e.name...), e.attrs...)
	if !e.isResource() {
		w.b = append(append(w.b, ` rdf:parseType="Literal">`...), e.inner...)
	} else {
		w.b = append(w.b, ` rdf:parseType="Resource">`...)
		for i := range e.children {
			w.property(&e.children[i])
		}
		w.b = append(w.b, e.inner[len(bytes.TrimRight(e.inner, " \n")):]...)
	}
	w.b = append(append(append(w.b, "</"...), e.name...), '>')
}

// isProperty reports whether an element is already a valid property: XML, or an element that
// is empty or contains only text or one resource.
func (e *stripedElement) isProperty() bool {
	attrs, syntax := e.ownAttrs()
	switch {
	case e.isXML():
		return true
	case len(e.children) == 0:
		return !syntax
	case attrs || len(e.children) > 1 || e.text || e.children[0].text:
		return false
	}
	for i := range e.children[0].children {
		if !e.children[0].children[i].isProperty() {
			return false
		}
	}
	return true
}

// isResource reports whether the element's children can be properties of a resource without a
// name.
func (e *stripedElement) isResource() bool {
	for i := range e.children {
		c := &e.children[i]
		if c.isProperty() {
			continue
		}
		if attrs, _ := c.ownAttrs(); attrs || !c.isResource() {
			return false
		}
	}
	return !e.text
}
