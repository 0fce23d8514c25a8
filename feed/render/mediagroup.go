package render

import (
	"slices"

	"cloudburst/feed"
)

// ungrouped returns m without groups that have fewer than two files, because a group offers a
// choice of files. The properties of such a group move to its file, or to the item if there is no
// file.
//
// spec:datafeeds-2006#media-groups
func (w *writer) ungrouped(m *feed.Media) *feed.Media {
	if !slices.ContainsFunc(m.Groups, func(g feed.MediaGroup) bool { return len(g.Contents) < 2 }) {
		return m
	}
	out := &feed.Media{MediaInfo: m.MediaInfo}
	for i := range m.Groups {
		g := &m.Groups[i]
		switch len(g.Contents) {
		case 0:
			out.MediaInfo = w.joined(out.MediaInfo, &g.MediaInfo)
		case 1:
			c := g.Contents[0]
			c.MediaInfo = w.joined(c.MediaInfo, &g.MediaInfo)
			out.Contents = append(out.Contents, c)
		default:
			out.Groups = append(out.Groups, *g)
		}
	}
	out.Contents = append(out.Contents, m.Contents...)
	return out
}

// flattened returns m without groups and without elements in its files, because RSS 1.0
// forbids elements with both attributes and child elements. The properties of files and groups
// move to the item.
func (w *writer) flattened(m *feed.Media) *feed.Media {
	out := *m
	out.Groups, out.Contents = nil, nil
	for i := range m.Groups {
		g := &m.Groups[i]
		w.lose(lostMedia, len(g.Contents) > 1)
		out.Contents = append(out.Contents, g.Contents...)
		out.MediaInfo = w.joined(out.MediaInfo, &g.MediaInfo)
	}
	out.Contents = append(out.Contents, m.Contents...)
	for i := range out.Contents {
		c := &out.Contents[i]
		out.MediaInfo = w.joined(out.MediaInfo, &c.MediaInfo)
		c.MediaInfo = feed.MediaInfo{}
	}
	return &out
}

// joined merges the properties of an element and of its parent. The properties of the element take
// precedence. Neither argument is changed.
func (w *writer) joined(in feed.MediaInfo, around *feed.MediaInfo) feed.MediaInfo {
	w.lose(lostMedia, in.Title.Value != "" && around.Title.Value != "" && in.Title != around.Title ||
		in.Description.Value != "" && around.Description.Value != "" && in.Description != around.Description)
	if in.Title.Value == "" {
		in.Title = around.Title
	}
	if in.Description.Value == "" {
		in.Description = around.Description
	}
	if in.Copyright == nil {
		in.Copyright = around.Copyright
	}
	if in.Community == nil {
		in.Community = around.Community
	}
	if in.Embed == nil {
		in.Embed = around.Embed
	}
	if in.Status == nil {
		in.Status = around.Status
	}
	if in.Rights == "" {
		in.Rights = around.Rights
	}
	in.Keywords = concat(in.Keywords, around.Keywords)
	in.Thumbnails = concat(in.Thumbnails, around.Thumbnails)
	in.Categories = concat(in.Categories, around.Categories)
	in.Hashes = concat(in.Hashes, around.Hashes)
	in.Players = concat(in.Players, around.Players)
	in.Credits = concat(in.Credits, around.Credits)
	in.Texts = concat(in.Texts, around.Texts)
	in.Restrictions = concat(in.Restrictions, around.Restrictions)
	in.Ratings = concat(in.Ratings, around.Ratings)
	in.Comments = concat(in.Comments, around.Comments)
	in.Responses = concat(in.Responses, around.Responses)
	in.BackLinks = concat(in.BackLinks, around.BackLinks)
	in.Prices = concat(in.Prices, around.Prices)
	in.Licenses = concat(in.Licenses, around.Licenses)
	in.SubTitles = concat(in.SubTitles, around.SubTitles)
	in.PeerLinks = concat(in.PeerLinks, around.PeerLinks)
	in.Locations = concat(in.Locations, around.Locations)
	in.Scenes = concat(in.Scenes, around.Scenes)
	in.Other = concat(in.Other, around.Other)
	return in
}

// concat returns the elements of a, then those of b.
func concat[T any](a, b []T) []T {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.Concat(a, b)
}
