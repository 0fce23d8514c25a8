package transfer

import (
	"slices"
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
