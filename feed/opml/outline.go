package opml

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// FeedURL is the address of the feed that the outline subscribes to, "" when it is
// no subscription. A few programs write it as url instead of xmlUrl.
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

// IncludeURL is the address of another OPML document that stands for what is below
// this outline, "" when it includes none: a type of "include", or a "link" whose
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

// IsFolder reports that the outline is there for those below it.
func (o *Outline) IsFolder() bool { return len(o.Outlines) > 0 && o.FeedURL() == "" }

// Expanded is the list of line numbers in ExpansionState, from 1. What is no
// number is left out.
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

// All gives every outline in the order of the document, each with the texts of
// those around it, from the outermost. The paths may be kept. Outlines may be
// changed, but none added or taken out meanwhile.
func (d *Document) All() iter.Seq2[[]string, *Outline] {
	return func(yield func([]string, *Outline) bool) {
		walk(nil, d.Outlines, func(*Outline) bool { return true }, yield)
	}
}

// Feeds gives every subscription in the order of the document, each with the names
// of the folders around it, from the outermost; see [Outline.FeedURL]. Outlines
// that are commented out, and all below them, are left out.
//
//	for folders, feed := range list.Feeds() { … }
//
// spec:datafeeds-2006#opml
func (d *Document) Feeds() iter.Seq2[[]string, *Outline] {
	return d.some((*Outline).FeedURL)
}

// Includes gives every outline that stands for another OPML document, as Feeds
// does; see [Outline.IncludeURL]. Nothing is fetched.
func (d *Document) Includes() iter.Seq2[[]string, *Outline] {
	return d.some((*Outline).IncludeURL)
}

// some gives those that count and have a URL.
//
// spec:opml20-2007#comment-and-breakpoint
func (d *Document) some(url func(*Outline) string) iter.Seq2[[]string, *Outline] {
	return func(yield func([]string, *Outline) bool) {
		counts := func(o *Outline) bool { return !o.IsComment }
		walk(nil, d.Outlines, counts, func(path []string, o *Outline) bool {
			return url(o) == "" || yield(path, o)
		})
	}
}

// walk visits list and all below it, without those that do not count. It is false
// when visit was.
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
		// A path of its own: whoever keeps one, or appends to it, disturbs nobody.
		below := slices.Clip(append(slices.Clip(path), o.label()))
		if !walk(below, o.Outlines, counts, visit) {
			return false
		}
	}
	return true
}

// label is what to call the outline.
func (o *Outline) label() string {
	if o.Text != "" {
		return o.Text
	}
	return o.Title
}

// Add puts an outline at the end of the folder that path names, from the outermost;
// without a path, at the end of the list. Folders that are not there are made. An
// outline without text gets its title or address for one, and a subscription
// without a type the type "rss".
func (d *Document) Add(o Outline, path ...string) {
	if o.Text == "" {
		o.Text = firstOf(o.Title, o.XMLURL, o.HTMLURL, o.URL)
	}
	if o.Type == "" && o.XMLURL != "" {
		o.Type = "rss"
	}
	list := &d.Outlines
	for _, name := range path {
		// From the end: who adds many adds them folder by folder.
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
