package author_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"cloudburst/feed"
	"cloudburst/feed/render"
	"cloudburst/internal/author"
	"cloudburst/internal/sanitize"
)

// randomContent returns a random content that can be published.
func randomContent(r *rand.Rand) author.Content {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	words := func() string {
		return pick("Hello", "Übergröße & <co>", "日本語 ☂", "a ]]> b", "5 < 6 > 4", "*star* `code`", "&amp; &lt;b&gt;", "tab\there", "\"quoted\" 'so'", "e\u0301 \u202E x") + " " + pick("one", "two\n\nthree", "- a\n- b", "> quote", "https://x.example/?a=1&b=2", "<b>bold</b>", "| a | b |\n|---|---|\n| 1 | 2 |")
	}
	c := author.Content{Source: words(), Format: author.Format(pick("markdown", "html", "text"))}
	if r.IntN(2) == 0 {
		c.Title = strings.Join(strings.Fields(words()), " ")
	}
	if r.IntN(3) == 0 {
		c.Link = pick("https://a.example/", "http://b.example/?x=%20&y=ä")
	}
	for range r.IntN(3) {
		c.Categories = append(c.Categories, pick("Go", "Clouds and feeds", "Über", "日本", "c++"))
	}
	for i := range r.IntN(3) {
		c.Enclosures = append(c.Enclosures, author.Enclosure{URL: fmt.Sprintf("https://m.example/%d.mp3?a=b&c", i), Type: pick("audio/mpeg", "image/png"), Length: int64(r.IntN(1e6) + 1)})
		if r.IntN(2) == 0 {
			e := &c.Enclosures[i]
			e.Title, e.Alt, e.Duration = pick("", "A <song> & more"), pick("", "日本, in \"words\""), float64(r.IntN(9000))/4
		}
	}
	if r.IntN(4) == 0 {
		c.Reply = &author.Reply{URL: "https://b.example/post", GUID: pick("https://b.example/post", "tag:b.example,2026:1")}
	}
	var nodes func(depth int) []author.Node
	nodes = func(depth int) (all []author.Node) {
		for range r.IntN(3) {
			n := author.Node{Text: strings.Join(strings.Fields(words()), " ")}
			if r.IntN(4) == 0 {
				n.Enclosures = []author.Enclosure{{URL: "https://m.example/n.png", Type: "image/png", Length: 7, Alt: "An image", Duration: 1.5}}
			}
			if r.IntN(3) == 0 {
				n.CreatedAt = time.Unix(1_790_000_000+r.Int64N(1e6), 0).UTC()
			}
			if depth < 3 {
				n.Nodes = nodes(depth + 1)
			}
			all = append(all, n)
		}
		return all
	}
	if r.IntN(3) == 0 {
		c.Outline = nodes(1)
	}
	return c
}

// Every format preserves the data of posts that the format can contain.
func TestEveryFormatPreservesPosts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	p := &author.Posts{Origin: func() string { return origin }}
	for round := range 300 {
		c, _, err := p.Preview(randomContent(r))
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_790_000_000+r.Int64N(1e6), 0).UTC()
		post := author.Post{User: "alice", ID: 1, State: author.Published, PermaLink: true, Slug: "x", Seq: 1, PublishedAt: at, UpdatedAt: at, Content: c}
		post.GUID = p.Address(post)
		want := p.Channel(author.Writer{User: "alice"}, []author.Post{post})
		rss := rerendered(t, want, "rss20")
		for _, format := range []string{"atom", "jsonfeed"} {
			got := rerendered(t, rss, format)
			a, b := rss.Items[0], got.Items[0]
			if a.Title.Value == "" && format == "atom" { // Atom requires a title, so the format has a generated one
				b.Title = a.Title
			}
			if diff := cmp.Diff(viewOf(a), viewOf(b)); diff != "" {
				t.Fatalf("round %d, %s differs (-rss +%s):\n%s\n%+v", round, format, format, diff, c)
			}
		}
		if diff := cmp.Diff(viewOf(want.Items[0]), viewOf(rss.Items[0])); diff != "" {
			t.Fatalf("round %d, the feed differs (-saved +read):\n%s\n%+v", round, diff, c)
		}
		back := p.FromFeed(rss, at)[0]
		if back.Content, _, err = p.Preview(back.Content); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(normalized(post), normalized(back), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("round %d, the imported post differs (-saved +read):\n%s\n%+v", round, diff, c)
		}
	}
}

// rerendered renders a feed in a format and parses the result.
func rerendered(t *testing.T, f *feed.Feed, format string) *feed.Feed {
	t.Helper()
	doc, _, err := render.Append(nil, f, format, &render.Options{Self: origin + "/alice/rss.xml"})
	if err != nil {
		t.Fatal(err)
	}
	kind, err := render.Lookup(format)
	if err != nil {
		t.Fatal(err)
	}
	got, err := feed.ParseBytes(doc, &feed.Options{Header: map[string][]string{"Content-Type": {kind.Type}}})
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if len(got.Items) == 0 {
		t.Fatalf("no items in\n%s", doc)
	}
	return got
}

// itemView is the visible data of an item.
type itemView struct {
	ID, Title, Words string
	Link             string
	Published        time.Time
	Categories       []string
	Enclosures       []feed.Enclosure
}

func viewOf(it feed.Item) itemView {
	l := itemView{ID: it.ID, Title: visibleWords(it.Title), Link: it.Link, Published: it.Published.UTC}
	text := it.Summary
	if len(it.Content) > 0 {
		text = it.Content[0]
	}
	l.Words = visibleWords(text)
	for _, c := range it.Categories {
		l.Categories = append(l.Categories, c.Term)
	}
	for _, e := range it.Enclosures {
		l.Enclosures = append(l.Enclosures, feed.Enclosure{URL: e.URL, Type: e.Type, Length: e.Length})
	}
	return l
}

func visibleWords(t feed.Text) string {
	if t.Type == "text/html" || t.Type == "application/xhtml+xml" {
		return sanitize.Text(sanitize.HTML(t.Value))
	}
	return strings.Join(strings.Fields(t.Value), " ")
}

// normalized returns a post with only the fields that its feed preserves.
func normalized(p author.Post) author.Post {
	p.User, p.ID, p.Revision, p.Slug, p.Seq, p.Rest = "", 0, 0, "", 0, nil
	if p.Format != author.Markdown {
		p.Source = sanitize.Text(p.HTML)
		p.Format = author.HTML
	}
	p.HTML = ""
	p.Enclosures = slices.Clone(p.Enclosures)
	for i := range p.Enclosures {
		if p.Title == "" { // readers would show the title of an enclosure as the title of the post
			p.Enclosures[i].Title = ""
		}
	}
	if p.Reply != nil && p.Reply.GUID == "" {
		p.Reply.GUID = p.Reply.URL
	}
	p.Outline = normalizedNodes(p.Outline)
	return p
}

func normalizedNodes(nodes []author.Node) []author.Node {
	var all []author.Node
	for _, n := range nodes {
		n.Text, n.HTML, n.GUID, n.Attrs = "", "", "", nil
		n.Nodes = normalizedNodes(n.Nodes)
		all = append(all, n)
	}
	return all
}

func TestRelativeURLsAreResolvedInAttributesButNotInText(t *testing.T) {
	t.Parallel()
	p := &author.Posts{Origin: func() string { return origin }}
	c, _, err := p.Preview(author.Content{Source: "![a](/alice/media/1/x.png) [b](/alice/) `<a href=\"/x\">` and href=\"/y\""})
	if err != nil {
		t.Fatal(err)
	}
	it := p.Item(author.Post{User: "alice", GUID: "x", Content: c})
	got := it.Summary.Value
	for _, want := range []string{`src="` + origin + `/alice/media/1/x.png"`, `href="` + origin + `/alice/"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Count(got, origin) != 2 {
		t.Errorf("text was changed: %q", got)
	}
}

func FuzzMarkup(f *testing.F) {
	for _, s := range []string{"*a*", "<b>x", "[a](b)", "| a |\n|---|\n| b |", "- [ ] x", "a\n\n> b\n>> c", "`<", "http://x.example/(a)", "![x](/y.png)", "<!-- x", "&#x1F600;"} {
		f.Add(s, "markdown")
		f.Add(s, "html")
		f.Add(s, "text")
	}
	p := &author.Posts{Origin: func() string { return origin }}
	f.Fuzz(func(t *testing.T, source, format string) {
		c, m, err := p.Preview(author.Content{Title: source, Source: source, Format: author.Format(format), Categories: []string{source}, Link: source, Outline: []author.Node{{Text: source}}})
		if err != nil {
			c, m, err = p.Preview(author.Content{Source: source})
			if err != nil {
				return
			}
		}
		if got := sanitize.HTML(c.HTML); got != c.HTML && c.Format != author.Plain {
			t.Errorf("%q is not safe yet: %q", c.HTML, got)
		}
		if m.Characters < 0 || m.Over && m.Limit == 0 {
			t.Errorf("%q is measured %+v", source, m)
		}
		it := p.Item(author.Post{User: "a", GUID: "http://a.example/1", Content: c})
		doc, _, err := render.Append(nil, &feed.Feed{Items: []feed.Item{it}}, "rss20", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := feed.ParseBytes(doc, nil); err != nil || !bytes.Contains(doc, []byte("<item>")) {
			t.Errorf("%v\n%s", err, doc)
		}
	})
}

func TestCategoryLabelsAreConvertedToURLNames(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Go": "go", "C++": "c++", "Feeds & Clouds": "feeds-clouds", "  ": "", "...": "", "../x": "x", "Über uns": "über-uns", "日本": "日本", "a/b\\c": "a-b-c",
		strings.Repeat("long ", 60): strings.TrimSuffix(strings.Repeat("long-", 20), "-"),
	} {
		if got := author.CategoryName(label); got != want {
			t.Errorf("%q is %q; want %q", label, got, want)
		}
		if got := author.CategoryName(want); got != want {
			t.Errorf("%q is folded again to %q", want, got)
		}
	}
}

func TestAtomEntryContainsFullTextAsContentAndExcerptAsSummary(t *testing.T) {
	t.Parallel()
	p := &author.Posts{Origin: func() string { return origin }}
	at := time.Unix(1_790_000_000, 0).UTC()
	one := func(c author.Content) author.Post {
		t.Helper()
		c, _, err := p.Preview(c)
		if err != nil {
			t.Fatal(err)
		}
		return author.Post{User: "alice", ID: 1, State: author.Published, GUID: c.Source, Slug: c.Source, PublishedAt: at, UpdatedAt: at, Content: c}
	}
	f := p.Channel(author.Writer{User: "alice"}, []author.Post{
		one(author.Content{Source: "untitled *words*"}),
		one(author.Content{Source: "a long text", Title: "Titled", Rest: &feed.Item{Summary: feed.Text{Value: "of MetaWeblog", Type: "text/plain"}}}),
		one(author.Content{Source: "a longer text", Title: "Titled", Properties: map[string]json.RawMessage{"summary": json.RawMessage(`["of Micropub"]`)}}),
	})
	rss := rerendered(t, f, "rss20")
	for _, format := range []string{"atom", "atom03"} {
		items := rerendered(t, rss, format).Items
		for i, want := range [][3]string{{"untitled words", "", "<p>untitled <em>words</em></p>"}, {"Titled", "of MetaWeblog", "<p>a long text</p>"}, {"Titled", "of Micropub", "<p>a longer text</p>"}} {
			it := items[i]
			if len(it.Content) != 1 || it.Content[0].Type != "text/html" || strings.TrimSpace(it.Content[0].Value) != want[2] || it.Summary.Value != want[1] || it.Title.Value != want[0] {
				t.Errorf("%s, item %d: %q, %+v, %+v", format, i, it.Title.Value, it.Summary, it.Content)
			}
		}
	}
	for _, format := range []string{"rss20", "jsonfeed"} { // formats in which titles are optional
		doc, _, err := render.Append(nil, rss, format, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(doc), "<title>") + strings.Count(string(doc), `"title":`); n != 3 { // the feed and two items have titles
			t.Errorf("%s has %d titles:\n%s", format, n, doc)
		}
	}
	if back := p.FromFeed(rerendered(t, rss, "atom"), at); back[0].Title != "" || back[1].Title != "Titled" || back[1].Rest.Summary.Value != "of MetaWeblog" {
		t.Errorf("the imported posts are %+v", back)
	}
}
