package render

import (
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/feed/opml"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// heldByCDF reduces a feed to the fields that CDF preserves, in the form that the parser
// returns.
func heldByCDF(f *feed.Feed) {
	f.Format, f.Version, f.Encoding = feed.CDF, "", "utf-8"
	f.ID, f.Contributors, f.Generator, f.TextInput, f.Docs, f.Clouds, f.Cloud, f.Hubs = "", nil, nil, nil, "", nil, nil, nil
	f.Title, f.Subtitle, f.Rights = heldWords(f.Title), heldWords(f.Subtitle), feed.Text{Value: asWords(&f.Rights), Type: plainText}
	f.Authors, f.Categories = heldLines(f.Authors), heldTerms(f.Categories)
	if f.Publisher != nil {
		f.Publisher = &heldLines([]feed.Person{*f.Publisher})[0]
	}
	if f.Image != nil {
		f.Image = &feed.Image{URL: f.Image.URL}
	}
	if ttl := f.Hints.TTL; ttl != "" && f.Hints.Schedule == nil {
		f.Hints.Schedule = &feed.Schedule{IntervalTime: feed.Span{Min: ttl}}
	}
	f.Hints = feed.Hints{Schedule: f.Hints.Schedule}
	f.Links = nil
	for i := range f.Items {
		heldByCDFItem(&f.Items[i], f)
	}
}

func heldByCDFItem(it *feed.Item, f *feed.Feed) {
	if it.Link == "" {
		w := writer{f: f, format: "cdf"}
		it.Link = w.madeLink(it)
	}
	about := it.Summary
	if about.Value == "" && len(it.Content) > 0 {
		about = it.Content[0]
	}
	if it.Title.Value == "" {
		it.Title = feed.Text{Value: (&writer{format: "cdf"}).titleWords(&about)}
	}
	it.Title, it.Summary, it.Content = heldWords(it.Title), heldWords(about), nil
	it.Authors, it.Categories = heldLines(it.Authors), heldTerms(it.Categories)
	it.ID, it.IDFrom, it.PermaLink = "", "", false
	it.Contributors, it.Enclosures, it.Source, it.More, it.Links = nil, nil, nil, nil, nil
	for i := range it.Items {
		heldByCDFItem(&it.Items[i], f)
	}
}

// heldWords returns a text in the form that an element without a declared type preserves.
func heldWords(t feed.Text) feed.Text {
	s := plainWords(asWords(&t))
	if s != asWords(&t) {
		return feed.Text{Value: s, Type: htmlText}
	}
	return feed.Text{Value: strings.TrimSpace(s), Type: plainText}
}

func heldLines(list []feed.Person) (out []feed.Person) {
	for _, who := range list {
		if who.URL = ""; who.Name+who.Email != "" {
			out = append(out, who)
		}
	}
	return out
}

func heldTerms(list []feed.Category) (out []feed.Category) {
	for _, c := range list {
		if c := (feed.Category{Term: c.Term}); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// withoutLinks removes the links that other fields contain too.
func withoutLinks(f *feed.Feed) {
	f.Links, f.Problems = nil, nil
	var each func(items []feed.Item)
	each = func(items []feed.Item) {
		for i := range items {
			items[i].Links, items[i].ID, items[i].IDFrom = nil, "", ""
			each(items[i].Items)
		}
	}
	each(f.Items)
}

func TestCDFRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		want := randomFeed(seed)
		if seed%3 == 0 {
			want.Hints.Schedule = &feed.Schedule{StartDate: "1998-01-01", IntervalTime: feed.Span{Day: "1"}, EarliestTime: feed.Span{Hour: "2", Zone: "+0100"}}
		}
		doc := written(t, want, "cdf")
		if _, err := decode(doc); err != nil {
			t.Fatal(err)
		}
		heldByCDF(want)
		got := reread(t, doc)
		withoutLinks(got)
		if diff := cmp.Diff(want, got, same(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(feed.Feed{}, "Problems", "Self")); diff != "" {
			t.Fatalf("seed %d, -want +got:\n%s\n%s", seed, diff, doc)
		}
	}
}

// Elements that exist only in CDF must survive a round trip through CDF.
func TestCDFElementsSurviveRoundTrip(t *testing.T) {
	t.Parallel()
	for name, f := range corpus(t) {
		if f.Format != feed.CDF {
			continue
		}
		got := reread(t, written(t, f, "cdf"))
		if diff := cmp.Diff(f.Hints.Schedule, got.Hints.Schedule); diff != "" {
			t.Errorf("%s: -schedule +got:\n%s", name, diff)
		}
		for i := range f.Unknown {
			n := &f.Unknown[i]
			if n.Space == "" && n.Prefix == "" && isCDFElement(n.Name) && !slices.ContainsFunc(got.Unknown, func(g feed.Node) bool { return cmp.Equal(g, *n) }) {
				t.Errorf("%s: <%s> is lost", name, n.Name)
			}
		}
	}
}

func TestScriptingNewsLinkTextIsPreserved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		item  feed.Item
		text  string
		links []string // expected links in the form "URL words"
		html  string   // expected text after parsing
	}{
		{"a title", feed.Item{Title: feed.Text{Value: "Ropes"}, Link: "http://a.example/1", Summary: feed.Text{Value: "They hold."}},
			"Ropes\n\nThey hold.", []string{"http://a.example/1 Ropes"}, `<a href="http://a.example/1">Ropes</a><br>` + "\n<br>\nThey hold."},
		{"links in HTML", feed.Item{Summary: feed.Text{Value: `See <a href="http://a.example/?x=1&amp;y">the rope</a> and <a href="http://b.example/">a knot</a>.`, Type: htmlText}},
			"See the rope and a knot.", []string{"http://a.example/?x=1&y the rope", "http://b.example/ a knot"},
			`See <a href="http://a.example/?x=1&amp;y">the rope</a> and <a href="http://b.example/">a knot</a>.`},
		{"the linked words also occur earlier", feed.Item{Summary: feed.Text{Value: `A rope is <a href="http://a.example/">rope</a>.`, Type: htmlText}},
			`A rope is <a href="http://a.example/">rope</a>.`, nil, `A rope is <a href="http://a.example/">rope</a>.`},
		{"other markup", feed.Item{Summary: feed.Text{Value: `A <b>rope</b> &amp; <a href="http://a.example/">knot</a>.`, Type: htmlText}, Link: "http://c.example/"},
			`A <b>rope</b> &amp; <a href="http://a.example/">knot</a>.`, []string{"http://c.example/ "}, `A <b>rope</b> &amp; <a href="http://a.example/">knot</a>.`},
		{"text that looks like markup", feed.Item{Summary: feed.Text{Value: "use <b>bold</b>", Type: plainText}},
			"use &lt;b&gt;bold&lt;/b&gt;", nil, "use &lt;b&gt;bold&lt;/b&gt;"},
		{"nothing but a link", feed.Item{Link: "http://a.example/"}, "http://a.example/", []string{"http://a.example/ http://a.example/"}, `<a href="http://a.example/">http://a.example/</a>`},
	} {
		doc := written(t, &feed.Feed{Link: "http://a.example/", Items: []feed.Item{c.item}}, "scriptingnews")
		var news struct {
			Items []struct {
				Text  string `xml:"text"`
				Links []struct {
					URL   string `xml:"url"`
					Words string `xml:"linetext"`
				} `xml:"link"`
			} `xml:"item"`
		}
		if err := xml.Unmarshal(doc, &news); err != nil {
			t.Fatal(err)
		}
		var links []string
		for _, l := range news.Items[0].Links {
			links = append(links, l.URL+" "+l.Words)
		}
		if news.Items[0].Text != c.text || !slices.Equal(links, c.links) {
			t.Errorf("%s: %q with %q, want %q with %q", c.name, news.Items[0].Text, links, c.text, c.links)
		}
		if got := reread(t, doc).Items[0]; len(got.Content) != 1 || got.Content[0].Value != c.html || got.Link != c.item.Link && c.item.Link != "" {
			t.Errorf("%s: read back as %+v, want %s", c.name, got, c.html)
		}
	}
}

// The header of scriptingNews must survive a round trip.
func TestScriptingNewsHeaderRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		want := randomFeed(seed)
		got := reread(t, written(t, want, "scriptingnews"))
		if got.Version != "2.0b1" || got.Language != want.Language || heldTitle(want.Title) != (feed.Text{Value: got.Title.Value, Type: got.Title.Type}) && want.Title.Value != "" ||
			got.Docs != want.Docs || got.Rating != want.Rating || !slices.Equal(got.Hints.SkipHours, want.Hints.SkipHours) || slices.ContainsFunc(got.Problems, func(p feed.Problem) bool { return p.Kind != feed.ProblemDuplicate }) {
			t.Fatalf("seed %d: %+v, want %+v, with %+v", seed, got.Title, want.Title, got.Problems)
		}
		if img := want.Image; (img == nil) != (got.Image == nil) || img != nil && *img != *got.Image {
			t.Fatalf("seed %d: %+v, want %+v", seed, got.Image, img)
		}
		if !got.Published.UTC.Equal(want.Published.UTC) || !got.Updated.UTC.Equal(want.Updated.UTC) {
			t.Fatalf("seed %d: %v, want %v", seed, got.Published, want.Published)
		}
	}
}

func TestOPMLRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		f := randomFeed(seed)
		doc, err := opml.ParseBytes(written(t, f, "opml"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(doc.Problems) > 0 || doc.Version != "2.0" || doc.Head.Title != asWords(&f.Title) {
			t.Fatalf("seed %d: %+v", seed, doc)
		}
		if len(f.Items) == 0 {
			if len(doc.Outlines) != 1 || f.Self != "" && doc.Outlines[0].FeedURL() != f.Self {
				t.Errorf("seed %d: an empty feed is %+v", seed, doc.Outlines)
			}
			continue
		}
		sameOutlines(t, seed, f.Items, doc.Outlines)
	}
}

func sameOutlines(t *testing.T, seed uint64, items []feed.Item, outlines []opml.Outline) {
	t.Helper()
	if len(items) != len(outlines) {
		t.Fatalf("seed %d: %d outlines of %d items", seed, len(outlines), len(items))
	}
	for i := range items {
		it, o := &items[i], &outlines[i]
		if title := oneLine(asWords(&it.Title)); title != "" && o.Text != title || o.Text == "" || o.URL != it.Link || (o.Type == "link") != (it.Link != "") {
			t.Errorf("seed %d: outline %+v of item %+v", seed, o, it)
		}
		if when, _ := o.Created.Time(); !it.Published.UTC.IsZero() && !when.Equal(it.Published.UTC.Truncate(time.Second)) {
			t.Errorf("seed %d: created %q, want %v", seed, o.Created, it.Published.UTC)
		}
		if n := len(o.Category.List()); n != len(it.Categories) {
			t.Errorf("seed %d: categories %q of %+v", seed, o.Category, it.Categories)
		}
		sameOutlines(t, seed, it.Items, o.Outlines)
	}
}
