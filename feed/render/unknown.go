package render

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
)

// deepestTree is the maximum nesting of unknown elements in the output.
const deepestTree = 200

// unknown writes elements of unknown vocabularies unchanged. It omits elements whose namespace, or
// missing namespace, belongs to the format or to a module: such elements are duplicates or
// unreadable elements of the original document.
func (w *writer) unknown(list []feed.Node, ofItem bool) {
	for i := range list {
		n := &list[i]
		switch {
		case n.Name == "":
			w.lose(lostUnknown, strings.TrimSpace(n.Text) != "")
		case !w.foreign(n, ofItem):
			w.warn("unknown-element", n.Name, titleOf(w.format), " does not allow this element here, or allows it only once; it is omitted.")
		case n.Name != "applepodcastsverify" || w.newer("itunes:"+n.Name, true):
			w.tree(n)
		}
	}
}

// tree writes an element of any vocabulary on its own line.
func (w *writer) tree(n *feed.Node) {
	if w.flat == 0 {
		w.line()
	}
	t := newTree(w)
	t.scope = append(t.scope, binding{"", defaultSpace(w.format)})
	w.flat++
	t.node(n, 0)
	w.flat--
}

// defaultSpace returns the namespace of elements without a prefix.
func defaultSpace(format string) string {
	switch format {
	case "atom":
		return "http://www.w3.org/2005/Atom"
	case "atom03":
		return "http://purl.org/atom/ns#"
	case "rdf":
		return "http://purl.org/rss/1.0/"
	}
	return ""
}

// treeWriter writes trees with their namespace declarations.
type treeWriter struct {
	*writer
	scope []binding // declarations in scope, the innermost last
	used  []string  // prefixes that the current tag uses
	made  int       // number of generated prefixes
}

// newTree prepares the tree writer of the document, which reuses its memory, for another tree.
func newTree(w *writer) *treeWriter {
	if w.trees == nil {
		w.trees = &treeWriter{writer: w, scope: make([]binding, 0, 8), used: make([]string, 0, 8)}
	}
	w.trees.scope, w.trees.used, w.trees.made = w.trees.scope[:0], w.trees.used[:0], 0
	return w.trees
}

type binding struct{ prefix, uri string }

// node writes an element with its content, without adding white space.
func (t *treeWriter) node(n *feed.Node, depth int) {
	if !isName(n.Name) || n.Prefix != "" && !isName(n.Prefix) || depth > deepestTree {
		t.warn("unknown-element", "", "This is not a valid name of an XML element; the element is omitted: ", short(n.Name), ".")
		return
	}
	if n.Space == "" && n.Prefix == "" && structural(n.Name) { // the element would end the enclosing element
		t.warn("unknown-element", "", "An element with this name cannot be nested; it is omitted: ", short(n.Name), ".")
		return
	}
	outer := len(t.scope)
	prefix, declare := t.element(n)
	t.used = append(t.used[:0], prefix)
	t.b = append(t.b, '<')
	t.name(prefix, n.Name)
	if declare {
		t.declare(prefix, n.Space)
	}
	t.attrs(n)
	if n.Text == "" && len(n.Children) == 0 {
		t.b = append(t.b, "/>"...)
	} else {
		t.b = append(t.b, '>')
		t.escape(n.Text, n.Name, inText)
		for i := range n.Children {
			if c := &n.Children[i]; c.Name == "" {
				t.escape(c.Text, n.Name, inText)
			} else {
				t.node(c, depth+1)
			}
		}
		t.b = append(t.b, "</"...)
		t.name(prefix, n.Name)
		t.b = append(t.b, '>')
	}
	t.scope = t.scope[:outer]
}

func (t *treeWriter) name(prefix, local string) {
	if prefix != "" {
		t.b = append(append(t.b, prefix...), ':')
	}
	t.b = append(t.b, local...)
}

// element returns the prefix of an element, and whether the tag must declare it.
func (t *treeWriter) element(n *feed.Node) (prefix string, declare bool) {
	prefix = n.Prefix
	if prefix == "xml" || prefix == "xmlns" {
		prefix = ""
	}
	if prefix == "" && n.Space != "" && structural(n.Name) {
		prefix = "own" // without this prefix, lenient parsers would take the element for one of the format, whatever its namespace
	}
	if n.Space == "" && prefix != "" {
		n = &feed.Node{Space: undeclared(prefix)}
	}
	return prefix, t.lookup(prefix) != n.Space && !t.atRoot(prefix, n.Space)
}

// structural reports whether a name is that of an element that structures a feed.
func structural(name string) bool {
	return strings.EqualFold(name, "item") || strings.EqualFold(name, "entry") || strings.EqualFold(name, "channel") ||
		strings.EqualFold(name, "feed") || strings.EqualFold(name, "rss") || strings.EqualFold(name, "items")
}

// undeclared returns the namespace for a prefix without a declaration: its usual meaning, or a
// URI that has no meaning.
func undeclared(prefix string) string {
	if s := spaceOfPrefix(prefix); s != spNone {
		_, uri := s.declaration()
		return uri
	}
	return "undeclared:" + prefix
}

// atRoot reports whether the root can declare a prefix with its usual meaning. It cannot declare
// the prefix if an enclosing element declares it with another meaning.
func (t *treeWriter) atRoot(prefix, uri string) bool {
	if prefix == "" || t.lookup(prefix) != "" {
		return false
	}
	s := spaceOfPrefix(prefix)
	if s == spNone {
		return false
	}
	if _, usual := s.declaration(); usual != uri {
		return false
	}
	t.spaces |= 1 << s
	return true
}

// lookup returns the namespace of a prefix, or "" if the tree does not declare it.
func (t *treeWriter) lookup(prefix string) string {
	for i := len(t.scope) - 1; i >= 0; i-- {
		if t.scope[i].prefix == prefix {
			return t.scope[i].uri
		}
	}
	return ""
}

// declare writes a namespace declaration.
func (t *treeWriter) declare(prefix, uri string) {
	if uri == "" && prefix != "" {
		uri = undeclared(prefix)
	}
	t.scope = append(t.scope, binding{prefix, uri})
	t.b = append(t.b, " xmlns"...)
	if prefix != "" {
		t.b = append(append(t.b, ':'), prefix...)
	}
	t.b = append(t.b, `="`...)
	t.escape(spaceURI(uri), "xmlns", inAttr)
	t.b = append(t.b, '"')
}

// attrs writes the attributes of an element.
func (t *treeWriter) attrs(n *feed.Node) {
	if n.Base != "" {
		t.xmlAttr(n, "xml:base", t.ref(n.Base, n.Name))
	}
	t.xmlAttr(n, "xml:lang", t.language(n.Language, n.Name))
	for i := range n.Attrs {
		a := &n.Attrs[i]
		prefix, local := "", a.Name
		if k := strings.IndexByte(a.Name, ':'); k >= 0 {
			prefix, local = a.Name[:k], a.Name[k+1:]
		}
		switch {
		case !isName(local) || prefix != "" && !isName(prefix):
			t.warn("unknown-attribute", n.Name, "This is not a valid name of an XML attribute; the attribute is omitted: ", short(a.Name), ".")
			continue
		case prefix == "xmlns" || a.Name == "xmlns" || t.isDuplicate(n.Attrs[:i], a, local),
			a.Name == "xml:lang" && (a.Value == "" || t.language(a.Value, n.Name) == ""),
			a.Name == "xml:base" && (a.Value == "" || t.ref(a.Value, n.Name) != a.Value):
			continue
		case prefix != "xml" && (prefix != "" || a.Space != ""):
			prefix = t.bound(prefix, a.Space)
		}
		t.b = append(t.b, ' ')
		t.name(prefix, local)
		t.b = append(t.b, `="`...)
		t.escape(a.Value, a.Name, inAttr)
		t.b = append(t.b, '"')
	}
}

func (t *treeWriter) xmlAttr(n *feed.Node, name, value string) {
	if value == "" {
		return
	}
	for i := range n.Attrs {
		if n.Attrs[i].Name == name {
			return
		}
	}
	t.attr(name, value)
}

// isDuplicate reports whether an earlier attribute has the same name.
func (t *treeWriter) isDuplicate(before []feed.Attr, a *feed.Attr, local string) bool {
	for i := range before {
		b := &before[i]
		if b.Name[strings.IndexByte(b.Name, ':')+1:] == local && spaceOfAttr(b) == spaceOfAttr(a) {
			return true
		}
	}
	return false
}

// spaceOfAttr returns the namespace with which an attribute is written.
func spaceOfAttr(a *feed.Attr) string {
	switch i := strings.IndexByte(a.Name, ':'); {
	case i == len("xml") && a.Name[:i] == "xml":
		return "xml"
	case i > 0 && a.Space == "":
		return undeclared(a.Name[:i])
	}
	return spaceURI(a.Space)
}

// spaceURI returns a namespace URI without characters that are invalid in URIs.
func spaceURI(uri string) string {
	for i := range len(uri) {
		if !iriByte(uri[i]) {
			return escapeIRI(strings.ToValidUTF8(strings.TrimSpace(uri), ""), false)
		}
	}
	return uri
}

// bound returns a prefix that is bound to uri in the current tag. It is the preferred prefix,
// unless the tag uses that prefix for another namespace.
func (t *treeWriter) bound(prefix, uri string) string {
	if uri == "" {
		uri = undeclared(prefix)
	}
	if prefix == "" || prefix == "xmlns" || prefix == "xml" || slices.Contains(t.used, prefix) && t.lookup(prefix) != uri && !t.atRoot(prefix, uri) {
		prefix = t.other(uri)
	}
	if t.lookup(prefix) != uri && !t.atRoot(prefix, uri) {
		t.declare(prefix, uri)
	}
	t.used = append(t.used, prefix)
	return prefix
}

// other returns a prefix that is already bound to uri, or else a new one.
func (t *treeWriter) other(uri string) string {
	for i := range t.scope {
		if b := &t.scope[i]; b.uri == uri && b.prefix != "" && t.lookup(b.prefix) == uri {
			return b.prefix
		}
	}
	for {
		t.made++
		prefix := "ns" + strconv.Itoa(t.made)
		if t.lookup(prefix) == "" {
			return prefix
		}
	}
}

// isName reports whether s is a valid XML name without a prefix in every edition that parsers
// implement. Beyond ASCII, all editions allow the letters of the larger scripts.
func isName(s string) bool {
	for i, c := range s {
		switch {
		case c < utf8.RuneSelf:
			if !isLetter(byte(c)) && c != '_' && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.') {
				return false
			}
		case !steadyLetter(c):
			return false
		}
	}
	return s != ""
}

// steadyLetter reports whether a name may begin with c in every edition of XML.
func steadyLetter(c rune) bool {
	for _, r := range [...][2]rune{
		{0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x131}, {0x134, 0x13E}, {0x141, 0x148}, {0x14A, 0x17E}, {0x388, 0x38A}, {0x38E, 0x3A1}, {0x3A3, 0x3CE},
		{0x401, 0x40C}, {0x40E, 0x44F}, {0x451, 0x45C}, {0x45E, 0x481}, {0x5D0, 0x5EA}, {0x621, 0x63A}, {0x641, 0x64A},
		{0x3041, 0x3094}, {0x30A1, 0x30FA}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3},
	} {
		if r[0] <= c && c <= r[1] {
			return true
		}
	}
	return false
}

// plainAttrs writes each attribute once, and omits attributes whose names have a meaning in the
// format.
func (w *writer) plainAttrs(list []feed.Attr) {
	newTree(w).attrs(&feed.Node{Name: "outline", Attrs: list})
}
