package hubclient

import (
	"testing"
	"time"

	"cloudburst/internal/cli/shell"
)

func TestNewestItemIsFoundInEveryFormat(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, feed, want, link string
		changed                time.Time
	}{
		{"RSS, newest first", `<rss><channel><title>Feed</title><item><title>A &amp; B</title><link>x</link></item><item><title>C</title></item></channel></rss>`, "A & B", "", time.Time{}},
		{"RSS, newest last", `<rss><channel><item><title>Old</title><pubDate>Sun, 03 May 2026 00:00:00 GMT</pubDate></item><item><title>New</title><pubDate>Mon, 04 May 2026 00:00:00 +0000</pubDate></item></channel></rss>`, "New", "", day},
		{"without a title", `<rss><channel><item><description>&lt;p&gt;Just &lt;b&gt;text&lt;/b&gt; &amp;amp; more&lt;/p&gt;</description></item></channel></rss>`, "Just text & more", "", time.Time{}},
		{"only a guid", `<rss><channel><item><guid>http://a.example/1</guid></item></channel></rss>`, "http://a.example/1", "http://a.example/1", time.Time{}},
		{"Atom", `<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><updated>2026-05-04T00:00:00Z</updated><entry><title type="html">One</title><link rel="self" href="s"/><link href="http://a.example/1"/><content type="xhtml"><div>Hi</div></content></entry></feed>`, "One", "http://a.example/1", day},
		{"RDF", `<rdf:RDF xmlns:rdf="r" xmlns:dc="d"><channel><title>F</title></channel><item><title>R</title><dc:date>2026-05-04T00:00:00Z</dc:date></item></rdf:RDF>`, "R", "", day},
		{"broken end", `<rss><channel><item><title>Whole</title></item><item><title>Half`, "Whole", "", time.Time{}},
		{"named entities", `<rss><channel><item><title>caf&eacute;</title></item></channel></rss>`, "café", "", time.Time{}},
		{"Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><rss><channel><item><title>caf\xe9</title></item></channel></rss>", "café", "", time.Time{}},
		{"control characters", "<rss><channel><item><title>a\u202eb&#x9b;c</title></item></channel></rss>", "ab›c", "", time.Time{}},
		{"not a feed", `hello`, "", "", time.Time{}},
	} {
		newest, changed := Document{Body: []byte(tt.feed)}.NewestItem()
		if got := newest.String(); got != tt.want || tt.link != "" && newest.Link != tt.link || !changed.Equal(tt.changed) {
			t.Errorf("%s: %q %q %s", tt.name, got, newest.Link, changed)
		}
	}
}

func FuzzNewestItem(f *testing.F) {
	f.Add([]byte(`<rss><channel><item><title>A</title><pubDate>Mon, 04 May 2026 00:00:00 GMT</pubDate></item></channel></rss>`))
	f.Add([]byte(`<feed><entry><link href="x"/><content><a><b/></a></content></entry></feed>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		newest, _ := Document{Body: body}.NewestItem()
		if s := newest.String(); s != shell.Clean(s) || len([]rune(s)) > 100 {
			t.Errorf("%q contains control characters or is too long", s)
		}
	})
}
