package render

import (
	"slices"
	"strings"
	"testing"

	"cloudburst/feed"
)

// planet has an item whose only author is the author of its source.
const planet = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Planet</title><id>urn:planet:1</id><link href="http://planet.example/"/><updated>2026-06-01T00:00:00Z</updated>
<author><name>Planet Bot</name></author><entry><id>urn:planet:2</id><title>Post 1</title><updated>2026-06-01T00:00:00Z</updated><link href="http://alice.example/1"/>
<source><id>urn:alice:1</id><title>Feed</title><updated>2026-06-01T00:00:00Z</updated><author><name>Alice</name></author></source></entry></feed>`

// The specification of Atom states that the authors of the source apply to an entry without authors.
func TestAuthorsOfTheSourceApplyToTheItem(t *testing.T) {
	t.Parallel()
	f := reread(t, []byte(planet))
	for _, format := range []string{"rss20", "rdf", "atom03", "jsonfeed", "cdf", "csv", "tsv", "phps", "php", "perl", "python", "ruby", "js", "html", "text"} {
		doc := rendered(t, f, format, nil)
		if _, item, _ := strings.Cut(doc, "Post 1"); !strings.Contains(item, "Alice") || strings.Contains(item, "Planet Bot") {
			t.Errorf("%s: Alice is not the author of the item in %s", format, doc)
		}
	}
	for _, format := range []string{"rss20", "rdf", "atom", "atom03", "jsonfeed"} {
		it := &reread(t, []byte(rendered(t, f, format, nil))).Items[0]
		if who := it.Byline(); len(who) != 1 || who[0].Name != "Alice" {
			t.Errorf("%s: the authors are %v", format, who)
		}
	}
	for _, format := range []string{"rss090", "rss091", "rss094", "scriptingnews", "opml"} {
		if left := leftOut(t, f, format); !strings.Contains(left, "authors") {
			t.Errorf("%s: left out %q", format, left)
		}
	}
}

func TestPersonsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	twice := []feed.Person{{Name: "Amsel"}, {Name: "Meise", URL: "http://m.example/"}, {Name: "Amsel", Raw: "Amsel"}, {Name: "Meise"}}
	f := &feed.Feed{ID: "urn:f", Authors: twice, Items: []feed.Item{{ID: "urn:i", Authors: twice}}}
	for _, format := range []string{"html", "jsonfeed", "atom"} {
		doc := rendered(t, f, format, nil)
		if n := strings.Count(doc, "Amsel"); n != 2 {
			t.Errorf("%s: Amsel %d times in %s", format, n, doc)
		}
		if n := strings.Count(doc, "Meise"); n != 4 { // a person with a page may be another one
			t.Errorf("%s: Meise %d times in %s", format, n, doc)
		}
	}
}

func TestAuthorWhoseDetailsAreOmittedIsWrittenOnce(t *testing.T) {
	t.Parallel()
	const atom03 = `<feed version="0.3" xmlns="http://purl.org/atom/ns#" xmlns:foaf="http://xmlns.com/foaf/0.1/"><title>P</title><entry><id>tag:p.example,2004:1</id><title>One</title>`
	for _, c := range []struct{ author, want string }{
		{`<name>J. Doe</name><weblog>http://doe.example/blog</weblog>`, ""},
		{`<name>J. Doe</name><foaf:nick>jd</foaf:nick>`, ""},
		{`<name>J. Doe</name><url>ada</url>`, ""},
		{`<name>J. Doe</name><email>jd@doe.example</email><url>ada</url>`, ""},
		{`<name>J. Doe</name><url>http://doe.example/</url>`, "<atom:uri>http://doe.example/</atom:uri>"},
		{`<name>J@Doe</name><url>ada</url>`, "<atom:name>J@Doe</atom:name>"}, // no other element contains the name
		{`<name>A</name><url>ada</url></author><author><name>B</name><url>http://b.example/</url>`, "<atom:uri>http://b.example/</atom:uri>"},
	} {
		f := reread(t, []byte(atom03+"<author>"+c.author+"</author></entry></feed>"))
		doc := rendered(t, f, "rss20", &Options{Strict: true})
		if n := strings.Count(doc, "<atom:author>"); n > 1 || (n == 1) != (c.want != "") || !strings.Contains(doc, c.want) {
			t.Errorf("%s: want %q in %s", c.author, c.want, doc)
		}
		if n := len(reread(t, []byte(doc)).Items[0].Authors); n != len(f.Items[0].Authors) {
			t.Errorf("%s: %d authors in %s", c.author, n, doc)
		}
	}
}

func TestCategoriesOfMediaRSSAreWrittenOnce(t *testing.T) {
	t.Parallel()
	for _, media := range []string{`scheme="http://dmoz.example/" label="Sea"`, `scheme="http://dmoz.example/"`, `label="Sea"`, ``} {
		f := reread(t, []byte(`<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>g</title><link>http://a.example/</link><media:category `+media+`>sea</media:category>`+
			`<item><guid>http://a.example/1</guid><title>One</title><category>other</category><media:category `+media+`>sea/rope</media:category></item></channel></rss>`))
		for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
			got := reread(t, []byte(rendered(t, f, format, nil)))
			if got, want := got.Categories, f.Categories; !slices.Equal(got, want) {
				t.Errorf("%s: categories of the feed %v, want %v", format, got, want)
			}
			if got, want := got.Items[0].Categories, f.Items[0].Categories; len(got) != len(want) || !slices.Contains(got, want[1]) {
				t.Errorf("%s: categories of the item %v, want %v", format, got, want)
			}
		}
	}
}

func TestIDBelowThePageOfTheFeedIsTheRequiredLink(t *testing.T) {
	t.Parallel()
	const id = "http://a.example/alice/#MFO4"
	f := &feed.Feed{Link: "http://a.example/alice/", Items: []feed.Item{{ID: id, IDFrom: feed.FromID, Title: feed.Text{Value: "One"}}}}
	for format, want := range map[string]string{
		"rdf": "<link>" + id + "</link>", "rss090": "<link>" + id + "</link>", "rss091": "<link>" + id + "</link>", "cdf": `HREF="` + id + `"`, "atom03": `href="` + id + `"`,
	} {
		if doc := rendered(t, f, format, nil); !strings.Contains(doc, want) {
			t.Errorf("%s: want %s in %s", format, want, doc)
		}
	}
}

func TestAuthorOfAnEpisodeSurvivesEachFormatOnce(t *testing.T) {
	t.Parallel()
	for _, author := range []string{"", "<dc:creator>Amsel</dc:creator>"} {
		f := reread(t, []byte(`<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><title>P</title><link>http://p.example/</link>`+
			author+`<itunes:author>Amsel</itunes:author><item><title>E</title><guid>http://p.example/1</guid>`+author+`<itunes:author>Amsel</itunes:author></item></channel></rss>`))
		for _, format := range []string{"rss20", "rdf", "atom", "atom03", "jsonfeed"} {
			got := reread(t, []byte(rendered(t, f, format, nil)))
			for _, who := range [][]feed.Person{got.Authors, got.Items[0].Authors} {
				if len(who) != 1 || who[0].Name != "Amsel" {
					t.Errorf("%s: the authors are %v", format, who)
				}
			}
		}
	}
}
