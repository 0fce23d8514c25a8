package xmlsafe

import "strings"

// The prefixes xml and xmlns are always bound to these namespaces.
const (
	XMLSpace   = "http://www.w3.org/XML/1998/namespace"
	XMLNSSpace = "http://www.w3.org/2000/xmlns/"
)

// Node is an element.
type Node struct {
	// Space is the namespace, Prefix and Local are the parts of the name before and after the
	// colon.
	Space, Prefix, Local string
	// Attrs excludes namespace declarations.
	Attrs []Attr
	Nodes []*Node
	// Text is all character data directly inside the element, in order, with line ends as "\n".
	Text string
	// At is the number of bytes of the parent's Text before this element.
	At int
	// Line is the line of the start tag, from 1.
	Line int

	parent *Node
	decls  []binding
}

// Attr is an attribute. Space is empty for an attribute without a prefix.
type Attr struct {
	Space, Prefix, Local string
	Value                string
}

type binding struct{ prefix, space string }

// Attr returns the value of an attribute.
func (n *Node) Attr(space, local string) (string, bool) {
	for _, a := range n.Attrs {
		if a.Local == local && a.Space == space {
			return a.Value, true
		}
	}
	return "", false
}

// Resolve resolves a qualified name in a text or attribute value, such as xsd:string, with the
// declarations in scope at n. A name without a prefix is in the default namespace. ok is false for
// an undeclared prefix; local is always the part after the colon.
func (n *Node) Resolve(name string) (space, local string, ok bool) {
	prefix, local, found := strings.Cut(strings.Trim(name, " \t\r\n"), ":")
	if !found {
		prefix, local = "", prefix
	}
	space, ok = n.lookup(prefix)
	return space, local, ok || prefix == ""
}

// Parent returns the parent element, nil for the root.
func (n *Node) Parent() *Node { return n.parent }

// HasNoText reports whether the element has only white space as text.
func (n *Node) HasNoText() bool { return Trim(n.Text) == "" }

// Name returns the element's name as written.
func (n *Node) Name() string { return rawName(n.Prefix, n.Local) }

func (n *Node) lookup(prefix string) (string, bool) {
	if prefix == "xml" {
		return XMLSpace, true
	}
	for ; n != nil; n = n.parent {
		for _, d := range n.decls {
			if d.prefix == prefix {
				return d.space, true
			}
		}
	}
	return "", false
}

func rawName(prefix, local string) string {
	if prefix == "" {
		return local
	}
	return prefix + ":" + local
}
