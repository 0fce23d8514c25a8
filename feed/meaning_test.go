package feed_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/feed"
)

// meaning is a test case: a document, and one value that Parse must find in it.
type meaning struct {
	name string
	doc  string
	got  func(*feed.Feed) any
	want any
}

func TestParserInterpretsAmbiguousMarkupAsIntended(t *testing.T) {
	t.Parallel()
	for _, group := range [][]meaning{textMeanings(), linkMeanings(), personMeanings(), placeMeanings()} {
		for _, m := range group {
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				f, err := feed.ParseBytes([]byte(m.doc), &feed.Options{URL: "http://h.example/d/feed"})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(m.want, m.got(f)); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		}
	}
}

func rssItem(item string) string {
	return `<rss version="2.0"><channel><title>C</title><item>` + item + `</item></channel></rss>`
}

func atomEntry(entry string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom"><entry>` + entry + `</entry></feed>`
}

func atom03Entry(entry string) string {
	return `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry>` + entry + `</entry></feed>`
}

func titleOf(f *feed.Feed) any   { return f.Items[0].Title.Value }
func summaryOf(f *feed.Feed) any { return f.Items[0].Summary.Value }

func textMeanings() []meaning {
	const div = `<div xmlns="http://www.w3.org/1999/xhtml">`
	contents := func(f *feed.Feed) any {
		var all []string
		for _, c := range f.Items[0].Content {
			all = append(all, c.Type+" "+c.Value)
		}
		return all
	}
	return []meaning{
		{"the div of Atom 1.0 is removed from XHTML", atomEntry(`<title type="xhtml">` + div + `a <i>b</i></div></title>`), titleOf, "a <i>b</i>"},
		{"the div of Atom 0.3 is part of the XHTML", atom03Entry(`<title type="application/xhtml+xml">` + div + `a</div></title>`), titleOf, div + "a</div>"},
		{"a text with only div elements is plain text", rssItem(`<title><div>a &amp;amp; <div>b</div></div></title>`), titleOf, "a &amp; b"},
		{"unescaped markup is XHTML", rssItem(`<title>a <b>c</b></title>`), func(f *feed.Feed) any { return f.Items[0].Title.Type }, "application/xhtml+xml"},
		{"escaped XML stays text", atomEntry(`<content type="text/xml">&lt;a/&gt;</content>`), contents, []string{"text/xml <a/>"}},
		{"XML content stays markup", atomEntry(`<content type="application/xml"><a xmlns="urn:a"><b/></a></content>`), contents, []string{`application/xml <a xmlns="urn:a"><b/></a>`}},
		{"double UTF-8 encoding is repaired", rssItem("<title>caf\u00c3\u00a9</title>"), titleOf, "caf\u00e9"},
		{"two accented characters are not double encoding", rssItem("<title>caf\u00e9\u00bb</title>"), titleOf, "caf\u00e9\u00bb"},
		{"a second description is the content", rssItem(`<description>a</description><description>b</description>`), contents, []string{"text/plain b"}},
		{"a second description with markup is HTML content", rssItem(`<description>a</description><description>b&lt;br&gt;</description>`), contents, []string{"text/html b<br>"}},
		{"the subtitle of an item is not its description", rssItem(`<description>a</description><subtitle>b</subtitle>`), summaryOf, "a"},
		{"lang without the prefix xml", rssItem(`<title lang="de_AT">a</title>`), func(f *feed.Feed) any { return f.Items[0].Title.Language }, "de-AT"},
		{"xml:lang has precedence over lang", rssItem(`<title xml:lang="fr" lang="de">a</title>`), func(f *feed.Feed) any { return f.Items[0].Title.Language }, "fr"},
		{"itunes:subtitle has precedence over itunes:summary", `<rss><channel><itunes:summary>s</itunes:summary><itunes:subtitle>t</itunes:subtitle></channel></rss>`, func(f *feed.Feed) any { return f.Subtitle.Value }, "t"},
		{"description has precedence over both", `<rss><channel><description>d</description><itunes:subtitle>t</itunes:subtitle></channel></rss>`, func(f *feed.Feed) any { return f.Subtitle.Value }, "d"},
		{"content of a channel is stored in Unknown", `<rss><channel><fullitem>a</fullitem></channel></rss>`, func(f *feed.Feed) any { return f.Unknown[0].Text }, "a"},
		{"channel within an unknown element", `<rss><all><channel><title>a</title></channel></all></rss>`, func(f *feed.Feed) any { return f.Title.Value }, "a"},
		{"unknown element of the root", `<rss><all>b</all><channel/></rss>`, func(f *feed.Feed) any { return f.Unknown }, []feed.Node{{Name: "all", Text: "b"}}},
		{"feed in a SOAP envelope", `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><rss><channel><title>a</title></channel></rss></s:Body></s:Envelope>`, func(f *feed.Feed) any { return f.Title.Value }, "a"},
		{"unknown default namespace on an item", `<rss><channel><item xmlns="urn:a"><title>a</title></item></channel></rss>`, titleOf, "a"},
		{"unknown default namespace on a title", rssItem(`<title xmlns="urn:a">b</title>`), titleOf, ""},
		{"repeated start tag of channel", `<rss><channel><channel><title>a</title></channel></channel></rss>`, func(f *feed.Feed) any { return f.Title.Value }, "a"},
	}
}

func linkMeanings() []meaning {
	link := func(f *feed.Feed) any { return f.Items[0].Link }
	const cdf = `<CHANNEL HREF="http://c.example/" BASE="http://c.example/b/"><TITLE>C</TITLE>`
	return []meaning{
		{"link with an at: URI and a web URL", rssItem(`<link uri="at://did:plc:x/post/1">http://h.example/1</link>`),
			func(f *feed.Feed) any { return f.Items[0].Link }, "http://h.example/1"},
		{"link with an at: URI only", rssItem(`<link uri="at://did:plc:x/post/1"/>`),
			func(f *feed.Feed) any { return f.Items[0].Link }, "at://did:plc:x/post/1"},
		{"base without the prefix xml", rssItem(`<description base="http://o.example/x/">&lt;img src="i"&gt;</description>`), summaryOf, `<img src="http://o.example/x/i">`},
		{"an Atom id that is a URL is the link", atomEntry(`<id>http://o.example/1</id><link rel="self" href="s"/>`), link, "http://o.example/1"},
		{"an RSS id that is a URL is the link", rssItem(`<id>http://o.example/1</id>`), link, "http://o.example/1"},
		{"URL scheme in uppercase", rssItem(`<guid>HTTP://O.example/1</guid>`), link, "HTTP://O.example/1"},
		{"link of type html", rssItem(`<link href="p" type="html"/>`), link, "http://h.example/d/p"},
		{"link type with a charset", atomEntry(`<link href="p" type="text/html; charset=utf-8"/><id>http://o.example/1</id>`), link, "http://h.example/d/p"},
		{"url of an enclosure has precedence over href", rssItem(`<enclosure href="h" url="u"/>`), func(f *feed.Feed) any { return f.Items[0].Enclosures[0].URL }, "http://h.example/d/u"},
		{"the first list of chapters has precedence", rssItem(`<psc:chapters><psc:chapter start="0:00" title="a"/></psc:chapters><psc:chapters><psc:chapter start="0:01"/></psc:chapters>`),
			func(f *feed.Feed) any { return f.Items[0].More.Chapters }, []feed.Chapter{{Start: "0:00", Title: "a"}}},
		{"an empty href refers to the document", atomEntry(`<link href=""/>`), link, "http://h.example/d/feed"},
		{"the last image with its size has precedence", `<rss><channel><image><url>a</url><width>1</width></image><image><url>b</url><width>2</width></image></channel></rss>`,
			func(f *feed.Feed) any { return *f.Image }, feed.Image{URL: "http://h.example/d/b", Width: 2}},
		{"an enclosure of a channel is a link", `<rss><channel><enclosure url="e" type="a/b" length="3"/></channel></rss>`,
			func(f *feed.Feed) any { return f.Links }, []feed.Link{{Rel: "enclosure", Href: "http://h.example/d/e", Type: "a/b", Length: "3"}}},
		{"HREF of a CDF item", cdf + `<ITEM HREF="i"><TITLE>I</TITLE></ITEM></CHANNEL>`,
			func(f *feed.Feed) any { return f.Items[0].Links }, []feed.Link{{Rel: "alternate", Href: "http://c.example/b/i"}}},
		{"nested CDF channel", cdf + `<CHANNEL HREF="s"><TITLE>S</TITLE><ITEM HREF="i"/></CHANNEL></CHANNEL>`,
			func(f *feed.Feed) any { return []string{f.Items[0].Title.Value, f.Items[0].Items[0].Link} }, []string{"S", "http://c.example/b/i"}},
	}
}

func personMeanings() []meaning {
	authors := func(f *feed.Feed) any { return f.Items[0].Authors }
	return []meaning{
		{"author image in the form of Blogger", atomEntry(`<author><name>A</name><gd:image xmlns:gd="http://schemas.google.com/g/2005" rel="x" width="16" src="//h.example/a.png"/></author>`),
			func(f *feed.Feed) any { return f.Items[0].Authors }, []feed.Person{{Name: "A", Avatar: "http://h.example/a.png"}}},
		{"the image of an author is not the image of the feed", `<feed xmlns="http://www.w3.org/2005/Atom"><author><name>A</name><image>a.png</image></author><entry/></feed>`,
			func(f *feed.Feed) any { return []any{f.Image, f.Authors[0].Avatar} }, []any{(*feed.Image)(nil), "http://h.example/d/a.png"}},
		{"version of chapters", rssItem(`<psc:chapters version="1.1" xmlns:psc="http://podlove.org/simple-chapters"><psc:chapter start="0" title="x"/></psc:chapters>`),
			func(f *feed.Feed) any { return f.Items[0].More.ChaptersVersion }, "1.1"},
		{"markup in an RSS author", rssItem(`<author>a@b.example (<b>A</b> B)</author>`), authors, []feed.Person{{Name: "A B", Email: "a@b.example", Raw: "a@b.example (A B)"}}},
		{"IP address as mail host", rssItem(`<author>a@[192.0.2.1] (A)</author>`), authors, []feed.Person{{Name: "A", Email: "a@[192.0.2.1]", Raw: "a@[192.0.2.1] (A)"}}},
		{"Atom elements in an RSS author", rssItem(`<managingEditor><atom:name>N</atom:name><atom:email>n@b.example</atom:email></managingEditor>`), authors, []feed.Person{{Name: "N", Email: "n@b.example"}}},
		{"mail address in brackets", rssItem(`<author>A [a@b.example]</author>`), authors, []feed.Person{{Name: "A", Email: "a@b.example", Raw: "A [a@b.example]"}}},
		{"child elements have precedence over text", rssItem(`<author>x <name>N</name> y</author>`), authors, []feed.Person{{Name: "N"}}},
		{"itunes:author with child elements", rssItem(`<itunes:author><name>N</name><email>n@b.example</email></itunes:author>`), func(f *feed.Feed) any { return f.Items[0].ITunes.Author }, "N (n@b.example)"},
	}
}

func placeMeanings() []meaning {
	where := func(f *feed.Feed) any { return f.Items[0].More.Where[0].Coordinates }
	gml := func(srs string) string {
		return rssItem(`<where><gml:Point srsName="` + srs + `"><gml:pos>1 2</gml:pos></gml:Point></where>`)
	}
	return []meaning{
		{"where without the prefix georss", gml(""), where, [][]float64{{2, 1}}},
		{"odd number of coordinates", rssItem(`<georss:line>1 2 3 4 5</georss:line>`), where, [][]float64{{2, 1}, {4, 3}}},
		{"Web Mercator", gml("urn:ogc:def:crs:EPSG::3857"), where, [][]float64{{1, 2}}},
		{"EPSG:4326 has the latitude first", gml("urn:ogc:def:crs:EPSG::4326"), where, [][]float64{{2, 1}}},
		{"EPSG:26986 has the easting first", gml("EPSG:26986"), where, [][]float64{{1, 2}}},
	}
}

func TestSanitizedTextsHaveNoSurroundingWhitespace(t *testing.T) {
	t.Parallel()
	const doc = `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">&lt;script/&gt;
		Tides&lt;script/&gt;
	</title><entry><content type="html">&lt;script/&gt;

 &amp;nbsp;&lt;pre&gt;
a&lt;/pre&gt; &lt;script/&gt;</content></entry></feed>`
	f, err := feed.ParseBytes([]byte(doc), &feed.Options{Sanitize: func(s string) string { return strings.ReplaceAll(s, "<script/>", "") }})
	if err != nil {
		t.Fatal(err)
	}
	if f.Title.Value != "Tides" || f.Items[0].Content[0].Value != "&nbsp;<pre>\na</pre>" {
		t.Errorf("title %q, content %q", f.Title.Value, f.Items[0].Content[0].Value)
	}
}
