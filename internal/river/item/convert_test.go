package item

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"

	"github.com/google/go-cmp/cmp"
)

// contents returns the Content of each item of a document.
func contents(t *testing.T, doc string) []Content {
	t.Helper()
	r := NewConverter()
	f, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: "https://feeds.test/dir/rss.xml"})
	if err != nil {
		t.Fatal(err)
	}
	var out []Content
	for i := range f.Items {
		out = append(out, r.Content(f, &f.Items[i]))
	}
	return out
}

const rssHead = `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:source="http://source.scripting.com/" xmlns:thr="http://purl.org/syndication/thread/1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>F</title><language>de</language>`

func one(t *testing.T, item string) Content {
	t.Helper()
	list := contents(t, rssHead+"<item>"+item+"</item></channel></rss>")
	if len(list) != 1 {
		t.Fatalf("%d items", len(list))
	}
	return list[0]
}

func TestFeedItemIsConvertedToContent(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		item string
		want Content
	}{
		"everything ordinary": {
			`<title>A &lt;b&gt;bold&lt;/b&gt; title</title><link>https://a.test/1</link><description>&lt;p&gt;Hello &lt;b&gt;you&lt;/b&gt;&lt;/p&gt;</description>` +
				`<pubDate>Sun, 01 Mar 2026 10:00:00 GMT</pubDate><author>ann@a.test (Ann)</author><category>One</category><category>One</category><category>Two</category><comments>https://a.test/1#c</comments>`,
			Content{Title: "A bold title", Link: "https://a.test/1", HTML: "<p>Hello <b>you</b></p>", Text: "Hello you", Language: "de", Published: at,
				Authors: []string{"Ann"}, Categories: []string{"One", "Two"}, Comments: "https://a.test/1#c"},
		},
		"text of another type": {
			`<atom:content xmlns:atom="http://www.w3.org/2005/Atom" type="text/markdown"># hi *there*</atom:content>`,
			Content{HTML: "# hi *there*", Text: "# hi *there*", Language: "de"},
		},
		"content elsewhere": {
			`<title>T</title><atom:content xmlns:atom="http://www.w3.org/2005/Atom" type="text/html" src="https://a.test/page.html"/>`,
			Content{Title: "T", Link: "https://a.test/page.html", Language: "de"},
		},
		"no title": {
			`<description>Just words.</description>`,
			Content{HTML: "Just words.", Text: "Just words.", Language: "de"},
		},
		"content takes precedence over the summary": {
			`<description>Short</description><content:encoded>&lt;p&gt;Long&lt;/p&gt;</content:encoded>`,
			Content{HTML: "<p>Long</p>", Text: "Long", Language: "de"},
		},
		"a podcast": {
			`<title>Show</title><itunes:duration>1:00:00</itunes:duration><enclosure url="https://a.test/1.mp3" type="audio/mpeg; x=y" length="123"/>` +
				`<media:content url="https://a.test/1.mp3" type="audio/mpeg" fileSize="999"/><media:content url="https://a.test/1.mp4" medium="video" duration="60"/>` +
				`<media:content url="https://a.test/big.jpg" medium="image"/><media:thumbnail url="https://a.test/t.jpg"/><enclosure url="javascript:alert(1)" type="audio/mpeg" length="1"/>`,
			Content{Title: "Show", Language: "de", Image: "https://a.test/big.jpg", Enclosures: []Enclosure{
				{URL: "https://a.test/1.mp3", Type: "audio/mpeg", Length: 123, Duration: 3600}, {URL: "https://a.test/1.mp4", Type: "video/*", Duration: 60},
			}},
		},
		"an image in the text suffices": {
			`<description>&lt;img src="https://a.test/1.jpg"&gt;</description><media:thumbnail url="https://a.test/t.jpg"/>`,
			Content{HTML: `<img src="https://a.test/1.jpg"/>`, Language: "de"},
		},
		"unsafe links": {
			`<link>javascript:alert(1)</link><comments>data:text/html,x</comments><guid isPermaLink="false">x</guid><description>x</description>`,
			Content{HTML: "x", Text: "x", Language: "de"},
		},
		"nested headlines": {
			`<title>T</title><source:outline text="One" created="Sun, 01 Mar 2026 10:00:00 GMT"><source:outline text="a &lt;b&gt;b&lt;/b&gt;&lt;script&gt;x&lt;/script&gt;" url="https://a.test/2"/></source:outline>`,
			Content{Title: "T", Language: "de", Nested: []Content{{Title: "One", Published: at, Nested: []Content{{HTML: "a <b>b</b>", Text: "a b", Link: "https://a.test/2"}}}}},
		},
		"a headline that repeats the item, with children": {
			`<title>T</title><source:outline text="T"><source:outline text="One"/></source:outline>`,
			Content{Title: "T", Language: "de", Nested: []Content{{Title: "One"}}},
		},
		"a headline that repeats the item, without children": {
			`<description>Some words</description><source:outline text="Some words"/>`,
			Content{HTML: "Some words", Text: "Some words", Language: "de"},
		},
		"nested items that are also an outline and a list": {
			`<description>Plans</description><content:encoded>Plans&#10;&lt;ul&gt;&lt;li&gt;One&lt;/li&gt;&lt;/ul&gt;</content:encoded><source:outline text="Plans"><source:outline text="One"/></source:outline>` +
				`<rssCloud:item xmlns:rssCloud="http://rsscloud.org/rsscloud"><description>One</description></rssCloud:item>`,
			Content{HTML: "Plans", Text: "Plans", Language: "de", Nested: []Content{{HTML: "One", Text: "One", Language: "de"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, one(t, c.item)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAtomEntryWithoutContentIsMarkedAsTruncated(t *testing.T) {
	t.Parallel()
	list := contents(t, `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><id>1</id><title>a</title><summary>s</summary></entry>`+
		`<entry><id>2</id><title>b</title><summary>s</summary><content>c</content></entry>`+
		"<entry><id>3</id><content type=\"text\">One &amp; two\nthree\n\nfour</content></entry></feed>")
	if list[2].HTML != "<p>One &amp; two<br/>three</p><p>four</p>" || list[2].Text != "One & two three four" {
		t.Errorf("plain text: %+v", list[2])
	}
	if !list[0].More || list[1].More || list[1].HTML != "c" {
		t.Errorf("%+v", list)
	}
}

func TestItemContentHasNoReferrersOrScripts(t *testing.T) {
	t.Parallel()
	c := one(t, `<description>&lt;a href="https://b.test/" onclick="x()" class="menu" style="position:fixed"&gt;b&lt;/a&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;a href="javascript:x"&gt;c&lt;/a&gt;&lt;a href="mailto:a@b.test"&gt;d&lt;/a&gt;</description>`)
	for _, want := range []string{`rel="nofollow noopener noreferrer ugc"`, `mailto:a@b.test`} {
		if !strings.Contains(c.HTML, want) {
			t.Errorf("%s lacks %s", c.HTML, want)
		}
	}
	for _, bad := range []string{"script", "onclick", "class", "style", "alert"} {
		if strings.Contains(c.HTML, bad) {
			t.Errorf("%s has %s", c.HTML, bad)
		}
	}
}

func TestItemContentIsLimitedInSize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä<b>&amp;", 300_000)
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `<category>c%d</category><enclosure url="https://a.test/%d.mp3" type="audio/mpeg" length="1"/><source:outline text="o%d"/>`, i, i, i)
	}
	deep := strings.Repeat(`<source:outline text="d">`, 60) + strings.Repeat(`</source:outline>`, 60)
	c := one(t, "<title>"+strings.Repeat("ü", 5000)+"</title><description><![CDATA["+long+"]]></description>"+many.String()+deep+"<link>https://a.test/"+strings.Repeat("x", 9000)+"</link>")
	if len(c.Title) > maxItemTitle || len(c.HTML) > maxHTML || len(c.Text) > TextLongest || len(c.Enclosures) != maxEnclosures || len(c.Categories) != maxTags || c.Link != "" {
		t.Errorf("%d %d %d %d %d %d", len(c.Title), len(c.HTML), len(c.Text), len(c.Enclosures), len(c.Categories), len(c.Link))
	}
	if n, d := size(c); n > maxNested || d > maxNestedDepth+1 {
		t.Errorf("%d nested items, depth %d", n, d)
	}
}

// size returns the number of nested items and their maximum depth.
func size(c Content) (n, depth int) {
	for _, in := range c.Nested {
		m, d := size(in)
		n, depth = n+m+1, max(depth, d+1)
	}
	return n, depth
}

func TestPageOnAnotherSiteIsALink(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]Content{
		`"external_url":"https://b.test/x","content_text":"c"`:                                                         {Link: "https://b.test/x", HTML: "c", Text: "c"},
		`"url":"https://a.test/5","external_url":"https://b.test/x?a=1&b=2","content_text":"c"`:                        {Link: "https://a.test/5", HTML: `c<p><a href="https://b.test/x?a=1&amp;b=2" rel="nofollow noopener noreferrer ugc">https://b.test/x?a=1&amp;b=2</a></p>`, Text: "c https://b.test/x?a=1&b=2"},
		`"url":"https://a.test/5","external_url":"https://b.test/x","content_html":"<a href='https://b.test/x'>c</a>"`: {Link: "https://a.test/5", HTML: `<a href="https://b.test/x" rel="nofollow noopener noreferrer ugc">c</a>`, Text: "c"},
		`"url":"https://a.test/5","external_url":"javascript:x","content_text":"c"`:                                    {Link: "https://a.test/5", HTML: "c", Text: "c"},
	} {
		got := contents(t, `{"version":"https://jsonfeed.org/version/1.1","title":"L","items":[{"id":"5",`+item+`}]}`)
		if diff := cmp.Diff([]Content{want}, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", item, diff)
		}
	}
}
