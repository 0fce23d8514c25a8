package feed_test

import (
	"strings"
	"testing"

	"cloudburst/feed"
)

// unnamed contains documents whose items have no ID, no link and no enclosure.
var unnamed = map[string]string{
	"title and date": rssItem(`<title>&lt;a href="/b"&gt;News&lt;/a&gt;</title><pubDate>Fri, 20 Nov 2026 08:30:00 GMT</pubDate>`),
	"a title that the sanitizer empties": rssItem(`<title>&lt;script&gt;1&lt;/script&gt;</title><pubDate>Fri, 20 Nov 2026 08:30:00 GMT</pubDate>` +
		`<description>words</description>`),
	"content": rssItem(`<description>&lt;p onclick="x()"&gt;&lt;img src="p.png"&gt;&lt;/p&gt;</description>`),
	"nested": rssItem(`<description>&lt;a href="c"&gt;c&lt;/a&gt;</description>` +
		`<n:item xmlns:n="http://rsscloud.org/"><n:description>&lt;a href="d"&gt;d&lt;/a&gt;</n:description></n:item>`),
	"Atom":      atomEntry(`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><a href="e" onclick="y()">e</a></div></content>`),
	"JSON Feed": `{"version": "https://jsonfeed.org/version/1.1", "title": "C", "items": [{"content_html": "<a href=\"f\" onclick=\"z()\">f</a>"}]}`,
}

// dropping is a sanitizer that empties some texts.
func dropping(html string) string {
	if strings.HasPrefix(html, "<script") {
		return ""
	}
	return strings.ReplaceAll(html, "onclick", "data-no")
}

func TestHashedItemIDsDoNotDependOnURLOrSanitizer(t *testing.T) {
	t.Parallel()
	for name, doc := range unnamed {
		var first *feed.Item
		for _, o := range []*feed.Options{
			nil,
			{KeepRelative: true},
			{URL: "http://h.example/feed"},
			{URL: "https://h.example/feed"},
			{URL: "https://h.example/feed", Sanitize: dropping},
			{Sanitize: func(string) string { return "" }},
		} {
			f, err := feed.ParseBytes([]byte(doc), o)
			if err != nil {
				t.Fatal(err)
			}
			it := &f.Items[0]
			if first == nil {
				first = it
			}
			if it.ID != first.ID || it.IDFrom != first.IDFrom || !strings.HasPrefix(it.ID, "hash:") {
				t.Errorf("%s: ID %s from %s, but %s from %s with options %+v", name, first.ID, first.IDFrom, it.ID, it.IDFrom, o)
			}
		}
	}
}

func TestItemsWithDifferentTextHaveDifferentHashedIDs(t *testing.T) {
	t.Parallel()
	doc := rssItem(`<description>&lt;a href="a"&gt;x&lt;/a&gt;</description>`)
	doc = strings.Replace(doc, `</item>`, `</item><item><guid>g</guid></item><item><description>&lt;a href="b"&gt;x&lt;/a&gt;</description></item>`, 1)
	f, err := feed.ParseBytes([]byte(doc), &feed.Options{Sanitize: func(string) string { return "x" }})
	if err != nil {
		t.Fatal(err)
	}
	if f.Items[0].ID == f.Items[2].ID || f.Items[1].ID != "g" {
		t.Errorf("IDs %s, %s, %s", f.Items[0].ID, f.Items[1].ID, f.Items[2].ID)
	}
}

func TestFormerItemIDIsTheHashOfTextsWithResolvedURLs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"title and date": "hash:555f185bdd631805d843ff741c4305cb", "content": "hash:dbb51fc08035e7a65b9b77f9d4eed927", "nested": "hash:6e76da9dab16e3e4446d04314ce9d0ac",
	} {
		f, err := feed.ParseBytes([]byte(unnamed[name]), &feed.Options{URL: "http://h.example/feed"})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Items[0].FormerID(f.Base); got != want || got == f.Items[0].ID {
			t.Errorf("%s: %s, want %s; the ID is %s", name, got, want, f.Items[0].ID)
		}
	}
	f, err := feed.ParseBytes([]byte(rssItem(`<guid>urn:g</guid>`)), &feed.Options{URL: "http://h.example/feed"})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Items[0].FormerID(f.Base); got != "" {
		t.Errorf("FormerID of an item with an ID is %s", got)
	}
}

func TestGUIDIsTheSameAtEachURLOfTheFeed(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		rssItem(`<guid>ep-1</guid>`):                     "ep-1",
		rssItem(`<guid isPermaLink="true">/a/1</guid>`):  "/a/1",
		rssItem(`<guid isPermaLink="false">ep-1</guid>`): "ep-1",
		rssItem(`<guid>My article No. 5</guid>`):         "My article No. 5",
		rssItem(`<guid>http://o.example/1</guid>`):       "http://o.example/1",
	} {
		for _, url := range []string{"", "http://h.example/feed", "https://o.example/b/feed"} {
			f, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			if it := f.Items[0]; it.ID != want || it.IDFrom != feed.FromID || it.PermaLink != strings.HasPrefix(it.ID, "http") && !strings.Contains(doc, "false") {
				t.Errorf("%s at %s: ID %s from %s, permalink %v", doc, url, it.ID, it.IDFrom, it.PermaLink)
			}
		}
	}
}

func TestFormerIDOfARelativeGUIDIsTheResolvedURL(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		rssItem(`<guid>ep-1</guid>`): "http://h.example/d/ep-1",
		`<rss version="2.0" xml:base="http://b.example/x/"><channel><item><guid>ep-1</guid></item></channel></rss>`: "http://b.example/x/ep-1",
		rssItem(`<guid>http://o.example/1</guid>`): "",
	} {
		f, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: "http://h.example/d/feed"})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Items[0].FormerID(f.Base); got != want {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}
