package render

import (
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// extended returns a feed with elements and attributes of other vocabularies in every place that
// can contain them.
func extended() *feed.Feed {
	const space = "urn:x-test:y"
	attrs := func(s string) []feed.Attr { return []feed.Attr{{Space: space, Name: "y:of", Value: s}} }
	both := func(s string) *feed.Extension {
		return &feed.Extension{Attrs: attrs(s), Unknown: []feed.Node{
			{Space: space, Prefix: "y", Name: "leaf", Text: "in " + s, Attrs: []feed.Attr{{Name: "at", Value: "1"}}},
			{Space: space, Prefix: "y", Name: "tree", Children: []feed.Node{{Space: space, Prefix: "y", Name: "leaf"}}},
		}}
	}
	text := func(s string) feed.Text { return feed.Text{Value: s, Type: plainText} }
	date := randomFeed(0).Items[0].Published
	return &feed.Feed{
		Title: text("T"), Link: "https://a.example/", ID: "https://a.example/id", Updated: date, Attrs: attrs("feed"),
		Authors: []feed.Person{{Name: "Ann", Extension: both("author")}},
		Image:   &feed.Image{URL: "https://a.example/i.png", Title: "T", Link: "https://a.example/", Extension: both("image")},
		Items: []feed.Item{{
			ID: "https://a.example/1", IDFrom: feed.FromID, Link: "https://a.example/1", Title: text("One"), Updated: date, Published: date,
			Contributors: []feed.Person{{Name: "Ben", Extension: both("contributor")}},
			Source:       &feed.Source{Title: text("S"), URL: "https://s.example/", Extension: both("source")},
			More:         &feed.More{Attrs: attrs("item")},
			Media: &feed.Media{MediaInfo: feed.MediaInfo{Credits: []feed.MediaCredit{{Name: "Cy", Attrs: attrs("credit")}}},
				Contents: []feed.MediaContent{{URL: "https://a.example/f", Attrs: attrs("content")}}},
		}},
	}
}

// extensionsOf returns the extensions of a feed. The key names the place.
func extensionsOf(f *feed.Feed) map[string]*feed.Extension {
	it := &f.Items[0]
	out := map[string]*feed.Extension{"feed": {Attrs: f.Attrs}, "item": {Attrs: attrsOf(it)}}
	for _, who := range f.Authors {
		out["author"] = who.Extension
	}
	for _, who := range it.Contributors {
		out["contributor"] = who.Extension
	}
	if f.Image != nil {
		out["image"] = f.Image.Extension
	}
	if it.Source != nil {
		out["source"] = it.Source.Extension
	}
	if m := it.Media; m != nil && len(m.Credits) > 0 && len(m.Contents) > 0 {
		out["credit"], out["content"] = &feed.Extension{Attrs: m.Credits[0].Attrs}, &feed.Extension{Attrs: m.Contents[0].Attrs}
	}
	for place, e := range out {
		if e == nil || len(e.Attrs)+len(e.Unknown) == 0 {
			delete(out, place)
		}
	}
	return out
}

func TestExtensionsSurviveRoundTripIfTheFormatAllowsThem(t *testing.T) {
	t.Parallel()
	for format, places := range map[string]string{
		"atom":     "feed item author contributor source credit content",
		"atom03":   "feed item author contributor credit content",
		"rss20":    "feed item author contributor image source credit content",
		"rdf":      "feed item image credit content",
		"rss092":   "",
		"jsonfeed": "",
		"opml":     "",
	} {
		want := map[string]*feed.Extension{}
		for place, e := range extensionsOf(extended()) {
			if strings.Contains(" "+places+" ", " "+place+" ") {
				want[place] = e
			}
		}
		if format == "rss20" { // its source is one line without elements
			want["source"].Unknown = nil
		}
		doc, warnings, err := Append(nil, extended(), format, nil)
		if err != nil {
			t.Fatal(err)
		}
		if format != "opml" {
			if diff := cmp.Diff(want, extensionsOf(reread(t, doc)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got:\n%s\n%s", format, diff, doc)
			}
		}
		leftOut := ""
		for _, w := range warnings {
			if w.Rule == "left-out" {
				leftOut = w.Text
			}
		}
		if !strings.Contains(leftOut, lostUnknown.String()) {
			t.Errorf("%s: the warning does not name the omitted part: %q", format, leftOut)
		}
	}
}

// Attributes and elements with invalid names must be omitted, so that the document stays valid.
func TestExtensionsCannotMakeTheirParentElementInvalid(t *testing.T) {
	t.Parallel()
	for _, a := range []feed.Attr{
		{Name: "plain", Value: "x"}, {Name: "xml:lang", Value: "x"}, {Name: "xmlns:media", Value: "x"}, {Name: "rdf:about", Value: "x", Space: "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
		{Name: "media:url", Value: "x", Space: "http://search.yahoo.com/mrss/"}, {Name: "atom:a", Value: "x", Space: "http://www.w3.org/2005/Atom"}, {Name: "thr:count", Value: "x"},
		{Name: `a:b" c="`, Value: "x", Space: "urn:x"}, {Name: "a:b", Value: `"><x>`, Space: `"><x>`}, {Name: ":", Value: "x"}, {Name: "a:", Value: "x"}, {},
	} {
		f := extended()
		f.Attrs = []feed.Attr{a, a}
		e := &feed.Extension{Attrs: f.Attrs, Unknown: []feed.Node{
			{Name: "item", Text: "x"}, {Name: "name", Text: "x", Space: "http://www.w3.org/2005/Atom"}, {Name: "url", Text: "x"}, {Text: "words"},
			{Prefix: "media", Name: "thumbnail", Space: "http://search.yahoo.com/mrss/"}, {Prefix: "media", Name: "own", Space: "urn:x", Attrs: f.Attrs},
		}}
		it := &f.Items[0]
		f.Authors[0].Extension, f.Image.Extension, it.Source.Extension, it.More.Attrs = e, e, e, f.Attrs
		it.Media.Credits[0].Attrs, it.Media.Contents[0].Attrs = f.Attrs, f.Attrs
		book := newRulebook()
		for _, format := range []string{"rss20", "rdf", "atom"} {
			if found := book.judge(format, written(t, f, format)).errors; len(found) > 0 {
				t.Errorf("%s, with %q: %s\n%s", format, a, strings.Join(found, "\n"), written(t, f, format))
			}
		}
	}
}

// If an attribute uses a prefix that the document also uses, the prefix must keep its meaning for
// the elements inside.
func TestAttributePrefixDoesNotAffectChildElements(t *testing.T) {
	t.Parallel()
	f := extended()
	f.Items[0].More.Attrs = []feed.Attr{{Space: "urn:x-test:other", Name: "media:of", Value: "item"}}
	for _, format := range []string{"rss20", "rdf", "atom"} {
		doc := written(t, f, format)
		got := reread(t, doc)
		if m := got.Items[0].Media; m == nil || len(m.Credits) != 1 {
			t.Errorf("%s: the credit is lost\n%s", format, doc)
		}
		if !strings.Contains(string(doc), `xmlns:ns1="urn:x-test:other" ns1:of="item"`) {
			t.Errorf("%s: the attribute is lost\n%s", format, doc)
		}
	}
}

func TestStrictOptionOmitsUnknownFOAFElements(t *testing.T) {
	t.Parallel()
	const space = "http://xmlns.com/foaf/0.1/"
	f := extended()
	f.Authors[0].Unknown = []feed.Node{{Space: space, Prefix: "foaf", Name: "plan", Text: "p"}, {Space: space, Prefix: "foaf", Name: "nick", Text: "n"}}
	for _, format := range []string{"rss20", "atom"} {
		for _, strict := range []bool{false, true} {
			doc, _, err := Append(nil, f, format, &Options{Strict: strict})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(doc); !strings.Contains(got, ">p</foaf:plan>") || strings.Contains(got, "foaf:nick") == strict {
				t.Errorf("%s, strict %v: %s", format, strict, got)
			}
		}
	}
}
