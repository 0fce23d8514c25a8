package feed_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"cloudburst/feed"
	"cloudburst/internal/fulltest"
)

const (
	inMedia = `<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item>`
	inAtom  = `<feed xmlns="http://www.w3.org/2005/Atom"><entry>`
)

// greedy generates documents whose parsed form could need much more memory than their bytes.
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
		{"persons with attributes of a long namespace", 1, many(ns, `<author x:a="">b</author>`, "")},
		{"persons with unknown elements", 1, many(ns, "<author>b<x:a/></author>", "")},
		{"images with unknown elements", 1, many(ns, "<image><x:a/></image>", "")},
		{"sources with attributes", 1, many(ns, `<source x:a="">b</source>`, "")},
		{"nested items with attributes", 1, many(ns, `<item x:a=""/>`, "")},
		{"credits with attributes", 1, many(inMedia[:len(inMedia)-1]+` xmlns:x="urn:x">`, `<media:credit x:a=""/>`, "")},
		{"texts of a long language", 1, many(ns, "<body>a</body>", "")},
		{"languages with another dash", 1, many(`<rss xml:lang="`+strings.Repeat("a_", 2<<20)+`"><channel><item>`, "<body>a</body>", "")},
		{"files of media", 1, many(inMedia, "<media:content/>", "")},
		{"groups of media", 1, many(inMedia, "<media:group/>", "")},
		{"files in groups of media", 1, many(inMedia, "<media:group><media:content/></media:group>", "")},
		{"thumbnails", 1, many(inMedia, `<media:thumbnail url="a"/>`, "")},
		{"places of media", 1, many(inMedia, "<media:location/>", "")},
		{"keywords of media", 1, many(inMedia+"<media:keywords>", "a,", "")},
		{"commas", 1, many(inMedia+"<tags>", ",", "")},
		{"subjects", 1, each(inMedia, "<dc:subject>%d</dc:subject>", "")},
		{"nested items", 1, many(inRSS+`<item xmlns:rssCloud="http://rsscloud.org">`, "<rssCloud:item/>", "")},
		{"coordinates", 1, many(inRSS+`<item xmlns:g="http://www.georss.org/georss"><g:line>`, "1 ", "")},
		{"lines of coordinates", 1, many(inRSS+`<item xmlns:g="http://www.georss.org/georss">`, "<g:line>"+strings.Repeat("1 ", 4000)+"</g:line>", "")},
		{"empty items", 1, many(inRSS, "<item/>", "")},
		{"items with a little of everything", 1, many(inRSS, "<item><comments>a</comments><itunes:block/><media:hash/><podcast:guid/></item>", "")},
		{"names in problems", 1, many("<rss><"+strings.Repeat("n", 1<<20)+">", "</x>", "")},
		{"paths in problems", 1, many("<rss>"+strings.Repeat("<"+strings.Repeat("n", 20<<10)+">", 90), "</x>", "")},
		{"names beyond the depth limit", 1, many("<rss>"+strings.Repeat("<a>", 98)+"<"+strings.Repeat("n", 1<<20)+">", "<a></a>", "")},
		{"namespaces in scope", 1, func(n int) string {
			return strings.Repeat("<rss "+each("", `xmlns:n%d="u" `, "")(250)+">", 90) + strings.Repeat("<a/>", n)
		}},
		{"unterminated doctypes", 1, many("", "<!DOCTYPE a [>", "<rss>")},
		{"own entities", 1, many(`<!DOCTYPE rss [<!ENTITY a "`+strings.Repeat("a", 4000)+`">]>`+inItem+"<description>", "&a;", "")},
		{"quotes in XHTML", 1, many(inXHTML+"<!-- -->", `<a b='"""""""""'/>`, "")},
		{"lines of a URL", 1, many(inRSS+"<item><link>", "a\n", "")},
		{"parameters of a URL", 1, many(inRSS+"<item><link>?", "&", "")},
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

// filled returns a document of about size bytes.
func filled(h hostile, size int) []byte {
	n := 1000
	base := len(h.doc(0))
	per := max(1, (len(h.doc(n))-base)/n)
	return []byte(h.doc(max(n, (size-base)/per)))
}

// Limits of the memory for each byte of a document. The budget limits the elements of lists to a
// factor of 8. While a list grows, it leaves the same amount of garbage and has the same amount of
// spare capacity. HTML can grow to eight times its size before it is found to be hostile, and its
// buffer doubles too.
const (
	maxUsed = 48 // bytes that are allocated, including freed bytes
	maxKept = 24 // bytes that the feed uses, without the document
)

// TestMemoryUseIsBoundedByTheSizeOfTheDocument parses long documents that are designed to need
// much memory, in the result or while parsing.
func TestMemoryUseIsBoundedByTheSizeOfTheDocument(t *testing.T) {
	fulltest.Long(t)
	const length = 2 << 20
	o := &feed.Options{URL: "https://h.example/" + strings.Repeat("long/", 400)}
	for _, h := range slices.Concat(greedy(), hostileMarkup(), hostileText(), hostileLists(), hostileNames(), hostileJSON()) {
		doc := filled(h, length)
		doc = doc[:min(len(doc), length):length]
		var before, after, kept runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f, _ := feed.ParseBytes(doc, o) // ignore the error: some of these documents are not feeds
		runtime.ReadMemStats(&after)
		runtime.GC()
		runtime.ReadMemStats(&kept)
		runtime.KeepAlive(doc)
		if used := (after.TotalAlloc - before.TotalAlloc) / length; used > maxUsed {
			t.Errorf("%s: parsing allocates %d times the length of the document", h.name, used)
		}
		if keeps := (int(kept.HeapAlloc) - int(before.HeapAlloc)) / length; keeps > maxKept {
			t.Errorf("%s: the feed uses %d times the length of the document", h.name, keeps)
		}
		if f == nil {
			continue
		}
		if s := sizeOf(f); s.lists > (maxLists+1)*length || s.words > maxWords/2*length {
			t.Errorf("%s: %d bytes of lists, %d bytes of texts", h.name, s.lists, s.words)
		}
	}
}
