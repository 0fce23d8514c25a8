package feed

import (
	"cmp"
	"slices"
	"strings"

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

// relativeText is a text of an item with relative references.
type relativeText struct {
	written  string // as in the document
	resolved string // against the URL of the feed; "": not resolved yet
	from     int    // offset of the first tag of written with a relative reference
}

// itemText is like construct. If wait is true, the text is the summary or content of the current item,
// and relative references may remain in it until resolveWaiting.
func itemText(p *parser, kind string, wait bool) Text {
	t, base := textAsWritten(p, kind)
	if !t.isMarkup() {
		return t
	}
	rel := relativeText{written: t.Value}
	ofPage := p.item != nil && p.f.Format == RSS && len(p.bases) == 0 && base == p.root && p.waiting < len(p.relative)
	if !ofPage || !wait || p.o.KeepRelative || p.budget.over || t.Type == xhtmlText && strings.Contains(t.Value, "xml:base") {
		ofPage = p.markup(&t, base) && ofPage
		rel.resolved = t.Value
	} else if rel.from = href.FirstRelative(t.Value, base); rel.from < 0 {
		sanitizeText(p, &t)
		p.changed = p.changed || t.Value != rel.written
		return t
	}
	if ofPage {
		p.changed = true
		p.relative[p.waiting] = rel
		p.waiting++
	}
	return t
}

// settle resolves the texts that wait for the page of the item, before texts of the item are compared.
func settle(p *parser, s *slots) {
	if p.waiting > 0 && s.level == ofItem && s.summary.Value != "" {
		resolveWaiting(p, p.item, nil)
	}
}

// resolveWaiting resolves the relative references in the summary and content of an RSS item against the
// page of the item: the author writes the text for the page and copies it into the feed. Without a
// page, it resolves them against the URL of the feed; this also happens before texts are compared, and
// a later call with the page resolves them again. An xml:base takes precedence.
//
// spec:cloudburst#item-page-base
func resolveWaiting(p *parser, it *Item, page *href.Base) {
	resolveText(p, &it.Summary, page)
	for i := range it.Content {
		resolveText(p, &it.Content[i], page)
	}
	if it.ITunes != nil {
		resolveText(p, &it.ITunes.Summary, page)
	}
	it.Content = slices.DeleteFunc(it.Content, func(t Text) bool { return t.Value == "" && t.Src == "" }) // sanitizing removed all of it
}

func resolveText(p *parser, t *Text, page *href.Base) {
	all := p.relative[:p.waiting]
	i := slices.IndexFunc(all, func(r relativeText) bool {
		return r.resolved == t.Value && t.Value != "" || r.resolved == "" && r.written == t.Value && t.isMarkup()
	})
	if i < 0 || page == nil && all[i].resolved != "" {
		return
	}
	r, again, differs := &all[i], *t, false
	if again.Value = r.written; r.resolved != "" {
		p.markup(&again, page)
		differs = again.Value != t.Value
	} else {
		v, at := href.HTMLFrom(r.written, r.from, cmp.Or(page, p.root), p.root)
		if p.budget.take(len(v) - len(r.written)) {
			again.Value, differs = v, at >= 0
		}
		sanitizeText(p, &again)
		t.Value = again.Value
		if differs && p.o.Sanitize != nil {
			if url, _, _ := strings.Cut(v[at:], `"`); !strings.Contains(t.Value, url) { // perhaps sanitizing removed all differences
				ofFeed := Text{Value: href.HTML(r.written, p.root)}
				sanitizeText(p, &ofFeed)
				differs = ofFeed.Value != t.Value
			}
		}
	}
	if page == nil {
		r.resolved = t.Value
	} else if differs && p.budget.take(len(page.String())) {
		again.Base = page.String()
		*t = again
	}
}
