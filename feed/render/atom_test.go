package render

import (
	stdcmp "cmp"
	"encoding/xml"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const atomSpace = "http://www.w3.org/2005/Atom"

// atomRules checks the rules of RFC 4287 in the way of a validator.
type atomRules struct{ *testing.T }

func checkAtom(t *testing.T, root *parsed) {
	t.Helper()
	r := atomRules{t}
	if root.name != (xml.Name{Space: atomSpace, Local: "feed"}) {
		t.Fatalf("the root is %v", root.name)
	}
	r.children(root, "title! id! updated! subtitle rights icon logo generator author* contributor* category* link* entry*")
	r.metadata(root)
	r.pages(root)
	entries := false
	for _, c := range root.children {
		isEntry := c.name == (xml.Name{Space: atomSpace, Local: "entry"})
		if entries = entries || isEntry; entries && !isEntry {
			r.Errorf("%v follows an entry", c.name)
		}
		if isEntry {
			r.entry(c, len(root.all("author")) > 0)
		}
	}
	if len(root.all("entry")) == 0 && len(root.all("author")) == 0 {
		r.Error("the feed has neither entries nor an author")
	}
}

func (r atomRules) children(t *parsed, names string) {
	r.Helper()
	(&rules{T: r.T, format: "rss20", core: atomSpace}).children(t, names)
}

func (r atomRules) entry(t *parsed, hasAuthor bool) {
	r.children(t, "title! id! updated! published summary rights content source author* contributor* category* link*")
	r.metadata(t)
	if !hasAuthor && len(t.all("author")) == 0 {
		r.Error("an entry has no author")
	}
	page := r.pages(t)
	content := t.all("content")
	if len(content) == 0 {
		if !page {
			r.Error("an entry has neither content nor a link to its page")
		}
	} else {
		r.content(content[0], len(t.all("summary")) > 0)
	}
	for _, s := range t.all("source") {
		r.children(s, "title id updated subtitle rights icon logo generator author* contributor* category* link*")
		r.metadata(s)
		r.pages(s)
	}
}

// metadata checks the elements common to feeds, entries and sources.
func (r atomRules) metadata(t *parsed) {
	for _, name := range []string{"id", "icon", "logo"} {
		for _, c := range t.all(name) {
			r.address(name, c.text, name == "id")
		}
	}
	for _, name := range []string{"updated", "published"} {
		for _, c := range t.all(name) {
			if _, err := time.Parse(time.RFC3339, c.text); err != nil {
				r.Errorf("%s is not a date: %q", name, c.text)
			}
		}
	}
	for _, name := range []string{"title", "subtitle", "rights", "summary"} {
		for _, c := range t.all(name) {
			r.text(c)
		}
	}
	for _, name := range []string{"author", "contributor"} {
		for _, c := range t.all(name) {
			r.children(c, "name! uri email")
			if strings.TrimSpace(c.all("name")[0].text) == "" {
				r.Errorf("an %s has no name", name)
			}
			for _, e := range c.all("email") {
				if !strings.Contains(e.text, "@") || strings.ContainsAny(e.text, " <>") {
					r.Errorf("invalid email address: %q", e.text)
				}
			}
		}
	}
	for _, c := range t.all("category") {
		if term, ok := c.attr("term"); !ok || term == "" {
			r.Error("a category has no term")
		}
		if scheme, ok := c.attr("scheme"); ok {
			r.address("scheme", scheme, true)
		}
	}
	for _, c := range t.all("generator") {
		if c.text == "" {
			r.Error("the generator has no name")
		}
	}
	for _, c := range t.all("link") {
		r.link(c)
	}
}

func (r atomRules) address(what, s string, absolute bool) {
	r.Helper()
	if u, err := url.Parse(s); err != nil && !strings.Contains(err.Error(), "port") && !strings.Contains(err.Error(), "escape") && !strings.Contains(err.Error(), "host") ||
		s == "" || err == nil && absolute && u.Scheme == "" || strings.ContainsAny(s, " <>\"\\^`{|}") || s != strings.TrimSpace(s) {
		r.Errorf("%s is not a valid URL: %q (%v)", what, s, err)
	}
}

func (r atomRules) link(t *parsed) {
	href, _ := t.attr("href")
	r.address("href", href, false)
	if rel, ok := t.attr("rel"); ok && (rel == "" || strings.ContainsAny(rel, " \t\n")) {
		r.Errorf("invalid relation: %q", rel)
	}
	if typ, ok := t.attr("type"); ok && !strings.Contains(typ, "/") {
		r.Errorf("invalid type: %q", typ)
	}
	if lang, ok := t.attr("hreflang"); ok && !validLanguage(lang) {
		r.Errorf("invalid language: %q", lang)
	}
	if n, ok := t.attr("length"); ok && !digits(n) {
		r.Errorf("invalid length: %q", n)
	}
}

// pages checks that links to pages differ in type or language. It reports whether there are any
// such links.
func (r atomRules) pages(t *parsed) bool {
	seen := map[[2]string]bool{}
	for _, c := range t.all("link") {
		if rel, _ := c.attr("rel"); rel != "alternate" {
			continue
		}
		typ, _ := c.attr("type")
		lang, _ := c.attr("hreflang")
		if seen[[2]string{typ, lang}] {
			r.Errorf("there are two pages of type %q and language %q", typ, lang)
		}
		seen[[2]string{typ, lang}] = true
	}
	return len(seen) > 0
}

func (r atomRules) text(t *parsed) {
	typ, given := t.attr("type")
	switch {
	case typ == "xhtml":
		if len(t.children) != 1 || t.children[0].name != (xml.Name{Space: "http://www.w3.org/1999/xhtml", Local: "div"}) || strings.TrimSpace(t.text) != "" {
			r.Errorf("XHTML is in one <div>: %v", t.name)
		}
	case given && typ != "html", len(t.children) > 0:
		r.Errorf("a text is text, html or xhtml: %q", typ)
	}
	if lang, ok := t.attr("lang"); ok && !validLanguage(lang) {
		r.Errorf("invalid language: %q", lang)
	}
}

func (r atomRules) content(t *parsed, summary bool) {
	typ, _ := t.attr("type")
	src, elsewhere := t.attr("src")
	switch {
	case elsewhere:
		r.address("src", src, false)
		if !summary || len(t.children) > 0 || t.text != "" || !strings.Contains(typ, "/") {
			r.Errorf("content that is elsewhere has a type, a summary and nothing in it: %q", typ)
		}
	case strings.Contains(typ, "/"):
		if isText := strings.HasPrefix(typ, "text/"); !isXMLType(typ) && (!isText && !summary || len(t.children) > 0) {
			r.Errorf("content of type %q", typ)
		}
	default:
		r.text(t)
	}
}

func TestRenderedAtomIsValid(t *testing.T) {
	t.Parallel()
	feeds := corpus(t)
	for seed := range uint64(200) {
		feeds["random "+string(appendInt(nil, int64(seed)))] = randomFeed(seed)
	}
	for _, s := range []string{"x", " ", "a b", "<b>", "javascript:x", "//", "http://", "\x00", "urn:", "tag:x", "%", "-", "é"} {
		feeds["everywhere "+s] = everywhere(s)
	}
	feeds["nothing"] = &feed.Feed{}
	feeds["an empty item"] = &feed.Feed{Items: make([]feed.Item, 2)}
	for name, f := range feeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := written(t, f, "atom")
			root, err := decode(doc)
			if err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			checkAtom(t, root)
			if t.Failed() {
				t.Logf("%s", doc)
			}
		})
	}
}

// heldByAtom reduces a feed to the fields that Atom 1.0 preserves, as the parser returns them.
func heldByAtom(f *feed.Feed) {
	w := writer{f: f, format: "atom"}
	a := atom{writer: &w}
	if !validIRI(f.ID) {
		f.ID = a.feedID()
	}
	a.newest()
	f.Updated = heldUpdate(f.Updated, a.changed)
	if len(f.Authors) == 0 {
		missing := len(f.Items) == 0
		for i := range f.Items {
			missing = missing || len(f.Items[i].Authors) == 0
		}
		who := feed.Person{Name: asWords(&f.Title)}
		if who.Name == "" {
			who.Name = "?"
		}
		if f.Publisher != nil {
			who = *f.Publisher
		}
		if missing {
			f.Authors = []feed.Person{who}
		}
	}
	if f.Publisher != nil {
		f.Publisher = &feed.Person{Name: f.Publisher.Name, Email: f.Publisher.Email}
	}
	f.Authors, f.Contributors = oncePersons(f.Authors), oncePersons(f.Contributors)
	if f.Image != nil {
		f.Image = &feed.Image{URL: f.Image.URL}
	}
	if g := f.Generator; g != nil && g.Name == "" {
		g.Name = g.URL
	}
	f.TextInput, f.Docs, f.Rating, f.Hints = nil, "", "", heldHints(f.Hints)
	f.Links = nil
	for i := range f.Items {
		heldByEntry(&f.Items[i], f, a.changed, false)
	}
	f.Format, f.Version, f.Encoding = feed.Atom, "1.0", "utf-8"
}

func heldUpdate(d feed.Date, other time.Time) feed.Date {
	switch {
	case !d.UTC.IsZero():
		return d
	case other.IsZero():
		other = time.Unix(0, 0)
	}
	return feed.Date{UTC: other.UTC()}
}

func heldByEntry(it *feed.Item, f *feed.Feed, changed time.Time, nested bool) {
	if !nested {
		other := it.Published.UTC
		if other.IsZero() {
			other = changed
		}
		it.Updated = heldUpdate(it.Updated, other)
	}
	if it.Title.Value == "" && !nested {
		texts := []*feed.Text{&it.Summary}
		for i := range it.Content {
			texts = append(texts, &it.Content[i])
		}
		it.Title = feed.Text{Value: (&writer{format: "atom"}).titleWords(texts...), Type: plainText}
	}
	it.PermaLink = false
	var content []feed.Text
	for _, t := range it.Content {
		if t.Value != "" || t.Src != "" {
			if t.Src != "" {
				t.Value = ""
			}
			if t.Type == xhtmlText && !isBalanced(t.Value) { // the text contains entities of HTML
				t.Type = htmlText
			}
			content = append(content, t)
			break
		}
	}
	if it.Content = content; len(content) == 0 && it.Link == "" && !nested {
		it.Content, it.Summary = []feed.Text{it.Summary}, feed.Text{}
		if it.Content[0].Value == "" {
			it.Content[0] = feed.Text{Value: asWords(&it.Title), Type: plainText}
		}
		if it.Content[0].Value == "" {
			it.Content = nil
		}
	}
	if it.Link == "" && isWeb(it.ID) {
		it.Link = it.ID
	}
	it.Authors, it.Contributors = oncePersons(it.Authors), oncePersons(it.Contributors)
	it.Links = nil
	if s := it.Source; s != nil {
		heldBySource(s, it.Published)
		s.Links = nil
	}
	for i := range it.Items {
		heldByEntry(&it.Items[i], f, changed, true)
	}
}

// heldBySource adds the missing ID or date to a source, in the way of the writer.
func heldBySource(s *feed.Source, published feed.Date) {
	for _, id := range []string{s.ID, s.URL, s.Link} {
		if validIRI(id) {
			s.ID = id
			break
		}
	}
	if s.Updated.UTC.IsZero() {
		s.Updated = published
	}
}

func oncePersons(list []feed.Person) (out []feed.Person) {
	for i := range list {
		if !isRepeated(list, i) {
			out = append(out, list[i])
		}
	}
	return out
}

func TestAtomRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		want := randomFeed(seed)
		doc := written(t, want, "atom")
		heldByAtom(want)
		got := reread(t, doc)
		got.Links = nil
		var unlink func(items []feed.Item)
		unlink = func(items []feed.Item) {
			for i := range items {
				items[i].Links = nil
				if items[i].Source != nil {
					items[i].Source.Links = nil
				}
				unlink(items[i].Items)
			}
		}
		unlink(got.Items)
		if diff := cmp.Diff(want, got, same(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(feed.Feed{}, "Problems")); diff != "" {
			t.Fatalf("seed %d, -want +got:\n%s\n%s", seed, diff, doc)
		}
	}
}

func TestRenderedXHTMLHasNoExtraWhiteSpace(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("testdata/golden/weblog.atom")
	if err != nil {
		t.Fatal(err)
	}
	if s := string(doc); !strings.Contains(s, `<div xmlns="http://www.w3.org/1999/xhtml"><p>The <b>horn</b> blew &amp; blew.</p></div>`) {
		t.Error("XHTML has additional white space")
	}
}

func TestRenderedAtomContainsTheGivenOptions(t *testing.T) {
	t.Parallel()
	f := reread(t, written(t, randomFeed(1), "atom"))
	f.Self, f.Links = "https://old.example/atom.xml", append(f.Links, feed.Link{Rel: "self", Href: "https://old.example/atom.xml"}, feed.Link{Rel: "hub", Href: "https://old.example/hub"})
	f.Hubs = []feed.Hub{{Type: "WebSub", URL: "https://old.example/hub"}, {Type: "rssCloud", URL: "https://old.example/cloud"}}
	o := &Options{
		Self: "https://new.example/feed.atom", Hubs: []string{"https://new.example/hub"}, Generator: &feed.Generator{Name: "New", URL: "https://new.example/"},
		Cloud: &feed.Cloud{Domain: "new.example", Port: "80", Path: "/rpc", Protocol: "http-post"},
	}
	doc, _, err := Append(nil, f, "atom", o)
	if err != nil {
		t.Fatal(err)
	}
	got := reread(t, doc)
	if got.Self != o.Self || got.Generator.Name != "New" || len(got.Clouds) != 1 || got.Clouds[0] != *o.Cloud {
		t.Errorf("%s, %+v, %+v", got.Self, got.Generator, got.Clouds)
	}
	want := []feed.Hub{{Type: "WebSub", URL: "https://new.example/hub"}, {Type: "WebSub", URL: "https://old.example/hub"}, {Type: "rssCloud", URL: "https://old.example/cloud"}}
	if diff := cmp.Diff(want, got.Hubs); diff != "" {
		t.Error(diff)
	}
	for _, l := range got.Links {
		if l.Rel == "self" && l.Href != o.Self {
			t.Errorf("the old URL was written: %+v", l)
		}
	}
}

// The IDs in an Atom document must not depend on its URL.
func TestGeneratedItemIDsDoNotDependOnTheDocumentURL(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/", Items: []feed.Item{{ID: "17", IDFrom: feed.FromID}, {ID: "https://a.example/a b", IDFrom: feed.FromID}}}
	var ids []string
	for _, self := range []string{"https://a.example/1.atom", "https://b.example/2.atom"} {
		doc, warnings, _ := Append(nil, f, "atom", &Options{Self: self})
		got := reread(t, doc)
		ids = append(ids, got.ID+" "+got.Items[0].ID+" "+got.Items[1].ID)
		if len(warnings) == 0 || warnings[0].Rule != "id-made" {
			t.Errorf("warnings are %+v", warnings)
		}
	}
	if ids[0] != ids[1] || !strings.HasPrefix(ids[0], "https://a.example/ urn:uuid:") || !strings.HasSuffix(ids[0], " https://a.example/a%20b") {
		t.Errorf("the IDs are %q", ids)
	}
}

// otherLinksOf returns the links that no other field contains, in a fixed order.
func otherLinksOf(list []feed.Link, page string) (out []feed.Link) {
	for _, l := range list {
		if l.Rel != "hub" && (l.Rel != "alternate" || l.Href != page) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b feed.Link) int {
		return stdcmp.Or(strings.Compare(a.Rel, b.Rel), strings.Compare(a.Href, b.Href), strings.Compare(a.Type, b.Type))
	})
	return out
}

// An Atom document must survive a round trip through Atom, unless there is a warning.
func TestAtomDocumentsSurviveRoundTrip(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, f := range corpus(t) {
		if f.Format != feed.Atom || f.Version != "1.0" {
			continue
		}
		doc, warnings, err := Append(nil, f, "atom", nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(warnings, func(w Warning) bool {
			return w.Rule != "author-made" && w.Rule != "updated-made" && w.Rule != "left-out"
		}) {
			continue
		}
		compared++
		want, got, w := f.Clone(), reread(t, doc), writer{f: f, format: "atom"}
		links := otherLinksOf(f.Links, f.Link)
		heldByAtom(want)
		want.Links, got.Links = links, otherLinksOf(got.Links, got.Link)
		want.Unknown = w.held(want.Unknown, false)
		for i := range want.Items {
			it, back := &want.Items[i], &got.Items[i]
			it.Links, back.Links = otherLinksOf(f.Items[i].Links, it.Link), otherLinksOf(back.Links, back.Link)
			it.Unknown, it.IDFrom, it.Media = w.held(it.Unknown, true), back.IDFrom, w.grouped(it.Media)
			if it.Source != nil {
				it.Source.Links = f.Items[i].Source.Links
			}
		}
		if diff := cmp.Diff(want, got, same(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(feed.Feed{}, "Problems")); diff != "" {
			t.Errorf("%s %v, -want +got:\n%s", name, warnings, diff)
		}
	}
	if compared < 20 {
		t.Errorf("only %d documents", compared)
	}
}

func TestFeedWithoutDatesUsesTheSavedDate(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "a"}, Items: []feed.Item{{ID: "urn:x:1", Title: feed.Text{Value: "b"}}}}
	saved := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, format := range []string{"atom", "atom03"} {
		out, _, err := Append(nil, f, format, &Options{Updated: saved})
		if err != nil || strings.Count(string(out), "2026-03-01T12:00:00Z") < 2 || strings.Contains(string(out), "1970") {
			t.Errorf("%s, %v: %s", format, err, out)
		}
	}
}
