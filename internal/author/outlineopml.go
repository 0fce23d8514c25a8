package author

import (
	"html"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/internal/author/markup"
)

// FromOPML converts an outline to nested posts. It returns the title of the outline, and its
// headlines with all attributes. Commented lines and elements other than headlines are omitted.
// Closed headlines are folded.
func FromOPML(doc *opml.Document) (title string, nodes []Node) {
	title = clipRunes(strings.Join(strings.Fields(doc.Head.Title), " "), MaxTitle)
	return title, fromOutlines(doc.Outlines, newExpansion(&doc.Head))
}

// expansion records which lines of an outline are open. It counts only visible lines, as OPML does.
//
// spec:opml20-2007#expansion-state
type expansion struct {
	open map[int]bool // key: number of a visible line, from 1; nil: the document does not declare open lines
	line int
}

func newExpansion(h *opml.Head) *expansion {
	e := &expansion{}
	if strings.TrimSpace(h.ExpansionState) == "" {
		return e
	}
	e.open = map[int]bool{}
	for _, n := range h.Expanded() {
		e.open[n] = true
	}
	return e
}

func fromOutlines(list []opml.Outline, e *expansion) []Node {
	var all []Node
	for i := range list {
		o := &list[i]
		e.line++
		n := Node{Text: markup.ToMarkdown(o.Text, HTML), Categories: validCategories(o.Category.List())}
		n.CreatedAt, _ = o.Created.Time() // an invalid date is omitted
		n.Attrs = attrsOf(o)
		n.link(o)
		below := e
		if len(o.Outlines) > 0 && e.open != nil && !e.open[e.line] {
			n.Folded, below = true, &expansion{} // OPML does not count the children of a closed headline
		}
		n.Nodes = fromOutlines(o.Outlines, below)
		if !o.IsComment {
			all = append(all, n)
		}
	}
	return all
}

// link sets the link or the enclosure of a headline.
func (n *Node) link(o *opml.Outline) {
	if link, err := CheckURL("", o.URL, false); err == nil {
		n.Link = link
	} else if o.URL != "" {
		n.Attrs = append(n.Attrs, feed.Attr{Name: "url", Value: o.URL})
	}
	attrs := n.Attrs
	n.Attrs = nil
	file := Enclosure{}
	file.URL, _ = attrOf(attrs, "enclosure")
	file.Type, _ = attrOf(attrs, "enclosureType")
	length, _ := attrOf(attrs, "enclosureLength")
	file.Length, _ = strconv.ParseInt(length, 10, 64)
	files := validEnclosures([]Enclosure{file})
	n.Enclosures = files
	for _, a := range attrs {
		if len(files) > 0 && (a.Name == "enclosure" || a.Name == "enclosureType" || a.Name == "enclosureLength") {
			continue
		}
		n.takeAttrs([]feed.Attr{a})
		if a.Name == "url" {
			n.Attrs = append(n.Attrs, a)
		}
	}
}

// attrsOf returns the attributes that have no field in Node: first the attributes that OPML
// defines, in the order of OPML, then others.
func attrsOf(o *opml.Outline) []feed.Attr {
	var all []feed.Attr
	for _, a := range []feed.Attr{
		{Name: "title", Value: o.Title}, {Name: "type", Value: o.Type}, {Name: "xmlUrl", Value: o.XMLURL}, {Name: "htmlUrl", Value: o.HTMLURL},
		{Name: "description", Value: o.Description}, {Name: "language", Value: o.Language}, {Name: "version", Value: o.Version},
	} {
		if a.Value != "" {
			all = append(all, a)
		}
	}
	if o.IsBreakpoint {
		all = append(all, feed.Attr{Name: "isBreakpoint", Value: "true"})
	}
	for _, a := range o.Attrs {
		all = append(all, feed.Attr{Name: a.Name, Value: a.Value, Space: a.Space})
	}
	return all
}

// ToOPML returns the nested posts of a post as an outline. The title of a node precedes its text.
// Of several files of a headline, only the first is written.
func (p *Posts) ToOPML(post Post) *opml.Document {
	w := p.items()
	d := &opml.Document{Version: "2.0", Head: opml.Head{Title: post.Title, OwnerName: post.User}}
	if !post.PublishedAt.IsZero() {
		d.Head.DateCreated = opml.DateOf(post.PublishedAt)
	}
	if !post.UpdatedAt.IsZero() {
		d.Head.DateModified = opml.DateOf(post.UpdatedAt)
	}
	if d.Head.Title == "" {
		d.Head.Title = clipRunes(textOf(post.HTML), 100)
	}
	var open []string
	line := 0
	d.Outlines = w.toOutlines(post.Outline, w.page(post), true, &line, &open)
	d.Head.ExpansionState = strings.Join(open, ",")
	return d
}

func (w itemWriter) toOutlines(nodes []Node, page string, seen bool, line *int, open *[]string) []opml.Outline {
	var all []opml.Outline
	for i := range nodes {
		n := &nodes[i]
		o := opml.Outline{Text: onPage(n.HTML, page), URL: n.Link, Category: opml.Categories(n.Categories...)}
		if n.Title != "" {
			o.Text = strings.TrimSpace(html.EscapeString(n.Title) + " " + o.Text)
		}
		if o.Text == "" {
			o.Text = headline(n)
		}
		if n.Link != "" {
			o.Type = "link"
		}
		if !n.CreatedAt.IsZero() {
			o.Created = opml.DateOf(n.CreatedAt)
		}
		for _, a := range n.Attrs {
			setAttr(&o, a)
		}
		if len(n.Enclosures) > 0 {
			e := w.enclosuresOf(n.Enclosures[:1])[0]
			o.Attrs = append(o.Attrs, opml.Attr{Name: "enclosure", Value: e.URL}, opml.Attr{Name: "enclosureType", Value: e.Type}, opml.Attr{Name: "enclosureLength", Value: strconv.FormatInt(e.Length, 10)})
		}
		if n.Folded {
			o.Attrs = append(o.Attrs, opml.Attr{Name: folded, Value: "true"})
		}
		if seen {
			*line++
		}
		if seen && len(n.Nodes) > 0 && !n.Folded {
			*open = append(*open, strconv.Itoa(*line))
		}
		o.Outlines = w.toOutlines(n.Nodes, page, seen && !n.Folded, line, open)
		all = append(all, o)
	}
	return all
}

func setAttr(o *opml.Outline, a feed.Attr) {
	switch a.Name {
	case "text", "created", "category", folded:
	case "title":
		o.Title = a.Value
	case "type":
		o.Type = a.Value
	case "xmlUrl":
		o.XMLURL = a.Value
	case "htmlUrl":
		o.HTMLURL = a.Value
	case "url":
		if o.URL == "" {
			o.URL = a.Value
		}
	case "description":
		o.Description = a.Value
	case "language":
		o.Language = a.Value
	case "version":
		o.Version = a.Value
	case "isComment":
		o.IsComment = a.Value == "true"
	case "isBreakpoint":
		o.IsBreakpoint = a.Value == "true"
	default:
		o.Attrs = append(o.Attrs, opml.Attr{Name: a.Name, Value: a.Value, Space: a.Space})
	}
}
