package render

import (
	"cmp"
	"time"

	"cloudburst/feed"
)

// appendAtom10 writes Atom 1.0 (RFC 4287). If the feed lacks a required element, the writer
// substitutes the nearest value, with a warning. The ID becomes the URL of the feed or its
// page, or a UUID made from the existing ID. The date of a change becomes the publication
// date, the date of the newest item, or the start of 1970. The author becomes the publisher or
// the title of the feed.
//
// spec:atom-rfc4287#feed-written
func appendAtom10(w *writer) {
	a := atom{writer: w}
	a.root("feed", "xmlns", defaultSpace("atom"), "xml:lang", a.language(w.f.Language, "language"), "xml:base", a.baseOfFeed())
	a.newest()
	a.feed()
	a.ids.list = make([]string, 0, len(w.f.Items))
	for i := range w.f.Items {
		a.enter(i)
		a.entry("entry", &w.f.Items[i])
		a.leave()
	}
	w.done("feed")
}

// atom writes Atom 1.0 and 0.3.
type atom struct {
	*writer
	lang, base string // xml:lang and xml:base that apply inside the feed element
	changed    time.Time
	ids        unique     // IDs of the entries so far
	kinds      []pageKind // buffer for the kinds of pages
}

// baseOfFeed returns the base URL of the feed, or "" if the feed has no valid one.
func (a *atom) baseOfFeed() string {
	if validIRI(a.f.Base) {
		a.base = a.f.Base
	}
	if lang := steadyLanguage(a.f.Language); validLanguage(lang) {
		a.lang = lang
	}
	return a.base
}

// newest determines when the feed or the newest of its items changed.
func (a *atom) newest() {
	f := a.f
	a.changed = f.Updated.UTC
	if !a.changed.IsZero() {
		return
	}
	for i := range f.Items {
		if t := lastDate(&f.Items[i]); t.After(a.changed) {
			a.changed = t
		}
	}
	if a.changed.IsZero() {
		a.changed = f.Published.UTC
	}
}

// lastDate returns the latest known date of an item.
func lastDate(it *feed.Item) time.Time {
	if !it.Updated.UTC.IsZero() {
		return it.Updated.UTC
	}
	return it.Published.UTC
}

// feed writes the elements of the feed.
func (a *atom) feed() {
	f := a.f
	a.text("title", &f.Title, true)
	if f.Title.Value == "" {
		a.warn("title-missing", "title", "The feed has no title; readers display feeds by title.")
	}
	a.textIfAny("subtitle", &f.Subtitle)
	a.element("id", a.feedID())
	a.updated("updated", &f.Updated, a.changed)
	a.feedLinks()
	a.persons("author", f.Authors)
	a.feedAuthor()
	a.persons("contributor", f.Contributors)
	a.categories(f.Categories, f.ITunes, f.Media)
	a.textIfAny("rights", &f.Rights)
	a.generatorElement(a.generator())
	a.leaf("icon", a.ref(f.Icon, "icon"))
	if f.Image != nil {
		a.leaf("logo", a.ref(f.Image.URL, "logo"))
		a.loseExtension(f.Image.Extension)
		a.lose(lostImages, cmp.Or(f.Image.Title, f.Image.Link, f.Image.Description) != "" || f.Image.Width+f.Image.Height > 0)
	}
	a.feedRest()
}

// feedRest writes the fields for which Atom has no elements.
func (a *atom) feedRest() {
	f := a.f
	a.publisher()
	a.feedModules(f)
	a.cloudElement()
	a.lose(lostHints, lostTTL(&f.Hints) || len(f.Hints.SkipHours)+len(f.Hints.SkipDays) > 0)
	a.lose(lostModules, f.TextInput != nil)
	a.lose(lostDocs, cmp.Or(f.Docs, f.Rating) != "")
}

// publisher writes the publisher of the feed, unless the iTunes element contains it.
func (a *atom) publisher() {
	p, it := a.f.Publisher, a.f.ITunes
	if p == nil || it != nil && it.Owner != nil && *it.Owner == *p && isMail(p.Email) {
		return
	}
	a.leaf("dc:publisher", personLine(p))
	a.lose(lostPersons, p.URL != "" || p.Avatar != "")
}

// personLine returns a person as one line, in the form that RSS uses.
func personLine(who *feed.Person) string {
	switch {
	case who.Raw != "":
		return who.Raw
	case who.Name != "" && who.Email != "":
		return who.Name + " (" + who.Email + ")"
	}
	return nameOf(who)
}

// cloudElement writes the feed's cloud as the RSS element without a namespace, because Atom
// has no element for it.
func (a *atom) cloudElement() {
	c := a.cloud()
	if c == nil {
		return
	}
	a.lose(lostClouds, a.o.Cloud == nil && len(a.f.Clouds) > 1)
	a.tag("cloud", nil)
	a.b = append(a.b, ` xmlns=""`...)
	a.attr("domain", c.Domain)
	a.attr("port", c.Port)
	a.attr("path", c.Path)
	a.attr("registerProcedure", c.RegisterProcedure)
	a.attr("protocol", c.Protocol)
	a.b = append(a.b, "/>"...)
}

// feedID writes the identifier of the feed.
func (a *atom) feedID() string {
	f := a.f
	if validIRI(f.ID) {
		return f.ID
	}
	for _, s := range [...]string{f.Self, f.Link, a.o.Self} { // Options.Self is last, because it depends on the URL at which the document is published
		if s = escapeIRI(s, false); validIRI(s) {
			a.warn("id-made", "id", "The feed's identifier is missing or not a URI; its URL is used: ", short(s), ".")
			return s
		}
	}
	id := a.uuid(f.ID + f.Title.Value)
	a.warn("id-made", "id", "The feed has neither an identifier that is a URI nor a URL; an identifier is generated: ", short(id), ".")
	return id
}

// updated writes the required date of a change. If d is unknown, it writes other.
func (a *atom) updated(name string, d *feed.Date, other time.Time) {
	if !d.UTC.IsZero() && a.moment(d, name) {
		a.date(name, d)
		return
	}
	made := false
	if other.IsZero() && !a.o.Updated.IsZero() {
		other, made = a.o.Updated, true
	}
	switch y := other.UTC().Year(); {
	case made:
		a.warn("updated-made", name, "No date is known; the time at which the feed was saved is used.")
	case other.IsZero() || y < 1 || y > 9999:
		other = time.Unix(0, 0)
		a.warn("updated-made", name, "No date is known; the start of 1970 is used.")
	case d.Raw == "":
		a.warn("updated-made", name, "The date of the last change is unknown; the nearest date is used.")
	}
	a.date(name, &feed.Date{UTC: other})
}

// date writes a date that the method moment has accepted. If the original text has the right form,
// it is kept, because it contains the time zone.
func (a *atom) date(name string, d *feed.Date) {
	a.tag(name, nil)
	a.b = append(a.b, '>')
	from := len(a.b)
	a.b = appendRFC3339(a.b, d.UTC)
	if len(d.Raw) > 0 && d.Raw != string(a.b[from:]) { // if they are equal, the form need not be checked
		if t, ok := atomDate(d.Raw); ok && t.Equal(d.UTC) {
			a.b = append(a.b[:from], d.Raw...)
		}
	}
	a.endTag(name)
}

// dateIfAny writes a date, if there is one.
func (a *atom) dateIfAny(name string, d *feed.Date) {
	if a.moment(d, name) {
		a.date(name, d)
	}
}

// atomDate parses 2026-11-20T08:30:00Z, with optional fractions of a second and with an optional
// time zone. For any other form, ok is false.
//
// spec:atom-rfc4287#dates
func atomDate(s string) (t time.Time, ok bool) {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || len(s) > len(form)+len(".123456789+00:00") {
		return t, false
	}
	for i := range len(form) {
		if c := form[i]; c == '0' && (s[i] < '0' || s[i] > '9') || c != '0' && s[i] != c {
			return t, false
		}
	}
	if c := s[len(form)]; c != '.' && c != 'Z' && c != '+' && c != '-' {
		return t, false
	}
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && t.Year() > 0
}

// generatorElement writes the program that made the feed, if it has a name.
func (w *writer) generatorElement(g *feed.Generator) {
	if g == nil {
		return
	}
	uri, name := w.uri(g.URL, "generator"), visibleText(g.Name)
	if name == "" {
		name = uri
	}
	if w.format == "atom03" {
		w.leaf("generator", name, "url", uri, "version", g.Version)
	} else {
		w.leaf("generator", name, "uri", uri, "version", g.Version)
	}
}
