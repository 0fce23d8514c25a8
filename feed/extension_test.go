package feed_test

import (
	"strings"
	"testing"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// shape writes nodes as XML with their prefixes, so that trees can be compared.
func shape(nodes []feed.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		name := n.Name
		if n.Prefix != "" {
			name = n.Prefix + ":" + name
		}
		if n.Name != "" {
			b.WriteString("<" + name)
			for _, a := range n.Attrs {
				b.WriteString(" " + a.Name + "='" + a.Value + "'")
			}
			b.WriteString(">")
		}
		b.WriteString(n.Text + shape(n.Children))
		if n.Name != "" {
			b.WriteString("</" + name + ">")
		}
	}
	return b.String()
}

// extensionShape returns the attributes and elements without a field.
func extensionShape(e *feed.Extension) string {
	if e == nil {
		return ""
	}
	return attrsShape(e.Attrs) + shape(e.Unknown)
}

func attrsShape(list []feed.Attr) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString(a.Name + "='" + a.Value + "' in " + a.Space + " ")
	}
	return b.String()
}

// extensions returns the extensions of a feed with one item. The key names the element that an
// extension belongs to.
func extensions(t *testing.T, doc string) map[string]string {
	t.Helper()
	f, err := feed.ParseBytes([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"feed": attrsShape(f.Attrs), "feed unknown": shape(f.Unknown)}
	persons := func(of string, list []feed.Person) {
		for _, who := range list {
			out[of+" "+who.Name] = extensionShape(who.Extension)
		}
	}
	persons("author", f.Authors)
	if f.Image != nil {
		out["image"] = extensionShape(f.Image.Extension)
	}
	for _, it := range f.Items {
		out["item unknown"] = shape(it.Unknown)
		persons("item author", it.Authors)
		persons("contributor", it.Contributors)
		if it.Source != nil {
			out["source"] = extensionShape(it.Source.Extension)
			persons("source author", it.Source.Authors)
		}
		if it.More != nil {
			out["item"] = attrsShape(it.More.Attrs)
			if it.More.Image != nil {
				out["item image"] = extensionShape(it.More.Image.Extension)
			}
		}
		if it.Media != nil {
			for _, c := range it.Media.Contents {
				out["content"] = attrsShape(c.Attrs)
			}
			for _, c := range it.Media.Credits {
				out["credit"] = attrsShape(c.Attrs)
			}
		}
	}
	for of, is := range out {
		if is = strings.TrimSpace(is); is == "" {
			delete(out, of)
		} else {
			out[of] = is
		}
	}
	return out
}

func TestExtensionElementsBelongToTheirParentElement(t *testing.T) {
	t.Parallel()
	const (
		names   = ` xmlns:x="urn:x" xmlns:media="http://search.yahoo.com/mrss/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`
		inAtom  = `<feed xmlns="http://www.w3.org/2005/Atom"` + names + `>`
		inEntry = inAtom + `<entry>`
		inRSS   = `<rss version="2.0"` + names + `><channel>`
		inItem  = inRSS + `<item>`
	)
	for doc, want := range map[string]map[string]string{
		`<feed xmlns="http://www.w3.org/2005/Atom"` + names + ` x:a="1" xsi:schemaLocation="b" xml:lang="en" c="d"><entry x:e="2" xml:base="/">`: {"feed": "x:a='1' in urn:x", "item": "x:e='2' in urn:x"},
		`<rss version="2.0"` + names + ` x:a="1"><channel x:b="2"><item x:c="3" media:d="4" y:e="5">`:                                            {"feed": "x:a='1' in urn:x x:b='2' in urn:x", "item": "x:c='3' in urn:x y:e='5' in"},
		inAtom + `<author x:a="1"><name>A</name><x:b c="2"><x:d>e</x:d></x:b><foaf:name>F</foaf:name></author>`:                                  {"author A": "x:a='1' in urn:x <x:b c='2'><x:d>e</x:d></x:b><foaf:name>F</foaf:name>"},
		inEntry + `<author><name>A</name><x:b/></author><contributor><name>C</name><x:d>e</x:d></contributor>`:                                   {"item author A": "<x:b></x:b>", "contributor C": "<x:d>e</x:d>"},
		inEntry + `<author><x:b>Jane</x:b></author>`:                                                                                             {},
		inEntry + `<author><i>Ja<b>ne</b></i></author>`:                                                                                          {},
		inEntry + `<author><x:b c="d">Jane</x:b></author>`:                                                                                       {"item author Jane": "<x:b c='d'>Jane</x:b>"},
		inEntry + `<author><x:b/></author>`:                                                                                                      {"item unknown": "<author><x:b></x:b></author>"},
		inItem + `<author x:a="1">Jane</author>`:                                                                                                 {"item author Jane": "x:a='1' in urn:x"},
		inItem + `<author x:a="1"></author>`:                                                                                                     {},
		inEntry + `<source x:a="1"><x:b><c/></x:b></source>`:                                                                                     {"source": "x:a='1' in urn:x <x:b><c></c></x:b>"},
		inEntry + `<source><title>S</title><author><name>A</name><x:b/></author><media:thumbnail url="u"/></source>`:                             {"source": "<media:thumbnail url='u'></media:thumbnail>", "source author A": "<x:b></x:b>"},
		inItem + `<source url="http://s.example/" x:a="1">S</source>`:                                                                            {"source": "x:a='1' in urn:x"},
		inRSS + `<image x:a="1"><url>http://i.example/</url><x:b>c</x:b></image>`:                                                                {"image": "x:a='1' in urn:x <x:b>c</x:b>"},
		inRSS + `<image><url>http://i.example/</url><x:b/></image><image><title>T</title><x:c/></image>`:                                         {"image": "<x:b></x:b><x:c></x:c>"},
		inAtom + `<image><x:b/></image><image><foo/></image>`:                                                                                    {"feed unknown": "<image><x:b></x:b></image><image><foo></foo></image>"},
		inItem + `<image><url>http://i.example/</url><x:b/></image>`:                                                                             {"item image": "<x:b></x:b>"},
		inItem + `<media:credit role="r" x:a="1">C</media:credit><media:content url="u" x:b="2" media:c="3"/>`:                                   {"credit": "x:a='1' in urn:x", "content": "x:b='2' in urn:x"},
	} {
		if diff := cmp.Diff(want, extensions(t, doc)); diff != "" {
			t.Errorf("%s\n-want +got:\n%s", doc, diff)
		}
	}
}

// If an author is named twice, the second time in atom:author with a URL, the person has the
// extensions of both elements.
func TestAuthorMergedFromTwoElementsKeepsExtensionsOfBoth(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`<author x:a="1">a@a.example (A)</author><atom:author><atom:name>A</atom:name><atom:email>a@a.example</atom:email><atom:uri>http://a.example/</atom:uri></atom:author>`: "x:a='1' in urn:x ",
		`<author>a@a.example (A)</author><atom:author x:a="1"><atom:name>A</atom:name><atom:email>a@a.example</atom:email><x:b/></atom:author>`:                                 "x:a='1' in urn:x <x:b></x:b>",
	} {
		f, err := feed.ParseBytes([]byte(`<rss version="2.0" xmlns:x="urn:x" xmlns:atom="http://www.w3.org/2005/Atom"><channel><item>`+doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Items[0].Authors; len(got) != 1 || extensionShape(got[0].Extension) != want || got[0].Raw == "" {
			t.Errorf("%s\n got %+v", doc, got)
		}
	}
}
