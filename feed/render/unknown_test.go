package render

import (
	"bytes"
	"encoding/xml"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/internal/fulltest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// randomTree returns an element of unknown vocabularies, some of which share a prefix.
func (m maker) randomTree(depth int) feed.Node {
	n := feed.Node{Prefix: m.pick("a", "b", "ns1", ""), Space: m.pick("urn:x-test:a", "urn:x-test:b", "https://c.example/ns#"), Name: m.pick("x-one", "x-two", "x-Größe")}
	names := map[string]bool{}
	for range m.IntN(4) {
		a := feed.Attr{Name: m.pick("plain", "Other", "a:one", "b:one", "b:two", "xml:lang"), Value: m.words(1)}
		switch prefix, _, ok := strings.Cut(a.Name, ":"); {
		case !ok:
		case prefix == "xml":
			a.Value, a.Space = "nb", "http://www.w3.org/XML/1998/namespace"
		case prefix == n.Prefix:
			a.Space = n.Space
		default:
			a.Space = "urn:x-test:" + prefix
		}
		if key := a.Space + " " + a.Name[strings.IndexByte(a.Name, ':')+1:]; !names[key] {
			names[key] = true
			n.Attrs = append(n.Attrs, a)
		}
	}
	switch m.IntN(3) {
	case 0:
		n.Text = m.words(2)
	case 1:
		for i := range 1 + m.IntN(3) {
			if depth > 4 || m.IntN(3) > 0 && (i == 0 || n.Children[i-1].Name != "") {
				n.Children = append(n.Children, feed.Node{Text: " " + m.words(1) + "\n "})
			} else {
				n.Children = append(n.Children, m.randomTree(depth+1))
			}
		}
		if len(n.Children) == 1 && n.Children[0].Name == "" {
			n.Children = append(n.Children, feed.Node{Prefix: n.Prefix, Space: n.Space, Name: "x-end"})
		}
		n = withoutOnlyText(n)
	}
	return n
}

// withoutOnlyText returns n without a text that is its only child, because the parser stores such a
// text in the field Text.
func withoutOnlyText(n feed.Node) feed.Node {
	for i := range n.Children {
		if n.Children[i].Name != "" {
			return n
		}
	}
	n.Children = append(n.Children, feed.Node{Prefix: n.Prefix, Space: n.Space, Name: "x-end"})
	return n
}

func TestUnknownElementsSurviveRoundTrip(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	for seed := range uint64(300) {
		m := maker{rand.New(rand.NewPCG(seed, 5))}
		f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/", Items: []feed.Item{{ID: "urn:x-test:1", IDFrom: feed.FromID, Title: feed.Text{Value: "t"}, Link: "https://a.example/1"}}}
		for range 1 + m.IntN(3) {
			f.Unknown = append(f.Unknown, m.randomTree(0))
			f.Items[0].Unknown = append(f.Items[0].Unknown, m.randomTree(0))
		}
		for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
			doc := written(t, f, format)
			got := reread(t, doc)
			if diff := cmp.Diff(f.Unknown, got.Unknown, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %s, of the feed:\n%s\n%s", seed, format, diff, doc)
			}
			if diff := cmp.Diff(f.Items[0].Unknown, got.Items[0].Unknown, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, %s, of the item:\n%s\n%s", seed, format, diff, doc)
			}
			for i := range f.Unknown {
				if want, got := meaning(&f.Unknown[i]), strictMeaning(t, doc, i); got != want {
					t.Fatalf("seed %d, %s: a strict reader has\n%s, want\n%s\n%s", seed, format, got, want, doc)
				}
			}
		}
	}
}

// meaning returns a tree with namespaces in place of prefixes.
func meaning(n *feed.Node) string {
	if n.Name == "" {
		return "(" + n.Text + ")"
	}
	s := "<" + n.Space + " " + n.Name
	for _, a := range n.Attrs {
		s += " " + a.Space + "|" + a.Name[strings.IndexByte(a.Name, ':')+1:] + "=" + a.Value
	}
	s += ">"
	if n.Text != "" {
		s += "(" + n.Text + ")"
	}
	for i := range n.Children {
		s += meaning(&n.Children[i])
	}
	return s + "</>"
}

// strictMeaning returns the tree with the index i of the feed, as read by the strict decoder of the
// standard library.
func strictMeaning(t *testing.T, doc []byte, i int) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(doc))
	depth, n := 0, -1
	for {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 && strings.HasPrefix(token.Name.Local, "x-") {
				n++
			}
			if depth == 0 && (n != i || !strings.HasPrefix(token.Name.Local, "x-")) {
				if n >= 0 && strings.HasPrefix(token.Name.Local, "x-") {
					if err := d.Skip(); err != nil {
						t.Fatal(err)
					}
				}
				continue
			}
			depth++
			b.WriteString("<" + token.Name.Space + " " + token.Name.Local)
			for _, a := range token.Attr {
				switch {
				case a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Local == "parseType":
					continue
				case a.Name.Space == "xml":
					a.Name.Space = "http://www.w3.org/XML/1998/namespace"
				}
				b.WriteString(" " + a.Name.Space + "|" + a.Name.Local + "=" + a.Value)
			}
			b.WriteString(">")
		case xml.CharData:
			if depth > 0 {
				b.WriteString("(" + string(token) + ")")
			}
		case xml.EndElement:
			if depth > 0 {
				b.WriteString("</>")
				if depth--; depth == 0 {
					return b.String()
				}
			}
		}
	}
}

func TestInvalidXMLNamesAreOmitted(t *testing.T) {
	t.Parallel()
	deep := feed.Node{Space: "urn:x", Prefix: "x", Name: "n"}
	for range 2 * deepestTree {
		deep = feed.Node{Space: "urn:x", Prefix: "x", Name: "n", Children: []feed.Node{deep}}
	}
	for name, n := range map[string]feed.Node{
		"a space":             {Space: "urn:x", Prefix: "x", Name: "a b"},
		"a tag":               {Space: "urn:x", Prefix: "x", Name: "a><b"},
		"nothing but a digit": {Space: "urn:x", Prefix: "x", Name: "1"},
		"a prefix of its own": {Space: "urn:x", Prefix: "x y", Name: "n"},
		"an attribute":        {Space: "urn:x", Prefix: "x", Name: "n", Attrs: []feed.Attr{{Name: `a="1" b`, Value: "2"}, {Name: "ok", Value: "3"}}},
		"a declaration":       {Space: "urn:x", Prefix: "x", Name: "n", Attrs: []feed.Attr{{Name: "xmlns:x", Value: "urn:y"}, {Name: "xmlns", Value: "urn:z"}}},
		"the prefix xmlns":    {Space: "urn:x", Prefix: "xmlns", Name: "n"},
		"the prefix xml":      {Space: "urn:x", Prefix: "xml", Name: "n"},
		"a quote in a space":  {Space: `urn:"x'`, Prefix: "x", Name: "n"},
		"far too deep":        deep,
	} {
		for _, format := range []string{"rss20", "rdf", "atom", "atom03"} {
			f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/", Unknown: []feed.Node{n}}
			doc := written(t, f, format)
			if _, err := decode(doc); err != nil {
				t.Errorf("%s, %s: %v\n%s", name, format, err, doc)
			}
		}
	}
}

// Leftovers of repeated elements do not conflict with the elements themselves.
func TestRepeatedKnownElementsAreOmitted(t *testing.T) {
	t.Parallel()
	var list []feed.Node
	for s := range spNone {
		prefix, uri := s.declaration()
		for _, name := range strings.Fields(fieldsOfRare(s, true) + " title description date creator encoded") {
			if hasField(s, name, true) {
				list = append(list, feed.Node{Space: uri, Prefix: prefix, Name: name, Text: "9"})
			}
		}
	}
	f := &feed.Feed{Title: feed.Text{Value: "T", Type: plainText}, Link: "https://a.example/", Items: []feed.Item{{ID: "urn:x-test:1", IDFrom: feed.FromID,
		Title: feed.Text{Value: "t", Type: plainText}, Link: "https://a.example/1", Summary: feed.Text{Value: "s", Type: plainText}, Unknown: list}}}
	for _, format := range []string{"rss20", "rdf", "atom"} {
		_, warnings, _ := Append(nil, f, format, nil)
		n := 0
		for _, w := range warnings {
			if w.Rule == "unknown-element" {
				n++
			}
		}
		if n != len(list) {
			t.Errorf("%s: %d warnings of %d elements", format, n, len(list))
		}
		if got := reread(t, written(t, f, format)); len(got.Items[0].Unknown) > 0 || got.Items[0].Title.Value != "t" {
			t.Errorf("%s: %+v", format, got.Items[0])
		}
	}
}

// Two namespaces with one prefix in one tag, which no parsed document can contain.
func TestConflictingNamespacePrefixesAreRenamed(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/", Unknown: []feed.Node{{Space: "urn:one", Prefix: "p", Name: "x-n", Attrs: []feed.Attr{
		{Space: "urn:two", Name: "p:a", Value: "2"}, {Space: "urn:three", Name: "p:a", Value: "3"}, {Space: "urn:four", Name: "a", Value: "4"}, {Name: "a", Value: "0"},
	}, Children: []feed.Node{{Space: "urn:one", Prefix: "p", Name: "x-m"}}}}}
	for _, format := range []string{"rss20", "rdf", "atom"} {
		if want, got := meaning(&f.Unknown[0]), strictMeaning(t, written(t, f, format), 0); got != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
	}
}

func TestNamespacePrefixesAreDeclaredOnce(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "T"}, Link: "https://a.example/"}
	for i := range 3 {
		f.Unknown = append(f.Unknown, feed.Node{Space: "http://purl.org/dc/elements/1.1/", Prefix: "dc", Name: "coverage", Text: strconv.Itoa(i)})
	}
	doc := string(written(t, f, "rss20"))
	if n := strings.Count(doc, "xmlns:dc="); n != 1 || strings.Count(doc, "<dc:coverage>") != 3 {
		t.Errorf("dc is declared %d times:\n%s", n, doc)
	}
}
