package feed_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
)

const (
	longURL = "https://h.example/" // and a path of 2,000 bytes
	inMedia = `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item>`
	inAtom  = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>`
)

// greedy are documents in which few bytes stand for many.
func greedy() []hostile {
	long := strings.Repeat("long/", 400)
	ns := `<rss xmlns:x="urn:` + strings.Repeat("u", 1900) + `" xml:lang="` + strings.Repeat("l", 99) + `"><channel><item>`
	return []hostile{
		{"links on a long base", 1, many(inRSS+"<item>", "<link>a</link>", "")},
		{"enclosures on a long base", 1, many(inRSS+"<item>", `<enclosure url="a"/>`, "")},
		{"texts on a long base", 1, many(inAtom, "<content>a</content>", "")},
		{"licences on a long base", 1, many(inAtom, `<link rel="license" href="a"/>`, "")},
		{"links in HTML on a long base", 1, many(inAtom, `<content type="html">&lt;a href=a>&lt;a href=b></content>`, "")},
		{"links in one HTML on a long base", 1, many(inHTML, `<a href=a>`, endHTML)},
		{"sets of images in HTML", 1, many(inHTML, `<img srcset="a 1x,b 2x,c">`, endHTML)},
		{"bases", 1, many(inAtom, `<x xml:base="`+long[:1000]+`"/>`, "")},
		{"short bases", 1, many(inAtom, `<x xml:base="a/"/>`, "")},
		{"bases of texts", 1, many(inAtom, `<content xml:base="a/">b</content>`, "")},
		{"unknown elements of a long namespace", 1, many(ns, "<x:a/>", "")},
		{"unknown attributes of a long namespace", 1, many(ns+"<x:a>", `<b x:a=""/>`, "")},
		{"texts of a long language", 1, many(ns, "<body>a</body>", "")},
		{"languages with another dash", 1, many(`<rss xml:lang="`+strings.Repeat("a_", 2<<20)+`"><channel><item>`, "<body>a</body>", "")},
		{"files of media", 1, many(inMedia, "<media:content/>", "")},
		{"groups of media", 1, many(inMedia, "<media:group/>", "")},
		{"files in groups of media", 1, many(inMedia, "<media:group><media:content/></media:group>", "")},
		{"thumbnails", 1, many(inMedia, `<media:thumbnail url="a"/>`, "")},
		{"places of media", 1, many(inMedia, "<media:location/>", "")},
		{"words of media", 1, many(inMedia+"<media:keywords>", "a,", "")},
		{"commas", 1, many(inMedia+"<tags>", ",", "")},
		{"subjects", 1, each(inMedia, "<dc:subject>%d</dc:subject>", "")},
		{"nested items", 1, many(inRSS+`<item xmlns:rssCloud="http://rsscloud.org">`, "<rssCloud:item/>", "")},
		{"coordinates", 1, many(inRSS+`<item xmlns:g="http://www.georss.org/georss"><g:line>`, "1 ", "")},
		{"lines of coordinates", 1, many(inRSS+`<item xmlns:g="http://www.georss.org/georss">`, "<g:line>"+strings.Repeat("1 ", 4000)+"</g:line>", "")},
		{"empty items", 1, many(inRSS, "<item/>", "")},
		{"items with a little of everything", 1, many(inRSS, "<item><comments>a</comments><itunes:block/><media:hash/><podcast:guid/></item>", "")},
		{"names in problems", 1, many("<rss><"+strings.Repeat("n", 1<<20)+">", "</x>", "")},
		{"paths in problems", 1, many("<rss>"+strings.Repeat("<"+strings.Repeat("n", 20<<10)+">", 90), "</x>", "")},
		{"names beyond the depth", 1, many("<rss>"+strings.Repeat("<a>", 98)+"<"+strings.Repeat("n", 1<<20)+">", "<a></a>", "")},
		{"namespaces in force", 1, func(n int) string {
			return strings.Repeat("<rss "+each("", `xmlns:n%d="u" `, "")(250)+">", 90) + strings.Repeat("<a/>", n)
		}},
		{"doctypes that do not end", 1, many("", "<!DOCTYPE a [>", "<rss>")},
		{"own entities", 1, many(`<!DOCTYPE rss [<!ENTITY a "`+strings.Repeat("a", 4000)+`">]>`+inItem+"<description>", "&a;", "")},
		{"quotes in XHTML", 1, many(inXHTML+"<!-- -->", `<a b='"""""""""'/>`, "")},
		{"lines of an address", 1, many(inRSS+"<item><link>", "a\n", "")},
		{"parameters of an address", 1, many(inRSS+"<item><link>?", "&", "")},
		{"base64", 1, many(inAtom+`<content type="a/b">`, "QUFB\n", "")},
		{"headlines", 1, many(inRSS+`<item xmlns:source="http://source.scripting.com/">`, "<source:outline/>", "")},
		{"JSON: links on a long base", 1, many(inJSON, `{"attachments":[{"url":"a"}]},`, "]}")},
		{"JSON: tags", 1, many(inJSON+`{"tags":[`, `"a",`, "]}]}")},
		{"JSON: authors", 1, many(inJSON+`{"authors":[`, `"a",`, "]}]}")},
		{"JSON: authors of two kinds", 1, func(n int) string {
			return inJSON + `{"authors":[` + strings.Repeat(`"a",`, n/2) + `],"author":[` + strings.Repeat(`"b",`, n/2) + "]}]}"
		}},
		{"JSON: unknown", 1, many(inJSON+`{"x":[`, `{},`, "]}]}")},
		{"JSON: hubs", 1, each(inJSON[:len(inJSON)-len(`"items":[`)]+`"hubs":[`, `{"type":"a","url":"%d"},`, "]}")},
	}
}

// filled is a document of at least so many bytes.
func filled(h hostile, size int) []byte {
	n := 1000
	base := len(h.doc(0))
	per := max(1, (len(h.doc(n))-base)/n)
	return []byte(h.doc(max(n, (size-base)/per)))
}

// Bytes that reading may use for every byte of a document, freed ones included, and
// that what it gives may keep, the document not counted.
const (
	mostUsed = 60
	mostKept = 24
)

// TestMemoryIsBoundedByTheDocument reads documents of the size that is the limit.
// Whatever they are made for, ...
func TestMemoryIsBoundedByTheDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("long documents take their time")
	}
	o := &feed.Options{URL: longURL + strings.Repeat("long/", 400)}
	for _, h := range slices.Concat(greedy(), hostileMarkup(), hostileText(), hostileLists(), hostileJSON()) {
		doc := filled(h, 5<<20)
		doc = doc[:min(len(doc), 5<<20)]
		var before, after, kept runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		f, _ := feed.ParseBytes(doc, o)
		d := time.Since(begin)
		runtime.ReadMemStats(&after)
		runtime.GC()
		runtime.ReadMemStats(&kept)
		runtime.KeepAlive(f)
		used := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(doc))
		keeps := (float64(kept.HeapAlloc) - float64(before.HeapAlloc)) / float64(len(doc))
		w := size{}
		if f != nil {
			w = sizeOf(f)
		}
		t.Logf("%-40s %6.1f MB used %6.1f kept %6.1f lists %6.1f words %6.1f  %v", h.name, float64(len(doc))/1e6, used, keeps, float64(w.lists)/float64(len(doc)), float64(w.words)/float64(len(doc)), d)
	}
}
