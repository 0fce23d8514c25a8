package feedtest

import "fmt"

// channel writes the part of RSS 2.0 before the items.
func (w *writer) channel(namespaces string) {
	w.printf("<?xml version=\"1.0\" encoding=%q?>\n<rss version=\"2.0\"%s>\n<channel>\n", w.encoding(), namespaces)
	w.printf("\t<title>%s</title>\n", w.escape(w.sentence(3)))
	w.printf("\t<link>%s</link>\n\t<description>%s</description>\n", w.site, w.escape(w.sentence(9)))
	w.printf("\t<lastBuildDate>%s</lastBuildDate>\n\t<language>%s</language>\n", w.rfc822(), w.lang.tag)
}

func (w *writer) rssContent() {
	w.channel(`
	xmlns:content="http://purl.org/rss/1.0/modules/content/"
	xmlns:wfw="http://wellformedweb.org/CommentAPI/"
	xmlns:dc="http://purl.org/dc/elements/1.1/"
	xmlns:atom="http://www.w3.org/2005/Atom"
	xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"
	xmlns:slash="http://purl.org/rss/1.0/modules/slash/"
	`)
	w.printf("\t<atom:link href=\"%s/feed\" rel=\"self\" type=\"application/rss+xml\" />\n", w.site)
	w.printf("\t<sy:updatePeriod>\n\thourly\t</sy:updatePeriod>\n\t<sy:updateFrequency>\n\t1\t</sy:updateFrequency>\n\t<generator>https://blogtool.example/?v=6.4</generator>\n")
	w.printf("<image>\n\t<url>%s/logo.png</url>\n\t<title>%s</title>\n\t<link>%s</link>\n\t<width>32</width>\n\t<height>32</height>\n</image>\n", w.site, w.escape(w.sentence(3)), w.site)
	additions := w.chance(40)
	for w.more() {
		link := w.link()
		w.printf("\t<item>\n\t\t<title>%s</title>\n\t\t<link>%s/</link>\n", w.escape(w.sentence(3+w.rnd.IntN(8))), link)
		w.printf("\t\t\t\t\t<comments>%s/#respond</comments>\n\t\t\n", link)
		w.printf("\t\t<dc:creator><![CDATA[%s]]></dc:creator>\n\t\t<pubDate>%s</pubDate>\n", w.name(), w.rfc822())
		for range w.rnd.IntN(5) {
			w.printf("\t\t\t\t<category><![CDATA[%s]]></category>\n", pick(w, w.lang.words))
		}
		w.printf("\t\t<guid isPermaLink=\"false\">%s/?p=%d</guid>\n\n", w.site, 90000-w.items)
		w.printf("\t\t\t\t\t<description><![CDATA[<p>%s [&#8230;]</p>\n]]></description>\n", w.sentence(30))
		w.printf("\t\t\t\t\t\t\t\t\t\t<content:encoded><![CDATA[%s]]></content:encoded>\n\t\t\t\t\t\n", w.html())
		w.printf("\t\t<wfw:commentRss>%s/feed/</wfw:commentRss>\n\t\t<slash:comments>%d</slash:comments>\n", link, w.rnd.IntN(80))
		if additions {
			w.printf("\t\t<post-id xmlns=\"com-blogtool:feed-additions:1\">%d</post-id>\n", 90000-w.items)
		}
		w.printf("\t</item>\n")
	}
	w.printf("\t</channel>\n</rss>\n")
}

func (w *writer) rssEscaped() {
	w.channel("")
	w.printf("\t<copyright>%d %s</copyright>\n\t<managingEditor>desk@%s.example (%s)</managingEditor>\n\t<ttl>%d</ttl>\n", w.now.Year(), w.name(), "news", w.name(), 15+w.rnd.IntN(60))
	w.printf("\t<image><title>Logo</title><url>%s/logo.gif</url><link>%s</link></image>\n", w.site, w.site)
	for w.more() {
		link := w.link()
		w.printf("\t<item>\n\t\t<title>%s</title>\n\t\t<link>%s?src=rss&amp;n=%d</link>\n", w.escape(w.sentence(4+w.rnd.IntN(8))), link, w.items)
		w.printf("\t\t<description>%s</description>\n", w.escape(w.html()))
		w.printf("\t\t<guid isPermaLink=\"true\">%s</guid>\n\t\t<pubDate>%s</pubDate>\n", link, w.rfc822())
		for range w.rnd.IntN(3) {
			w.printf("\t\t<category domain=\"%s/tags\">%s</category>\n", w.site, w.escape(pick(w, w.lang.words)))
		}
		if w.chance(20) {
			w.printf("\t\t<enclosure url=\"%s.jpg\" length=\"%d\" type=\"image/jpeg\"/>\n", link, w.rnd.IntN(900000))
		}
		w.printf("\t</item>\n")
	}
	w.printf("</channel>\n</rss>\n")
}

func (w *writer) podcast() {
	w.channel(` xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:podcast="https://podcastindex.org/namespace/1.0"`)
	author := w.name()
	w.printf("\t<atom:link href=\"%s/feed\" rel=\"self\" type=\"application/rss+xml\"/>\n", w.site)
	w.printf("\t<itunes:author>%s</itunes:author>\n\t<itunes:type>episodic</itunes:type>\n\t<itunes:explicit>false</itunes:explicit>\n", author)
	w.printf("\t<itunes:owner><itunes:name>%s</itunes:name><itunes:email>show@podcast.example</itunes:email></itunes:owner>\n", author)
	w.printf("\t<itunes:image href=\"%s/cover.jpg\"/>\n\t<itunes:category text=\"Society &amp; Culture\"><itunes:category text=\"Documentary\"/></itunes:category>\n", w.site)
	w.printf("\t<podcast:locked owner=\"show@podcast.example\">yes</podcast:locked>\n\t<podcast:guid>9b024349-ccf0-5f69-a609-%012d</podcast:guid>\n", w.rnd.IntN(1e9))
	w.long = min(w.long, 4)
	for w.more() {
		file := fmt.Sprintf("https://media.%s/episodes/%d.mp3", w.site[len("https://"):], w.items)
		title := w.escape(w.sentence(3 + w.rnd.IntN(6)))
		w.printf("\t<item>\n\t\t<title>%d: %s</title>\n\t\t<itunes:title>%s</itunes:title>\n\t\t<link>%s</link>\n", 500-w.items, title, title, w.link())
		w.printf("\t\t<guid isPermaLink=\"false\">%08x-%d</guid>\n\t\t<pubDate>%s</pubDate>\n", w.rnd.Uint32(), w.items, w.rfc822())
		w.printf("\t\t<description><![CDATA[%s]]></description>\n", w.html())
		if w.summary {
			w.printf("\t\t<itunes:summary>%s</itunes:summary>\n", w.escape(w.sentence(40)))
		}
		w.printf("\t\t<itunes:subtitle>%s</itunes:subtitle>\n", w.escape(w.sentence(10)))
		w.printf("\t\t<enclosure url=\"%s?from=feed&amp;v=2\" length=\"%d\" type=\"audio/mpeg\"/>\n", file, 10e6+w.rnd.IntN(90e6))
		w.printf("\t\t<itunes:duration>%d:%02d:%02d</itunes:duration>\n\t\t<itunes:explicit>false</itunes:explicit>\n\t\t<itunes:episode>%d</itunes:episode>\n\t\t<itunes:season>%d</itunes:season>\n\t\t<itunes:episodeType>full</itunes:episodeType>\n",
			w.rnd.IntN(3), w.rnd.IntN(60), w.rnd.IntN(60), 500-w.items, 1+w.items/30)
		w.printf("\t\t<itunes:image href=\"%s/covers/%d.jpg\"/>\n\t\t<podcast:transcript url=\"%s.vtt\" type=\"text/vtt\"/>\n", w.site, w.items, file)
		w.printf("\t\t<podcast:person role=\"guest\" href=\"%s/people/%d\">%s</podcast:person>\n\t</item>\n", w.site, w.items, w.name())
	}
	w.printf("</channel>\n</rss>\n")
}

func (w *writer) rdf() {
	w.printf("<?xml version=\"1.0\" encoding=%q?>\n<rdf:RDF\n xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"\n xmlns=\"http://purl.org/rss/1.0/\"\n xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n xmlns:sy=\"http://purl.org/rss/1.0/modules/syndication/\"\n xmlns:content=\"http://purl.org/rss/1.0/modules/content/\">\n", w.encoding())
	w.printf("<channel rdf:about=\"%s/\">\n<title>%s</title>\n<link>%s/</link>\n<description>%s</description>\n", w.site, w.escape(w.sentence(3)), w.site, w.escape(w.sentence(8)))
	w.printf("<dc:language>%s</dc:language>\n<dc:date>%s</dc:date>\n<sy:updatePeriod>daily</sy:updatePeriod>\n", w.lang.tag, w.iso())
	// RDF lists its items (rdf:Seq) before the items, so the items are written to a buffer first.
	head := w.b.String()
	w.b.Reset()
	var links []string
	for w.more() {
		link := w.link()
		links = append(links, link)
		w.printf("<item rdf:about=\"%s\">\n<title>%s</title>\n<link>%s</link>\n", link, w.escape(w.sentence(3+w.rnd.IntN(7))), link)
		w.printf("<description>%s</description>\n<content:encoded><![CDATA[%s]]></content:encoded>\n", w.escape(w.sentence(25)), w.html())
		w.printf("<dc:date>%s</dc:date>\n<dc:creator>%s</dc:creator>\n", w.iso(), w.name())
		for range w.rnd.IntN(3) {
			w.printf("<dc:subject>%s</dc:subject>\n", w.escape(pick(w, w.lang.words)))
		}
		w.printf("</item>\n")
	}
	items := w.b.String()
	w.b.Reset()
	w.printf("%s<items>\n<rdf:Seq>\n", head)
	for _, link := range links {
		w.printf("<rdf:li rdf:resource=\"%s\" />\n", link)
	}
	w.printf("</rdf:Seq>\n</items>\n</channel>\n%s</rdf:RDF>\n", items)
}
