package form

import (
	"cmp"
	"strings"

	"cloudburst/client"
	syndicated "cloudburst/feed"
	"cloudburst/internal/announce"
	"cloudburst/internal/author"
	"cloudburst/internal/author/rules"
	"cloudburst/internal/author/version"
)

// ChangeContent changes a content: it copies the fields that are set in a request.
func ChangeContent(c *author.Content, in *client.PostChange) {
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
	if k := in.Card; k != nil {
		c.Card = nil
		if k.URL != "" {
			c.Card = &author.Card{URL: k.URL, Title: k.Title, Description: k.Description, Image: k.Image}
		}
	}
	if in.Outline != nil {
		c.Outline = NodesIn(*in.Outline)
	}
	if in.Groups != nil {
		c.Groups = *in.Groups
	}
}

func enclosuresIn(list []client.PostEnclosure) []author.Enclosure {
	var out []author.Enclosure
	for _, e := range list {
		out = append(out, author.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length, Title: e.Title, Alt: e.Alt, Duration: e.Duration})
	}
	return out
}

// NodesIn converts the outline in a request to nodes.
func NodesIn(list []client.PostNode) []author.Node {
	var out []author.Node
	for _, n := range list {
		node := author.Node{Text: n.Text, Title: n.Title, Link: n.Link, GUID: n.GUID, Categories: n.Categories,
			Enclosures: enclosuresIn(n.Enclosures), Folded: n.Folded, Nodes: NodesIn(n.Nodes)}
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

func enclosures(list []author.Enclosure) []client.PostEnclosure {
	var out []client.PostEnclosure
	for _, e := range list {
		out = append(out, client.PostEnclosure{URL: e.URL, Type: e.Type, Length: e.Length, Title: e.Title, Alt: e.Alt, Duration: e.Duration})
	}
	return out
}

// Nodes converts the nodes of an outline.
func Nodes(list []author.Node) []client.PostNode {
	var out []client.PostNode
	for _, n := range list {
		node := client.PostNode{Text: n.Text, HTML: n.HTML, Title: n.Title, Link: n.Link, GUID: n.GUID, Categories: n.Categories,
			CreatedAt: When(n.CreatedAt), Enclosures: enclosures(n.Enclosures), Folded: n.Folded, Nodes: Nodes(n.Nodes)}
		for _, a := range n.Attrs {
			node.Attrs = append(node.Attrs, client.PostAttr{Space: a.Space, Name: a.Name, Value: a.Value})
		}
		out = append(out, node)
	}
	return out
}

// PingTarget converts the state of a ping target.
func PingTarget(o announce.PendingTarget) client.PingTarget {
	kind, address, _ := strings.Cut(o.Target, " ")
	c := client.PingTarget{
		Kind: kind, URL: address, User: o.User, Topic: o.Topic, Version: o.Version, Notified: o.Notified,
		LastAt: When(o.LastAt), Last: o.Last, OK: o.OK, Tries: o.Tries, NextAt: When(o.DueAt), State: "owed",
	}
	switch {
	case o.GaveUp:
		c.State = "given-up"
	case o.Lease != 0:
		c.State = "telling"
	case o.Notified >= o.Version:
		c.State = "told"
	}
	return c
}

// Post converts a post. url is the URL of the post; warning is a warning about it; "": no warning.
func Post(p author.Post, url, warning string) client.Post {
	out := client.Post{
		ID: p.ID, User: p.User, Revision: p.Revision, State: string(p.State), Slug: p.WantedSlug(), GUID: p.GUID, Key: p.Key, URL: url,
		CreatedAt: Milli(p.CreatedAt), UpdatedAt: Milli(p.UpdatedAt), PublishedAt: When(p.PublishedAt), DueAt: When(p.DueAt), UndoUntil: When(p.UndoUntil), Warning: warning,
		Title: p.Title, Source: p.Source, Format: string(p.Format), HTML: p.HTML, Link: p.Link, Categories: append([]string{}, p.Categories...),
		Enclosures: enclosures(p.Enclosures), Outline: Nodes(p.Outline), Language: p.Language, Groups: p.Groups,
	}
	if out.Format == "" {
		out.Format = string(author.Markdown)
	}
	if k := p.Card; k != nil {
		out.Card = &client.PostCard{URL: k.URL, Title: k.Title, Description: k.Description, Image: k.Image}
	}
	if r := p.Reply; r != nil {
		out.Reply = &client.PostReply{URL: r.URL, GUID: r.GUID, Feed: r.Feed, Title: r.Title}
	}
	return out
}

// Version converts an earlier version of a post.
func Version(v version.Version) client.PostVersion {
	return client.PostVersion{Number: v.N, SavedAt: Milli(v.At), State: string(v.State), Title: v.Title, Source: v.Source,
		Format: string(cmp.Or(v.Format, author.Markdown)), Categories: append([]string{}, v.Categories...)}
}

// RulesIn converts the rules in a request to rules.Rules.
func RulesIn(in *client.PostRules) rules.Rules {
	return rules.Rules{Short: in.Short, URLs: in.URLs, PlainTags: in.PlainTags}
}

// Rules converts the rules of an author.
func Rules(r rules.Rules) *client.PostRules {
	return &client.PostRules{Short: r.Short, URLs: r.URLs, PlainTags: r.PlainTags}
}
