package feed

import (
	"slices"

	"cloudburst/internal/href"
)

// openBase is a base URL that applies inside the element at a depth.
type openBase struct {
	depth int
	base  *href.Base
}

// setBase sets the base URL of the current element to ref.
func (p *parser) setBase(ref string) {
	if p.budget.over {
		return
	}
	if b := p.base().Child(ref); p.budget.take(len(b.String())) {
		p.bases = append(p.bases, openBase{p.r.Depth(), b})
	}
}

// base returns the base URL of relative references in the current element.
func (p *parser) base() *href.Base {
	if n := len(p.bases); n > 0 {
		return p.bases[n-1].base
	}
	return p.root
}

// pageOf returns the URL of the page of an item as a base URL, valid until the next call, or nil if
// the item has no page on the web.
func pageOf(p *parser, it *Item) *href.Base {
	link := it.Link
	if it.More != nil && isWeb(it.More.OriginalLink) { // the link redirects to this page
		link = it.More.OriginalLink
	}
	if !isWeb(link) || !p.page.Set(link) {
		return nil
	}
	return &p.page
}

// waitForPage stores a text of the current item for resolveAgain. Further texts stay as they are.
func waitForPage(p *parser, text, written string) {
	if p.waiting < len(p.relative) {
		p.relative[p.waiting] = relativeText{text, written}
		p.waiting++
	}
}

// relativeText is a text of an item with relative references.
type relativeText struct {
	resolved string // against the URL of the feed
	written  string // as in the document
}

// resolveAgain resolves the relative references in the summary and content of an RSS item against the
// page of the item: the author writes the text for the page and copies it into the feed. These texts
// were first resolved against the URL of the feed, because the link can follow them. An xml:base takes
// precedence.
//
// spec:cloudburst#item-page-base
func resolveAgain(p *parser, it *Item) {
	if p.waiting == 0 {
		return
	}
	if page := pageOf(p, it); page != nil {
		resolveText(p, &it.Summary, page)
		for i := range it.Content {
			resolveText(p, &it.Content[i], page)
		}
		if it.ITunes != nil {
			resolveText(p, &it.ITunes.Summary, page)
		}
	}
	if p.nested == 0 {
		p.waiting = 0
	}
}

func resolveText(p *parser, t *Text, page *href.Base) {
	all := p.relative[:p.waiting]
	i := slices.IndexFunc(all, func(r relativeText) bool { return r.resolved == t.Value })
	if i < 0 {
		return
	}
	again := *t
	again.Value = all[i].written
	if p.markup(&again, page); again.Value != t.Value && p.budget.take(len(page.String())) {
		again.Base = page.String()
		*t = again
	}
}
