package render

import (
	"time"

	"cloudburst/feed"
)

// appendAtom10 writes Atom 1.0 (RFC 4287). What it requires and the feed does not have
// is taken from what is nearest, with a warning: an ID from the address of the feed or
// its page, or as a UUID made of the ID that there is; the date of a change from the
// date of publication, or of the newest item, and where no date is known at all the
// first moment of 1970; an author from the publisher or the title of the feed.
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
	lang, base string // in force
	changed    time.Time
	ids        unique     // those of the entries so far
	kinds      []pageKind // room for those of links
}

// baseOfFeed is what relative references stand on: nothing where the feed has none, or
// it is no address.
func (a *atom) baseOfFeed() string {
	if validIRI(a.f.Base) {
		a.base = a.f.Base
	}
	if lang := steadyLanguage(a.f.Language); validLanguage(lang) {
		a.lang = lang
	}
	return a.base
}

// newest finds when the feed, or the last of its items, changed.
func (a *atom) newest() {
	f := a.f
	a.changed = f.Updated.UTC
	if !a.changed.IsZero() {
		return
	}
	for i := range f.Items {
		if t := when(&f.Items[i]); t.After(a.changed) {
			a.changed = t
		}
	}
	if a.changed.IsZero() {
		a.changed = f.Published.UTC
	}
}

// when is the last that is known to have happened to an item.
func when(it *feed.Item) time.Time {
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
		a.warn("title-missing", "title", "The feed has no title, which readers show it by.")
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
		a.lose(lostImages, f.Image.Title != "" || f.Image.Link != "" || f.Image.Width+f.Image.Height > 0)
	}
	a.feedRest()
}

// feedRest writes what Atom has no elements of its own for.
func (a *atom) feedRest() {
	f := a.f
	a.publisher()
	a.feedModules(f)
	a.cloudElement()
	a.lose(lostHints, lostTTL(&f.Hints) || len(f.Hints.SkipHours)+len(f.Hints.SkipDays) > 0)
	a.lose(lostModules, f.TextInput != nil || f.Docs != "" || f.Rating != "")
}

// publisher writes who publishes the feed, unless the element of iTunes says it.
func (a *atom) publisher() {
	p, it := a.f.Publisher, a.f.ITunes
	if p == nil || it != nil && it.Owner != nil && *it.Owner == *p && isMail(p.Email) {
		return
	}
	a.leaf("dc:publisher", line(p))
	a.lose(lostPersons, p.URL != "" || p.Avatar != "")
}

// line is somebody in one line, as RSS has persons.
func line(who *feed.Person) string {
	switch {
	case who.Raw != "":
		return who.Raw
	case who.Name != "" && who.Email != "":
		return who.Name + " (" + who.Email + ")"
	}
	return nameOf(who)
}

// cloudElement writes where to ask for notifications as RSS does, for Atom has nothing
// for it: an element without a namespace is nobody's but RSS's.
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

// feedID is the identifier of the feed.
func (a *atom) feedID() string {
	f := a.f
	if validIRI(f.ID) {
		return f.ID
	}
	for _, s := range [...]string{f.Self, f.Link, a.o.Self} { // the last differs from one place to another
		if s = escapeIRI(s, false); validIRI(s) {
			a.warn("id-made", "id", "The feed has no identifier that is an address; this one stands there: ", short(s), ".")
			return s
		}
	}
	id := a.uuid(f.ID + f.Title.Value)
	a.warn("id-made", "id", "The feed has no identifier that is an address, nor an address; one is made: ", short(id), ".")
	return id
}

// updated writes when something changed, as is required. other is the moment that is
// taken where that is not known.
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
		a.warn("updated-made", name, "No date is known; the moment at which the feed was saved stands there.")
	case other.IsZero() || y < 1 || y > 9999:
		other = time.Unix(0, 0)
		a.warn("updated-made", name, "No date is known; the first moment of 1970 stands there.")
	case d.Raw == "":
		a.warn("updated-made", name, "It is not known when this changed; the nearest date stands there.")
	}
	a.date(name, &feed.Date{UTC: other})
}

// date writes a moment that moment has allowed: as it was written if that has the form,
// with its zone.
func (a *atom) date(name string, d *feed.Date) {
	a.tag(name, nil)
	a.b = append(a.b, '>')
	from := len(a.b)
	a.b = appendRFC3339(a.b, d.UTC)
	if len(d.Raw) > 0 && d.Raw != string(a.b[from:]) { // else there is nothing to look at
		if t, ok := atomDate(d.Raw); ok && t.Equal(d.UTC) {
			a.b = append(a.b[:from], d.Raw...)
		}
	}
	a.endTag(name)
}

// dateIfAny is date for what may be missing.
func (a *atom) dateIfAny(name string, d *feed.Date) {
	if a.moment(d, name) {
		a.date(name, d)
	}
}

// atomDate is the moment of 2026-11-20T08:30:00Z, with parts of seconds or not, and with
// a zone or not; ok is false for any other form.
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

// generatorElement writes the program that made the feed; it needs a name.
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
