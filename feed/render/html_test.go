package render

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"

	"golang.org/x/net/html"
)

// hostileMarkup returns unsafe values for a text of type text/html.
func hostileMarkup() []string {
	return []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<b>unclosed <i>twice`, `<a href="javascript:alert(1)">x</a>`,
		`<!-- never`, `<script`, `<style>p{}</style `, `</div></main></body></html><script>`, `<plaintext>`, `<a "`, `a < b > c`,
		`<p title='>'>x</p>`, `&lt;script&gt;alert(1)&lt;/script&gt;`, `<![CDATA[<script>x</script>]]>`, `<?php ?>`, "<\x00script>x", `<svg><script>x</script></svg>`,
		`<textarea></textarea><script>`, `<title></title><script>`, strings.Repeat("<", 1000), strings.Repeat("<a \"", 1000), strings.Repeat("<script>", 1000), strings.Repeat("<div>", 1000),
	}
}

// marked returns a feed in which every text is the given markup.
func marked(s string) *feed.Feed {
	text := feed.Text{Value: s, Type: "text/html"}
	f := filled(s)
	f.Title, f.Subtitle = text, text
	f.Items[0].Title, f.Items[0].Summary, f.Items[0].Content = text, text, []feed.Text{{Value: s + " ", Type: "application/xhtml+xml"}}
	f.Image.URL, f.Icon, f.Items[0].Enclosures[0].URL = s, s, s
	return f
}

func TestHTMLPageContainsOnlyKnownElements(t *testing.T) {
	t.Parallel()
	ours := strings.Fields("html head meta title link body main header h1 h2 a img div p br time article span data")
	attributes := strings.Fields("lang charset name content class dir href src alt datetime value type title rel")
	texts := hostileMarkup()
	for _, s := range hostileTexts() {
		texts = append(texts, s, "javascript:"+s, "data:text/html,"+s, " java\tscript:alert(1)", "vbscript:x", `x" onclick="alert(1)`, "//e.example/"+s)
	}
	for _, s := range texts {
		for _, f := range []*feed.Feed{filled(s), marked(s)} {
			doc := rendered(t, f, "html", &Options{Hubs: []string{s}, Self: s, Alternates: []feed.Link{{Href: s, Type: s, Title: s}}})
			z := html.NewTokenizer(strings.NewReader(doc))
			for z.Next() != html.ErrorToken {
				tok := z.Token()
				if tok.Type == html.TextToken || tok.Type == html.DoctypeToken {
					continue
				}
				if !slices.Contains(ours, tok.Data) || tok.Type == html.CommentToken {
					t.Fatalf("%q makes %s", s, tok)
				}
				for _, a := range tok.Attr {
					if !slices.Contains(attributes, a.Key) {
						t.Fatalf("%q makes the attribute %s of %s", s, a.Key, tok)
					}
					low := strings.ToLower(a.Val)
					if (a.Key == "href" || a.Key == "src") && (strings.Contains(low, "script:") || strings.HasPrefix(low, "data:")) {
						t.Fatalf("%q makes the address %s", s, a.Val)
					}
				}
			}
			balanced(t, doc)
		}
	}
}

// balanced checks that the HTML parser does not need to repair a document.
func balanced(t *testing.T, doc string) {
	t.Helper()
	var open []string
	z := html.NewTokenizer(strings.NewReader(doc))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("unclosed elements: %v", open)
			}
			return
		case html.StartTagToken:
			if name, _ := z.TagName(); !slices.Contains([]string{"meta", "link", "img", "br"}, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(name) {
				t.Fatalf("%s closes %v in %.500s", name, open, doc)
			}
			open = open[:len(open)-1]
		}
	}
}

func TestHTMLPageShowsTheFeed(t *testing.T) {
	t.Parallel()
	for name, s := range hostileTexts() {
		doc := rendered(t, filled(s), "html", nil)
		root, err := html.Parse(strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Map(func(c rune) rune {
			if c < ' ' && c != '\n' && c != '\t' && c != '\r' || 0x7f <= c && c < 0xa0 {
				return -1
			}
			return c
		}, strings.ToValidUTF8(s, ""))
		for n := range root.Descendants() {
			if n.Data == "h1" || n.Data == "h2" {
				got := ""
				for c := range n.Descendants() {
					if c.Type == html.TextNode {
						got += c.Data
					}
				}
				if got != want {
					t.Errorf("%s: the %s shows %q, not %q", name, n.Data, got, want)
				}
			}
		}
	}
}

func TestMarkupInHTMLPageIsSanitized(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "<b>A</b>", Type: "text/html"}, Items: []feed.Item{
		{ID: "1", Content: []feed.Text{{Value: "<p>Hello <i>you</i></p><script>x</script>", Type: "text/html"}}},
		{ID: "2", Content: []feed.Text{{Value: "1 < 2\n\n<i>", Type: "text/plain"}}},
	}}
	doc := rendered(t, f, "html", &Options{Sanitize: func(s string) string { return "<!--safe-->" + strings.ReplaceAll(s, "<script>x</script>", "") }})
	for _, want := range []string{`dir="auto"><!--safe--><p>Hello <i>you</i></p></div>`, `dir="auto"><p>1 &lt; 2</p><p>&lt;i&gt;</p></div>`, "<title>A</title>"} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in %s", want, doc)
		}
	}
	doc = rendered(t, f, "html", nil)
	if want := `dir="auto"><p>Hello you</p></div>`; !strings.Contains(doc, want) {
		t.Errorf("no %s in %s", want, doc)
	}
}

func TestHTMLPageLinksToAlternateFormats(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "A"}, Language: "de", Link: "http://a.example/", Updated: feed.Date{UTC: time.Unix(0, 0)},
		Items: []feed.Item{{ID: "1", Link: "/1", Title: feed.Text{Value: "B"}, Enclosures: []feed.Enclosure{{URL: "http://a.example/1.mp3", Type: "audio/mpeg", Length: 7}}}}}
	doc := rendered(t, f, "html", &Options{Self: "http://a.example/feed.html", Hubs: []string{"http://hub.example/"},
		Alternates: []feed.Link{{Href: "/a/rss.xml", Type: "application/rss+xml", Title: "A & B"}, {Href: "javascript:x"}}})
	for _, want := range []string{
		`<html lang="de">`, `<link rel="alternate" type="application/rss+xml" title="A &amp; B" href="/a/rss.xml">`,
		`<link rel="hub" href="http://hub.example/">`, `<link rel="self" href="http://a.example/feed.html">`,
		`<time class="dt-updated" datetime="1970-01-01T00:00:00Z">1 January 1970, 00:00 UTC</time>`,
		`<h2 class="p-name" dir="auto"><a class="u-url" href="/1">B</a></h2>`,
		`<a class="u-audio" href="http://a.example/1.mp3">http://a.example/1.mp3</a> (audio/mpeg, 7 bytes)`,
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("no %s in %s", want, doc)
		}
	}
	if strings.Contains(doc, "script") {
		t.Error("an address that is a program is named")
	}
}
