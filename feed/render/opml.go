package render

import (
	"cmp"
	"strings"

	"cloudburst/feed"
)

// appendOPML writes the items of a feed as OPML 2.0. Each item is an outline, with its nested items
// below it. An item with a page becomes an outline of the type link. Fields without an attribute in
// OPML are omitted.
//
// spec:opml20-2007#items-written
func appendOPML(w *writer) {
	f := w.f
	o := outliner{w}
	w.root("opml", "version", "2.0")
	w.open("head")
	w.element("title", asWords(&f.Title))
	w.dateRFC822("dateCreated", &f.Published)
	w.dateRFC822("dateModified", &f.Updated)
	o.owner()
	w.close("head")
	w.open("body")
	eachItem(w, f.Items, o.item)
	if len(f.Items) == 0 {
		o.feed()
	}
	w.close("body")
	o.lostOfFeed()
	w.done("opml")
}

type outliner struct{ *writer }

// owner writes the first author, or the publisher.
func (o outliner) owner() {
	f := o.f
	var who *feed.Person
	switch {
	case len(f.Authors) > 0:
		who = &f.Authors[0]
	case f.Publisher != nil:
		who = f.Publisher
	default:
		return
	}
	name := who.Name
	if name == "" && who.Email == "" {
		name = nameOf(who)
	}
	o.leaf("ownerName", name)
	o.leaf("ownerEmail", o.mailbox(who.Email, "ownerEmail"))
	o.leaf("ownerId", o.webURI(who.URL, "ownerId"))
	o.lose(lostAuthors, len(f.Authors) > 1)
	o.lose(lostPersons, who.Avatar != "")
}

// feed writes an outline for the feed itself if it has no items, because OPML requires at
// least one outline.
func (o outliner) feed() {
	f := o.f
	o.warn("outline-made", "", "OPML requires at least one outline; the feed itself becomes one.")
	o.tag("outline", nil)
	o.attr("text", headOf(asWords(&f.Title), o.self(), f.Link))
	if self := o.uri(o.self(), "self"); self != "" {
		o.attr("type", "rss")
		o.optional("title", asWords(&f.Title))
		o.attr("xmlUrl", self)
		o.optional("htmlUrl", o.uri(f.Link, "link"))
	} else if link := o.uri(f.Link, "link"); link != "" {
		o.attr("type", "link")
		o.attr("url", link)
	}
	o.b = append(o.b, "/>"...)
}

// headOf returns the first text that is not empty, as one line.
func headOf(texts ...string) string {
	for _, s := range texts {
		if s = oneLine(s); s != "" {
			return s
		}
	}
	return "?"
}

// item writes an outline for an item.
func (o outliner) item(it *feed.Item) {
	about := shownText(it)
	text := asWords(&it.Title)
	if text == "" {
		text = FirstWords(asWords(about), 200)
	}
	o.tag("outline", nil)
	o.attr("text", headOf(text, it.Link, it.ID))
	if link := o.uri(it.Link, "link"); link != "" {
		o.attr("type", "link")
		o.attr("url", link)
	}
	if d := &it.Published; !d.UTC.IsZero() && o.moment(d, "created") {
		o.b = append(appendRFC822(append(o.b, ` created="`...), d.UTC), '"')
	}
	o.categories(it.Categories)
	if about.Value != text {
		o.optional("description", asHTML(about))
	}
	if len(it.Items) == 0 || len(o.at) >= deepest {
		o.lose(lostNested, len(it.Items) > 0)
		o.b = append(o.b, "/>"...)
	} else {
		o.b = append(o.b, '>')
		o.depth++
		eachItem(o.writer, it.Items, o.item)
		o.close("outline")
	}
	o.lostOfItem(it, about)
}

// shownText returns the text of an item: the summary, or the first content.
func shownText(it *feed.Item) *feed.Text {
	if it.Summary.Value == "" {
		for i := range it.Content {
			if t := &it.Content[i]; t.Value != "" && isWords(t.Type) {
				return t
			}
		}
	}
	return &it.Summary
}

// categories writes comma-separated terms. Commas within terms are replaced.
func (o outliner) categories(list []feed.Category) {
	var b strings.Builder
	for i := range list {
		c := &list[i]
		term := strings.Join(strings.FieldsFunc(c.Term, func(c rune) bool { return c == ',' || c <= ' ' }), " ")
		if term == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(term)
		o.lose(lostSchemes, c.Scheme != "" || c.Label != "")
	}
	o.optional("category", b.String())
}

func (o outliner) lostOfFeed() {
	f := o.f
	loseChannel(o.writer)
	o.lose(lostSubtitle, f.Subtitle.Value != "")
	o.loseLinks(f.Links, f.Link)
	o.lose(lostLinks, f.Link != "" && len(f.Items) > 0)
	o.lose(lostImages, f.Image != nil)
}

// loseChannel records the fields of the feed that neither RSS 0.90 nor OPML has.
func loseChannel(w *writer) {
	f, h := w.f, &w.f.Hints
	loseFeed(w)
	w.lose(lostIDs, f.ID != "")
	w.lose(lostLanguages, f.Language != "")
	w.lose(lostCategories, len(f.Categories) > 0)
	w.lose(lostRights, f.Rights.Value != "")
	w.lose(lostDocs, cmp.Or(f.Docs, f.Rating) != "")
	w.lose(lostImages, f.Icon != "")
	w.lose(lostClouds, w.cloud() != nil)
	w.lose(lostHubs, len(w.hubs()) > 0)
	w.lose(lostHints, h.TTL != "" || h.Schedule != nil || len(h.SkipHours)+len(h.SkipDays) > 0)
	w.lose(lostUnknown, len(f.Unknown) > 0)
}

func (o outliner) lostOfItem(it *feed.Item, about *feed.Text) {
	o.lose(lostIDs, hasGUID(it))
	o.lose(lostAuthors, len(it.Byline()) > 0)
	o.loseLinks(it.Links, it.Link)
	loseItem(o.writer, it)
	o.lose(lostDates, !it.Updated.UTC.IsZero())
	o.lose(lostEnclosures, len(it.Enclosures) > 0)
	for i := range it.Content {
		t := &it.Content[i]
		o.lose(lostContent, t != about && t.Value != about.Value || t.Src != "")
	}
	o.lose(lostModules, it.More != nil)
	o.lose(lostUnknown, len(it.Unknown) > 0)
}
