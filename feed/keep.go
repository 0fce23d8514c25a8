package feed

import (
	"slices"
	"strings"

	"cloudburst/internal/scan"
)

// others returns the Unknown list of the current feed or item.
func (p *parser) others() *[]Node {
	if p.item != nil {
		return &p.item.Unknown
	}
	return &p.f.Unknown
}

// keepText stores the text of a replaced or invalid element in Unknown.
func (p *parser) keepText(name, text string) {
	if text == "" {
		return
	}
	n := Node{Name: scan.Local(name), Prefix: scan.Prefix(name), Text: text}
	n.Space = p.r.URI(n.Prefix)
	if p.countUnknown(len(n.Space)) {
		to := p.others()
		*to = append(*to, n)
	}
}

// isWords reports whether an element has text but no attributes.
func (n *Node) isWords() bool {
	var b strings.Builder
	n.words(&b)
	return b.Len() > 0 && !n.hasAttrs()
}

func (n *Node) hasAttrs() bool {
	return len(n.Attrs) > 0 || slices.ContainsFunc(n.Children, func(c Node) bool { return c.hasAttrs() })
}

// words appends the text of the element to b.
func (n *Node) words(b *strings.Builder) {
	b.WriteString(n.Text)
	for i := range n.Children {
		n.Children[i].words(b)
	}
}

// keepElement is like keepText for an element with the current name. attributes are alternating
// names and values.
func (p *parser) keepElement(text string, attributes ...string) {
	n := Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name), Text: text}
	n.Space = p.r.URI(n.Prefix)
	for i := 0; i < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			n.Attrs = append(n.Attrs, Attr{Name: attributes[i], Value: attributes[i+1]})
		}
	}
	if (n.Text != "" || n.Attrs != nil) && p.countUnknown(len(n.Space)) {
		to := p.others()
		*to = append(*to, n)
	}
}

// put stores the value of the current element. If the element is repeated, the last value counts,
// and earlier values are stored in Unknown.
func (p *parser) put(to *string, v string) {
	if v == "" || v == *to {
		return
	}
	p.keepText(p.r.Name, *to)
	*to = v
}

// set is like put for a Text.
func (p *parser) set(to *Text, t Text) {
	if t.Value == "" && to.Value != "" {
		return
	}
	if t.Value != to.Value {
		p.keepText(p.r.Name, to.Value)
	}
	*to = t
}

// inside reads an element with child elements. Text, and children for which use returns false,
// are stored in Unknown.
func (p *parser) inside(use func() bool) {
	if text, markup := p.r.Leaf(); !markup {
		p.keepText(p.r.Name, text)
		return
	}
	p.each(func() {
		if !use() {
			p.keep(p.others())
		}
	})
}

// empty reads an element that should have only attributes. Text inside the element is stored in
// Unknown.
func (p *parser) empty() { p.keepText(p.r.Name, p.leaf()) }
