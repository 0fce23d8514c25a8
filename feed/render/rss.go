package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cloudburst/feed"
	"cloudburst/internal/href"
)

// rss writes the versions of RSS that are not RDF. Each version has the elements of its
// predecessors; version 2.0 also has modules.
type rss struct {
	*writer
	v int // version: 91 to 94 for 0.91 to 0.94, 200 for 2.0

	ids unique // guids that were written so far
}

func (w *writer) rss(v int, version string) {
	r := &rss{writer: w, v: v}
	w.root("rss", "version", version)
	if v < 200 {
		w.open("channel")
	} else {
		w.openExtended("channel", w.f.Attrs)
	}
	r.channel()
	r.items()
	w.close("channel")
	w.done("rss")
}

// channel writes the elements of the feed.
func (r *rss) channel() {
	f, w := r.f, r.writer
	title := r.channelTitle()
	w.element("title", title)
	r.length("title", title, 100)
	link := r.channelLink()
	if r.v >= 200 {
		w.pages(f.Links, f.Link)
	}
	w.element("link", link)
	r.length("link", link, 500)
	if r.v >= 200 {
		w.relations("application/rss+xml")
		w.otherLinks(f.Links, f.Link, true)
	} else {
		w.loseLinks(f.Links, f.Link)
		r.lose(lostHubs, len(r.hubs()) > 0)
	}
	description := subtitle(&f.Subtitle)
	if r.v == 91 {
		description = r.plainDescription(&f.Subtitle)
	}
	w.element("description", description)
	r.length("description", description, 500)
	w.leaf("language", w.language(f.Language, "language"))
	r.requires(f.Language != "", "language")
	w.leaf("copyright", titleText(&f.Rights))
	r.channelPersons()
	w.dateRFC822("pubDate", &f.Published)
	w.dateRFC822("lastBuildDate", &f.Updated)
	r.channelCategories()
	r.generatorElement()
	w.leaf("docs", w.address(f.Docs, "docs"))
	w.leaf("rating", f.Rating)
	r.cloudElement()
	r.ttl()
	r.imageElement(title, link)
	r.textInputElement()
	r.skips()
	if r.v >= 200 {
		w.leaf("atom:id", w.address(f.ID, "id"))
		w.leaf("atom:icon", w.address(f.Icon, "icon"))
		w.feedModules(f)
		return
	}
	r.lose(lostIDs, f.ID != "")
	r.lose(lostImages, f.Icon != "")
	loseFeed(w)
	r.lose(lostUnknown, len(f.Unknown) > 0)
}

// channelCategories writes the categories of the feed. Only RSS 2.0 has an element for them.
func (r *rss) channelCategories() {
	if r.v < 200 {
		r.lose(lostCategories, len(r.f.Categories) > 0)
		return
	}
	r.categoryElements(r.f.Categories, r.f.ITunes, r.f.Media)
}

// generatorElement writes the program that made the feed. Its URL and version are in an Atom
// element after the RSS element, because RSS cannot express them. The Atom element must follow
// directly: elsewhere, validators report a second generator.
func (r *rss) generatorElement() {
	g := r.generator()
	if g == nil || r.v < 200 {
		return
	}
	name := g.Name
	if g.Version != "" {
		name = strings.TrimSpace(name + " " + g.Version)
	}
	r.leaf("generator", name)
	if uri := r.address(g.URL, "generator"); uri != "" {
		r.element("atom:generator", cmp.Or(visibleText(g.Name), uri), "uri", uri, "version", g.Version)
	}
}

// titleText returns a text for an element without a type, such as title and copyright. Readers
// treat it as plain text unless it looks like HTML.
func titleText(t *feed.Text) string {
	s := t.Value
	switch {
	case s == "" || strings.IndexByte(s, '<') < 0 && strings.IndexByte(s, '&') < 0:
		return s
	case href.LooksLikeHTML(s):
		if !isHTML(t) {
			return escapeHTML(s)
		}
		if strings.IndexByte(s, '<') < 0 { // only an entity would mark the text as HTML, and many readers display entities literally
			if words := htmlWords(s); !href.LooksLikeHTML(words) {
				return words
			}
		}
	case isHTML(t):
		if s = htmlWords(s); href.LooksLikeHTML(s) {
			return escapeHTML(s)
		}
	}
	return s
}

// channelTitle returns the title, which RSS requires.
func (r *rss) channelTitle() string {
	if t := titleText(&r.f.Title); t != "" {
		return t
	}
	r.warn("title-missing", "title", "The feed has no title, which RSS requires.")
	return ""
}

// channelLink returns the page of the feed, which RSS requires.
func (r *rss) channelLink() string {
	if link := r.address(r.f.Link, "link"); link != "" {
		return link
	}
	r.warn("link-missing", "link", "The feed has no link to its page, which RSS requires; the nearest URL is used.")
	if link := r.address(r.self(), "self"); link != "" {
		return link
	}
	return r.madeAddress(r.f.ID)
}

// madeAddress returns an identifier as a URI, for required elements. If the identifier is not a
// URI, it returns a URN.
func (w *writer) madeAddress(id string) string {
	if validIRI(id) {
		if s := w.quietly(id); s != "" {
			return s
		}
	}
	return w.uuid(id)
}

// length adds a warning if a text is longer than early versions allow. The text is not shortened,
// because current readers accept it.
//
// spec:rss091-1999#length-limits
func (r *rss) length(where, s string, limit int) {
	if r.v == 91 && tooLong(s, limit) {
		r.tooLong(where, limit)
	}
}

func tooLong(s string, limit int) bool { return len(s) > limit && utf8.RuneCountInString(s) > limit }

// tooLong warns that a text has more characters than the format allows.
func (w *writer) tooLong(where string, limit int) {
	w.warn(where+"-length", where, "This ", where, " has more than ", strconv.Itoa(limit), " characters, which ", titleOf(w.format), " does not allow; old readers may shorten it.")
}

// requires adds a warning if an element is missing that only RSS 0.91 requires.
func (r *rss) requires(has bool, where string) {
	if r.v == 91 && !has {
		r.warn(where+"-missing", where, "RSS 0.91 requires ", where, ", which the feed does not have.")
	}
}

// pages writes links to alternative pages before the main page, because feed readers use the last
// link.
func (w *writer) pages(links []feed.Link, page string) {
	for i := range links {
		if l := &links[i]; l.Href != page && isAlternate(l) && isPage(l.Type) {
			w.atomLink(l)
		}
	}
}

// otherLinks writes the links that pages does not write, except those that other fields
// contain.
func (w *writer) otherLinks(links []feed.Link, page string, ofFeed bool) {
	for i := range links {
		l := &links[i]
		switch {
		case isAlternate(l) && (l.Href == page || isPage(l.Type)), ofFeed && relation(l):
		default:
			w.atomLink(l)
		}
	}
}

func isAlternate(l *feed.Link) bool { return l.Rel == "alternate" || l.Rel == "" }

// isPage reports whether a media type is a type of web pages.
func isPage(mediaType string) bool {
	switch mediaType {
	case "", htmlText, xhtmlText, "html", "xhtml":
		return true
	}
	return false
}

// atomLink writes a link as an Atom element in a document of another format.
func (w *writer) atomLink(l *feed.Link) {
	href := w.address(l.Href, "link")
	if href == "" {
		return
	}
	rel := l.Rel
	if rel == "" {
		rel = "alternate"
	}
	if !validRel(rel) {
		w.warn("link-rel", "link", "A relation must be one word or a URL; this link is omitted: ", short(rel), ".")
		return
	}
	w.tag("atom:link", nil)
	w.attr("rel", rel)
	w.optional("type", w.mime(l.Type, "link"))
	w.attr("href", href)
	w.optional("hreflang", w.language(l.Language, "link"))
	w.optional("title", l.Title)
	w.optional("length", w.number(l.Length, "link", 0))
	replyAttrs(w, l, rel, "link")
	w.b = append(w.b, "/>"...)
}

// replyAttrs writes the number and the date of the replies to which a link leads.
func replyAttrs(w *writer, l *feed.Link, rel, where string) {
	if rel != "replies" {
		return
	}
	if n := w.number(l.Count, where, 0); n != "" {
		w.use("thr:count")
		w.attr("thr:count", n)
	}
	if _, ok := atomDate(l.Updated); ok {
		w.use("thr:updated")
		w.attr("thr:updated", l.Updated)
	}
}

// relations writes the feed's own URL, its other pages, and its hubs.
//
// spec:websub-2018#discovery-document
func (w *writer) relations(mediaType string) {
	if self := w.self(); self != "" {
		w.atomLink(&feed.Link{Rel: "self", Type: mediaType, Href: self})
	}
	for _, h := range w.hubs() {
		switch h.Type {
		case "WebSub":
			w.atomLink(&feed.Link{Rel: "hub", Href: h.URL})
		case "rssCloud":
			w.leaf("source:cloud", w.address(h.URL, "hubs"))
		default:
			w.lose(lostHubs, true)
		}
	}
	if next := w.f.Next; next != "" && !hasLink(w.f.Links, "next", next) {
		w.atomLink(&feed.Link{Rel: "next", Href: next})
	}
}

func hasLink(links []feed.Link, rel, href string) bool {
	return slices.ContainsFunc(links, func(l feed.Link) bool { return l.Rel == rel && l.Href == href })
}

// loseLinks records the links that a format with only one link omits.
func (w *writer) loseLinks(links []feed.Link, page string) {
	for i := range links {
		w.lose(lostLinks, links[i].Href != page)
	}
}
