// Package feedtest generates documents that resemble feeds of the web, for tests and
// benchmarks. The same seed produces the same bytes; all texts are artificial.
//
// [Corpus] generates a collection of all kinds from 5 kB to 2 MB, [Make] one document.
package feedtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is the format and style of a document.
type Kind string

// The kinds of documents.
const (
	RSSContent Kind = "rss-content" // RSS 2.0 in the style of blogs: CDATA and content:encoded
	RSSEscaped Kind = "rss-escaped" // RSS 2.0 with escaped HTML in its descriptions
	AtomHTML   Kind = "atom-html"   // Atom with escaped HTML
	AtomXHTML  Kind = "atom-xhtml"  // Atom with inline XHTML
	RDF        Kind = "rdf"         // RSS 1.0 with Dublin Core and content:encoded
	Podcast    Kind = "podcast"     // RSS 2.0 with the namespaces of podcasts
	JSON       Kind = "json"        // JSON Feed 1.1
)

// Kinds returns all kinds in the order of Corpus.
func Kinds() []Kind {
	return []Kind{RSSContent, RSSEscaped, AtomHTML, AtomXHTML, RDF, Podcast, JSON}
}

// Document is one feed.
type Document struct {
	Name   string // unique in a corpus
	Kind   Kind
	URL    string // artificial URL of the document
	Latin1 bool   // encoded and declared as ISO-8859-1 instead of UTF-8
	Body   []byte
}

// Corpus generates a collection of all kinds and sizes: 63 documents, about 14 MB.
func Corpus(seed uint64) []Document {
	small := []int{5e3, 12e3, 25e3, 40e3, 60e3, 100e3, 180e3, 400e3}
	largest := map[Kind]int{RSSContent: 2e6, RSSEscaped: 1.5e6, AtomHTML: 1e6, AtomXHTML: 800e3, RDF: 500e3, Podcast: 1.8e6, JSON: 1e6}
	var out []Document
	for _, kind := range Kinds() {
		for _, size := range append(small[:len(small):len(small)], largest[kind]) {
			out = append(out, Make(kind, size, seed+uint64(len(out))))
		}
	}
	return out
}

// Make generates one document of about size bytes. The seed determines its language, its
// line ends and its style of quotes.
func Make(kind Kind, size int, seed uint64) Document {
	w := newWriter(kind, size, seed)
	switch kind {
	case RSSContent:
		w.rssContent()
	case RSSEscaped:
		w.rssEscaped()
	case AtomHTML, AtomXHTML:
		w.atom(kind == AtomXHTML)
	case RDF:
		w.rdf()
	case Podcast:
		w.podcast()
	case JSON:
		w.jsonFeed()
	}
	body := w.b.Bytes()
	if w.crlf {
		body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	}
	if w.latin1 {
		body = toLatin1(body)
	}
	return Document{
		Name: fmt.Sprintf("%s-%dk-%d", kind, size/1000, seed), Kind: kind, URL: w.site + "/feed", Latin1: w.latin1, Body: body,
	}
}

func toLatin1(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r > 0xff {
			r = '?'
		}
		out, text = append(out, byte(r)), text[n:]
	}
	return out
}

// writer holds the state of generating one document.
type writer struct {
	b       bytes.Buffer
	rnd     *rand.Rand
	size    int
	lang    language
	english []string // words for URLs, which are always English
	site    string   // URL of the site: http://… without a trailing slash
	now     time.Time
	items   int
	crlf    bool
	latin1  bool
	quotes  bool // escaped HTML contains &quot; instead of "
	xhtml   bool // HTML is well-formed, without named entities
	summary bool // items have a summary in addition to the content
	long    int  // approximate number of paragraphs of an item
}

func newWriter(kind Kind, size int, seed uint64) *writer {
	w := &writer{rnd: rand.New(rand.NewPCG(seed, 0x66656564)), size: size}
	all := languages()
	w.lang, w.english = all[0], all[0].words
	if w.chance(55) {
		w.lang = pick(w, all)
	}
	w.crlf = kind != JSON && w.chance(12)
	w.quotes = w.chance(30)
	w.xhtml = kind == AtomXHTML
	w.summary = w.chance(50)
	w.long = 2 + w.rnd.IntN(9)
	if size < 20e3 {
		w.long = 2
	}
	if w.lang.latin1 && w.lang.tag != "en" && kind != JSON && w.chance(25) {
		w.latin1 = true
	}
	w.site = fmt.Sprintf("https://%s%d.example", pick(w, []string{"blog", "www.news", "log", "daily", "notes"}), w.rnd.IntN(1000))
	w.now = time.Date(2024, 3, 1, 9, 30, 0, 0, time.UTC).Add(time.Duration(w.rnd.IntN(500*86400)) * time.Second)
	return w
}

// encoding returns the encoding name of the XML declaration.
func (w *writer) encoding() string {
	if w.latin1 {
		return "ISO-8859-1"
	}
	return pick(w, []string{"UTF-8", "utf-8"})
}

// more starts an item and returns true, until the document has its size.
func (w *writer) more() bool {
	if w.b.Len() >= w.size-500 && w.items > 0 {
		return false
	}
	w.items++
	w.now = w.now.Add(-time.Duration(600+w.rnd.IntN(3*86400)) * time.Second)
	return true
}

// chance returns true with a probability of percent.
func (w *writer) chance(percent int) bool { return w.rnd.IntN(100) < percent }

func pick[T any](w *writer, from []T) T { return from[w.rnd.IntN(len(from))] }

// printf writes lines. It does not escape texts.
func (w *writer) printf(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
}

// link returns the URL of the current item.
func (w *writer) link() string {
	return fmt.Sprintf("%s/%d/%02d/%s-%d", w.site, w.now.Year(), w.now.Month(), w.slug(), w.items)
}

// slug returns a part of a URL: English words in every language.
func (w *writer) slug() string {
	var s []string
	for range 2 + w.rnd.IntN(4) {
		s = append(s, pick(w, w.english))
	}
	return strings.Join(s, "-")
}

func (w *writer) rfc822() string {
	if w.chance(20) {
		return w.now.Format("Mon, 02 Jan 2006 15:04:05 GMT")
	}
	return w.now.Format("Mon, 02 Jan 2006 15:04:05 +0000")
}

func (w *writer) iso() string { return w.now.Format("2006-01-02T15:04:05Z07:00") }
