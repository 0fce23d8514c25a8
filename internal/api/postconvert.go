package api

import (
	"cloudburst/client"
	syndicated "cloudburst/feed"
	"cloudburst/internal/author"
)

// maxPost is the maximum size of a request with a post in bytes: its text and its outline with all
// attributes.
const maxPost = 6 << 20

// editOf converts a request to an edit.
func editOf(c *postCall, in *client.PostChange) author.Edit {
	e := author.Edit{User: c.user, Via: c.via(), Change: func(to *author.Content) error {
		changeContent(to, in)
		return nil
	}}
	if in.State != nil {
		e.To = author.State(*in.State)
	}
	if in.At != nil {
		e.At = *in.At
	}
	if in.Slug != nil {
		e.Slug = *in.Slug
	}
	return e
}

// changeContent copies the fields that are set in a request.
func changeContent(c *author.Content, in *client.PostChange) {
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&c.Title, in.Title)
	set(&c.Source, in.Source)
	set(&c.Link, in.Link)
	set(&c.Language, in.Language)
	if in.Format != nil {
		c.Format = author.Format(*in.Format)
	}
	if in.Categories != nil {
		c.Categories = *in.Categories
	}
	if in.Enclosures != nil {
		c.Enclosures = enclosuresIn(*in.Enclosures)
	}
	if r := in.Reply; r != nil {
		c.Reply = nil
		if r.URL != "" {
			c.Reply = &author.Reply{URL: r.URL, GUID: r.GUID, Feed: r.Feed, Title: r.Title}
		}
	}
	if in.Outline != nil {
		c.Outline = nodesIn(*in.Outline)
	}
}

func enclosuresIn(list []client.PostEnclosure) []author.Enclosure {
	var out []author.Enclosure
	for _, e := range list {
		out = append(out, author.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length, Title: e.Title, Alt: e.Alt, Duration: e.Duration})
	}
	return out
}

func nodesIn(list []client.PostNode) []author.Node {
	var out []author.Node
	for _, n := range list {
		node := author.Node{Text: n.Text, Title: n.Title, Link: n.Link, GUID: n.GUID, Categories: n.Categories,
			Enclosures: enclosuresIn(n.Enclosures), Folded: n.Folded, Nodes: nodesIn(n.Nodes)}
		if n.CreatedAt != nil {
			node.CreatedAt = n.CreatedAt.UTC()
		}
		for _, a := range n.Attrs {
			node.Attrs = append(node.Attrs, syndicated.Attr{Space: a.Space, Name: a.Name, Value: a.Value})
		}
		out = append(out, node)
	}
	return out
}

func (s *Server) postOf(p author.Post) client.Post {
	out := client.Post{
		ID: p.ID, User: p.User, Revision: p.Revision, State: string(p.State), GUID: p.GUID, Key: p.Key, URL: s.Posts.Address(p),
		CreatedAt: milli(p.CreatedAt), UpdatedAt: milli(p.UpdatedAt), PublishedAt: when(p.PublishedAt), DueAt: when(p.DueAt), UndoUntil: when(p.UndoUntil), Warning: s.Posts.Warning(p),
		Title: p.Title, Source: p.Source, Format: string(p.Format), HTML: p.HTML, Link: p.Link, Categories: append([]string{}, p.Categories...),
		Enclosures: enclosuresOf(p.Enclosures), Outline: nodesOf(p.Outline), Language: p.Language,
	}
	if out.Format == "" {
		out.Format = string(author.Markdown)
	}
	if r := p.Reply; r != nil {
		out.Reply = &client.PostReply{URL: r.URL, GUID: r.GUID, Feed: r.Feed, Title: r.Title}
	}
	return out
}

func enclosuresOf(list []author.Enclosure) []client.PostEnclosure {
	var out []client.PostEnclosure
	for _, e := range list {
		out = append(out, client.PostEnclosure{URL: e.URL, Type: e.Type, Length: e.Length, Title: e.Title, Alt: e.Alt, Duration: e.Duration})
	}
	return out
}

func nodesOf(list []author.Node) []client.PostNode {
	var out []client.PostNode
	for _, n := range list {
		node := client.PostNode{Text: n.Text, HTML: n.HTML, Title: n.Title, Link: n.Link, GUID: n.GUID, Categories: n.Categories,
			CreatedAt: when(n.CreatedAt), Enclosures: enclosuresOf(n.Enclosures), Folded: n.Folded, Nodes: nodesOf(n.Nodes)}
		for _, a := range n.Attrs {
			node.Attrs = append(node.Attrs, client.PostAttr{Space: a.Space, Name: a.Name, Value: a.Value})
		}
		out = append(out, node)
	}
	return out
}
