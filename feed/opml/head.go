package opml

import (
	"fmt"
	"strings"

	"cloudburst/internal/scan"
)

// headName is the index of an element of the head.
type headName int

const headNames headName = 13

// String returns the element's name.
func (n headName) String() string {
	return [headNames]string{"title", "dateCreated", "dateModified", "ownerName", "ownerEmail", "ownerId", "docs",
		"expansionState", "vertScrollState", "windowTop", "windowLeft", "windowBottom", "windowRight"}[n]
}

// at returns a pointer to the element's field.
func (h *Head) at(n headName) *string {
	return [headNames]*string{&h.Title, (*string)(&h.DateCreated), (*string)(&h.DateModified), &h.OwnerName, &h.OwnerEmail,
		&h.OwnerID, &h.Docs, &h.ExpansionState, &h.VertScrollState, &h.WindowTop, &h.WindowLeft, &h.WindowBottom, &h.WindowRight}[n]
}

// field returns a pointer to the field of the element with this name in any case, or nil if the
// name is unknown.
func (h *Head) field(name string) *string {
	for n := range headNames {
		if strings.EqualFold(n.String(), name) {
			return h.at(n)
		}
	}
	return nil
}

// head reads the content of <head>.
func (b *builder) head() {
	for depth := len(b.steps); len(b.steps) >= depth; {
		switch b.next() {
		case scan.Text:
			if b.visit == nil {
				b.inHeads.add(b.Chars())
			}
		case scan.Start:
			b.inHead()
		}
	}
}

// inHead reads one child of <head>. It may be an element that belongs elsewhere.
func (b *builder) inHead() {
	inOPML := b.inOPML()
	switch {
	case inOPML && (b.Local == "outline" || b.Local == "body" || b.Local == "head"):
		b.child()
	case inOPML && b.d.Head.field(b.Local) != nil:
		b.headElement()
	default:
		b.d.Head.Unknown = b.node(b.d.Head.Unknown)
	}
}

// headElement reads an element that has a field. If its end tag is missing, the following elements
// are inside this element; they are read as children of <head>.
//
// spec:opml20-2007#head
func (b *builder) headElement() {
	field, where := b.d.Head.field(b.Local), b.here()
	n := Node{Name: local(b.Name), Attrs: b.attrs(nil, b.Attrs)}
	var text []string
	for depth := len(b.steps); len(b.steps) >= depth; {
		switch b.next() {
		case scan.Text:
			text = append(text, b.Chars())
		case scan.Start:
			if inOPML := b.inOPML(); inOPML && (b.d.Head.field(b.Local) != nil || b.Local == "outline" || b.Local == "body" || b.Local == "head") {
				b.inHead()
				continue
			}
			if s := strings.Join(text, ""); strings.TrimSpace(s) != "" {
				n.Children = append(n.Children, Node{Text: s})
			}
			text = text[:0]
			n.Children = b.node(n.Children)
		}
	}
	rest := strings.Join(text, "")
	if len(n.Children) > 0 && strings.TrimSpace(rest) != "" {
		n.Children = append(n.Children, Node{Text: rest})
	} else {
		n.Text = strings.TrimSpace(rest)
	}
	b.keepHead(n, field, where)
}

// keepHead stores an element in its field. If the field cannot represent the whole element, the
// element is also added to Unknown.
func (b *builder) keepHead(n Node, at *string, where location) {
	text := strings.TrimSpace(n.allText())
	switch again := *at != ""; {
	case again:
		b.problemAt(where, ProblemDuplicate, fmt.Sprintf("The head contains <%s> more than once.", n.Name))
		if *at != text || n.hasMarkup() {
			b.d.Head.Unknown = append(b.d.Head.Unknown, n)
		}
		return
	case n.hasMarkup():
		b.d.Head.Unknown = append(b.d.Head.Unknown, n)
	}
	*at = text
	if strings.HasPrefix(strings.ToLower(n.Name), "date") && text != "" {
		if _, ok := Date(text).Time(); !ok {
			b.problemAt(where, ProblemDate, fmt.Sprintf("The date %.40q cannot be read.", text))
		}
	}
}

// hasMarkup reports whether the element has attributes or child elements.
func (n *Node) hasMarkup() bool { return len(n.Attrs) > 0 || len(n.Children) > 0 }

// allText returns all text in the element.
func (n *Node) allText() string {
	if len(n.Children) == 0 {
		return n.Text
	}
	var s strings.Builder
	for i := range n.Children {
		s.WriteString(n.Children[i].allText())
	}
	return s.String()
}

// supersedes reports whether an element of Unknown contains the text of the field with this name
// and more data. In this case the writer writes only that element.
func (h *Head) supersedes(name headName, text string) bool {
	for i := range h.Unknown {
		if n := &h.Unknown[i]; n.Prefix == "" && n.Space == "" && strings.EqualFold(n.Name, name.String()) {
			return n.hasMarkup() && strings.TrimSpace(n.allText()) == text
		}
	}
	return false
}
