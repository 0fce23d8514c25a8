package render

import "cloudburst/feed"

// appendRSS090 writes RSS 0.90, the first version: at most 15 items with titles and links, and
// a description of the channel.
//
// spec:rss090-1999#length-limits
func appendRSS090(w *writer) {
	const limit = 15
	f := w.f
	s := rss{writer: w, v: 91}
	r := &rdf{writer: w, title: s.channelTitle(), link: s.channelLink()}
	w.root("rdf:RDF", "xmlns", "http://my.netscape.com/rdf/simple/0.9/")
	w.open("channel")
	w.limited("title", r.title, 40)
	w.limited("link", r.link, 500)
	w.limited("description", subtitle(&f.Subtitle), 500)
	w.close("channel")
	r.parts("")
	loseChannel(w)
	w.lose(lostAuthors, len(f.Authors) > 0)
	w.lose(lostPersons, f.Publisher != nil)
	w.lose(lostDates, has(&f.Published, &f.Updated))
	w.loseLinks(f.Links, f.Link)
	items := f.Items
	if len(items) > limit {
		w.warn("items", "", "RSS 0.90 allows at most 15 items; the first 15 are written.")
		items = items[:limit]
	}
	for i := range items {
		w.enter(i)
		it := &items[i]
		w.open("item")
		title := titleText(&it.Title)
		if title == "" {
			summary, content := s.texts(it)
			title = w.madeTitle(it, summary, content)
		}
		w.limited("title", title, 100)
		link := w.address(it.Link, "link")
		if link == "" {
			link = w.madeLink(it)
		}
		w.limited("link", link, 500)
		w.close("item")
		w.loseAll(it)
		w.leave()
	}
	w.done("rdf:RDF")
}

// limited writes an element whose length the format limits.
func (w *writer) limited(name, text string, limit int) {
	w.element(name, text)
	if tooLong(text, limit) {
		w.tooLong(name, limit)
	}
}

// loseAll reports all fields of an item except its title and link as lost.
func (w *writer) loseAll(it *feed.Item) {
	w.lose(lostDescriptions, it.Summary.Value != "" || len(it.Content) > 0)
	w.lose(lostDates, it.Published.Raw != "" || it.Updated.Raw != "")
	w.lose(lostAuthors, len(it.Byline()) > 0)
	w.lose(lostCategories, len(it.Categories) > 0)
	w.lose(lostEnclosures, len(it.Enclosures) > 0)
	loseItem(w, it)
	w.lose(lostIDs, hasGUID(it) && it.ID != it.Link)
	w.loseLinks(it.Links, it.Link)
	w.loseModules(it)
}
