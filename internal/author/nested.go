package author

import (
	"cmp"
	"html"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/author/markup"
)

// A hierarchical post is written in three forms, because feed readers support different forms: as
// nested items, which have all data; as an outline, which has attributes and closed headlines; and
// as a list in the full text.

// nest adds the nested posts of a post to its item.
//
// spec:rsscloud-2009#item-namespace
func (w itemWriter) nest(it *feed.Item, post Post) {
	if len(post.Outline) == 0 {
		return
	}
	it.Items = w.nested(post.Outline, post.GUID, w.page(post))
	whole := it.Summary
	whole.Type = "text/html"
	whole.Value = strings.TrimSpace(whole.Value + "\n" + onPage(listOf(post.Outline), w.page(post)))
	it.Content = []feed.Text{whole}
	root := feed.Outline{Attrs: []feed.Attr{{Name: "text", Value: rootText(post)}}, Outlines: outlines(post.Outline)}
	if !post.PublishedAt.IsZero() {
		root.Attrs = append(root.Attrs, feed.Attr{Name: "created", Value: post.PublishedAt.UTC().Format(http.TimeFormat)})
	}
	if it.More == nil {
		it.More = &feed.More{}
	}
	if was := it.More.Outlines; len(was) == 1 { // the imported item already had one outline
		root.Attrs = withAttrs(root.Attrs, was[0].Attrs)
	}
	it.More.Outlines = []feed.Outline{root}
}

// rootText returns the headline of the whole post in its outline.
func rootText(post Post) string {
	if post.Title != "" {
		return html.EscapeString(post.Title)
	}
	return html.EscapeString(clipRunes(textOf(post.HTML), 200))
}

// withAttrs appends the attributes in more whose names are not in to.
func withAttrs(to, more []feed.Attr) []feed.Attr {
	for _, a := range more {
		if _, exists := attrOf(to, a.Name); !exists {
			to = append(to, a)
		}
	}
	return to
}

func attrOf(list []feed.Attr, name string) (value string, ok bool) {
	for _, a := range list {
		if a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// nested returns nodes as items. If a node has no GUID, its GUID is derived from its position.
func (w itemWriter) nested(nodes []Node, guid, page string) []feed.Item {
	if len(nodes) == 0 {
		return nil
	}
	all := make([]feed.Item, len(nodes))
	for i, n := range nodes {
		it := &all[i]
		it.ID, it.IDFrom = n.GUID, feed.FromID
		if it.ID == "" {
			it.ID = guid + nodeMark(guid) + strconv.Itoa(i+1)
		}
		it.Title, it.Link = plainText(n.Title), n.Link
		it.Summary = htmlText(n.HTML, "", page)
		if n.Text != "" {
			it.More = &feed.More{Markdown: n.Text}
		}
		it.Media = w.addMedia(nil, n.Enclosures, n.Title != "")
		it.Published = dateOf(n.CreatedAt)
		it.Categories = categoriesOf(n.Categories, nil)
		it.Enclosures = w.enclosuresOf(n.Enclosures)
		it.Items = w.nested(n.Nodes, it.ID, page)
	}
	return all
}

// nodeMark returns the separator between a post's guid and the position of a node in the guid of
// the node.
func nodeMark(guid string) string {
	if strings.Contains(guid, "#") {
		return "."
	}
	return "#"
}

// listOf returns nodes as an HTML list.
func listOf(nodes []Node) string {
	var b strings.Builder
	writeList(&b, nodes)
	return b.String()
}

func writeList(b *strings.Builder, nodes []Node) {
	b.WriteString("<ul>")
	for i := range nodes {
		n := &nodes[i]
		b.WriteString("<li>")
		if n.Title != "" {
			b.WriteString("<strong>" + html.EscapeString(n.Title) + "</strong> ")
		}
		b.WriteString(n.HTML)
		if n.Link != "" {
			href := html.EscapeString(n.Link)
			b.WriteString(` <a href="` + href + `">` + href + "</a>")
		}
		for _, e := range n.Enclosures {
			b.WriteString(` <a href="` + html.EscapeString(e.URL) + `">` + html.EscapeString(cmp.Or(e.Title, e.Alt, e.URL)) + "</a>")
		}
		if len(n.Nodes) > 0 {
			writeList(b, n.Nodes)
		}
		b.WriteString("</li>")
	}
	b.WriteString("</ul>")
}

// listStart is the beginning of the HTML of nested posts.
const listStart = "<ul><li>"

// unlisted returns the text of an item without the list of nested items, if the full text is the
// summary plus that list.
func unlisted(it *feed.Item) (feed.Text, bool) {
	switch {
	case len(it.Items) == 0:
	case len(it.Content) > 0:
		return it.Summary, strings.HasPrefix(it.Content[0].Value, strings.TrimSpace(it.Summary.Value+"\n"+listStart))
	case strings.HasPrefix(it.Summary.Value, listStart): // an item with only one text has that text as its summary
		return feed.Text{}, true
	}
	return feed.Text{}, false
}

// folded is the attribute by which outliners mark a closed headline.
const folded = "collapse"

// outlines returns nodes as headlines of an outline, with attributes that outliners read and the
// imported attributes.
func outlines(nodes []Node) []feed.Outline {
	all := make([]feed.Outline, len(nodes))
	for i, n := range nodes {
		text := n.HTML
		if text == "" {
			text = html.EscapeString(cmp.Or(n.Title, n.Link))
		}
		attrs := []feed.Attr{{Name: "text", Value: text}}
		if _, typed := attrOf(n.Attrs, "type"); n.Link != "" && !typed {
			attrs = append(attrs, feed.Attr{Name: "type", Value: "link"})
		}
		for _, a := range []feed.Attr{{Name: "url", Value: n.Link}, {Name: "category", Value: strings.Join(n.Categories, ",")}} {
			if a.Value != "" {
				attrs = append(attrs, a)
			}
		}
		if !n.CreatedAt.IsZero() {
			attrs = append(attrs, feed.Attr{Name: "created", Value: n.CreatedAt.UTC().Format(http.TimeFormat)})
		}
		if n.Folded {
			attrs = append(attrs, feed.Attr{Name: folded, Value: "true"})
		}
		all[i] = feed.Outline{Attrs: withAttrs(attrs, n.Attrs)}
		if len(n.Nodes) > 0 {
			all[i].Outlines = outlines(n.Nodes)
		}
	}
	return all
}

// nodesOf returns the nested posts of an item, or the headlines of its outline if the item has no
// nested posts. rest is returned without them.
func nodesOf(it, rest *feed.Item) ([]Node, *feed.Item) {
	var heads []feed.Outline
	if it.More != nil {
		heads = it.More.Outlines
	}
	if rootOf(it, heads) {
		rest.More.Outlines = []feed.Outline{{Attrs: heads[0].Attrs}}
		heads = heads[0].Outlines
	} else if len(heads) > 0 {
		rest.More.Outlines = nil
	}
	if len(it.Items) > 0 {
		return itemNodes(it.Items, heads), rest
	}
	return headlines(heads), rest
}

// rootOf reports whether heads is a single headline that stands for the item itself, with all other
// headlines below it.
func rootOf(it *feed.Item, heads []feed.Outline) bool {
	switch {
	case len(heads) != 1:
		return false
	case len(it.Items) > 0:
		return len(heads[0].Outlines) == len(it.Items)
	}
	text, _ := attrOf(heads[0].Attrs, "text")
	text = strings.Join(strings.Fields(textOf(text)), " ")
	return text == words(it.Title) || strings.HasPrefix(strings.Join(strings.Fields(textOf(it.Summary.Value)), " "), text)
}

// itemNodes converts items to nodes. heads are the headlines of the items; they are ignored if
// their number differs.
func itemNodes(list []feed.Item, heads []feed.Outline) []Node {
	if len(heads) != len(list) {
		heads = nil
	}
	var all []Node
	for i := range list {
		in := &list[i]
		n := Node{Title: words(in.Title), GUID: in.ID, Link: in.Link, CreatedAt: in.Published.UTC}
		text, format := sourceOf(in)
		n.Text = markup.ToMarkdown(text, format)
		for _, cat := range in.Categories {
			n.Categories = append(n.Categories, cmp.Or(cat.Term, cat.Label))
		}
		n.Enclosures, _ = splitMedia(in)
		var under []feed.Outline
		switch {
		case heads != nil:
			n.takeAttrs(heads[i].Attrs)
			under = heads[i].Outlines
		case in.More != nil:
			under = in.More.Outlines
		}
		if n.Nodes = itemNodes(in.Items, under); len(in.Items) == 0 {
			n.Nodes = headlines(under)
		}
		all = append(all, n)
	}
	return all
}

// takeAttrs stores the attributes of a headline for which a feed item has no field.
func (n *Node) takeAttrs(attrs []feed.Attr) {
	for _, a := range attrs {
		switch {
		case a.Name == "text", a.Name == "url", a.Name == "created", a.Name == "category":
		case a.Name == "type" && a.Value == "link" && n.Link != "":
		case a.Name == folded && a.Value == "true":
			n.Folded = true
		default:
			n.Attrs = append(n.Attrs, a)
		}
	}
}

// headlines converts an outline with HTML texts to nodes.
func headlines(list []feed.Outline) []Node {
	var all []Node
	for _, o := range list {
		n := Node{Nodes: headlines(o.Outlines)}
		var rest []feed.Attr
		for _, a := range o.Attrs {
			switch a.Name {
			case "text":
				n.Text = markup.ToMarkdown(a.Value, HTML)
			case "url":
				if link, err := CheckURL("", a.Value, false); err == nil {
					n.Link = link
				} else {
					rest = append(rest, a)
				}
			case "created":
				n.CreatedAt, _ = feed.ParseDate(a.Value) // an invalid date is omitted
			case "category":
				n.Categories = validCategories(splitCommas(a.Value))
			default:
				rest = append(rest, a)
			}
		}
		n.takeAttrs(rest)
		all = append(all, n)
	}
	return all
}

func splitCommas(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}
