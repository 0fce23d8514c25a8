package render

import "cloudburst/feed"

// appendAtom03 writes Atom 0.3, the predecessor of RFC 4287. Many elements have other names, and
// texts contain HTML only if they declare their encoding. Current programs read Atom 0.3 like Atom
// 1.0; validators report it as obsolete.
//
// spec:datafeeds-2006#atom-versions
func appendAtom03(w *writer) {
	a := atom{writer: w}
	a.root("feed", "version", "0.3", "xmlns", defaultSpace("atom03"), "xml:lang", a.language(w.f.Language, "language"), "xml:base", a.baseOfFeed())
	a.newest()
	a.oldFeed()
	a.ids.list = make([]string, 0, len(w.f.Items))
	for i := range w.f.Items {
		a.enter(i)
		a.oldEntry("entry", &w.f.Items[i])
		a.leave()
	}
	w.done("feed")
}

// oldFeed writes the elements of the feed.
func (a *atom) oldFeed() {
	f := a.f
	a.text("title", &f.Title, true)
	if f.Title.Value == "" {
		a.warn("title-missing", "title", "The feed has no title; readers display feeds by title.")
	}
	a.feedLinks()
	a.persons("author", f.Authors)
	a.feedAuthor()
	a.persons("contributor", f.Contributors)
	a.textIfAny("tagline", &f.Subtitle)
	if validIRI(f.ID) {
		a.element("id", f.ID)
	}
	a.generatorElement(a.generator())
	a.textIfAny("copyright", &f.Rights)
	a.textIfAny("info", &f.Info)
	a.updated("modified", &f.Updated, a.changed)
	a.categories(f.Categories, f.ITunes, f.Media)
	if f.Image != nil {
		a.loseExtension(f.Image.Extension)
	}
	a.lose(lostImages, f.Icon != "" || f.Image != nil && f.Image.URL != "" && !(f.ITunes != nil && f.ITunes.Image == f.Image.URL))
	a.feedRest()
}

// oldEntry writes an item. A nested item has fewer required elements.
func (a *atom) oldEntry(element string, it *feed.Item) {
	nested := element != "entry"
	a.openExtended(element, attrsOf(it))
	a.entryTitle(it, nested)
	a.entryLinks(it, nested)
	a.persons("author", it.Byline())
	a.persons("contributor", it.Contributors)
	a.entryID(it, nested)
	a.oldDates(it, nested)
	if it.More != nil {
		a.dateIfAny("created", &it.More.Created)
	}
	if len(it.Content) == 0 && a.f.Format == feed.RSS && it.Summary.Value != "" { // the summary of an RSS item without content is the full text
		a.content(&it.Summary)
	} else {
		a.textIfAny("summary", &it.Summary)
	}
	for i := range it.Content {
		if t := &it.Content[i]; t.Src != "" {
			a.lose(lostContent, true)
		} else if t.Value != "" {
			a.content(t)
		}
	}
	a.categories(it.Categories, it.ITunes, it.Media)
	a.source(it)
	a.itemModules(it, true)
	a.nested(it, a.oldEntry)
	a.close(element)
}

// oldDates writes the modification and publication dates; Atom 0.3 requires both.
func (a *atom) oldDates(it *feed.Item, nested bool) {
	if nested {
		a.dateIfAny("modified", &it.Updated)
		a.dateIfAny("issued", &it.Published)
		return
	}
	a.updated("modified", &it.Updated, a.nearest(it))
	other := it.Updated.UTC
	if other.IsZero() {
		other = a.changed
	}
	a.updated("issued", &it.Published, other)
}
