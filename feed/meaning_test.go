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
	for _, group := range [][]meaning{textMeanings(), linkMeanings(), personMeanings(), placeMeanings(), commentMeanings(), numberMeanings(), orderMeanings(), baseMeanings()} {
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
		{"double encoding in references is repaired", rssItem("<description>&acirc;&#128;&brvbar;</description>"), summaryOf, "…"},
		{"double encoding in numeric references is repaired", rssItem("<description>&#226;&#128;&#166;</description>"), summaryOf, "…"},
		{"references to accented characters are not double encoding", rssItem("<title>&Atilde;&copy;</title><description>&eacute;</description>"), titleOf, "Ã©"},
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
		{"rdf:about that is a URL is the link", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="http://o.example/1"/></rdf:RDF>`, link, "http://o.example/1"},
		{"link has precedence over rdf:about", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="http://o.example/1"><link>http://o.example/2</link></item></rdf:RDF>`, link, "http://o.example/2"},
		{"guid that is not a URL is not the link", rssItem(`<guid>Article 5</guid>`), link, ""},
		{"relative guid that is declared as a URL is the link", rssItem(`<guid isPermaLink="true">a/5</guid>`), link, "http://h.example/d/a/5"},
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
	const dc = `<dc:creator>A</dc:creator>`
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
		{"mail address with an apostrophe", rssItem(`<author>o'brien@b.example (Ada O'Brien)</author>`), authors, []feed.Person{{Name: "Ada O'Brien", Email: "o'brien@b.example", Raw: "o'brien@b.example (Ada O'Brien)"}}},
		{"mail address in quotation marks", rssItem(`<author>'a@b.example'</author>`), func(f *feed.Feed) any { return f.Items[0].Authors[0].Email }, "a@b.example"},
		{"list of RDF in dc:creator", rssItem(`<dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Seq xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:li>Ada Holm</rdf:li> <rdf:li>Bo Ek</rdf:li></rdf:Seq></dc:creator>`),
			authors, []feed.Person{{Name: "Ada Holm"}, {Name: "Bo Ek"}}},
		{"mail address in brackets", rssItem(`<author>A [a@b.example]</author>`), authors, []feed.Person{{Name: "A", Email: "a@b.example", Raw: "A [a@b.example]"}}},
		{"child elements have precedence over text", rssItem(`<author>x <name>N</name> y</author>`), authors, []feed.Person{{Name: "N"}}},
		{"itunes:author repeats dc:creator", rssItem(dc + `<itunes:author>A</itunes:author>`), authors, []feed.Person{{Name: "A"}}},
		{"dc:creator repeats itunes:author", rssItem(`<itunes:author>A</itunes:author>` + dc + dc), authors, []feed.Person{{Name: "A"}, {Name: "A"}}},
		{"author repeats itunes:author with an address", rssItem(`<itunes:author>A</itunes:author><author>a@b.example (A)</author>`), authors, []feed.Person{{Name: "A", Email: "a@b.example", Raw: "a@b.example (A)"}}},
		{"itunes:author repeats an author of Atom", atomEntry(`<author><name>A</name></author><author><name>B</name></author><itunes:author>A</itunes:author>`), authors, []feed.Person{{Name: "A"}, {Name: "B"}}},
		{"itunes:author with another address", rssItem(`<author>a@b.example (A)</author><itunes:author>o@b.example (A)</itunes:author>`), func(f *feed.Feed) any { return len(f.Items[0].Authors) }, 2},
		{"atom:author repeats dc:creator", rssItem(dc + `<atom:author><atom:name>A</atom:name></atom:author>`), authors, []feed.Person{{Name: "A"}}},
		{"itunes:author with child elements", rssItem(`<itunes:author><name>N</name><email>n@b.example</email></itunes:author>`), func(f *feed.Feed) any { return f.Items[0].ITunes.Author }, "N (n@b.example)"},
	}
}

func commentMeanings() []meaning {
	const thr = ` xmlns:t="http://purl.org/syndication/thread/1.0" `
	comments := func(f *feed.Feed) any { return []string{f.Items[0].More.Comments, f.Items[0].More.CommentsFeed} }
	links := func(f *feed.Feed) any { return f.Items[0].Links }
	return []meaning{
		{"threading attributes with another prefix", atomEntry(`<link rel="replies" type="text/html" href="c"` + thr + `t:count="3" t:updated="2026-01-02T03:04:05Z"/>`),
			links, []feed.Link{{Rel: "replies", Href: "http://h.example/d/c", Type: "text/html", Count: "3", Updated: "2026-01-02T03:04:05Z"}}},
		{"attributes of another vocabulary on a link", atomEntry(`<link rel="replies" href="c" xmlns:o="urn:o" o:count="3"/>`), links, []feed.Link{{Rel: "replies", Href: "http://h.example/d/c"}}},
		{"replies without a type are an Atom feed", atomEntry(`<link rel="replies" href="c"/>`), comments, []string{"", "http://h.example/d/c"}},
		{"replies without a type in RSS", rssItem(`<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="replies" href="c"/>`), comments, []string{"", "http://h.example/d/c"}},
		{"replies of a type of web pages", atomEntry(`<link rel="replies" type="application/xhtml+xml" href="c"/>`), comments, []string{"http://h.example/d/c", ""}},
		{"relation as the IRI of IANA", atomEntry(`<link rel="http://www.iana.org/assignments/relation/enclosure" href="e" type="a/b"/>`),
			func(f *feed.Feed) any { return f.Items[0].Enclosures }, []feed.Enclosure{{URL: "http://h.example/d/e", Type: "a/b"}}},
		{"relation alternate as an IRI", atomEntry(`<link rel="http://www.iana.org/assignments/relation/alternate" href="p"/>`), func(f *feed.Feed) any { return f.Items[0].Link }, "http://h.example/d/p"},
		{"list of RDF in dc:subject", rssItem(`<dc:subject xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Bag xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:li>a</rdf:li><rdf:li rdf:resource="urn:b"/></rdf:Bag></dc:subject>`),
			func(f *feed.Feed) any { return f.Items[0].Categories }, []feed.Category{{Term: "a"}, {Term: "urn:b"}}},
		{"line break in a category of iTunes", `<rss xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><itunes:category text="Society&#32;&amp;` + "\n\t" + `Culture"/></channel></rss>`,
			func(f *feed.Feed) any { return f.ITunes.Categories }, []feed.Category{{Term: "Society & Culture"}}},
		{"update frequency of a podcast without a rule", `<rss xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><podcast:updateFrequency complete="true" dtstart="2026-01-02">ended</podcast:updateFrequency></channel></rss>`,
			func(f *feed.Feed) any { return []any{f.Hints.PodcastUpdates, f.Podcast.Other[0].Attrs} },
			[]any{"ended", []feed.Attr{{Name: "complete", Value: "true"}, {Name: "dtstart", Value: "2026-01-02"}}}},
	}
}

func numberMeanings() []meaning {
	var all []meaning
	for text, want := range map[string]int64{
		"12345.0": 12345, "12345.00": 12345, "1,234,567": 1234567, "1.234.567": 1234567, "1 234": 1234, "1,234.00": 1234, "12345.000": 12345,
		"1.234,0": 1234, "12,34": 0, "12345.5": 0, "1234,567": 0, "12 kB": 0, "-5": 0,
	} {
		all = append(all, meaning{"length " + text, rssItem(`<enclosure url="e" length="` + text + `"/>`), func(f *feed.Feed) any { return f.Items[0].Enclosures[0].Length }, want})
	}
	return append(all, meaning{"width with a fraction", `<rss><channel><image><url>a</url><width>88.0</width></image></channel></rss>`, func(f *feed.Feed) any { return f.Image.Width }, 88})
}

// orderMeanings has an ambiguous date in each field. The first date shows that the day is first.
func orderMeanings() []meaning {
	const first, date = `<rss><channel><pubDate>25/12/2025</pubDate>`, `3/4/2026`
	day := func(of func(*feed.Feed) feed.Date) func(*feed.Feed) any {
		return func(f *feed.Feed) any { return of(f).UTC.Format("2006-01-02") }
	}
	const want = "2026-04-03"
	return []meaning{
		{"date of a trailer", first + `<podcast:trailer pubdate="` + date + `" url="t">T</podcast:trailer></channel></rss>`, day(func(f *feed.Feed) feed.Date { return f.Podcast.Trailers[0].Published }), want},
		{"date of a trailer of an item", first + `<item><podcast:trailer pubdate="` + date + `" url="t">T</podcast:trailer></item></channel></rss>`,
			day(func(f *feed.Feed) feed.Date { return f.Items[0].Podcast.Trailers[0].Published }), want},
		{"date of a source", first + `<item><atom:source xmlns:atom="http://www.w3.org/2005/Atom"><atom:updated>` + date + `</atom:updated></atom:source></item></channel></rss>`,
			day(func(f *feed.Feed) feed.Date { return f.Items[0].Source.Updated }), want},
		{"date of an edit", first + `<item><app:edited xmlns:app="http://www.w3.org/2007/app">` + date + `</app:edited></item></channel></rss>`, day(func(f *feed.Feed) feed.Date { return f.Items[0].More.Edited }), want},
		{"base of the update period", first + `<sy:updateBase xmlns:sy="http://purl.org/rss/1.0/modules/syndication/">` + date + `</sy:updateBase></channel></rss>`,
			day(func(f *feed.Feed) feed.Date { return f.Hints.UpdateBase }), want},
	}
}

// baseMeanings has relative references in the HTML of items. The document is http://h.example/d/feed.
func baseMeanings() []meaning {
	const img, page = `&lt;img src="i"&gt; &lt;a href="#n"&gt;`, `<link>https://o.example/p/1/</link>`
	const onPage, inFeed = `<img src="https://o.example/p/1/i"> <a href="https://o.example/p/1/#n">`, `<img src="http://h.example/d/i"> <a href="http://h.example/d/feed#n">`
	content := func(f *feed.Feed) any { return f.Items[0].Content[0].Value }
	xhtml := func(markup string) string {
		return atomEntry(`<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">` + markup + `</div></content>`)
	}
	json := func(item string) string {
		return `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1","content_html":"<img src='i'>",` + item + `}]}`
	}
	return []meaning{
		{"description after the link", rssItem(page + `<description>` + img + `</description>`), summaryOf, onPage},
		{"description before the link", rssItem(`<description>` + img + `</description>` + page), summaryOf, onPage},
		{"the base of such a text is the page", rssItem(`<description>` + img + `</description>` + page), func(f *feed.Feed) any { return f.Items[0].Summary.Base }, "https://o.example/p/1/"},
		{"content before the link", rssItem(`<content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">` + img + `</content:encoded>` + page), content, onPage},
		{"item without a link", rssItem(`<description>` + img + `</description>`), summaryOf, inFeed},
		{"guid as the link", rssItem(`<description>` + img + `</description><guid>https://o.example/p/1/</guid>`), summaryOf, onPage},
		{"relative link", rssItem(`<description>` + img + `</description><link>p/1/</link>`), summaryOf, `<img src="http://h.example/d/p/1/i"> <a href="http://h.example/d/p/1/#n">`},
		{"link of another scheme", rssItem(`<description>` + img + `</description><link uri="at://did:plc:x/post/1"/>`), summaryOf, inFeed},
		{"link that redirects to the page", rssItem(`<description>` + img + `</description><link>http://r.example/~r/1</link><feedburner:origLink>https://o.example/p/1/</feedburner:origLink>`), summaryOf, onPage},
		{"xml:base has precedence over the link", `<rss xml:base="http://h.example/d/feed"><channel><item>` + page + `<description>` + img + `</description></item></channel></rss>`, summaryOf, inFeed},
		{"the URL of an enclosure is relative to the feed", rssItem(page + `<enclosure url="e"/>`), func(f *feed.Feed) any { return f.Items[0].Enclosures[0].URL }, "http://h.example/d/e"},
		{"nested item with a page of its own", rssItem(page + `<rssCloud:item xmlns:rssCloud="http://rsscloud.org/"><description>` + img + `</description><link>https://o.example/p/2/</link></rssCloud:item><description>` + img + `</description>`),
			func(f *feed.Feed) any { return []string{f.Items[0].Summary.Value, f.Items[0].Items[0].Summary.Value} },
			[]string{onPage, strings.ReplaceAll(onPage, "/p/1/", "/p/2/")}},
		{"entry of Atom", atomEntry(`<link href="https://o.example/p/1/"/><content type="html">` + img + `</content>`), content, inFeed},
		{"xml:base inside XHTML", xhtml(`<p xml:base="/g/"><img src="h"/><b xml:base="k/"><a href="l">m</a></b><a href="n">o</a></p><a href="p">q</a>`), content,
			`<p xml:base="/g/"><img src="http://h.example/g/h"/><b xml:base="k/"><a href="http://h.example/g/k/l">m</a></b><a href="http://h.example/g/n">o</a></p><a href="http://h.example/d/p">q</a>`},
		{"xml:base on an empty element", xhtml(`<img xml:base="/g/" src="h"/><img src="i"/>`), content, `<img xml:base="/g/" src="http://h.example/g/h"/><img src="http://h.example/d/i"/>`},
		{"xml:base in escaped HTML is an attribute without meaning", atomEntry(`<content type="html">&lt;p xml:base="/g/">&lt;img src="h"></content>`), content, `<p xml:base="/g/"><img src="http://h.example/d/h">`},
		{"item of RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item>` + page + `<description>` + img + `</description></item></rdf:RDF>`, summaryOf, onPage},
		{"item of JSON Feed", json(`"url":"https://o.example/p/1/"`), content, `<img src='https://o.example/p/1/i'>`},
		{"item of JSON Feed without a page", json(`"external_url":"https://o.example/p/1/"`), content, `<img src='http://h.example/d/i'>`},
	}
}

func TestRelativeReferencesInTheHTMLOfItemsAreKeptOnRequest(t *testing.T) {
	t.Parallel()
	const html = `<img src="i">`
	for _, doc := range []string{
		rssItem(`<link>https://o.example/p/1/</link><description><![CDATA[` + html + `]]></description>`),
		`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1","url":"https://o.example/p/1/","content_html":"<img src=\"i\">"}]}`,
	} {
		f, err := feed.ParseBytes([]byte(doc), &feed.Options{URL: "http://h.example/d/feed", KeepRelative: true})
		if err != nil {
			t.Fatal(err)
		}
		text := append(f.Items[0].Content, f.Items[0].Summary)[0]
		if text.Value != html || text.Base != "http://h.example/d/feed" {
			t.Errorf("%q with the base %q", text.Value, text.Base)
		}
	}
}

func TestTextResolvedAgainstThePageIsSanitizedOnce(t *testing.T) {
	t.Parallel()
	f, err := feed.ParseBytes([]byte(rssItem(`<description><![CDATA[<img src="i">]]></description><link>https://o.example/p/1/</link>`)),
		&feed.Options{URL: "http://h.example/d/feed", Sanitize: func(s string) string { return "safe: " + s }})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Items[0].Summary.Value, `safe: <img src="https://o.example/p/1/i">`; got != want {
		t.Errorf("the text is %q, want %q", got, want)
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
