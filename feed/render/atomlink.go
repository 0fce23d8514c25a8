package render

import (
	"slices"
	"strconv"
	"strings"

	"cloudburst/feed"
)

// atomLinks writes the links of one feed, entry or source.
type atomLinks struct {
	*atom
	kinds []pageKind // kinds of the pages that were written so far
}

// pageKind is the type and language of a link to a page.
type pageKind struct{ mime, language string }

// maxPages is the maximum number of links to the same page in other forms.
const maxPages = 64

// feedLinks writes the links to the feed, its page, its hubs, and all other links of the feed.
func (a *atom) feedLinks() {
	f, self := a.f, a.self()
	l := atomLinks{atom: a, kinds: a.kinds[:0]}
	page := f.Link
	if a.derived(page, f.ID, f.Links) {
		page = ""
	}
	if page == "" && a.format == "atom03" {
		a.warn("link-missing", "link", "The feed has no link to its page, which Atom 0.3 requires; the feed's own URL is used.")
		page = self
	}
	l.pages(f.Links, page)
	if self != "" {
		own := feed.Link{Rel: "self", Href: self, Type: "application/atom+xml"}
		for i := range f.Links {
			if k := &f.Links[i]; k.Rel == "self" && k.Href == self {
				own = *k
				if own.Type != "" && !isFeedType(own.Type) {
					own.Type = "application/atom+xml" // the media type of this document
				}
				break
			}
		}
		l.write(&own)
	}
	for i := range f.Links {
		if k := &f.Links[i]; !isAlternate(k) && !relation(k) {
			l.write(k)
		}
	}
	for _, h := range a.hubs() {
		switch h.Type {
		case "WebSub":
			l.write(&feed.Link{Rel: "hub", Href: h.URL})
		case "rssCloud":
			a.leaf("source:cloud", a.uri(h.URL, "hubs"))
		default:
			a.lose(lostHubs, true)
		}
	}
	if f.Next != "" && !hasLink(f.Links, "next", f.Next) {
		l.write(&feed.Link{Rel: "next", Href: f.Next})
	}
}

// isFeedType reports whether s is a media type of feeds.
func isFeedType(s string) bool {
	s, _, _ = strings.Cut(s, ";")
	return s == "application/atom+xml" || s == "application/rss+xml" || s == "application/rdf+xml"
}

// entryLinks writes the links and the files of an item. It reports whether one of the links
// leads to the item's page.
func (a *atom) entryLinks(it *feed.Item, nested bool) (leads bool) {
	l := atomLinks{atom: a, kinds: a.kinds[:0]}
	page := it.Link
	if len(it.Content) > 0 && a.derived(page, it.ID, it.Links) {
		page = ""
	}
	l.pages(it.Links, page)
	if a.format == "atom03" && len(l.kinds) == 0 && !nested {
		if link := a.ref(a.madeLink(it), "link"); link != "" {
			l.write(&feed.Link{Rel: "alternate", Href: link})
		}
	}
	l.rest(it.Links)
	for i := range it.Enclosures {
		e := &it.Enclosures[i]
		l.sized(&feed.Link{Rel: "enclosure", Href: e.URL, Type: e.Type, Title: e.Title}, e.Length)
	}
	if m := it.More; m != nil && m.Comments != "" && !hasLink(it.Links, "replies", m.Comments) {
		l.write(&feed.Link{Rel: "replies", Href: m.Comments, Type: htmlText})
	}
	return len(l.kinds) > 0
}

// derived reports whether the original document has no link to the page, so that the parser derived
// it from the identifier.
func (a *atom) derived(page, id string, links []feed.Link) bool {
	return a.format == "atom" && a.f.Format == feed.Atom && page == id && !hasLink(links, "alternate", page)
}

func (a *atom) sourceLinks(s *feed.Source) {
	l := atomLinks{atom: a, kinds: a.kinds[:0]}
	l.pages(s.Links, s.Link)
	l.rest(s.Links)
	if s.URL != "" && !hasLink(s.Links, "self", s.URL) {
		l.write(&feed.Link{Rel: "self", Href: s.URL})
	}
}

// rest writes the links that do not lead to a page.
func (l *atomLinks) rest(links []feed.Link) {
	for i := range links {
		if k := &links[i]; !isAlternate(k) {
			l.write(k)
		}
	}
}

// pages writes the links to pages. The main page is last, because feed readers use the last link.
// Atom allows one page of each type and language; the others become related links.
//
// spec:atom-rfc4287#one-alternate
func (l *atomLinks) pages(links []feed.Link, page string) {
	own := &feed.Link{Rel: "alternate", Href: page}
	at := -1
	for i := range links {
		if k := &links[i]; page != "" && k.Href == page && isAlternate(k) && isPage(k.Type) {
			own, at = k, i
			break
		}
	}
	var others []feed.Link
	kind := l.kindOf(own)
	if l.ref(page, "link") != "" {
		l.kinds = append(l.kinds, kind)
	}
	for i := range links {
		k := &links[i]
		if i == at || !isAlternate(k) {
			continue
		}
		kind := l.kindOf(k)
		if len(l.kinds) < maxPages && !slices.Contains(l.kinds, kind) {
			if l.write(k) {
				l.kinds = append(l.kinds, kind)
			}
			continue
		}
		if k.Href != page {
			others = append(others, *k)
		}
	}
	if page != "" {
		l.write(own)
	}
	l.atom.kinds = l.kinds // store the buffer, so that the next entry reuses it
	for i := range others {
		l.warn("link-alternate", "links", "Only one page per type and language is allowed; another one is written as related: ", short(others[i].Href), ".")
		others[i].Rel = "related"
		l.write(&others[i])
	}
}

func (l *atomLinks) kindOf(k *feed.Link) (kind pageKind) {
	if k.Type != "" && validMIME(k.Type) {
		kind.mime = k.Type
	}
	if lang := steadyLanguage(k.Language); lang != "" && l.format != "atom03" && validLanguage(lang) {
		kind.language = lang
	}
	return kind
}

// write writes a link if its URL is valid, and reports whether it did.
//
// spec:atom-rfc4287#link
func (l *atomLinks) write(k *feed.Link) bool { return l.sized(k, 0) }

// sized is like write, with a length in bytes. A length below 1 is omitted.
func (l *atomLinks) sized(k *feed.Link, length int64) bool {
	href := l.ref(k.Href, "links")
	if href == "" {
		return false
	}
	rel := k.Rel
	if rel == "" {
		rel = "alternate"
	}
	if !validRel(rel) {
		l.warn("link-rel", "links", "A relation must be one word or a URL; this link is omitted: ", short(rel), ".")
		return false
	}
	l.tag("link", nil)
	l.attr("rel", rel)
	l.optional("type", l.mime(k.Type, "links"))
	l.attr("href", href)
	if l.format != "atom03" {
		l.optional("hreflang", l.language(k.Language, "links"))
		l.optional("length", l.number(k.Length, "links", 0))
		if length >= tooMany {
			l.invalid(strconv.FormatInt(length, 10), "links", "a whole number")
		} else if length > 0 {
			l.b = append(appendInt(append(l.b, ` length="`...), length), '"')
		}
	} else {
		l.lose(lostFileDetails, length > 0 || k.Length != "")
	}
	l.optional("title", k.Title)
	replyAttrs(l.writer, k, rel, "links")
	l.b = append(l.b, "/>"...)
	return true
}

// validRel reports whether rel is a URL, or a word without spaces and colons.
func validRel(rel string) bool {
	switch rel {
	case "alternate", "enclosure", "self", "related", "replies", "via", "next", "hub":
		return true
	}
	if strings.IndexByte(rel, ':') >= 0 {
		return validIRI(rel)
	}
	for i := range len(rel) {
		if c := rel[i]; !iriByte(c) || strings.IndexByte("/?#[]", c) >= 0 {
			return false
		}
	}
	return rel != "" && visible(rel)
}
