package author

import (
	"maps"
	"slices"
)

// Clone returns a deep copy of a content.
func (c Content) Clone() Content {
	c.Categories = slices.Clone(c.Categories)
	c.Keywords = slices.Clone(c.Keywords)
	c.Groups = slices.Clone(c.Groups)
	c.Hashtags = slices.Clone(c.Hashtags)
	c.Enclosures = slices.Clone(c.Enclosures)
	c.Properties = maps.Clone(c.Properties)
	if c.Reply != nil {
		r := *c.Reply
		c.Reply = &r
	}
	if c.Card != nil {
		card := *c.Card
		c.Card = &card
	}
	c.Outline = cloneNodes(c.Outline)
	if c.Rest != nil {
		c.Rest = c.Rest.Clone()
	}
	return c
}

func cloneNodes(nodes []Node) []Node {
	all := slices.Clone(nodes)
	for i := range all {
		n := &all[i]
		n.Categories, n.Enclosures, n.Attrs = slices.Clone(n.Categories), slices.Clone(n.Enclosures), slices.Clone(n.Attrs)
		n.Nodes = cloneNodes(n.Nodes)
	}
	return all
}
