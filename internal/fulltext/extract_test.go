package fulltext

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/charset"
	"cloudburst/internal/river/item"
)

// extracted returns the sanitized text of a page in testdata.
func extracted(t *testing.T, name string) (string, error) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	out, err := Extract(charset.Decode(b, "text/html").Text, "https://site.example/news/2026/page.html")
	return item.NewConverter().Page(out), err
}

func TestArticleIsExtractedWithoutNavigationAndAdvertisements(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct{ with, without []string }{
		"article.html": {
			[]string{"part 1.", "part 6.", "The lamp in June", `src="https://site.example/news/2026/lamp.jpg"`, `width="640"`, `height="480"`, `href="https://site.example/news/archive/1912.html"`,
				`href="https://other.example/x"`, `src="https://site.example/late.png"`},
			[]string{"Sport", "Advertisement", "privacy", "Copyright", "bought", "<script", "class="},
		},
		"forum.html":    {[]string{"Which oil", "trim the wick", "it cracks at once"}, []string{"FAQ", "Log in"}},
		"comments.html": {[]string{"The tide, part 1.", "part 5."}, []string{"First visitor", "cheap pills"}},
		"broken.html":   {[]string{"no end tags", "second paragraph is bold", "third one", `href="https://site.example/x"`}, []string{"alert", "onclick", "steal"}},
		"base.html":     {[]string{"part 5.", `href="https://cdn.example/deep/more.html"`, `src="https://cdn.example/deep/i.png"`}, []string{"javascript", "onerror", "iframe", "ads.example", "<form", "<input"}},
		"koi8.html":     {[]string{"Смотритель записал час"}, []string{"\ufffd"}},
	} {
		out, err := extracted(t, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, words := range page.with {
			if !strings.Contains(out, words) {
				t.Errorf("%s: the text lacks %q:\n%s", name, words, out)
			}
		}
		for _, words := range page.without {
			if strings.Contains(out, words) {
				t.Errorf("%s: the text contains %q:\n%s", name, words, out)
			}
		}
	}
}

func TestPageWithoutArticleIsRejected(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nothing.html", "paywall.html", "script.html"} {
		out, err := extracted(t, name)
		if words := item.TextOf(out); err == nil && len(words) >= minWords {
			t.Errorf("%s has the text %q", name, words)
		}
	}
}

// The size of the parsed tree of a page is bounded for any content.
func TestHostilePageIsRejectedOrBounded(t *testing.T) {
	t.Parallel()
	article := strings.Repeat("<p>One sentence of many, with words, commas, and an end.</p>", 20)
	var marks strings.Builder
	for i := range 400 {
		fmt.Fprintf(&marks, "<b x=%d>", i)
	}
	for name, page := range map[string]string{
		"nested elements":     strings.Repeat("<div>", 40_000) + article,
		"nested tables":       strings.Repeat("<table><tr><td>", 10_000) + article,
		"nested lists":        strings.Repeat("<ul><li>", 20_000) + article,
		"open formatting":     "<p>" + marks.String() + "</p>" + strings.Repeat("<p>x", 40_000),
		"formatting in a row": strings.Repeat(marks.String()+"</p><p>", 100),
		"many elements":       strings.Repeat("<br>", 1_000_000),
		"many attributes":     "<p " + strings.Repeat("a=b ", 500_000) + ">" + article,
		"hidden elements":     strings.Repeat("<noscript>"+marks.String()+strings.Repeat("<p>", 100)+"</noscript>", 100) + article,
		"one long word":       "<p>" + strings.Repeat("x", 4<<20),
		"less-than signs":     strings.Repeat("<", 2<<20),
		"end tags":            strings.Repeat("</div></p></b>", 100_000) + article,
		"zero bytes":          strings.Repeat("\x00", 1<<20) + article,
		"no content":          "",
	} {
		out, err := Extract(page, "https://site.example/")
		if err == nil && len(out) > 8*len(page)+1000 {
			t.Errorf("%s: %d bytes become %d", name, len(page), len(out))
		}
		if clean := item.NewConverter().Page(out); len(clean) > 512<<10 {
			t.Errorf("%s: the stored text has %d bytes", name, len(clean))
		}
	}
}

func TestExtractorEndsRemovedElementsLikeBrowsers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a<script>"</p>"</script>b`:           "ab",
		`a<svg><svg>x</svg>y</svg>b`:          "ab",
		`a<svg/>b<p>c</p>`:                    "ab<p>c</p>",
		`a<!-- <p> -->b`:                      "ab",
		`<a href=1>x<a href=2>y</a>`:          "<a href=1>x<a href=2>y</a>",
		`<base href="/x/"><p>t`:               "<p>t",
		`<embed src=x><p>t`:                   "<p>t",
		`<noscript><img src=a></noscript>t`:   "<noscript><img src=a></noscript>t",
		strings.Repeat("<b>", 9) + "</b>x<i>": strings.Repeat("<b>", 8) + "</b>x<i>",
	} {
		got, _, err := simplify(in)
		if got != want || err != nil {
			t.Errorf("simplify(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	files, err := filepath.Glob("testdata/*.html")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	clean := item.NewConverter()
	f.Fuzz(func(t *testing.T, page string) {
		out, err := Extract(page, "https://site.example/")
		if err != nil && out != "" {
			t.Errorf("an error has a text: %q", out)
		}
		if safe := clean.Page(out); strings.Contains(strings.ToLower(safe), "<script") {
			t.Errorf("a script remains: %q", safe)
		}
	})
}
