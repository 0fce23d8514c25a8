package feed

import (
	"slices"
	"strings"

	"cloudburst/internal/scan"
)

// others is where the feed or item being read keeps what there is no field for.
func (p *parser) others() *[]Node {
	if p.item != nil {
		return &p.item.Unknown
	}
	return &p.f.Unknown
}

// remains keeps the text of an element that had to make room for another, or that
// could not be read as what it should be.
func (p *parser) remains(name, text string) {
	if text == "" {
		return
	}
	n := Node{Name: scan.Local(name), Prefix: scan.Prefix(name), Text: text}
	n.Space = p.r.URI(n.Prefix)
	if p.strange(len(n.Space)) {
		to := p.others()
		*to = append(*to, n)
	}
}

// isWords reports an element with words in it, and no attributes.
func (n *Node) isWords() bool {
	var b strings.Builder
	n.words(&b)
	return b.Len() > 0 && !n.hasAttrs()
}

func (n *Node) hasAttrs() bool {
	return len(n.Attrs) > 0 || slices.ContainsFunc(n.Children, func(c Node) bool { return c.hasAttrs() })
}

// words writes the text in the element.
func (n *Node) words(b *strings.Builder) {
	b.WriteString(n.Text)
	for i := range n.Children {
		n.Children[i].words(b)
	}
}

// displaced is remains for an element of the current one's name that said more than
// its text: attributes are names and values.
func (p *parser) displaced(text string, attributes ...string) {
	n := Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name), Text: text}
	n.Space = p.r.URI(n.Prefix)
	for i := 0; i < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			n.Attrs = append(n.Attrs, Attr{Name: attributes[i], Value: attributes[i+1]})
		}
	}
	if (n.Text != "" || n.Attrs != nil) && p.strange(len(n.Space)) {
		to := p.others()
		*to = append(*to, n)
	}
}

// put stores what the current element, which has been read, says. The last one counts;
// those before it remain.
func (p *parser) put(to *string, v string) {
	if v == "" || v == *to {
		return
	}
	p.remains(p.r.Name, *to)
	*to = v
}

// set is put for texts.
func (p *parser) set(to *Text, t Text) {
	if t.Value == "" && to.Value != "" {
		return
	}
	if t.Value != to.Value {
		p.remains(p.r.Name, to.Value)
	}
	*to = t
}

// inside reads an element that has elements in it: what use does not know is kept, as
// is text where they ought to be.
func (p *parser) inside(use func() bool) {
	if text, markup := p.r.Leaf(); !markup {
		p.remains(p.r.Name, text)
		return
	}
	p.each(func() {
		if !use() {
			p.keep(p.others())
		}
	})
}

// empty reads an element that says all in its attributes; text in it is kept.
func (p *parser) empty() { p.remains(p.r.Name, p.leaf()) }
