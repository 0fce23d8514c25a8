package render

import (
	"strings"

	"cloudburst/feed"
)

// deepest is the maximum nesting depth of items in the output.
const deepest = 30

// items writes as many items as the version allows.
//
// spec:rss091-1999#length-limits
func (r *rss) items() {
	const limit = 15
	items := r.f.Items
	if r.v == 91 && len(items) > limit {
		r.warn("items", "", "RSS 0.91 allows at most 15 items; the first 15 are written.")
		items = items[:limit]
	}
	r.ids.list = make([]string, 0, len(items))
	for i := range items {
		r.enter(i)
		r.item("item", &items[i])
		r.leave()
	}
}

// item writes an item or a nested item.
func (r *rss) item(element string, it *feed.Item) {
	if r.v < 200 {
		r.open(element)
	} else {
		r.openExtended(element, attrsOf(it))
	}
	summary, content := r.texts(it)
	titled := r.itemTitle(it, summary, content)
	if r.v >= 200 {
		r.pages(it.Links, it.Link)
	}
	r.itemLink(it)
	r.itemTexts(titled, summary, content)
	r.itemRest(it)
	if r.v >= 200 {
		r.otherLinks(it.Links, it.Link, false)
		r.itemModules(it, false)
		r.nested(it)
	} else {
		r.loseLinks(it.Links, it.Link)
		r.loseModules(it)
	}
	r.writer.close(element)
}

// texts returns the summary and the content of an item. A single text is the summary, because every
// feed reader displays the summary.
func (r *rss) texts(it *feed.Item) (summary, content *feed.Text) {
	if it.Summary.Value != "" {
		summary = &it.Summary
	}
	for i := range it.Content {
		switch t := &it.Content[i]; {
		case t.Value == "" || !isWords(t.Type), content != nil:
			r.lose(lostContent, true)
		default:
			content = t
		}
	}
	if summary == nil {
		return content, nil
	}
	if content != nil && r.v < 200 {
		r.lose(lostContent, true)
		content = nil
	}
	return summary, content
}

// isWords reports whether a media type is readable text.
func isWords(mediaType string) bool {
	return mediaType == "" || mediaType == xhtmlText || strings.HasPrefix(mediaType, "text/")
}

// itemTitle writes the title of an item and reports whether the item has one. Only RSS 0.91
// requires a title.
func (r *rss) itemTitle(it *feed.Item, summary, content *feed.Text) bool {
	title := titleText(&it.Title)
	if title == "" && r.v == 91 {
		r.element("title", r.madeTitle(it, summary, content))
		return true
	}
	r.leaf("title", title)
	r.length("title", title, 100)
	return title != ""
}

// TitleLength is the maximum length, in characters, of a title made from the first words of an
// item.
const TitleLength = 60

// itemLink writes the page of an item. Only RSS 0.91 requires a page.
func (r *rss) itemLink(it *feed.Item) {
	link := r.address(it.Link, "link")
	if link == "" && r.v == 91 {
		r.element("link", r.madeLink(it))
		return
	}
	r.leaf("link", link)
	r.length("link", link, 500)
}

// itemTexts writes the texts of an item. Every item has a title or a text.
func (r *rss) itemTexts(titled bool, summary, content *feed.Text) {
	switch {
	case summary != nil:
		r.description(summary)
	case !titled:
		r.element("description", "")
	}
	if content != nil {
		r.markupElement("content:encoded", htmlOf(r.writer, content))
	}
}

// description writes a text as HTML, except a text that declares another type in RSS 0.94.
func (r *rss) description(t *feed.Text) {
	switch {
	case r.v == 94 && !isHTML(t):
		r.element("description", t.Value, "type", plainText)
	case r.v == 91:
		text := r.plainDescription(t)
		r.element("description", text)
		r.length("description", text, 500)
	default:
		text := htmlOf(r.writer, t)
		r.markupElement("description", text)
		r.length("description", text, 500)
	}
}

// plainDescription returns a text for RSS 0.91, which has no markup. It escapes text that
// readers of later versions would interpret as markup.
//
// spec:rss091-1999#plain-text
func (r *rss) plainDescription(t *feed.Text) string {
	if isHTML(t) && strings.IndexByte(t.Value, '<') >= 0 {
		r.warn("markup", "description", "RSS 0.91 allows only plain text; markup is omitted, and with it the URLs of links and images.")
	}
	return subtitle(&feed.Text{Value: asWords(t), Type: plainText})
}

// itemRest writes the fields of an item other than texts and links.
func (r *rss) itemRest(it *feed.Item) {
	if r.v >= 200 {
		r.authors("author", it.Byline(), it.ITunes)
		r.contributors(it.Contributors)
	} else {
		r.lose(lostAuthors, len(it.Byline()) > 0)
		r.lose(lostPersons, len(it.Contributors) > 0)
	}
	r.categoryElements(it.Categories, it.ITunes, it.Media)
	r.comments(it.More)
	r.enclosures(it.Enclosures)
	r.guid(it)
	r.dates(it)
	r.source(it.Source)
}

func (r *rss) comments(m *feed.More) {
	if m == nil || m.Comments == "" {
		return
	}
	if r.v < 200 {
		r.lose(lostComments, true)
		return
	}
	r.leaf("comments", r.address(m.Comments, "comments"))
}

// enclosures writes the files of an item; RSS 0.92 allows one.
//
// spec:rss20-2003#enclosure
func (r *rss) enclosures(files []feed.Enclosure) {
	switch {
	case r.v < 92:
		r.lose(lostEnclosures, len(files) > 0)
		return
	case r.v == 92 && len(files) > 1:
		r.lose(lostEnclosures, true)
		files = files[:1]
	}
	for i := range files {
		e := &files[i]
		url, mediaType := withPath(r.address(e.URL, "enclosure")), r.mime(e.Type, "enclosure")
		if url == "" || !isWeb(url) {
			r.otherFile(e, url)
			continue
		}
		if mediaType == "" {
			mediaType = "application/octet-stream"
			r.warn("enclosure-type", "enclosure", "An enclosure needs a media type; this one has none and is written as ", mediaType, ".")
		}
		r.tag("enclosure", nil)
		r.attr("url", url)
		r.b = appendInt(append(r.b, ` length="`...), max(e.Length, 0))
		r.b = append(r.b, '"')
		r.attr("type", mediaType)
		r.b = append(r.b, "/>"...)
		r.lose(lostFileDetails, e.Title != "" || r.v < 200 && e.Duration > 0)
	}
}

// otherFile writes a file as an Atom link, if its URL is not a web URL, which an enclosure
// requires.
func (r *rss) otherFile(e *feed.Enclosure, url string) {
	switch {
	case url == "":
	case r.v < 200:
		r.warn("enclosure-web", "enclosure", "The URL of an enclosure must be a web URL; this enclosure is omitted: ", short(url), ".")
	default:
		r.atomLink(&feed.Link{Rel: "enclosure", Href: url, Type: e.Type, Length: positive(e.Length), Title: e.Title})
	}
}

// withPath adds a slash to a web URL that has no path. Both forms mean the same resource.
func withPath(s string) string {
	if strings.IndexByte(s, '?') < 0 && strings.IndexByte(s, '#') < 0 || !isWeb(s) { // the first is the usual case
		return s
	}
	if n := hostEnd(s); s[n] != '/' {
		return s[:n] + "/" + s[n:]
	}
	return s
}

// webIRI reports whether s is a web URL in ASCII.
func (w *writer) webIRI(s string) bool {
	return w.plainWeb(s) || isWeb(s) && validIRI(s) && isASCII(s)
}

// hasGUID reports whether a document must contain the ID of an item.
func hasGUID(it *feed.Item) bool {
	return it.ID != "" && it.IDFrom != feed.FromLink && it.IDFrom != feed.FromEnclosure
}

// isWeb reports whether s begins like a web URL.
func isWeb(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// dates writes the publication and modification dates. Many feed readers use only one of the two
// elements, so if there is no publication date, both contain the modification date.
func (r *rss) dates(it *feed.Item) {
	if r.v < 93 {
		r.lose(lostDates, it.Published.Raw != "" || it.Updated.Raw != "")
		return
	}
	if !it.Published.UTC.IsZero() || it.Updated.UTC.IsZero() {
		r.dateRFC822("pubDate", &it.Published)
	} else {
		r.dateRFC822("pubDate", &it.Updated)
	}
	if r.v >= 200 {
		r.dateRFC3339("atom:updated", &it.Updated)
		return
	}
	if m := it.More; m != nil {
		r.dateRFC822("expirationDate", &m.Expires)
	}
	r.lose(lostDates, !it.Updated.UTC.IsZero() && !it.Published.UTC.IsZero())
}

// source writes the original feed of an item.
func (r *rss) source(s *feed.Source) {
	switch {
	case s == nil:
	case r.v < 92 || s.URL == "":
		r.lose(lostSource, true)
	default:
		url := r.address(s.URL, "source")
		if url == "" {
			return
		}
		var attrs []feed.Attr
		if r.v >= 200 {
			attrs = ownAttrs(s.Extension)
		}
		r.elementExtended("source", asWords(&s.Title), attrs, "url", url)
		loseSource(r.writer, s, false)
	}
}

// nested writes the nested items of an item, as items and as an outline for readers that
// support outlines.
//
// spec:rsscloud-2009#item-namespace
func (r *rss) nested(it *feed.Item) {
	if len(it.Items) == 0 {
		return
	}
	if len(r.at) >= deepest {
		r.lose(lostNested, true)
		return
	}
	eachItem(r.writer, it.Items, func(in *feed.Item) { r.item("rssCloud:item", in) })
	if len(r.at) == 1 && (it.More == nil || len(it.More.Outlines) == 0) {
		r.outline(it, 0)
	}
}

// outline writes an item and its nested items as headlines.
func (r *rss) outline(it *feed.Item, depth int) {
	text := headline(it)
	r.tag("source:outline", nil)
	r.attr("text", text)
	r.optional("url", r.address(it.Link, "link"))
	if len(it.Items) == 0 || depth >= deepest {
		r.b = append(r.b, "/>"...)
		return
	}
	r.b = append(r.b, '>')
	r.depth++
	for i := range it.Items {
		r.outline(&it.Items[i], depth+1)
	}
	r.writer.close("source:outline")
}

// headline returns the title of an item, or its first words.
func headline(it *feed.Item) string {
	for _, t := range [...]*feed.Text{&it.Title, &it.Summary} {
		if s := asWords(t); s != "" {
			return FirstWords(s, 200)
		}
	}
	for i := range it.Content {
		if s := asWords(&it.Content[i]); s != "" {
			return FirstWords(s, 200)
		}
	}
	return ""
}

// loseModules records the fields that need a module, for versions without modules.
func (w *writer) loseModules(it *feed.Item) {
	w.lose(lostNested, len(it.Items) > 0)
	w.lose(lostMedia, it.Media != nil)
	w.lose(lostModules, it.ITunes != nil || it.Podcast != nil || it.More != nil)
	w.lose(lostUnknown, len(it.Unknown) > 0)
}
