package transfer

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"cloudburst/internal/author"
)

func TestTextOfWordPressBetweenParagraphsOfHTMLBecomesParagraphs(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"One\ntwo.\n\n<p class=\"x\">Three.</p>\n\nFour.":   "<p>One<br>\ntwo.</p>\n\n<p class=\"x\">Three.</p>\n\n<p>Four.</p>",
		"<!-- wp:paragraph -->\n<p>One.</p>\n\nTwo.":        "<p>One.</p>\n\nTwo.",
		"<p>One.</p>\n \n\n<pre>a\n\n  b</pre>":             "<p>One.</p>\n \n\n<pre>a\n\n  b</pre>",
		"<p>One\n\ntwo.</p>\n\nThree.":                      "<p>One\n\n<p>two.</p>\n\n<p>Three.</p>",
		"A list:\n<ul>\n<li>One</li>\n</ul>\n\n<p>End.</p>": "<p>A list:</p>\n<ul>\n<li>One</li>\n</ul>\n\n<p>End.</p>",
		"": "",
	} {
		if got := paragraphs(from); got != want {
			t.Errorf("%q became %q, want %q", from, got, want)
		}
	}
}

func TestPostOfWordPressWithoutValidDateBecomesADraft(t *testing.T) {
	t.Parallel()
	doc := []byte(`<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><wp:wxr_version>1.2</wp:wxr_version>
<item><title>Never</title><guid>a</guid><pubDate>Mon, 30 Nov -0001 00:00:00 +0000</pubDate><wp:post_date_gmt>0000-00-00 00:00:00</wp:post_date_gmt><wp:status>publish</wp:status><wp:post_type>post</wp:post_type></item>
<item><title>First year</title><guid>b</guid><pubDate>Mon, 01 Jan 0001 00:00:00 +0000</pubDate><wp:status>future</wp:status><wp:post_type>post</wp:post_type></item>
<item><title>Dated</title><guid>c</guid><pubDate>Fri, 01 Mar 2024 09:30:00 +0000</pubDate><wp:status>publish</wp:status><wp:post_type>post</wp:post_type></item>
<item><title>Draft</title><guid>d</guid><wp:status>draft</wp:status><wp:post_type>post</wp:post_type></item>
</channel></rss>`)
	s := newTestServer(t, "https://two.example")
	for _, opts := range []Options{{Preview: true}, {}} {
		res := s.with(opts, doc)
		if res.Added != 4 || res.Drafts != 3 || !slices.Equal(res.Problems, []string{"Posts without a valid date became drafts: 2."}) || res.From.Year() != 2024 {
			t.Errorf("%+v", res)
		}
	}
	for guid, p := range byGUID(s.all("alice")) {
		if want := map[bool]author.State{true: author.Published, false: author.Draft}[guid == "c"]; p.State != want {
			t.Errorf("%s is %s, want %s", p.Title, p.State, want)
		}
	}
	if again := s.with(Options{}, doc); again.Added != 0 || again.Existing != 4 {
		t.Errorf("second import: %+v", again)
	}
}

func TestShortcodesOfWordPressBecomeHTML(t *testing.T) {
	t.Parallel()
	for from, c := range map[string]struct{ want, played, removed string }{
		`[audio mp3="https://a.example/b.mp3"][/audio]`:                       {`<audio controls src="https://a.example/b.mp3"></audio>`, "https://a.example/b.mp3 audio/mpeg", ""},
		`[audio https://a.example/b.mp3]`:                                     {`<audio controls src="https://a.example/b.mp3"></audio>`, "https://a.example/b.mp3 audio/mpeg", ""},
		`[video width="6" mp4='https://a.example/?f=c&amp;d']`:                {`<video controls src="https://a.example/?f=c&amp;d"></video>`, "https://a.example/?f=c&d video/mp4", ""},
		"See\n[embed width=\"4\"]https://a.example/v?x=1[/embed]":             {"<p>See</p>\n\n<p><a href=\"https://a.example/v?x=1\">https://a.example/v?x=1</a></p>", "", ""},
		"See this:\r\n\r\nhttps://a.example/v\r\n\r\nand https://a.example/w": {"<p>See this:</p>\n\n<p><a href=\"https://a.example/v\">https://a.example/v</a></p>\n\n<p>and https://a.example/w</p>", "", ""},
		`A [gallery ids="1,2"] and [box]inner[/box].`:                         {"<p>A  and inner.</p>", "", "box gallery"},
		`So [sic], a [1], [[gallery]] and [x y](z).`:                          {"<p>So [sic], a [1], [gallery] and [x y](z).</p>", "", ""},
		`[caption id="x" width="3"]oil[/caption]`:                             {"<p>oil</p>", "", ""},
		`[audio mp3="javascript:x"]`:                                          {"", "", "audio"},
	} {
		x := &wxr{codes: map[string]int{}}
		text, played := x.expand(from)
		if got := paragraphs(text); got != c.want {
			t.Errorf("%q became %q, want %q", from, got, c.want)
		}
		files := ""
		for _, f := range played {
			files += f.URL + " " + f.Type
		}
		if removed := strings.Join(slices.Sorted(maps.Keys(x.codes)), " "); files != c.played || removed != c.removed {
			t.Errorf("%q plays %q and loses %q", from, files, removed)
		}
	}
}

func TestPlayedFileOfWordPressBecomesTheOnlyEnclosure(t *testing.T) {
	t.Parallel()
	doc := []byte(`<rss version="2.0" xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><wp:wxr_version>1.2</wp:wxr_version>
<item><title>a</title><guid>a</guid><content:encoded>[audio mp3="https://a.example/b.mp3"]</content:encoded><wp:post_date_gmt>2024-03-01 09:30:00</wp:post_date_gmt><wp:post_type>post</wp:post_type></item>
<item><title>b</title><guid>b</guid><content:encoded>[audio mp3="https://a.example/b.mp3"][gallery]</content:encoded><wp:post_date_gmt>2024-03-01 09:30:00</wp:post_date_gmt><wp:post_type>post</wp:post_type><enclosure url="https://a.example/c.mp3" type="audio/mpeg" length="5"/></item>
</channel></rss>`)
	s := newTestServer(t, "https://two.example")
	if res := s.mustImport("alice", doc); !slices.Equal(res.Problems, []string{"Shortcodes of WordPress were removed: 1 × [gallery]."}) {
		t.Errorf("%+v", res)
	}
	posts := byGUID(s.all("alice"))
	for guid, want := range map[string]string{"a": "https://a.example/b.mp3", "b": "https://a.example/c.mp3"} {
		p := posts[guid]
		if len(p.Enclosures) != 1 || p.Enclosures[0].URL != want || p.Enclosures[0].Type != "audio/mpeg" || !strings.Contains(p.HTML, `<audio`) {
			t.Errorf("%+v", p)
		}
	}
}
