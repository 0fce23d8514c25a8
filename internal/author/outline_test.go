package author

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cloudburst/feed"
	"cloudburst/feed/opml"
	"cloudburst/feed/render"
	"cloudburst/internal/author/markup"
	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
)

// shape returns an outline in one line: "a(b c(d))".
func shape(nodes []Node) string {
	var all []string
	for _, n := range nodes {
		s := n.Text
		if len(n.Nodes) > 0 {
			s += "(" + shape(n.Nodes) + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

func TestIndentationDeterminesOutlineLevels(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"a":                             "a",
		"a\nb":                          "a b",
		"a\n\tb\n\t\tc\n\td\ne":         "a(b(c) d) e",
		"a\n  b\n    c\n  d\ne":         "a(b(c) d) e",
		"a\r\n\tb\r\tc":                 "a(b c)",
		"a\n        b\n        c\n  d":  "a(b c d)",
		"    a\n  b\nc\n\td":            "a b c(d)",
		"a\n \tb\n\t c":                 "a(b c)",
		"a\n b":                         "a b",
		"\n  \n\ta\n\n\t\tb\n":          "a(b)",
		"  - a \n\t\t# b\x00\u0001 c  ": "- a(# b c)",
	} {
		got, err := ParseOutline(text)
		if err != nil || shape(got) != want {
			t.Errorf("%q is parsed as %s (%v), want %s", text, shape(got), err, want)
		}
	}
}

func TestOutlinesBeyondTheLimitsAreRejected(t *testing.T) {
	t.Parallel()
	_, err := ParseOutline(strings.Repeat("a\n", MaxNodes+1))
	wantFault(t, err, fault.Invalid, "more than 5000")
	var deep strings.Builder
	for i := range 200 {
		deep.WriteString(strings.Repeat("\t", i) + "a\n")
	}
	nodes, err := ParseOutline(deep.String())
	must(t, err)
	count := 0
	left := MaxSource
	must(t, checkNodes(nodes, 1, &left, &count))
	if count != 200 {
		t.Errorf("%d headlines", count)
	}
	for _, bad := range []string{"{", `{"text":"a"}`, `[1]`, `"` + strings.Repeat("a", maxOutlineJSON) + `"`} {
		_, err := ReadOutline(bad)
		wantFault(t, err, fault.Invalid, "outline")
	}
	got, err := ReadOutline(`[{"text":" a ","nodes":[{"text":" "},{"text":"","nodes":[{"text":"b"}]}]},{"text":""}]`)
	must(t, err)
	if shape(got) != "a((b))" {
		t.Errorf("empty headlines are left: %s", shape(got))
	}
}

func FuzzOutline(f *testing.F) {
	f.Add("a\n\tb\n  c\n\t\td")
	f.Add("    a\n  b\r\n\u2028c\n\t…\n \u00a0\n\t\u0085x")
	f.Add("a\n\t\t\t\t\tb\n   c\n \td")
	f.Fuzz(func(t *testing.T, text string) {
		nodes, err := ParseOutline(text)
		if err != nil {
			return
		}
		written := WriteOutline(nodes)
		again, err := ParseOutline(written)
		if err != nil {
			t.Fatal(err)
		}
		if WriteOutline(again) != written || !same(nodes, again) {
			t.Fatalf("%q\nis   %s\nthen %s", text, shape(nodes), shape(again))
		}
	})
}

// same reports whether two outlines have the same texts. A sequence of white space equals one
// space.
func same(a, b []Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if headline(&a[i]) != headline(&b[i]) || !same(a[i].Nodes, b[i].Nodes) {
			return false
		}
	}
	return true
}

func TestOutlineAttributesAreKeptAfterATextEdit(t *testing.T) {
	t.Parallel()
	before := []Node{
		{Text: "one", Link: "https://a.example/1", Nodes: []Node{{Text: "two", Folded: true, Nodes: []Node{{Text: "three", GUID: "3"}}}}},
		{Title: "Four", Text: "and\nfive", Categories: []string{"x"}}, {Text: "same", GUID: "a"}, {Text: "same", GUID: "b"}, {Text: "last", GUID: "l"},
	}
	for edit, want := range map[string]string{
		"one\n\ttwo\n\t\tthree\nFour and five\nsame\nsame\nlast\n": "1 two! 3 Four same:a same:b last:l",
		"one\n\ttwo\n\tthree\nnew\nFour and five\nsame\nlast\n":    "1 two! 3 new Four same last:l",
		"ONE\n\ttwo\n\t\tTHREE\nfour\nsame\nsame\nlast\n":          "ONE1 two! THREE3 four same:a same:b last:l",
		"last\none\n": "last 1",
		"":            "",
	} {
		edited, err := ParseOutline(edit)
		must(t, err)
		var all []string
		for _, n := range flatten(RestoreAttributes(before, edited), nil) {
			s := n.Text
			switch {
			case n.Title != "":
				s = n.Title
			case n.Text == "one":
				s = "1"
			case n.Text == "three":
				s = "3"
			case n.Link != "":
				s += "1"
			case n.GUID == "3":
				s += "3"
			case n.GUID != "":
				s += ":" + n.GUID
			}
			if n.Folded {
				s += "!"
			}
			all = append(all, s)
		}
		if got := strings.Join(all, " "); strings.ReplaceAll(got, "same:a last", "same last") != want && strings.ReplaceAll(got, "same:b last", "same last") != want {
			t.Errorf("%q\nkeeps %s\nnot   %s", edit, got, want)
		}
	}
	if got := WriteOutline(before); got != "one\n\ttwo\n\t\tthree\nFour and five\nsame\nsame\nlast\n" {
		t.Errorf("written as %q", got)
	}
}

// randomNodes returns random nodes that are similar to nodes of users.
func randomNodes(r *rand.Rand, depth int, opml bool) []Node {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	some := func() bool { return r.IntN(3) == 0 }
	var all []Node
	for range r.IntN(4) {
		n := Node{Text: pick("plain words", "*in* **Markdown** with `code`", "a [link](https://a.example/?x=1&y=2) & more", "<b>bold</b> &amp; 2 < 3", "2 * 3 * 4 _ 5", "https://a.example/a_b_c",
			"日本語 🎉 \"quoted\" 'it'", "# no heading", "- dash", "1. first", "a\\\nb", "| a | b |", "~~gone~~ @nobody #tag", "1")}
		if some() {
			n.Link = pick("https://a.example/", "http://b.example/x?y=z&amp=1", "https://a.example/%E6%97%A5#top")
		}
		if some() {
			n.CreatedAt = time.Unix(r.Int64N(2e9), 0).UTC()
		}
		if some() {
			n.Categories = []string{"News", "Änderung und mehr"}
		}
		if some() {
			n.Enclosures = []Enclosure{{URL: "https://a.example/song.mp3", Type: "audio/mpeg", Length: r.Int64N(1e6)}}
		}
		if some() {
			n.Attrs = []feed.Attr{{Name: "type", Value: "rss"}, {Name: "xmlUrl", Value: "https://a.example/feed?a=1&b=\"2\""}, {Name: "flInCalendar", Value: "true"}, {Name: "image", Value: "<x> & y"}}
			if n.Link != "" {
				n.Attrs = n.Attrs[1:]
			}
		}
		if some() && !opml {
			n.Title, n.GUID = pick("A title", "<T> & T", "Ünï"), fmt.Sprint("tag:a.example,2026:", r.Int64())
		}
		if depth < 6 {
			n.Nodes = randomNodes(r, depth+1, opml)
		}
		n.Folded = len(n.Nodes) > 0 && some()
		all = append(all, n)
	}
	return all
}

// sameNodes ignores fields that the program generates.
var sameNodes = cmp.Options{cmpopts.EquateEmpty(), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".HTML" }, cmp.Ignore())}

// ownGUIDs removes the GUIDs that the program derived from positions.
func ownGUIDs(nodes []Node, guid string) {
	for i := range nodes {
		n := &nodes[i]
		place := guid + nodeMark(guid) + fmt.Sprint(i+1)
		if n.GUID == place {
			n.GUID = ""
			ownGUIDs(n.Nodes, place)
			continue
		}
		ownGUIDs(n.Nodes, n.GUID)
	}
}

func TestOutlineSurvivesRoundTripThroughTheFeed(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	p := &Posts{Origin: func() string { return "https://here.example" }}
	for seed := range fulltest.Size(50, 5) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		at := time.Unix(1.7e9, 0).UTC()
		post := Post{User: "alice", GUID: "https://here.example/alice/1", PermaLink: true, Slug: "1", PublishedAt: at, UpdatedAt: at}
		post.Outline = randomNodes(r, 1, false)
		if seed%2 == 0 {
			post.Source, post.Format = "Some *words* before it.", Markdown
		}
		if seed%3 == 0 {
			post.Title = "A <title>"
		}
		must(t, checkContent(&post.Content))
		must(t, renderContent(&post.Content))
		f := p.Channel(Writer{User: "alice"}, []Post{post})
		for _, format := range []string{"rss20", "atom"} {
			doc, _, err := render.Append(nil, f, format, &render.Options{Self: "https://here.example/alice/rss.xml"})
			must(t, err)
			parsed, err := feed.ParseBytes(doc, &feed.Options{URL: "https://here.example/alice/rss.xml"})
			must(t, err)
			back := p.FromFeed(parsed, at)
			if len(back) != 1 {
				t.Fatalf("seed %d: %d posts", seed, len(back))
			}
			ownGUIDs(back[0].Outline, post.GUID)
			if format == "atom" {
				forgetLinks(back[0].Outline)
			}
			if d := cmp.Diff(post.Outline, back[0].Outline, sameNodes); d != "" {
				t.Fatalf("seed %d, %s: %s\n%s", seed, format, d, doc)
			}
			if back[0].Source != post.Source || back[0].Title != post.Title {
				t.Fatalf("seed %d, %s: %q, %q was imported as %q, %q\n%s", seed, format, post.Title, post.Source, back[0].Title, back[0].Source, doc)
			}
		}
	}
}

// forgetLinks removes links that exist only because an Atom entry has a URL as its ID.
func forgetLinks(nodes []Node) {
	for i := range nodes {
		if strings.Contains(nodes[i].Link, "here.example/") {
			nodes[i].Link = ""
		}
		forgetLinks(nodes[i].Nodes)
	}
}

func TestOutlineSurvivesOPMLRoundTrip(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	p := &Posts{}
	for seed := range fulltest.Size(50, 5) {
		nodes := randomNodes(rand.New(rand.NewPCG(uint64(seed), 8)), 1, true)
		c := Content{Title: "T & <T>", Outline: nodes}
		must(t, checkContent(&c))
		must(t, renderContent(&c))
		var doc bytes.Buffer
		_, err := p.ToOPML(Post{Content: c}).WriteTo(&doc)
		must(t, err)
		parsed, err := opml.ParseBytes(doc.Bytes(), nil)
		must(t, err)
		title, back := FromOPML(parsed)
		again := Content{Title: title, Outline: back}
		must(t, checkContent(&again))
		must(t, renderContent(&again))
		// Texts of OPML headlines are HTML, so compare only the HTML.
		texts := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Text" }, cmp.Ignore())
		if d := cmp.Diff(c, again, cmpopts.EquateEmpty(), texts); d != "" {
			t.Fatalf("seed %d: %s\n%s", seed, d, &doc)
		}
	}
}

func TestOPMLOfOtherProgramsIsImportedCompletely(t *testing.T) {
	t.Parallel()
	doc, err := opml.ParseBytes([]byte(`<opml version="2.0"><head><title>Plans</title><expansionState>1,3</expansionState></head><body>
<outline text="Do &lt;b&gt;this&lt;/b&gt;" created="Sun, 22 Nov 2026 10:00:00 GMT" category="a,/b/c"><outline text="closed"><outline text="1. hidden *"/></outline><outline text="open"><outline text="x" isComment="true"/><outline text="feed" type="rss" xmlUrl="https://a.example/f" title="F"/></outline></outline>
<outline text="go" type="link" url="https://a.example/" enclosure="https://a.example/a.mp3" enclosureType="audio/mpeg" enclosureLength="7"/><outline text="odd" url="javascript:x" _status="done"/></body></opml>`), nil)
	must(t, err)
	title, nodes := FromOPML(doc)
	want := []Node{
		{Text: "Do <b>this</b>", CreatedAt: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), Categories: []string{"a", "/b/c"}, Nodes: []Node{
			{Text: "closed", Folded: true, Nodes: []Node{{Text: "1&#46; hidden &#42;"}}},
			{Text: "open", Nodes: []Node{{Text: "feed", Attrs: []feed.Attr{{Name: "title", Value: "F"}, {Name: "type", Value: "rss"}, {Name: "xmlUrl", Value: "https://a.example/f"}}}}},
		}},
		{Text: "go", Link: "https://a.example/", Enclosures: []Enclosure{{URL: "https://a.example/a.mp3", Type: "audio/mpeg", Length: 7}}},
		{Text: "odd", Attrs: []feed.Attr{{Name: "_status", Value: "done"}, {Name: "url", Value: "javascript:x"}}},
	}
	if d := cmp.Diff(want, nodes, cmpopts.EquateEmpty()); title != "Plans" || d != "" {
		t.Errorf("%s: %s", title, d)
	}
}

func TestHTMLAndPlainTextAreConvertedToEquivalentMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		f    Format
	}{
		{"a *b* c", HTML}, {"a <b>*b*</b> _c_", HTML}, {"# a", HTML}, {"- a", Plain}, {"a < b & *c*", Plain}, {"[x](y)", Plain}, {"`a`", HTML}, {"a | b", HTML},
		{"<p>one</p>\n\n<p>two *</p>", HTML}, {"+ x", HTML}, {"~~a~~", Plain}, {"> q", Plain}, {`a\*b`, HTML},
	} {
		want, err := markup.Render(c.text, c.f)
		must(t, err)
		got, err := markup.Render(markup.ToMarkdown(c.text, c.f), Markdown)
		must(t, err)
		if textOf(got) != textOf(want) {
			t.Errorf("%q becomes %q, which is %q, not %q", c.text, markup.ToMarkdown(c.text, c.f), got, want)
		}
	}
}
