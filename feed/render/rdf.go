package render

import (
	"cmp"
	"strconv"
	"strings"

	"cloudburst/feed"
)

// appendRDF writes RSS 1.0. The channel, its image, its form and the items are siblings, and the
// channel refers to its image, its form and its items.
//
// spec:datafeeds-2006#rdf
func appendRDF(w *writer) {
	f := w.f
	s := rss{writer: w, v: 100}
	r := &rdf{writer: w, title: s.channelTitle(), link: s.channelLink()}
	w.root("rdf:RDF", "xmlns", "http://purl.org/rss/1.0/")
	r.names()
	r.channel()
	r.parts("rdf:about")
	for i := range f.Items {
		w.enter(i)
		r.item(&f.Items[i], r.abouts[i])
		w.leave()
	}
	w.done("rdf:RDF")
}

// rdf writes RSS 0.90 and 1.0.
type rdf struct {
	*writer
	title, link string
	about       string   // URI of the channel
	abouts      []string // URIs of the items
}

// names assigns a unique URI to every item.
//
// spec:rss10-2000#about-unique
func (r *rdf) names() {
	items := r.f.Items
	r.about = r.link
	if id := r.validName(r.f.ID); id != "" {
		r.about = id
	} else if self := r.quietly(r.self()); self != "" {
		r.about = self
	}
	r.abouts = make([]string, len(items))
	seen := unique{list: make([]string, 0, len(items)+1)}
	seen.add(r.about)
	for i := range items {
		name := r.name(&items[i], i)
		if !seen.add(name) {
			r.enter(i)
			r.warn("about-duplicate", "id", "Another item has the same URI, so a number is added: ", short(name), ".")
			r.leave()
			name = r.anotherName(&seen, name)
		}
		r.abouts[i] = name
	}
}

// anotherName returns a unique name for a duplicate: the URL with a fragment, or a URN.
func (w *writer) anotherName(seen *unique, name string) string {
	other := seen.another(name)
	if isWeb(name) && strings.IndexByte(name, '#') < 0 {
		return other
	}
	return w.uuid(other)
}

// name returns the URI of an item: the ID if it is a URI, or else the link.
func (r *rdf) name(it *feed.Item, i int) string {
	if hasGUID(it) {
		if id := r.validName(r.id(it)); id != "" {
			return id
		}
		r.lose(lostIDs, true)
	}
	if link := r.quietly(it.Link); link != "" {
		return link
	}
	if link := r.nearest(it); link != "" {
		return link
	}
	return "#item-" + strconv.Itoa(i+1)
}

// validName returns an identifier in ASCII if it is a URI, or "" if it is not.
func (r *rdf) validName(id string) string {
	if validIRI(id) {
		return r.quietly(id)
	}
	return ""
}

// channel writes the elements of the feed.
func (r *rdf) channel() {
	f, w := r.f, r.writer
	w.tag("channel", nil)
	w.attr("rdf:about", r.about)
	w.foreignAttrs(f.Attrs)
	w.b = append(w.b, '>')
	w.depth++
	begin := len(w.b)
	w.element("title", r.title)
	w.pages(f.Links, f.Link)
	w.element("link", r.link)
	w.element("description", subtitle(&f.Subtitle))
	w.empty("image", "rdf:resource", r.image())
	r.contents()
	w.empty("textinput", "rdf:resource", r.input())
	r.channelDublinCore()
	w.relations("application/rdf+xml")
	w.otherLinks(f.Links, f.Link, true)
	if g := w.generator(); g != nil {
		w.empty("admin:generatorAgent", "rdf:resource", w.address(g.URL, "generator"))
		w.lose(lostGenerator, g.Name != "" && g.URL == "")
	}
	w.leaf("atom:icon", w.address(f.Icon, "icon"))
	w.feedModules(f)
	w.striped(begin)
	w.close("channel")
	w.lose(lostClouds, w.cloud() != nil)
	w.lose(lostDocs, cmp.Or(f.Docs, f.Rating) != "")
	w.lose(lostHints, lostTTL(&f.Hints) || len(f.Hints.SkipHours) > 0 || len(f.Hints.SkipDays) > 0)
}

// contents writes the table of contents.
func (r *rdf) contents() {
	r.open("items")
	r.open("rdf:Seq")
	for _, name := range r.abouts {
		r.tag("rdf:li", nil)
		r.attr("rdf:resource", name)
		r.b = append(r.b, "/>"...)
	}
	r.close("rdf:Seq")
	r.close("items")
}

// image returns the URL of the channel's image, or "" if the image cannot be written.
func (r *rdf) image() string {
	if img := r.f.Image; img != nil && (r.link != "" || r.quietly(img.Link) != "") {
		return r.quietly(img.URL)
	}
	return ""
}

// input returns the URL of the form, or "" if the form cannot be written.
func (r *rdf) input() string {
	if in := r.f.TextInput; in != nil && in.Title != "" && in.Description != "" && in.Name != "" {
		return r.quietly(in.Link)
	}
	return ""
}

// parts writes the image and the form. about is the name of the attribute with their URI, or "" to
// omit it.
func (r *rdf) parts(about string) {
	named := func(name string) []string {
		if about == "" {
			return nil
		}
		return []string{about, name}
	}
	if img := r.f.Image; img != nil && img.URL != "" {
		if r.writer.image(img, r.title, r.link, named(r.image())...) {
			begin := len(r.b)
			r.extension(img.Extension)
			r.striped(begin)
			r.close("image")
			r.lose(lostImages, img.Width+img.Height > 0 || img.Description != "")
		}
	}
	if in := r.f.TextInput; in != nil {
		r.textInput("textinput", in, named(r.input())...)
	}
}

func (r *rdf) channelDublinCore() {
	f := r.f
	r.leaf("dc:language", r.language(f.Language, "language"))
	r.leaf("dc:rights", titleText(&f.Rights))
	if f.Updated.UTC.IsZero() {
		r.dateRFC3339("dc:date", &f.Published)
	} else {
		r.dateRFC3339("dc:date", &f.Updated)
	}
	r.dateRFC3339("dcterms:issued", &f.Published)
	r.creators(f.Authors, f.Contributors, f.ITunes)
	if p := f.Publisher; p != nil && !(f.ITunes != nil && f.ITunes.Owner != nil && *f.ITunes.Owner == *p) {
		r.creator("dc:publisher", p)
	}
	r.subjects(f.Categories, f.ITunes, f.Media)
}

func (r *rdf) creators(authors, contributors []feed.Person, it *feed.ITunes) {
	line := ""
	if it != nil {
		line = it.Author
	}
	for i := range authors {
		if line != "" && isLine(&authors[i], line) {
			line = ""
			continue
		}
		r.personWithPage("dc:creator", &authors[i])
	}
	for i := range contributors {
		r.personWithPage("dc:contributor", &contributors[i])
	}
}

// personWithPage writes the name of a person. The page follows in parentheses, if parsers can
// separate name and page again.
//
// spec:datafeeds-2006#author-page
func (r *rdf) personWithPage(element string, who *feed.Person) {
	isPage := strings.HasPrefix(who.URL, "http://") || strings.HasPrefix(who.URL, "https://")
	if !isPage || !inOneLine(who.Name) || strings.ContainsAny(who.Name, "()") || strings.ContainsAny(who.URL, " ()<>\"@") {
		r.creator(element, who)
		return
	}
	r.leaf(element, who.Name+" ("+who.URL+")")
	r.lose(lostMail, who.Email != "")
	r.lose(lostPersons, who.Avatar != "")
}

func (r *rdf) subjects(list []feed.Category, it *feed.ITunes, m *feed.Media) {
	for i := range list {
		c := &list[i]
		term := cmp.Or(c.Term, c.Label)
		more := c.Scheme != "" || c.Label != "" && c.Label != term
		if !inModule(c, it, m, more) {
			r.leaf("dc:subject", term)
			r.lose(lostSchemes, more)
		}
	}
}

// item writes an item. A title and a link are required.
func (r *rdf) item(it *feed.Item, about string) {
	w := r.writer
	w.tag("item", nil)
	w.attr("rdf:about", about)
	w.foreignAttrs(attrsOf(it))
	w.b = append(w.b, '>')
	w.depth++
	begin := len(w.b)
	short := rss{writer: w, v: 200}
	summary, content := short.texts(it)
	title := titleText(&it.Title)
	if title == "" {
		title = w.madeTitle(it, summary, content)
	}
	w.element("title", title)
	w.pages(it.Links, it.Link)
	link := w.address(it.Link, "link")
	if link == "" {
		link = w.madeLink(it)
	}
	w.element("link", link)
	short.itemTexts(true, summary, content)
	if it.Updated.UTC.IsZero() {
		w.dateRFC3339("dc:date", &it.Published)
	} else {
		w.dateRFC3339("dc:date", &it.Updated)
	}
	w.dateRFC3339("dcterms:issued", &it.Published)
	r.creators(it.Byline(), it.Contributors, it.ITunes)
	r.subjects(it.Categories, it.ITunes, it.Media)
	r.source(it.Source)
	r.files(it.Enclosures)
	w.otherLinks(it.Links, it.Link, false)
	w.itemModules(it, false)
	w.striped(begin)
	w.close("item")
	w.lose(lostNested, len(it.Items) > 0)
	w.lose(lostComments, it.More != nil && it.More.Comments != "")
}

// source writes the URL of an item's source as a Dublin Core element.
func (r *rdf) source(s *feed.Source) {
	if s != nil {
		r.leaf("dc:source", r.address(s.URL, "source"))
		loseSource(r.writer, s, s.Title.Value != "" || s.URL == "")
	}
}

// files writes the enclosures of an item as Atom links.
func (r *rdf) files(files []feed.Enclosure) {
	for i := range files {
		e := &files[i]
		r.atomLink(&feed.Link{Rel: "enclosure", Href: e.URL, Type: e.Type, Length: positive(e.Length), Title: e.Title})
	}
}
