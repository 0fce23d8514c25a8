package opml

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// FeedURL returns the URL of the feed that the outline subscribes to; or "" if the outline is not a
// subscription. It accepts the attribute url as well as xmlUrl, because a few programs write url.
//
// spec:opml20-2007#subscription
func (o *Outline) FeedURL() string {
	switch {
	case o.XMLURL != "":
		return o.XMLURL
	case o.URL != "" && o.isFeedType():
		return o.URL
	}
	return ""
}

func (o *Outline) isFeedType() bool {
	return strings.EqualFold(o.Type, "rss") || strings.EqualFold(o.Type, "atom") || strings.EqualFold(o.Type, "feed")
}

// IncludeURL returns the URL of the OPML document that the outline includes; or "" if it includes
// none. An outline includes a document if its type is "include", or if its type is "link" and the
// URL ends with .opml.
//
// spec:opml20-2007#inclusion
func (o *Outline) IncludeURL() string {
	url := o.URL
	if url == "" {
		return ""
	}
	if strings.EqualFold(o.Type, "include") {
		return url
	}
	if end := strings.IndexAny(url, "?#"); end >= 0 {
		url = url[:end]
	}
	if strings.EqualFold(o.Type, "link") && len(url) >= 5 && strings.EqualFold(url[len(url)-5:], ".opml") {
		return o.URL
	}
	return ""
}

// IsFolder reports whether the outline contains other outlines and is not a subscription.
func (o *Outline) IsFolder() bool { return len(o.Outlines) > 0 && o.FeedURL() == "" }

// Expanded returns the line numbers in ExpansionState, counted from 1. It omits invalid
// numbers.
//
// spec:opml20-2007#expansion-state
func (h *Head) Expanded() []int {
	var lines []int
	for word := range strings.FieldsFuncSeq(h.ExpansionState, func(r rune) bool { return r == ',' || r <= ' ' }) {
		if n, err := strconv.Atoi(word); err == nil {
			lines = append(lines, n)
		}
	}
	return lines
}

// All iterates over every outline in document order. The path contains the texts of the enclosing
// outlines, the outermost first. You may keep the path and change outlines, but not add or remove
// any during the iteration.
func (d *Document) All() iter.Seq2[[]string, *Outline] {
	return func(yield func([]string, *Outline) bool) {
		walk(nil, d.Outlines, func(*Outline) bool { return true }, yield)
	}
}

// Feeds iterates over every subscription in document order; see [Outline.FeedURL]. The path
// contains the names of the enclosing folders, the outermost first. Commented-out outlines and all
// outlines below them are omitted.
//
//	for folders, feed := range list.Feeds() { … }
//
// spec:datafeeds-2006#opml
func (d *Document) Feeds() iter.Seq2[[]string, *Outline] {
	return d.withURL((*Outline).FeedURL)
}

// Includes iterates over every outline that includes another OPML document, as Feeds does; see
// [Outline.IncludeURL]. It does not fetch the documents.
func (d *Document) Includes() iter.Seq2[[]string, *Outline] {
	return d.withURL((*Outline).IncludeURL)
}

// withURL iterates over the outlines that are not commented out and for which url is not
// empty.
//
// spec:opml20-2007#comment-and-breakpoint
func (d *Document) withURL(url func(*Outline) string) iter.Seq2[[]string, *Outline] {
	return func(yield func([]string, *Outline) bool) {
		counts := func(o *Outline) bool { return !o.IsComment }
		walk(nil, d.Outlines, counts, func(path []string, o *Outline) bool {
			return url(o) == "" || yield(path, o)
		})
	}
}

// walk visits the outlines in list and all outlines below them, except those that counts excludes.
// If visit returns false, walk stops and returns false.
func walk(path []string, list []Outline, counts func(*Outline) bool, visit func([]string, *Outline) bool) bool {
	for i := range list {
		o := &list[i]
		if !counts(o) {
			continue
		}
		if !visit(path, o) {
			return false
		}
		if len(o.Outlines) == 0 {
			continue
		}
		// Each visit has its own path, so that callers may keep it or append to it.
		below := slices.Clip(append(slices.Clip(path), o.label()))
		if !walk(below, o.Outlines, counts, visit) {
			return false
		}
	}
	return true
}

// label returns the name that is displayed for the outline.
func (o *Outline) label() string {
	if o.Text != "" {
		return o.Text
	}
	return o.Title
}

// Add appends an outline to the folder at path, which names the outermost folder first; without a
// path, it appends to the top level. It creates missing folders. If the outline has no text, its
// title or URL becomes the text. A subscription without a type gets the type "rss".
func (d *Document) Add(o Outline, path ...string) {
	if o.Text == "" {
		o.Text = firstOf(o.Title, o.XMLURL, o.HTMLURL, o.URL)
	}
	if o.Type == "" && o.XMLURL != "" {
		o.Type = "rss"
	}
	list := &d.Outlines
	for _, name := range path {
		// Search from the end: callers that add many outlines usually add them folder by
		// folder.
		i := len(*list) - 1
		for i >= 0 && ((*list)[i].label() != name || (*list)[i].FeedURL() != "") {
			i--
		}
		if i < 0 {
			*list = append(*list, Outline{Text: name})
			i = len(*list) - 1
		}
		list = &(*list)[i].Outlines
	}
	*list = append(*list, o)
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
