package form

import (
	"cloudburst/client"
	"cloudburst/internal/author"
)

// HintsIn converts the hints in a request to author.Hints.
func HintsIn(in *client.FeedHints) author.Hints {
	h := author.Hints{TTL: in.TTL, SkipHours: in.SkipHours, SkipDays: in.SkipDays, UpdatePeriod: in.UpdatePeriod, UpdateFrequency: in.UpdateFrequency}
	if in.UpdateBase != nil {
		h.UpdateBase = *in.UpdateBase
	}
	return h
}

// Hints converts the hints of a feed.
func Hints(h author.Hints) *client.FeedHints {
	out := &client.FeedHints{
		TTL: h.TTL, SkipHours: append([]int{}, h.SkipHours...), SkipDays: append([]string{}, h.SkipDays...),
		UpdatePeriod: h.UpdatePeriod, UpdateFrequency: h.UpdateFrequency,
	}
	if !h.UpdateBase.IsZero() {
		out.UpdateBase = &h.UpdateBase
	}
	return out
}

// Page converts a page of an author.
func Page(p author.Page) client.Page {
	out := client.Page{Slug: p.Slug, Title: p.Title, Source: p.Source, Place: p.Place, InMenu: p.InMenu, HTML: p.HTML}
	if !p.UpdatedAt.IsZero() {
		out.Saved = &p.UpdatedAt
	}
	return out
}
