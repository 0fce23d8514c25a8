package feed

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"cloudburst/feed/discover"
	"cloudburst/internal/charset"
	"cloudburst/internal/href"
	"cloudburst/internal/scan"
)

// Default limits of a document.
const (
	defaultBytes      = 5 << 20
	defaultItems      = 1000
	defaultDepth      = 100
	defaultAttributes = 256
	defaultUnknown    = 20_000
	defaultProblems   = 100
)

// maxDepth is the upper bound of Limits.Depth. It is needed because recursive functions read trees,
// and encode and decode them as JSON.
const maxDepth = 4000

// Parse reads one document of any format. It returns everything readable and lists the
// repairs in Feed.Problems. The error is a [*NotFeedError] if the document is not a feed,
// or the error of r.
func Parse(r io.Reader, o *Options) (*Feed, error) {
	limit := defaultBytes
	if o != nil && o.Limits.Bytes != 0 {
		limit = o.Limits.Bytes
	}
	doc, err := readAll(r, encoded(limit))
	if err != nil {
		return nil, err
	}
	return ParseBytes(doc, o)
}

// encoded returns how many bytes of any encoding can contain limit bytes of UTF-8. UTF-32 needs up
// to four times as many. −1 means no limit.
func encoded(limit int) int {
	if limit < 0 || limit > 1<<40 {
		return -1
	}
	return 4*limit + 4
}

// readAll reads at most limit bytes, into one allocation if r reports its length.
func readAll(r io.Reader, limit int) ([]byte, error) {
	if sized, ok := r.(interface{ Len() int }); ok && (limit < 0 || sized.Len() <= limit) {
		doc := make([]byte, sized.Len())
		n, err := io.ReadFull(r, doc)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = nil
		}
		return doc[:n], err
	}
	if limit >= 0 {
		r = io.LimitReader(r, int64(limit))
	}
	return io.ReadAll(r)
}

// ParseBytes is like Parse for a document in memory. The feed refers to parts of doc: do
// not change doc afterwards. [Feed.Clone] makes a copy that does not refer to doc.
func ParseBytes(doc []byte, o *Options) (*Feed, error) {
	p := &parser{f: &Feed{Items: []Item{}}}
	if o != nil {
		p.o = *o
	}
	p.limits()
	if n := encoded(p.o.Limits.Bytes); n >= 0 && len(doc) > n {
		doc = doc[:n]
	}
	if looks := charset.FileType(doc); looks != "" {
		return nil, &NotFeedError{Looks: looks}
	}
	text := charset.Decode(doc, p.header("Content-Type"))
	p.f.Encoding = text.Name
	p.binary = (text.Name == "utf-8" || !strings.HasPrefix(text.Name, "utf-")) && charset.IsBinary(doc)
	for _, w := range text.Problems {
		p.problemAt(w.Kind, w.Line, "", w.Message)
	}
	if err := p.document(text.Text); err != nil {
		return nil, err
	}
	p.finish()
	return p.f, nil
}

func (p *parser) limits() {
	l := &p.o.Limits
	l.Bytes = limitOr(l.Bytes, defaultBytes)
	l.Depth = min(limitOr(l.Depth, defaultDepth), maxDepth)
	l.Attributes = limitOr(l.Attributes, defaultAttributes)
	l.Items = limitOr(l.Items, defaultItems)
	l.Unknown = limitOr(l.Unknown, defaultUnknown)
	l.Problems = limitOr(l.Problems, defaultProblems)
}

// limitOr returns the effective value of a limit n: the default other if n is 0, and practically no
// limit if n is negative.
func limitOr(n, other int) int {
	switch {
	case n == 0:
		return other
	case n < 0:
		return int(^uint(0) >> 1)
	}
	return n
}

// parser is the state of parsing one document.
type parser struct {
	r *scan.Reader
	o Options
	f *Feed

	atom        bool // the format is Atom 0.3 or 1.0, whose texts declare their type
	inRDF       bool // the format is RSS 0.90, 1.0 or 1.1
	foreign     bool // the document is not a feed
	channels    int
	outside     int // offset of the first item outside of the channel; 0: there is none
	ns          string
	bases       []openBase
	root        *href.Base
	item        *Item // current item
	nested      int   // number of items that enclose the current item
	unknown     int   // number of elements and attributes in Unknown trees
	unknownFull bool  // the problem about this limit was reported
	unreported  int   // number of problems beyond the limit
	stopped     bool
	limited     bool
	fullLists   []string // names of lists whose limit was reported
	binary      bool     // the document looks like binary data
	from        int      // offset of the first item
	half        halfPoint
	page        href.Base       // URL of the page of an item; see pageOf
	relative    [8]relativeText // texts of the current item; see itemText
	waiting     int             // number of texts in relative
	beyond      int             // number of reached limits that were listed beyond the limit of problems
	budget      budget
	dates       dateOrder
	text        string      // the document
	whole       int         // length of the complete part of text, if the limit of bytes cut it; 0: it did not
	doubled     *bool       // whether the document was encoded twice; nil: not checked yet
	tagsOf      *[]Category // the list for which the map tags was made
	tags        map[Category]struct{}
	links       slab[Link]
	people      slab[Person]
	subjects    slab[Category]
	files       slab[Enclosure]
	texts       slab[Text]

	plain      bool       // parse only to compute identities from the unchanged texts
	identities []identity // identities from the plain parse, in the order in which items end
	identified int        // number of items with an ID
	changed    bool       // the result has a text or reference that differs from the document
}

func (p *parser) header(name string) string {
	if p.o.Header == nil {
		return ""
	}
	return p.o.Header.Get(name)
}

// document parses the text of a document.
func (p *parser) document(text string) error {
	if len(text) > p.o.Limits.Bytes {
		p.problem(ProblemLimit, 0, "The document is longer than "+strconv.Itoa(p.o.Limits.Bytes)+" bytes; only its beginning is read.")
		text = text[:cut(text, p.o.Limits.Bytes)]
		p.whole = max(1, wholeLen(text))
	}
	p.within(len(text))
	p.text = text
	p.root = href.New(p.o.URL)
	if where := p.header("Content-Location"); where != "" {
		p.root = p.root.Child(where)
	}
	if looksLikeJSON(text) {
		return p.json(text)
	}
	if looksLikeMCF(text) {
		return p.mcfText(text)
	}
	return p.xml(text)
}

// wholeLen returns the length of the part of a cut document that precedes an incomplete tag, text,
// comment or CDATA section at its end.
func wholeLen(text string) int {
	n := strings.LastIndexByte(text, '>') + 1
	for _, c := range [...][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}} {
		if i := strings.LastIndex(text, c[0]); i >= 0 && !strings.Contains(text[i:], c[1]) {
			n = min(n, i)
		}
	}
	return n
}

// cut returns the last start of a character at or before n.
func cut(s string, n int) int {
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return n
}

// xml finds the root element and calls the reader of its format.
func (p *parser) xml(text string) error {
	p.r = scan.New(text, scan.Options{
		Depth: p.o.Limits.Depth, Attributes: p.o.Limits.Attributes, Cut: p.whole,
		Space: p.space, Closes: closes, Problem: p.scanned,
	})
	if lang := p.header("Content-Language"); lang != "" && !strings.Contains(lang, ",") {
		p.f.Language = strings.ReplaceAll(strings.TrimSpace(lang), "_", "-")
		p.r.SetDefaultLang(p.f.Language)
	}
	root, wrapped := "", false
	for {
		switch p.next() {
		case scan.Start:
			if root == "" {
				root = p.r.Local
				if wrapped = root == "html" && wrapsFeed(text); wrapped {
					p.problem(ProblemJunk, p.r.Offset(), "The feed is inside a web page; the page around it is skipped.")
				}
			}
			if read := p.format(); read != nil {
				if lang := p.r.Lang(); lang != "" {
					p.f.Language = strings.ReplaceAll(lang, "_", "-")
				}
				p.f.Base = p.base().String()
				read()
				if p.foreign {
					return p.notFeed(text, "rdf:RDF")
				}
				if wrapped && len(p.f.Items) == 0 { // an example in a page or a script
					return p.notFeed(text, "html")
				}
				for !p.stopped && p.r.Next() != scan.EOF { // report text after the end
				}
				return nil
			}
			if !wrapped && (p.r.Depth() > 3 || looksLikeHTMLRoot(p.r.Name)) { // soap:Body is not the body of HTML
				return p.notFeed(text, root)
			}
		case scan.EOF:
			return p.notFeed(text, root)
		}
	}
}

// next reads the next event and updates the base URLs.
func (p *parser) next() scan.Kind {
	k := p.r.Next()
	if k != scan.Start {
		return k
	}
	depth := p.r.Depth()
	for n := len(p.bases); n > 0 && p.bases[n-1].depth >= depth; n-- {
		p.bases = p.bases[:n-1]
	}
	if p.r.Base != "" {
		p.setBase(p.r.Base)
	}
	return k
}

// each calls use for every child element of the current element.
func (p *parser) each(use func()) {
	depth := p.r.Depth()
	for !p.stopped {
		switch p.next() {
		case scan.Start:
			if p.inRDF && p.isExtension() {
				p.each(use) // calls p.each directly, because a closure would move variables of use to the heap
			} else {
				use()
			}
			for p.r.Depth() > depth && !p.stopped { // skip the content that use did not read
				p.r.SkipTo(depth)
			}
		case scan.End:
			if p.r.Depth() < depth {
				return
			}
		case scan.EOF:
			return
		}
	}
}

// leaf returns the text of the current element without markup. The text of child elements is
// included.
func (p *parser) leaf() string {
	text, markup := p.r.Leaf()
	if markup {
		text = p.r.InnerText()
	}
	return p.fixDoubled(text)
}

// attr returns an attribute of the current element, or "".
func (p *parser) attr(name string) string {
	v, _ := p.r.Attr(name)
	return v
}

// url resolves a reference in the current element. The reference may contain line breaks.
func (p *parser) url(ref string) string {
	ref = unfolded(ref)
	if p.o.KeepRelative || ref == "" || p.budget.over {
		return ref
	}
	if u := p.base().Resolve(ref); p.budget.take(len(u) - len(ref)) {
		p.changed = p.changed || u != ref
		return u
	}
	return ref
}

// wanted reports whether to list one more problem. Reached limits are listed even beyond the limit
// of problems, but only up to a fixed number.
func (p *parser) wanted(kind string) bool {
	return len(p.f.Problems) < p.o.Limits.Problems || kind == ProblemLimit && p.beyond < 10
}

// problem reports a problem at an offset of the document.
func (p *parser) problem(kind string, offset int, message string) {
	if !p.wanted(kind) {
		p.unreported++
		return
	}
	if p.r == nil {
		p.problemAt(kind, 0, "", message)
		return
	}
	p.problemAt(kind, p.r.Line(offset), p.path(), message)
}

// scanned records a problem of the scanner. Problems beyond the limit are only counted.
func (p *parser) scanned(kind string, offset int, message string) (more bool) {
	p.problem(kind, offset, message)
	return len(p.f.Problems) < p.o.Limits.Problems
}

func (p *parser) problemAt(kind string, line int, path, message string) {
	if kind == ProblemTruncated && p.whole > 0 {
		return
	}
	if !p.wanted(kind) {
		p.unreported++
		return
	}
	if len(p.f.Problems) >= p.o.Limits.Problems {
		p.beyond++
	}
	p.f.Problems = append(p.f.Problems, Problem{Kind: kind, Line: line, Path: path, Message: message})
}

// path returns the path of the current element, such as rss/channel/item[3]/title.
func (p *parser) path() string {
	var b strings.Builder
	const levels = 20 // maximum number of levels, which is enough for people
	for d := 1; d <= p.r.Depth(); d++ {
		if d > 1 {
			b.WriteByte('/')
		}
		if hidden := p.r.Depth() - levels; d == levels && hidden > 0 {
			b.WriteString("…/")
			d += hidden
		}
		name := p.r.Open(d)
		b.WriteString(short(name))
		if l := p.r.OpenLocal(d); p.nested == 0 && (l == "item" || l == "entry") {
			n := len(p.f.Items)
			if p.item == nil {
				n++
			}
			b.WriteString("[" + strconv.Itoa(n) + "]")
		}
	}
	return b.String()
}

// finish does the work for which the document must be complete.
func (p *parser) finish() {
	if p.f.Base == "" {
		p.f.Base = p.root.String()
	}
	p.dropHalfPoint()
	p.headerLinks(p.o.Header)
	p.orderDates()
	p.mediaType()
	p.duplicates()
	p.overBudget()
	if p.r != nil {
		p.unreported += p.r.Unreported()
	}
	if p.unreported > 0 {
		p.f.Problems = append(p.f.Problems, Problem{Kind: ProblemMore, Count: p.unreported, Message: "There are " + strconv.Itoa(p.unreported) + " more problems of these kinds."})
	}
}

// headerLinks reads hubs and the feed's own URL from the Link headers of the response.
func (p *parser) headerLinks(h http.Header) {
	if len(h["Link"]) == 0 {
		return
	}
	found := discover.Header(h, p.o.URL)
	for _, url := range found.Hubs {
		p.hub("WebSub", url)
	}
	if p.f.Self == "" {
		p.f.Self = found.Self
	}
}
