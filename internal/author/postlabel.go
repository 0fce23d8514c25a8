package author

import "strings"

// Label returns a short text, such as the title, by which users recognize a post.
func (p Post) Label() string {
	s := p.Title
	if s == "" {
		s = strings.Join(strings.Fields(textOf(p.HTML)), " ")
	}
	if s == "" {
		return "without text of " + p.CreatedAt.Format("2 January 2006")
	}
	return clipRunes(s, 60)
}

// Mentions reports whether the text, the files or the outline of a post contain a path.
func (c *Content) Mentions(path string) bool {
	if strings.Contains(c.Source, path) || strings.Contains(c.HTML, path) || strings.Contains(c.Link, path) || enclosed(c.Enclosures, path) {
		return true
	}
	return inNodes(c.Outline, path)
}

func inNodes(nodes []Node, path string) bool {
	for _, n := range nodes {
		if strings.Contains(n.Text, path) || strings.Contains(n.Link, path) || enclosed(n.Enclosures, path) || inNodes(n.Nodes, path) {
			return true
		}
	}
	return false
}

func enclosed(list []Enclosure, path string) bool {
	for _, e := range list {
		if strings.Contains(e.URL, path) {
			return true
		}
	}
	return false
}
