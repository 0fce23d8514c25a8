package render

import (
	"cmp"
	"slices"
	"time"

	"cloudburst/feed"
)

// entry writes an item. A nested item has fewer required elements.
//
// spec:atom-rfc4287#entry-written
func (a *atom) entry(element string, it *feed.Item) {
	nested := element != "entry"
	a.openExtended(element, attrsOf(it))
	a.entryTitle(it, nested)
	a.entryID(it, nested)
	if !nested {
		a.updated("updated", &it.Updated, a.nearest(it))
	} else {
		a.dateIfAny("updated", &it.Updated)
	}
	a.dateIfAny("published", &it.Published)
	page := a.entryLinks(it, nested)
	a.texts(it, page || nested)
	a.persons("author", it.Authors)
	a.persons("contributor", it.Contributors)
	a.categories(it.Categories, it.ITunes, it.Media)
	if it.More != nil {
		a.textIfAny("rights", &it.More.Rights)
	}
	a.source(it)
	a.itemModules(it, true)
	a.nested(it, a.entry)
	a.close(element)
}

// entryTitle writes the required title. If the item has no title, the first words of its text are
// used.
//
// spec:atom-rfc4287#entry-written
func (a *atom) entryTitle(it *feed.Item, nested bool) {
	title := &it.Title
	if visibleText(title.Value) == "" {
		if nested {
			return
		}
		texts := []*feed.Text{&it.Summary}
		for i := range it.Content {
			texts = append(texts, &it.Content[i])
		}
		title = &feed.Text{Value: a.titleWords(texts...), Type: plainText}
	}
	a.text("title", title, true)
}

// nested writes the items within an item.
func (a *atom) nested(it *feed.Item, write func(element string, it *feed.Item)) {
	switch {
	case len(it.Items) == 0:
	case len(a.at) >= deepest:
		a.lose(lostNested, true)
	default:
		eachItem(a.writer, it.Items, func(in *feed.Item) { write("rssCloud:item", in) })
	}
}

// entryID writes the identifier of an entry. It is the ID of the item if that is a URI, and
// otherwise a URN that is derived from the ID.
//
// spec:atom-rfc4287#id
func (a *atom) entryID(it *feed.Item, nested bool) {
	if nested && !hasGUID(it) {
		return
	}
	id := a.id(it)
	if !a.plainWeb(id) && !validIRI(id) {
		if web := escapeIRI(id, false); isWeb(id) && validIRI(web) {
			id = web
		} else {
			id = a.uuid(id)
		}
		a.warn("id-made", "id", "The identifier of an entry must be a URI; ", id, " replaces ", short(it.ID), ".")
	}
	switch {
	case nested || a.ids.add(id):
	case a.f.Format == feed.Atom: // in Atom, several entries may be versions of one item
		a.warn("id-duplicate", "id", "Another item has the same ID; readers will display only one of the two: ", short(id), ".")
	default:
		a.warn("id-duplicate", "id", "Another item has the same ID, so a new one is generated: ", short(id), ".")
		id = a.anotherName(&a.ids, id)
	}
	a.element("id", id)
}

// nearest returns the date that takes the place of an unknown modification date.
func (a *atom) nearest(it *feed.Item) (t time.Time) {
	if t = it.Published.UTC; t.IsZero() {
		t = a.changed
	}
	return t
}

// texts writes the summary and the content of an entry. Atom requires content in an entry
// without a link, and a summary for content that is remote or not text.
func (a *atom) texts(it *feed.Item, leads bool) {
	summary, content := &it.Summary, (*feed.Text)(nil)
	for i := range it.Content {
		if t := &it.Content[i]; content == nil && (t.Value != "" || t.Src != "") {
			content = t
		} else {
			a.lose(lostContent, t.Value != "" || t.Src != "")
		}
	}
	switch {
	case content != nil:
	case a.f.Format == feed.RSS && summary.Value != "": // the only description of an RSS item is its full text
		content, summary = summary, &feed.Text{}
	case !leads:
		content, summary = summary, &feed.Text{}
		if content.Value == "" {
			content = &feed.Text{Value: asWords(&it.Title), Type: plainText}
		}
		a.warn("content-made", "content", "An entry without a link needs content; the available text is used.")
	}
	if summary.Value == "" && content != nil && needsSummary(content) {
		summary = &feed.Text{Value: cmp.Or(visibleText(asWords(&it.Title)), visibleText(content.Src), content.Type), Type: plainText}
		a.warn("summary-made", "summary", "An entry whose content is remote or not text needs a summary; its title is used.")
	}
	a.textIfAny("summary", summary)
	if content != nil {
		a.content(content)
	}
}

// needsSummary reports whether programs may be unable to display the content.
func needsSummary(t *feed.Text) bool {
	if t.Src != "" {
		return true
	}
	kind := textKind(t, false)
	return kind != "" && validMIME(kind) && !isXMLType(kind) && kind[:min(5, len(kind))] != "text/"
}

// persons writes each person who has a name, without repetition.
func (a *atom) persons(element string, list []feed.Person) {
	for i := range list {
		if who := &list[i]; visibleText(nameOf(who)) != "" && !isRepeated(list, i) {
			a.person(element, who)
		}
	}
}

// person writes a person. Atom requires a name.
//
// spec:atom-rfc4287#person
func (a *atom) person(element string, who *feed.Person) {
	a.openExtended(element, ownAttrs(who.Extension))
	a.element("name", visibleText(nameOf(who)))
	uri := "uri"
	if a.format == "atom03" {
		uri = "url"
	}
	a.leaf(uri, a.ref(who.URL, element))
	a.leaf("email", a.mailbox(who.Email, element))
	if a.format == "atom" {
		portrait(a.writer, who)
	}
	a.extension(who.Extension)
	a.close(element)
	a.lose(lostPersons, who.Avatar != "" && a.format != "atom" || who.Role != "")
}

// feedAuthor writes a required author if the feed and at least one entry have none: the publisher,
// or else the feed itself.
//
// spec:atom-rfc4287#feed-requires
func (a *atom) feedAuthor() {
	f := a.f
	if anyNamed(f.Authors) {
		return
	}
	missing := len(f.Items) == 0
	for i := range f.Items {
		missing = missing || !anyNamed(f.Items[i].Authors)
	}
	if !missing {
		return
	}
	who := feed.Person{Name: cmp.Or(visibleText(asWords(&f.Title)), visibleText(f.Link), visibleText(a.self()), "?")}
	if f.Publisher != nil && visibleText(nameOf(f.Publisher)) != "" {
		who = *f.Publisher
	}
	a.warn("author-made", "author", "An author is required, and the feed has none; this name is used: ", short(nameOf(&who)), ".")
	a.person("author", &who)
}

// anyNamed reports whether the list has a person with a name.
func anyNamed(list []feed.Person) bool {
	return slices.ContainsFunc(list, func(p feed.Person) bool { return visibleText(nameOf(&p)) != "" })
}

// categories writes the categories, except those that the iTunes and Media RSS elements
// contain.
func (a *atom) categories(list []feed.Category, it *feed.ITunes, m *feed.Media) {
	for i := range list {
		c := &list[i]
		if inModule(c, it, m, c.Scheme == mediaScheme || a.format == "atom03" && c.Scheme+c.Label != "") {
			continue
		}
		term := visibleText(c.Term)
		if term == "" {
			if term = visibleText(c.Label); term == "" {
				continue
			}
			a.warn("category-term", "category", "A category needs a term; its label is used: ", short(c.Label), ".")
		}
		if a.format == "atom03" {
			a.element("dc:subject", term)
			a.lose(lostSchemes, c.Scheme != "" || c.Label != "")
			continue
		}
		a.empty("category", "term", term, "scheme", a.uri(c.Scheme, "category"), "label", c.Label)
	}
}

// source writes the original feed of an item. If the source has no ID, its URL is used. If it has
// no date, the publication date of the item is used, because the source changed when the item
// appeared.
//
// spec:atom-rfc4287#source
func (a *atom) source(it *feed.Item) {
	s := it.Source
	if s == nil {
		return
	}
	if a.format == "atom03" {
		a.leaf("dc:source", cmp.Or(s.URL, asWords(&s.Title)))
		loseSource(a.writer, s, s.URL != "" && s.Title.Value != "")
		return
	}
	a.openExtended("source", ownAttrs(s.Extension))
	for _, id := range [...]string{s.ID, escapeIRI(s.URL, false), escapeIRI(s.Link, false)} {
		if validIRI(id) {
			a.element("id", id)
			break
		}
	}
	a.textIfAny("title", &s.Title)
	a.textIfAny("subtitle", &s.Subtitle)
	updated := &s.Updated
	if updated.UTC.IsZero() {
		updated = &it.Published
	}
	a.dateIfAny("updated", updated)
	a.sourceLinks(s)
	a.persons("author", s.Authors)
	a.persons("contributor", s.Contributors)
	a.categories(s.Categories, nil, nil)
	a.textIfAny("rights", &s.Rights)
	a.generatorElement(s.Generator)
	a.leaf("icon", a.ref(s.Icon, "source"))
	a.leaf("logo", a.ref(s.Logo, "source"))
	a.extension(s.Extension)
	a.close("source")
}
