package render

import (
	"strconv"
	"strings"

	"cloudburst/feed"
)

// atomLinks are the links of one feed, entry or source while they are written.
type atomLinks struct {
	*atom
	page  string      // the page that the thing belongs to
	kinds []feed.Link // type and language of the links to pages so far
	paged bool        // the page is among them
}

// mostPages is how many links to the same page in other forms are written.
const mostPages = 64

// feedLinks writes where the feed and its page are, where one asks to be told of
// changes, and all else that the feed refers to.
func (a *atom) feedLinks() {
	f, self := a.f, a.self()
	l := atomLinks{atom: a, page: f.Link}
	l.reserve(f.Links)
	selfDone := false
	for i := range f.Links {
		switch link := &f.Links[i]; link.Rel {
		case "self":
			if link.Href == self && !selfDone {
				l.link(link)
				selfDone = true
			}
		case "hub":
		default:
			l.link(link)
		}
	}
	if !selfDone && self != "" {
		l.link(&feed.Link{Rel: "self", Href: self, Type: "application/atom+xml"})
	}
	l.lastPage()
	for _, h := range a.hubs() {
		switch h.Type {
		case "WebSub":
			l.link(&feed.Link{Rel: "hub", Href: h.URL})
		case "rssCloud":
			a.leaf("source:cloud", a.uri(h.URL, "hubs"))
		default:
			a.lose(lostHubs, true)
		}
	}
	if f.Next != "" && !hasLink(f.Links, "next", f.Next) {
		l.link(&feed.Link{Rel: "next", Href: f.Next})
	}
}

// entryLinks writes the links of an item, and its files. It reports whether one leads
// to its page.
func (a *atom) entryLinks(it *feed.Item) (page bool) {
	l := atomLinks{atom: a, page: it.Link}
	l.reserve(it.Links)
	for i := range it.Links {
		l.link(&it.Links[i])
	}
	l.lastPage()
	for i := range it.Enclosures {
		e := &it.Enclosures[i]
		n := ""
		if e.Length > 0 && a.format != "atom03" {
			n = strconv.FormatInt(e.Length, 10)
		}
		l.write(&feed.Link{Rel: "enclosure", Href: e.URL, Type: e.Type, Title: e.Title, Length: n})
	}
	if m := it.More; m != nil && m.Comments != "" && !hasLink(it.Links, "replies", m.Comments) {
		l.write(&feed.Link{Rel: "replies", Href: m.Comments, Type: htmlText})
	}
	return len(l.kinds) > 0
}

func (a *atom) sourceLinks(s *feed.Source) {
	l := atomLinks{atom: a, page: s.Link}
	l.reserve(s.Links)
	for i := range s.Links {
		l.link(&s.Links[i])
	}
	l.lastPage()
	if s.URL != "" && !hasLink(s.Links, "self", s.URL) {
		l.write(&feed.Link{Rel: "self", Href: s.URL})
	}
}

// reserve keeps the place of the page: where several links to pages have the same type
// and language, the one that counts is written.
func (l *atomLinks) reserve(links []feed.Link) {
	if l.page == "" {
		return
	}
	for i := range links {
		if k := &links[i]; isAlternate(k) && k.Href == l.page && isPage(k.Type) {
			return
		}
	}
	l.kinds = append(l.kinds, feed.Link{})
	l.paged = true
}

// lastPage writes the page where no link was for it.
func (l *atomLinks) lastPage() {
	if l.paged && !l.write(&feed.Link{Rel: "alternate", Href: l.page}) {
		l.kinds = l.kinds[1:]
	}
}

// link writes one. There is one page of each type and language; any other is related.
//
// spec:atom-rfc4287#one-alternate
func (l *atomLinks) link(k *feed.Link) {
	if !isAlternate(k) {
		l.write(k)
		return
	}
	kind := feed.Link{Type: k.Type, Language: k.Language}
	for i := range l.kinds {
		if l.kinds[i] == kind || i == mostPages {
			if l.paged && k.Href == l.page {
				return
			}
			l.warn("link-alternate", "links", "There is one page of a type and language; another one is written as related: ", short(k.Href), ".")
			other := *k
			other.Rel = "related"
			l.write(&other)
			return
		}
	}
	if l.write(k) {
		l.kinds = append(l.kinds, kind)
	}
}

// write writes a link, if it is one.
//
// spec:atom-rfc4287#link
func (l *atomLinks) write(k *feed.Link) bool {
	href := l.iri(k.Href, "links")
	if href == "" {
		return false
	}
	rel := k.Rel
	if rel == "" {
		rel = "alternate"
	}
	if !validRel(rel) {
		l.warn("link-rel", "links", "A relation is one word or an address, which this is not; the link is left out: ", short(rel), ".")
		return false
	}
	l.tag("link", nil)
	l.attr("rel", rel)
	l.optional("type", l.mime(k.Type, "links"))
	l.attr("href", href)
	if l.format != "atom03" {
		l.optional("hreflang", l.language(k.Language, "links"))
		l.optional("length", l.number(k.Length, "links", 0))
	}
	l.optional("title", k.Title)
	if rel == "replies" {
		l.optional("thr:count", l.number(k.Count, "links", 0))
		if isRFC3339(k.Updated) {
			l.attr("thr:updated", k.Updated)
		}
	}
	l.b = append(l.b, "/>"...)
	return true
}

// validRel reports a word without spaces and colons, or an address.
func validRel(rel string) bool {
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
