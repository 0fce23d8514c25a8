package feed_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/feed"
	"cloudburst/internal/cputime"
	"cloudburst/internal/fulltest"
)

// hostile generates documents for which a naive parser needs quadratic time.
type hostile struct {
	name string
	n    int // initial size; the test begins with 1/32 of this size
	doc  func(n int) string
}

// many returns documents with n copies of piece.
func many(before, piece, after string) func(n int) string {
	return func(n int) string { return before + strings.Repeat(piece, n) + after }
}

// each is like many for a piece that contains the index of the copy.
func each(before, format, after string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + after
	}
}

const (
	inRSS   = `<rss version="2.0"><channel><title>T</title>`
	inItem  = inRSS + `<item><title>I</title>`
	inHTML  = inItem + `<description><![CDATA[`
	endHTML = `]]></description></item></channel></rss>`
	inXHTML = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">`
	inJSON  = `{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[`
)

func hostileMarkup() []hostile {
	return []hostile{
		{"deep nesting of unknown elements", 300_000, many(inItem, "<a>", "")},
		{"deep nesting with end tags", 200_000, func(n int) string { return inItem + strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }},
		{"deep nesting in XHTML", 300_000, many(inXHTML, "<b>", "")},
		{"deep nesting in a title", 300_000, many(inItem+"<title>", "<b>", "")},
		{"deep nesting of known elements", 150_000, many("", "<rss><channel><item>", "")},
		{"items in unclosed extensions", 150_000, many(inRSS, "<x:a><item>", "")},
		{"items in unclosed extensions before a comment", 150_000, func(n int) string {
			return inRSS + strings.Repeat("<x:a><item>", n/100) + "<!--" + strings.Repeat("x", 10*n) + "-->"
		}},
		{"items in one extension", 300_000, many(inItem+"<x:a>", "<item></item>", "</x:a></item>")},
		{"items without > in an extension", 150_000, many(inRSS, "<x:a><item ", "")},
		{"bases in XHTML", 200_000, many(inXHTML, `<a xml:base="b/" href="c">`, "")},
		{"bases of empty elements in XHTML", 200_000, many(inXHTML, `<a xml:base="b/" href="c"/>`, "")},
		{"stray end tags", 300_000, many(inItem, "</b>", "")},
		{"end tags that close other elements", 150_000, many(inItem, "<a><b></a>", "")},
		{"attributes of one element", 1_200_000, each(inItem+"<x ", `a%d="v" `, "/></item>")},
		{"attributes of the root", 1_200_000, each("<rss ", `a%d="v" `, "><channel><item><title>T</title>")},
		{"one repeated attribute", 300_000, many(inItem+"<link ", `href="v" `, "/></item>")},
		{"attributes without value", 300_000, many(inItem+"<x ", "a ", "/></item>")},
		{"attributes without spaces", 300_000, many(inItem+"<x ", `a="b"`, "/></item>")},
		{"empty elements in a channel", 1_250_000, many(inRSS, "<a/>", "")},
		{"empty elements in an item", 1_250_000, many(inItem, "<a/>", "")},
		{"empty elements in XHTML", 600_000, many(inXHTML, "<a/>", "")},
		{"empty elements before the root", 600_000, many("", "<a/>", "<rss><channel/></rss>")},
		{"unterminated quotes", 300_000, many(inItem, `<a b="`, "")},
		{"unterminated quotes of two kinds", 300_000, many(inItem, `<a b="c d='`, "")},
		{"one long unterminated quote", 4_000_000, many(inItem+`<a b="`, "x", "")},
		{"unterminated CDATA", 300_000, many(inItem, "<![CDATA[", "")},
		{"unterminated CDATA in elements", 200_000, many(inItem, "<title><![CDATA[", "")},
		{"brackets in CDATA", 3_000_000, many(inItem+"<title><![CDATA[", "]", "")},
		{"ends of CDATA without a start", 1_000_000, many(inItem+"<title>", "]]>", "")},
		{"unterminated comments", 600_000, many(inItem, "<!--", "")},
		{"comments with incomplete ends", 600_000, many(inItem, "<!-- --", "")},
		{"short comments", 400_000, many(inItem+"<title>", "<!-->", "")},
		{"unterminated doctypes", 300_000, many("", "<!DOCTYPE ", "<rss><channel>")},
		{"doctypes with a subset", 300_000, many("", "<!DOCTYPE a [", "]><rss><channel>")},
		{"entity definitions", 150_000, each("<!DOCTYPE rss [", `<!ENTITY e%d "v">`, "]><rss><channel><title>&e1;</title>")},
		{"entities that grow", 20_000, func(n int) string {
			return `<!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("x", n) + `"><!ENTITY b "` + strings.Repeat("&a;", n) +
				`">]><rss><channel><title>` + strings.Repeat("&b;", n) + "</title>"
		}},
		{"unterminated instructions", 1_000_000, many(inItem, "<?", "")},
		{"unterminated declarations", 1_000_000, many("", "<?xml ", inItem)},
		{"less-than signs", 3_000_000, many(inItem+"<title>", "<", "")},
		{"incomplete end tags", 1_500_000, many(inItem+"<title>", "</", "")},
		{"unterminated end tags", 800_000, many(inItem+"<title>", "</a", "")},
		{"incomplete declarations", 1_500_000, many(inItem+"<title>", "<!", "")},
		{"unterminated tags", 800_000, many(inItem+"<title>", "<a ", "")},
		{"a long name", 3_000_000, many(inItem+"<", "a", "")},
		{"namespaces of one element", 1_200_000, each(inItem+"<x ", `xmlns:p%d="u:v" `, "/></item>")},
		{"nested namespaces", 100_000, each(inItem, `<p%[1]d:x xmlns:p%[1]d="u:v">`, "")},
		{"consecutive namespaces", 100_000, each(inItem, `<p%[1]d:x xmlns:p%[1]d="u:%[1]d"/>`, "")},
		{"undeclared prefixes", 300_000, each(inItem, `<p%d:x/>`, "")},
	}
}

func hostileText() []hostile {
	return []hostile{
		{"ampersands", 3_000_000, many(inItem+"<title>", "&", "</title>")},
		{"ampersands in attributes", 3_000_000, many(inItem+`<link href="`, "&", `"/>`)},
		{"incomplete references", 1_500_000, many(inItem+"<title>", "&#", "</title>")},
		{"references without semicolon", 800_000, many(inItem+"<title>", "&amp", "</title>")},
		{"a reference with a long name", 3_000_000, many(inItem+"<title>&", "a", "</title>")},
		{"a reference with a long number", 3_000_000, many(inItem+"<title>&#x", "0", ";</title>")},
		{"invalid UTF-8", 2_000_000, many(inItem+"<title>", "\xff", "</title>")},
		{"zero bytes", 2_000_000, many(inItem+"<title>", "\x00", "</title>")},
		{"carriage returns", 3_000_000, many(inItem+"<title>", "\r", "</title>")},
		{"leading spaces", 4_000_000, many("", " ", inItem)},
		{"spaces in a title", 4_000_000, many(inItem+"<title>", " ", "x</title>")},
		{"a long date", 2_000_000, many(inItem+"<pubDate>", "1 ", "</pubDate>")},
		{"a long path", 800_000, many(inItem+"<link>", "../", "</link>")},
		{"a person with many addresses", 800_000, many(inItem+"<author>", "(<a@", "</author>")},
		{"a duration of many colons", 1_500_000, many(inItem+`<itunes:duration xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">`, "1:", "</itunes:duration>")},
		{"links in HTML", 200_000, many(inHTML, `<a href="x">`, endHTML)},
		{"unterminated tags in HTML", 800_000, many(inHTML, "<a ", endHTML)},
		{"unterminated quotes in HTML", 400_000, many(inHTML, `<a href="`, endHTML)},
		{"unterminated comments in HTML", 800_000, many(inHTML, "<!--", endHTML)},
		{"unterminated scripts in HTML", 400_000, many(inHTML, "<script>", endHTML)},
		{"unterminated text areas in HTML", 300_000, many(inHTML, "<textarea><title>", endHTML)},
		{"candidates of one image", 500_000, many(inHTML+`<img srcset="`, "a 1x,", `">`+endHTML)},
		{"escaped tags", 200_000, many(inItem+"<description>", "&lt;b a='", "</description>")},
	}
}

func hostileLists() []hostile {
	var out []hostile
	for _, l := range []struct {
		name   string
		n      int
		format string
	}{
		{"categories", 80_000, "<category>c%d</category>"},
		{"subjects", 80_000, `<dc:subject xmlns:dc="http://purl.org/dc/elements/1.1/">c%d</dc:subject>`},
		{"authors", 60_000, "<author>a%d@b.example (A)</author>"},
		{"links", 80_000, "<link>http://a.example/%d</link>"},
		{"identifiers", 80_000, "<guid>%d</guid>"},
		{"titles", 80_000, "<title>%d</title>"},
		{"dates", 80_000, "<pubDate>%d Mar 2024 10:00:00 GMT</pubDate>"},
		{"descriptions", 80_000, "<description>d%d</description>"},
		{"contents", 50_000, `<content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">d%d</content:encoded>`},
		{"enclosures", 50_000, `<enclosure url="http://a.example/%d" length="1" type="t"/>`},
		{"media", 40_000, `<media:content xmlns:media="http://search.yahoo.com/mrss/" url="http://a.example/%d"/>`},
		{"groups of media", 40_000, `<media:group xmlns:media="http://search.yahoo.com/mrss/"><media:thumbnail url="%d"/>`},
		{"sources", 60_000, `<source url="u">%d</source>`},
		{"outlines", 40_000, `<source:outline xmlns:source="http://source.scripting.com/" text="%d">`},
		{"nested items", 60_000, `<rssCloud:item xmlns:rssCloud="u"><title>%d</title>`},
		{"places", 40_000, `<georss:point xmlns:georss="http://www.georss.org/georss">%d 2</georss:point>`},
	} {
		out = append(out, hostile{l.name + " of an item", l.n, each(inItem, l.format, "</item>")})
	}
	return append(out,
		hostile{"one category after many", 100_000, func(n int) string {
			return each(inItem, "<category>c%d</category>", "")(999) + strings.Repeat("<category>c998</category>", n)
		}},
		hostile{"comment counts and links", 40_000, func(n int) string {
			return each(inItem, `<link rel="replies" href="u%d" thr:count="a"/>`, "")(n) + each("", `<slash:comments>%d</slash:comments>`, "")(n)
		}},
		hostile{"texts with relative references", 60_000, each(inItem+"<link>http://o.example/</link>", `<content:encoded>&lt;a href="%d"&gt;</content:encoded>`, "</item>")},
		hostile{"unclosed items", 2_000_000, many(inRSS, "<item>", "")},
		hostile{"unclosed entries", 1_600_000, many(`<feed xmlns="http://www.w3.org/2005/Atom">`, "<entry>", "")},
		hostile{"unclosed titles in unclosed items", 800_000, many(inRSS, "<item><title>x", "")},
		hostile{"items with the same ID", 400_000, many(inRSS, "<item><guid>x</guid></item>", "")},
		hostile{"items with different IDs", 400_000, each(inRSS, "<item><guid>x%d</guid></item>", "")},
		hostile{"empty items", 1_600_000, many(inRSS, "<item/>", "")},
		hostile{"clouds", 100_000, each(inRSS, `<cloud domain="a%d"/>`, "")},
		hostile{"hubs", 50_000, each(inRSS, `<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="hub" href="http://a.example/%d"/>`, "")},
		hostile{"hours to skip", 100_000, many(inRSS+"<skipHours>", "<hour>1</hour>", "")},
		hostile{"places in RDF", 50_000, each(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><items><rdf:Seq>`, `<rdf:li resource="%d"/>`, "")},
		hostile{"channels", 100_000, many("<rss>", "<channel><title>x</title>", "")},
		hostile{"roots", 150_000, many("", "<rss></rss>", "")},
	)
}

// hostileNames covers long names, many names, and rare formats.
func hostileNames() []hostile {
	return []hostile{
		{"doctypes with an unclosed bracket", 150_000, many("", "<!DOCTYPE a [>", "<rss><channel>")},
		{"a long name beyond the depth limit", 150_000, func(n int) string {
			return strings.Repeat("<a>", 99) + "<" + strings.Repeat("n", n) + ">" + strings.Repeat("<a></a>", n/7)
		}},
		{"a long name in problems", 400_000, func(n int) string {
			return "<rss><" + strings.Repeat("n", n) + ">" + strings.Repeat("</x>", n/4)
		}},
		{"a long language with underscores", 400_000, func(n int) string {
			return `<rss xml:lang="` + strings.Repeat("a_", n) + `"><channel><item>` + strings.Repeat("<body>a</body>", n/14)
		}},
		{"many namespaces and elements", 100_000, func(n int) string {
			return "<rss " + each("", `xmlns:n%d="u" `, ">")(n/10) + strings.Repeat("<a/>", n)
		}},
		{"properties in MCF", 400_000, many("<xml-mcf><unit>", "<a/>", "")},
		{"references in MCF", 100_000, func(n int) string {
			return `<xml-mcf><Person id="p">` + strings.Repeat("<a>b</a>", n) + `</Person><Page id="u"><url>u</url><name>n</name>` + strings.Repeat(`<author unit="p"/><subject unit="p"/>`, n/4)
		}},
		{"slots in MCF", 300_000, many("begin-headers:\nend-headers:\nunit: \"a\"\n", "b: \"c\"\n", "")},
		{"texts in scriptingNews", 150_000, many("<scriptingNews><item>", "<text>a</text>", "")},
		{"links in scriptingNews", 50_000, func(n int) string {
			return "<scriptingNews><item><text>" + strings.Repeat("a ", 10*n) + "</text>" + strings.Repeat("<link><linetext>b</linetext><url>u</url></link>", n)
		}},
		{"long links in scriptingNews", 300_000, func(n int) string {
			return "<scriptingNews><item><text>" + strings.Repeat("a ", n) + "</text>" + strings.Repeat("<link><linetext>"+strings.Repeat("a ", n/200)+"b</linetext><url>u</url></link>", 100)
		}},
	}
}

func hostileJSON() []hostile {
	return []hostile{
		{"JSON: deep arrays", 1_500_000, many(inJSON, "[", "")},
		{"JSON: deep objects", 400_000, many(inJSON, `{"a":`, "")},
		{"JSON: deep arrays with ends", 700_000, func(n int) string { return inJSON + `{"_x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}]}" }},
		{"JSON: unterminated strings", 800_000, many(inJSON, `{"a`, "")},
		{"JSON: one long unterminated string", 4_000_000, many(inJSON+`{"title":"`, "x", "")},
		{"JSON: escapes", 1_500_000, many(inJSON+`{"title":"`, `\n`, "")},
		{"JSON: single surrogates", 500_000, many(inJSON+`{"title":"`, `\ud83d`, "")},
		{"JSON: broken escapes", 1_000_000, many(inJSON+`{"title":"`, `\u`, "")},
		{"JSON: empty items", 600_000, many(inJSON, "{},", "")},
		{"JSON: keys of one item", 200_000, each(inJSON+"{", `"k%d":1,`, "}]}")},
		{"JSON: one repeated key", 200_000, many(inJSON+"{", `"title":"a",`, "}]}")},
		{"JSON: tags", 300_000, each(inJSON+`{"tags":[`, `"t%d",`, "]}]}")},
		{"JSON: attachments", 100_000, each(inJSON+`{"attachments":[`, `{"url":"u%d"},`, "]}]}")},
		{"JSON: authors", 100_000, each(inJSON+`{"authors":[`, `{"name":"u%d"},`, "]}]}")},
		{"JSON: commas", 3_000_000, many(inJSON, ",", "")},
		{"JSON: stray closing brackets", 3_000_000, many(inJSON, "]}", "")},
		{"JSON: a long number", 3_000_000, many(inJSON+`{"id":`, "1", "}]}")},
		{"JSON: comments", 1_000_000, many(inJSON, "/*", "")},
	}
}

// TestParseTimeIsLinear compares the time to parse one document of size 2n with the time
// to parse a document of size n twice, alternately. Other programs disturb both measurements
// alike. The fastest run of each counts. Linear time has the ratio 2, quadratic time 4.
func TestParseTimeIsLinear(t *testing.T) {
	fulltest.Long(t)
	// The timing of the garbage collector is unrelated to the parser.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	shapes := slices.Concat(hostileMarkup(), hostileText(), hostileLists(), hostileNames(), hostileJSON())
	for name, limits := range map[string]feed.Limits{
		"with limits":    {Bytes: -1},
		"without limits": {Bytes: -1, Items: -1, Depth: 1000, Attributes: math.MaxInt, Unknown: math.MaxInt, Problems: 1000},
	} {
		for _, s := range shapes {
			ratio := growth(s, &feed.Options{URL: "http://h.example/a/b", Limits: limits})
			if ratio >= 2.5 {
				t.Errorf("%s, %s: time(2n)/time(n) = %.1f", s.name, name, ratio)
			}
		}
	}
}

const (
	runs    = 5
	plain   = 2.2 // below this ratio two runs are enough
	tries   = 6
	notable = time.Millisecond // minimum duration of a measurement
	plenty  = 4 * time.Second  // after this much CPU time there is no further try
	maxDoc  = 4 << 20
)

// growth returns time(2n)/time(n). It repeats a measurement above the limit with larger
// documents: an effect of cache sizes then disappears, and quadratic growth remains.
func growth(s hostile, o *feed.Options) (ratio float64) {
	n := s.n / 32
	small := s.doc(n)
	for read(o, small) < notable && len(small) < maxDoc {
		n *= 2
		small = s.doc(n)
	}
	for range tries {
		small, large := s.doc(n), s.doc(2*n)
		work := cputime.Of(func() { ratio = grow(small, large, 2, o) })
		if ratio < 2.5 || work > plenty {
			break
		}
		n *= 2
	}
	if ratio >= 2.5 { // repeat: quadratic growth remains, and effects of other programs disappear
		ratio = min(ratio, grow(s.doc(n), s.doc(2*n), 2, o))
	}
	// Quadratic growth also remains over three doublings, few of which cross a cache size, and
	// in every repetition. The effect of other programs on the caches varies between the tries.
	for try := 0; try < tries && ratio >= 2.5; try++ {
		ratio = min(ratio, math.Cbrt(grow(s.doc(n/4), s.doc(2*n), 8, o)))
	}
	return ratio
}

// grow compares the time to parse small that many times with the time to parse large, which is
// longer by the factor times. It returns time(large)/time(small).
func grow(small, large string, times int, o *feed.Options) float64 {
	many, once := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	smalls := slices.Repeat([]string{small}, times)
	for i := range runs {
		many = min(many, read(o, smalls...))
		once = min(once, read(o, large))
		if i > 0 && float64(once) < plain/2*float64(many) {
			break
		}
	}
	if once < notable {
		return 1 // a limit stopped the parser early
	}
	return float64(times) * float64(once) / float64(many)
}

// read returns the CPU time to parse the documents.
func read(o *feed.Options, docs ...string) time.Duration {
	var bodies [][]byte
	for _, d := range docs {
		bodies = append(bodies, []byte(d))
	}
	runtime.GC()
	return cputime.Of(func() {
		for _, body := range bodies {
			// Some documents are not feeds; this must be detected quickly too.
			_, _ = feed.ParseBytes(body, o)
		}
	})
}
