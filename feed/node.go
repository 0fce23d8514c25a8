package feed

import (
	"slices"
	"strings"

	"cloudburst/internal/scan"
)

// keep stores the current element as a node, because there is no field for it.
func (p *parser) keep(to *[]Node) {
	if to == nil {
		p.r.Skip()
		return
	}
	if n, ok := p.node(); ok {
		if p.inRDF {
			n.Attrs = slices.DeleteFunc(n.Attrs, isParseType)
		}
		*to = append(*to, n)
	}
}

// isParseType reports whether an attribute is rdf:parseType, which states how RDF reads the content
// of an element.
func isParseType(a Attr) bool {
	return scan.Local(a.Name) == "parseType" && strings.HasSuffix(a.Space, "22-rdf-syntax-ns#")
}

// node reads the current element as a tree. It returns false if the limit of unknown elements is
// reached.
func (p *parser) node() (Node, bool) {
	n := Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name)}
	n.Space = p.r.URI(n.Prefix)
	if !p.countUnknown(len(n.Space)) {
		p.r.Skip()
		return n, false
	}
	for i := range p.r.Attrs {
		a := &p.r.Attrs[i]
		if a.Name == "xmlns" || strings.HasPrefix(a.Name, "xmlns:") {
			continue
		}
		attr := Attr{Name: a.Name, Value: p.r.Decode(a.Raw)}
		if prefix := scan.Prefix(a.Name); prefix != "" {
			attr.Space = p.r.URI(prefix)
		}
		if !p.countUnknown(len(attr.Space)) {
			break
		}
		if p.inRDF && attr.Value == "Resource" && isParseType(attr) {
			continue
		}
		n.Attrs = append(n.Attrs, attr)
	}
	text, markup := p.r.Leaf()
	if !markup {
		n.Text = text
		return n, true
	}
	p.children(&n)
	return n, true
}

// countUnknown counts an unknown element, attribute or text, with n bytes that it shares with others.
// It reports whether the limits allow it.
func (p *parser) countUnknown(n int) bool {
	if p.unknown >= p.o.Limits.Unknown {
		if !p.unknownFull {
			p.unknownFull = true
			p.problem(ProblemLimit, p.r.Offset(), "There are more unknown elements than the limit; the rest is left out.")
		}
		return false
	}
	p.unknown++
	return p.budget.take(n)
}

// children reads the child elements of the current element and the text between them.
func (p *parser) children(n *Node) {
	depth := p.r.Depth()
	for {
		switch p.next() {
		case scan.Start:
			if child, ok := p.node(); ok {
				n.Children = append(n.Children, child)
			}
		case scan.Text:
			if !p.r.IsSpace() && p.countUnknown(0) {
				n.Children = append(n.Children, Node{Text: p.r.Chars()})
			}
		case scan.End:
			if p.r.Depth() < depth {
				return
			}
		case scan.EOF:
			return
		}
	}
}
