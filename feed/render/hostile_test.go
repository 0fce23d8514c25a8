package render

import (
	"strings"
	"testing"

	"cloudburst/feed"
)

// xmlFormats returns the XML formats.
func xmlFormats() []string {
	return []string{"rss090", "rss091", "rss092", "rss093", "rss094", "rss20", "rdf", "atom", "atom03", "cdf", "scriptingnews", "opml"}
}

// outline writes the names of the elements and attributes of a document, without their content.
func (t *parsed) outline(b *strings.Builder) {
	b.WriteString("<" + t.name.Space + " " + t.name.Local)
	for _, a := range t.attrs {
		b.WriteString(" " + a.Name.Space + ":" + a.Name.Local)
	}
	b.WriteString(">")
	for _, c := range t.children {
		if c.name.Local != "linetext" { // scriptingNews has this element only if the text contains the linked words
			c.outline(b)
		}
	}
	b.WriteString("</>")
}

// everywhere returns a feed with a text in every field that can contain any text.
func everywhere(s string) *feed.Feed {
	plain, html := feed.Text{Value: s, Type: plainText}, feed.Text{Value: s, Type: htmlText}
	date := randomFeed(0).Published
	f := &feed.Feed{
		ID: "urn:x-test:feed", Title: plain, Subtitle: html, Rights: plain, Link: "https://a.example/", Language: "en", Published: date, Updated: date,
		Authors:    []feed.Person{{Name: s, Email: "a@b.example"}, {Name: s}},
		Categories: []feed.Category{{Term: s, Scheme: s, Label: s}}, Generator: &feed.Generator{Name: s, Version: s},
		Docs: "https://a.example/docs", Rating: s, Image: &feed.Image{URL: "https://a.example/i", Title: s, Description: s},
		TextInput: &feed.TextInput{Title: s, Description: s, Name: s, Link: "https://a.example/q"},
		Clouds:    []feed.Cloud{{Domain: s, Port: "80", Path: s, RegisterProcedure: s, Protocol: s}},
	}
	f.Items = []feed.Item{{
		ID: s, IDFrom: feed.FromID, Title: plain, Summary: plain, Content: []feed.Text{html}, Link: "https://a.example/1", Published: date, Updated: date,
		Authors: f.Authors, Categories: f.Categories,
		Source: &feed.Source{Title: plain, URL: "https://b.example/"},
		Items:  []feed.Item{{ID: s + "1", IDFrom: feed.FromID, Title: html, Summary: html}},
	}}
	return f
}

func TestItemTextCannotInjectXML(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"the end of a section": "a]]>b", "quotes": `a"b'c`, "an instruction": "a?><?xml b", "a script": "a</script><script>b",
		"a comment": "a<!-- b", "the end of one": "a--> b", "control characters": "a\x00\x01\x0bb", "no characters": "a\uFFFE\uFFFFb",
		"no UTF-8": "a\xed\xa0\x80\xffb", "half a character": "ab\xe2\x82", "beyond ASCII": "aß日🎈b", "ends of elements": "a</title></item></channel></rss>b",
		"an entity": "a&lt;&amp;&#0;&nosuch;b", "a DOCTYPE": `a<!DOCTYPE x [<!ENTITY y "z">]>b`, "line ends": "a\r\nb\rc\u2028d", "an attribute": `a" onload="x`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range xmlFormats() {
				var want, got strings.Builder
				for _, c := range []struct {
					to   *strings.Builder
					text string
				}{{&want, "harmless"}, {&got, s}} {
					doc := written(t, everywhere(c.text), format)
					root, err := decode(doc)
					if err != nil {
						t.Fatalf("%s: %v\n%s", format, err, doc)
					}
					root.outline(c.to)
					if format == "opml" {
						continue
					}
					f := reread(t, doc)
					for _, p := range f.Problems {
						if p.Kind == feed.ProblemMarkup || p.Kind == feed.ProblemCharacter {
							t.Errorf("%s: %+v", format, p)
						}
					}
				}
				if format != "opml" && want.String() != got.String() {
					t.Errorf("%s: the elements are\n%s, want\n%s", format, got.String(), want.String())
				}
			}
		})
	}
}

func TestInvalidXMLCharactersAreOmittedWithOneWarningEach(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "a\x00b\x01c\uFFFEd\xffe"}, Link: "https://a.example/", Items: []feed.Item{{Title: feed.Text{Value: "\x02x"}}}}
	doc, warnings, err := Append(nil, f, "rss20", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := reread(t, doc); got.Title.Value != "abcde" || got.Items[0].Title.Value != "x" {
		t.Errorf("the titles are %q and %q", got.Title.Value, got.Items[0].Title.Value)
	}
	var paths []string
	for _, w := range warnings {
		if w.Rule == "characters" {
			paths = append(paths, w.Path)
		}
	}
	if got := strings.Join(paths, " "); got != "title item[1]/title" {
		t.Errorf("warned of %q", got)
	}
}
