package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

func TestRenderedPlainTextIsReadable(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{
		Title: feed.Text{Value: "News &amp; more", Type: "text/html"}, Link: "http://a.example/", Subtitle: feed.Text{Value: "What happened."},
		Items: []feed.Item{
			{ID: "1", Title: feed.Text{Value: "First"}, Link: "http://a.example/1", Published: feed.Date{UTC: time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)},
				Authors: []feed.Person{{Name: "Ada"}}, Categories: []feed.Category{{Term: "x"}, {Term: "y"}},
				Content: []feed.Text{{Value: `<p>A <a href="http://b.example/?a=1&amp;b=2">link</a> and text that goes on and on until the line is too long for a reader.</p><script>x</script><ul><li>one<li>two</ul><pre>a
  b</pre><p>1 &lt; 2</p>`, Type: "text/html"}},
				Enclosures: []feed.Enclosure{{URL: "http://a.example/1.mp3", Type: "audio/mpeg", Length: 9}},
				Items:      []feed.Item{{ID: "1.1", Title: feed.Text{Value: "Within"}}}},
			{ID: "2", Content: []feed.Text{{Value: "日本語の文は空白がないので折り返さない日本語の文は空白がないので折り返さない日本語の文は空白がないので折り返さない日本語の文は\x1b[31m", Type: "text/plain"}}},
		},
	}
	const want = `News & more
===========
What happened.
http://a.example/
2026-11-20 08:30 UTC


First
-----
2026-11-20 08:30 UTC, Ada
http://a.example/1

A link [1] and text that goes on and on until the line is too long for a
reader.

* one
* two

a
  b

1 < 2

[1] http://b.example/?a=1&b=2
File: http://a.example/1.mp3 (audio/mpeg, 9 bytes)
Categories: x; y


  Within
  ------



日本語の文は空白がないので折り返さない日本語の文は空白がないので折り返さない日本語の文は空白がないので折り返さない日本語の文は[31m
`
	if diff := cmp.Diff(want, rendered(t, f, "text", nil)); diff != "" {
		t.Error(diff)
	}
}

func TestRenderedTextContainsNoTerminalControlCharacters(t *testing.T) {
	t.Parallel()
	for name, s := range hostileTexts() {
		for _, f := range []*feed.Feed{filled(s), marked(s)} {
			doc := rendered(t, f, "text", nil)
			if !utf8.ValidString(doc) {
				t.Errorf("%s: invalid UTF-8", name)
			}
			for _, c := range doc {
				if c < ' ' && c != '\n' || 0x7f <= c && c < 0xa0 {
					t.Errorf("%s: %q is written", name, c)
				}
			}
		}
	}
}

func TestMarkupIsConvertedToPlainTextLines(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                       "",
		"a<br>b<br/>c":                           "a\nb\nc",
		"<p>a</p><p>b</p>":                       "a\n\nb",
		"a <b>b</b>\n c":                         "a b c",
		"x<!-- y -->z<!-- never":                 "xz",
		"x<script>y</script>z<style>w":           "xz",
		"x<SCRIPT>y</ScRiPt >z":                  "xz",
		"1 < 2 <> 3":                             "1 < 2 <> 3",
		"&lt;b&gt; &amp;lt; &nbsp;":              "<b> &lt; \u00a0",
		`<img alt="a &quot; b" src=x>`:           `a " b`,
		`<img src="alt=no" alt='yes>no'>`:        "yes>no",
		"<table><tr><td>a<td>b<tr><td>c</table>": "a b\nc",
		"<ul><li>a</li><li>b</li></ul>c":         "* a\n* b\n\nc",
		"<pre> a\n  b </pre>c":                   "a\n  b \n\nc",
		"</pre></pre>a\nb":                       "a b",
		"a<b":                                    "a",
		"<?xml x?><!DOCTYPE x>a":                 "a",
	} {
		if got := linesOf(in, nil); got != strings.TrimSpace(want) {
			t.Errorf("%q becomes %q, not %q", in, got, want)
		}
	}
}

// The time must be proportional to the length of the markup.
func TestMarkupIsConvertedToTextInLinearTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"<", "<a ", "<a \"", "<a b='", "<!--", "<script>", "</", "<pre>", "<li>", "<a href=x>", "<img alt=", "&", "<script></", "<img a", "'\""} {
		linesOf(strings.Repeat(part, 300_000), new([]string))
	}
}

func TestTitlesWithEntitiesButNoTagsBecomePlainText(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Don&#8217;t":          "<title>Don’t</title>",
		"Q&amp;A":              "<title>Q&amp;A</title>",
		"1 &lt; 2":             "<title>1 &lt; 2</title>",
		"AT&amp;amp;T":         "<title>AT&amp;amp;amp;T</title>", // a text with an entity stays HTML
		"&lt;b&gt;x&lt;/b&gt;": "<title>&amp;lt;b&amp;gt;x&amp;lt;/b&amp;gt;</title>",
		"<b>Don&#8217;t</b> x": "<title>&lt;b&gt;Don&amp;#8217;t&lt;/b&gt; x</title>",
	} {
		f := &feed.Feed{Title: feed.Text{Value: "C"}, Link: "http://h.example/", Items: []feed.Item{{ID: "u", Title: feed.Text{Value: title, Type: htmlText}}}}
		for _, format := range []string{"rss091", "rss20", "rdf"} {
			if out := string(written(t, f, format)); !strings.Contains(out, want) {
				t.Errorf("%s: %s is missing in\n%s", format, want, out)
			}
		}
	}
}

func TestDescriptionsOfRSS091ArePlainText(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "C"}, Subtitle: feed.Text{Value: "<i>All</i> of it", Type: htmlText}, Link: "http://h.example/", Items: []feed.Item{
		{ID: "u", Title: feed.Text{Value: "I"}, Content: []feed.Text{{Value: `<p>a <b>b</b> &amp; c</p><p>d <a href="http://h.example/e">e</a></p>`, Type: htmlText}}},
		{ID: "v", Title: feed.Text{Value: "J"}, Summary: feed.Text{Value: "f &amp; g", Type: htmlText}},
	}}
	doc, warnings, err := Append(nil, f, "rss091", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<description>All of it</description>", "<description>a b &amp; c\n\nd e</description>", "<description>f &amp; g</description>"} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("%s is missing in\n%s", want, doc)
		}
	}
	n := 0
	for _, w := range warnings {
		if w.Rule == "markup" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d warnings of markup, want 2: %v", n, warnings)
	}
}

func TestSpacesInURLsOfJSONFeedAreEscaped(t *testing.T) {
	t.Parallel()
	f := &feed.Feed{Title: feed.Text{Value: "C"}, Link: "http://h.example/a b", Items: []feed.Item{{
		ID: "u", Link: "http://h.example/c d", Enclosures: []feed.Enclosure{{URL: "http://h.example/e f.mp3"}},
	}}}
	doc := string(written(t, f, "jsonfeed"))
	for _, want := range []string{`"http://h.example/a%20b"`, `"http://h.example/c%20d"`, `"http://h.example/e%20f.mp3"`} {
		if !strings.Contains(doc, want) {
			t.Errorf("%s is missing in\n%s", want, doc)
		}
	}
}
