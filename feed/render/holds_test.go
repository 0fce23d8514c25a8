package render

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// same returns options that compare feeds by content: dates by their time, and texts without the
// details of their encoding.
func same() cmp.Options {
	return cmp.Options{
		cmp.Comparer(func(a, b feed.Date) bool {
			return a.UTC.Truncate(time.Second).Equal(b.UTC.Truncate(time.Second))
		}),
		cmp.Comparer(func(a, b feed.Text) bool {
			return a.Value == b.Value && (a.Value == "" || a.Type == b.Type && a.Src == b.Src)
		}),
		cmp.Comparer(func(a, b feed.Person) bool {
			a.Raw, b.Raw = "", ""
			return reflect.DeepEqual(a, b)
		}),
		cmp.FilterValues(func(a, b []feed.Item) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore()),
	}
}

// holds reduces a feed to the fields that a version of RSS preserves, in the form that the
// parser returns. It changes f.
func holds(format string, f *feed.Feed) {
	versions := map[string]int{"rss090": 90, "rss091": 91, "rss092": 92, "rss093": 93, "rss094": 94, "rdf": 100, "rss20": 200}
	h := holder{f, versions[format]}
	h.feed()
	for i := range f.Items {
		h.item(&f.Items[i], 0)
	}
	if h.v <= 91 {
		f.Items = f.Items[:min(len(f.Items), 15)]
	}
}

type holder struct {
	f *feed.Feed
	v int
}

func (h holder) feed() {
	f := h.f
	link := f.Link
	f.Format, f.Encoding = feed.RSS, "utf-8"
	f.Version = map[int]string{90: "0.90", 91: "0.91", 92: "0.92", 93: "0.93", 94: "0.94", 100: "1.0", 200: "2.0"}[h.v]
	if h.v == 91 {
		f.Variant = "userland"
	}
	f.Title, f.Rights, f.Subtitle = heldTitle(f.Title), heldTitle(f.Rights), heldSubtitle(f.Subtitle)
	if h.v == 91 {
		f.Subtitle = heldPlain(f.Subtitle)
	}
	h.links(&f.Links, link, true)
	switch {
	case h.v == 100:
		if f.ID == "" {
			if f.ID = f.Self; f.ID == "" {
				f.ID = link
			}
		}
	case h.v < 200:
		f.ID = ""
	}
	if h.v < 100 {
		f.Self, f.Hubs = "", nil
	}
	h.feedPersons()
	h.feedDates()
	h.feedRest()
}

func (h holder) feedPersons() {
	f := h.f
	if h.v == 90 {
		f.Authors, f.Contributors, f.Publisher = nil, nil, nil
		return
	}
	f.Authors, f.Contributors = h.authors(f.Authors, true), h.contributors(f.Contributors)
	if p := f.Publisher; p != nil {
		switch {
		case h.v != 100 && p.Email != "":
			p.URL = ""
		case h.v < 100:
			f.Publisher = nil
		default:
			*p = feed.Person{Name: nameOf(p)}
		}
	}
}

// authors returns the authors that the format preserves. RSS 2.0 preserves an author with an email
// address, an author with a page, and the names of the others. Earlier versions preserve one email
// address for the whole feed.
func (h holder) authors(list []feed.Person, ofFeed bool) []feed.Person {
	var out []feed.Person
	mail, page := true, true
	for _, who := range list {
		switch {
		case h.v == 100:
			out = append(out, personOfRDF(who))
		case h.v < 100:
			if ofFeed && who.Email != "" && mail {
				out, mail = append(out, feed.Person{Name: who.Name, Email: who.Email}), false
			}
		case who.URL != "" && page:
			out, page = append(out, who), false
			mail = mail && who.Email == ""
		case who.Email != "" && mail:
			out, mail = append(out, feed.Person{Name: who.Name, Email: who.Email}), false
		default:
			out = append(out, feed.Person{Name: nameOf(&who)})
		}
	}
	return out
}

// personOfRDF returns a person as RSS 1.0 preserves it: the name, and the page if there is also a
// name.
func personOfRDF(who feed.Person) feed.Person {
	if who.Name == "" || who.URL == "" || !inOneLine(who.Name) || strings.ContainsAny(who.Name, "()") {
		return feed.Person{Name: nameOf(&who)}
	}
	return feed.Person{Name: who.Name, URL: who.URL}
}

func (h holder) contributors(list []feed.Person) []feed.Person {
	if h.v < 100 {
		return nil
	}
	var out []feed.Person
	for _, who := range list {
		if h.v == 100 {
			who = personOfRDF(who)
		} else if who.Email == "" && who.URL == "" {
			who = feed.Person{Name: nameOf(&who)}
		}
		out = append(out, who)
	}
	return out
}

func (h holder) feedDates() {
	f := h.f
	switch h.v {
	case 90:
		f.Published, f.Updated = feed.Date{}, feed.Date{}
	case 100:
		if f.Updated.UTC.IsZero() {
			f.Updated = f.Published
		}
	}
}

func (h holder) feedRest() {
	f := h.f
	f.Categories = h.categories(f.Categories)
	if h.v < 100 {
		f.Categories = nil
	}
	if g := f.Generator; g != nil && (h.v < 200 || g.URL == "") {
		if g.Version != "" {
			g.Name += " " + g.Version
		}
		g.Version = ""
		switch {
		case h.v < 100:
			f.Generator = nil
		case h.v == 100:
			g.Name = ""
		}
	}
	if img := f.Image; img != nil && (h.v == 90 || h.v == 100) {
		img.Width, img.Height = 0, 0
	}
	if h.v < 92 || h.v == 100 {
		f.Cloud, f.Clouds = nil, nil
	}
	switch h.v {
	case 100:
		f.Hints, f.Docs, f.Rating = heldHints(f.Hints), "", ""
	case 90:
		f.Hints, f.Docs, f.Rating = feed.Hints{}, "", ""
	case 91, 92, 93, 94:
		f.Hints.TTL = ""
	}
	if h.v == 90 {
		f.Language, f.Rights = "", feed.Text{}
	}
}

// links reduces the links to the preserved ones, the item's own page first.
func (h holder) links(links *[]feed.Link, page string, ofFeed bool) {
	out := []feed.Link{}
	if page != "" {
		out = append(out, feed.Link{Rel: "alternate", Href: page})
	}
	if h.v >= 100 && ofFeed {
		if h.f.Self != "" {
			kind := "application/rss+xml"
			if h.v == 100 {
				kind = "application/rdf+xml"
			}
			out = append(out, feed.Link{Rel: "self", Href: h.f.Self, Type: kind})
		}
		for _, hub := range h.f.Hubs {
			out = append(out, feed.Link{Rel: "hub", Href: hub.URL})
		}
	}
	for _, l := range *links {
		if h.v >= 100 && !(ofFeed && relation(&l)) && l.Rel != "alternate" {
			out = append(out, l)
		}
	}
	*links = slices.Clip(out)
	if len(out) == 0 {
		*links = nil
	}
}

func (h holder) categories(list []feed.Category) []feed.Category {
	for i := range list {
		if h.v == 100 {
			list[i].Scheme = ""
		}
	}
	if h.v < 92 {
		return nil
	}
	var out []feed.Category
	for _, c := range list {
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

func (h holder) item(it *feed.Item, depth int) {
	given := it.Link
	h.made(it)
	it.Title = heldTitle(it.Title)
	h.texts(it)
	h.links(&it.Links, it.Link, false)
	h.itemID(it)
	it.Authors, it.Contributors = h.authors(it.Authors, false), h.contributors(it.Contributors)
	it.Categories = h.categories(it.Categories)
	h.itemRest(it)
	h.itemDates(it)
	if given == "" && it.Link == "" && it.PermaLink { // the parser takes the link from the guid
		it.Link = it.ID
	}
	if h.v < 200 {
		it.Items = nil
	}
	if len(it.Items) > 0 && depth == 0 {
		if it.More == nil {
			it.More = new(feed.More)
		}
		it.More.Outlines = []feed.Outline{outlineOf(it)}
	}
	for i := range it.Items {
		h.item(&it.Items[i], depth+1)
	}
}

// outlineOf returns an item as a headline. The item was parsed from written output, so its links
// may be generated by the writer.
func outlineOf(it *feed.Item) feed.Outline {
	o := feed.Outline{Attrs: []feed.Attr{{Name: "text", Value: headline(it)}}}
	if o.Attrs[0].Value == "" {
		o.Attrs[0].Value = ""
	}
	if it.Link != "" && !(it.PermaLink && it.Link == it.ID) {
		o.Attrs = append(o.Attrs, feed.Attr{Name: "url", Value: it.Link})
	}
	for i := range it.Items {
		o.Outlines = append(o.Outlines, outlineOf(&it.Items[i]))
	}
	return o
}

// made adds the elements that early versions require and the writer invents.
func (h holder) made(it *feed.Item) {
	if h.v > 91 && h.v != 100 {
		return
	}
	w := &writer{f: h.f, format: "rss091"}
	if it.Title.Value == "" {
		texts := []*feed.Text{&it.Summary}
		for i := range it.Content {
			texts = append(texts, &it.Content[i])
		}
		it.Title = feed.Text{Value: w.madeTitle(it, texts...), Type: plainText}
		if strings.Contains(it.Title.Value, ";") { // the title was escaped
			it.Title.Type = htmlText
		}
	}
	if it.Link == "" {
		it.Link = w.madeLink(it)
	}
}

func (h holder) texts(it *feed.Item) {
	if len(it.Content) > 0 && (it.Summary.Value == "" || it.Content[0].Value == "") {
		if it.Summary.Value == "" {
			it.Summary = it.Content[0]
		}
		it.Content = nil
	}
	if h.v == 94 && it.Summary.Type == plainText {
	} else {
		it.Summary = heldHTML(it.Summary)
	}
	if h.v == 91 {
		it.Summary = heldPlain(it.Summary)
	}
	if h.v < 100 {
		it.Content = nil
	}
	for i := range it.Content {
		it.Content[i] = heldHTML(it.Content[i])
	}
	if len(it.Content) == 0 {
		it.Content = nil
	}
	if h.v == 90 {
		it.Summary = feed.Text{}
	}
}

// itemID sets the ID that parsers derive in versions without IDs.
func (h holder) itemID(it *feed.Item) {
	if h.v >= 100 {
		it.PermaLink = it.PermaLink && h.v == 200
		return
	}
	it.PermaLink, it.ID, it.IDFrom = false, "", ""
}

func (h holder) itemRest(it *feed.Item) {
	switch {
	case h.v < 92:
		it.Enclosures, it.Source = nil, nil
	case h.v == 92:
		it.Enclosures = it.Enclosures[:min(len(it.Enclosures), 1)]
	}
	if s := it.Source; s != nil {
		s.Title = feed.Text{Value: asWords(&s.Title), Type: plainText}
		if h.v == 100 {
			s.Title = feed.Text{}
		}
	}
	if len(it.Enclosures) == 0 {
		it.Enclosures = nil
	}
	if m := it.More; m != nil {
		if h.v < 200 {
			m.Comments = ""
		}
		if h.v < 93 {
			m.Expires = feed.Date{}
		}
		if m.Comments == "" && m.Expires.UTC.IsZero() {
			it.More = nil
		}
	}
}

func (h holder) itemDates(it *feed.Item) {
	switch {
	case h.v < 93:
		it.Published, it.Updated = feed.Date{}, feed.Date{}
	case h.v == 100:
		if it.Updated.UTC.IsZero() {
			it.Updated = it.Published
		}
	default:
		if it.Published.UTC.IsZero() {
			it.Published = it.Updated
		}
		if h.v < 100 {
			it.Updated = feed.Date{}
		}
	}
}

// heldTitle returns a text in the form that an element without a declared type preserves.
func heldTitle(t feed.Text) feed.Text {
	s := titleText(&t)
	if s == "" {
		return feed.Text{}
	}
	kind := plainText
	if s != t.Value || isHTML(&t) && strings.ContainsAny(s, "<&") {
		kind = htmlText
	}
	return feed.Text{Value: s, Type: kind}
}

// heldHTML returns a text in the form that an HTML element preserves.
func heldHTML(t feed.Text) feed.Text {
	if t.Value == "" {
		return feed.Text{}
	}
	return feed.Text{Value: asHTML(&t), Type: htmlText}
}

// heldSubtitle returns the description of a channel: plain text keeps characters that HTML shows
// unchanged, such as the & in "AT&T".
func heldSubtitle(t feed.Text) feed.Text {
	html := heldHTML(t)
	if t.Type == plainText && htmlWords(t.Value) == t.Value {
		html.Value = t.Value
	}
	return html
}

// heldPlain returns a description, which heldHTML returned, in the form that RSS 0.91 preserves.
func heldPlain(t feed.Text) feed.Text {
	words := htmlWords(t.Value)
	if words == "" {
		return feed.Text{}
	}
	if htmlWords(words) != words {
		words = escapeHTML(words)
	}
	return feed.Text{Value: words, Type: htmlText}
}

func TestRSSRoundTrip(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"rss090", "rss091", "rss092", "rss093", "rss094", "rss20", "rdf"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(200) {
				f := randomFeed(seed)
				doc, _, err := Append(nil, f, format, nil)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(randomFeed(seed), f); diff != "" {
					t.Fatalf("seed %d: the feed was changed, -want +got:\n%s", seed, diff)
				}
				got, err := feed.ParseBytes(doc, nil)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, doc)
				}
				want := f.Clone()
				holds(format, want)
				forget(got, format)
				if diff := cmp.Diff(want, got, same()); diff != "" {
					t.Fatalf("seed %d, -want +got:\n%s\n%s", seed, diff, doc)
				}
			}
		})
	}
}

// forget removes the IDs that parsers derive in versions without IDs.
func forget(f *feed.Feed, format string) {
	if format == "rss20" || format == "rdf" {
		return
	}
	f.Problems = nil // drop problems about duplicate links
	for i := range f.Items {
		f.Items[i].ID, f.Items[i].IDFrom = "", ""
	}
}

// validReference returns the output for an absolute URL, or "" if the writer omits it.
func validReference(s string) string {
	w := writer{f: new(feed.Feed)}
	return w.uri(s, "")
}

// heldHints returns the hints that the syndication module preserves, including a ttl.
func heldHints(h feed.Hints) (held feed.Hints) {
	held.UpdatePeriod, held.UpdateFrequency = rhythmOf(h.TTL)
	return held
}
