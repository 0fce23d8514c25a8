package sanitize

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// reread parses clean as a browser does, and writes the tree with the list of allowed elements and
// attributes. It returns false if parsing fails.
func (z *Sanitizer) reread(clean string) (string, bool) {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(clean), body)
	if err != nil {
		return clean, false
	}
	out := make([]byte, 0, len(clean)+16)
	for _, n := range nodes {
		out = z.appendNode(out, n)
	}
	return string(out), true
}

// appendNode writes the allowed part of n. The parser limits the depth of the tree.
func (z *Sanitizer) appendNode(out []byte, n *html.Node) []byte {
	switch n.Type {
	case html.TextNode:
		return appendText(out, n.Data)
	case html.ElementNode:
	default:
		return out
	}
	e := elementOf(n)
	if e != nil && !e.is(hidden) {
		i := 0
		out = z.appendTag(out, e, func() (string, string, bool) {
			if i == len(n.Attr) {
				return "", "", false
			}
			a := n.Attr[i]
			i++
			if a.Namespace != "" {
				a.Key = a.Namespace + ":" + a.Key
			}
			return strings.ToLower(a.Key), a.Val, i < len(n.Attr)
		})
		if e.name == "pre" && n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "\n") {
			out = append(out, '\n')
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		out = z.appendNode(out, c)
	}
	if e != nil && !e.is(hidden|void) {
		out = append(append(append(out, "</"...), e.name...), '>')
	}
	return out
}

// elementOf returns the allowed element of n, nil if there is none.
func elementOf(n *html.Node) *element {
	if n.Namespace == "" {
		return elements[n.Data]
	}
	return elements[n.Namespace+" "+strings.ToLower(n.Data)]
}
