// Package discover finds the feeds that a web page names: by link elements, by Link
// headers of its answer and by plain links that look like feeds; and, where all of
// these are silent, under the addresses that feeds usually have. It also reads which
// hub and which own address (self) a page or a feed gives.
//
// Start with [HTML], which only looks at bytes, and [Find], which asks a server.
// What comes first in a [Result] is what a reader should subscribe to when nobody is
// there to choose.
//
// # Interoperability
//
// Pages are read as browsers read them, token by token, and never in more than
// linear time. Nothing needs to be well-formed; rel is a list of words in any case;
// the first base element holds for the whole page wherever it stands; addresses may
// have spaces, backslashes and the scheme feed:. An alternate of type
// application/json is a feed only where its address says so, because weblog programs
// give the same type to their programming interfaces. Hubs and self count in the
// head of a page alone: what stands further down may be a visitor's comment.
package discover

import (
	"net/http"
	"net/url"
	"slices"

	"cloudburst/internal/charset"
)

// Limits of what one document may make this package do.
const (
	maxLinks  = 256  // that a page says are feeds
	maxGuess  = 64   // that only look like feeds
	maxHubs   = 16   // of one document
	maxURL    = 4096 // bytes of an address
	maxTitle  = 200  // characters of a title
	maxAttrs  = 32   // attributes of one element that are looked at
	maxValues = 64   // links of all Link headers
)

// Format is the family of formats that a feed belongs to.
type Format string

// The formats that are told apart. The zero Format is a feed of which only its
// address, or a type as general as text/xml, is known.
const (
	RSS           Format = "rss" // 0.91 to 2.0
	RDF           Format = "rdf" // RSS 0.90 and 1.0
	Atom          Format = "atom"
	JSON          Format = "json"
	CDF           Format = "cdf"
	ScriptingNews Format = "scriptingnews"
	Redirect      Format = "redirect" // a document that says where the feed went
	OPML          Format = "opml"
)

// Kind says what a feed is for.
type Kind string

// The kinds of feeds.
const (
	Main     Kind = "feed"
	Comments Kind = "comments" // what visitors say
	Outline  Kind = "outline"  // a list in OPML, such as a blogroll
)

// From says where a feed was found, the surest first.
type From string

// Where feeds are found.
const (
	FromDocument  From = "document"   // the document is a feed itself
	FromHeader    From = "header"     // a Link header
	FromLink      From = "link"       // a link element
	FromAnchor    From = "anchor"     // an a or area element
	FromWellKnown From = "well-known" // an address that feeds usually have; [Find] has asked it
)

// Link is one feed.
type Link struct {
	URL      string `json:"url"` // absolute, without a fragment; as written when the page's own URL is not known
	Kind     Kind   `json:"kind"`
	Format   Format `json:"format,omitempty"`
	Type     string `json:"type,omitempty"` // media type as given, in lower case without parameters
	Title    string `json:"title,omitempty"`
	Language string `json:"language,omitempty"` // hreflang
	From     From   `json:"from"`
	// Guess is a link that nobody calls a feed: its address or its words look like one.
	Guess bool `json:"guess,omitempty"`
}

// Cloud is the cloud element of a feed, as written.
type Cloud struct {
	Domain            string `json:"domain,omitempty"`
	Port              string `json:"port,omitempty"`
	Path              string `json:"path,omitempty"`
	RegisterProcedure string `json:"registerProcedure,omitempty"`
	Protocol          string `json:"protocol,omitempty"`
}

// Result is what a document says about feeds.
type Result struct {
	URL    string   `json:"url,omitempty"`    // of the document
	Base   string   `json:"base,omitempty"`   // what relative addresses stand on, where it is another
	Format Format   `json:"format,omitempty"` // of the document, when it is a feed itself
	Links  []Link   `json:"links"`            // main feeds, then comments, outlines and guesses
	Hubs   []string `json:"hubs,omitempty"`   // rel=hub (WebSub), those of headers first
	Self   string   `json:"self,omitempty"`   // rel=self
	Cloud  *Cloud   `json:"cloud,omitempty"`
	// Refresh is where a page sends its readers to at once, by a meta element.
	Refresh string `json:"refresh,omitempty"`
	// Cut is set when the document named more links than are kept.
	Cut bool `json:"cut,omitempty"`
}

// Best is the feed to subscribe to when nobody chooses.
func (r *Result) Best() (l Link, ok bool) {
	if len(r.Links) == 0 {
		return Link{}, false
	}
	return r.Links[0], true
}

// Sure reports whether the document, or its header, calls anything a feed: as
// against links that only look like one.
func (r *Result) Sure() bool {
	return slices.ContainsFunc(r.Links, func(l Link) bool { return !l.Guess })
}

// HTML looks for feeds in a document that came from address (where redirects ended)
// with these headers; both may be empty. Of the header, Link and Content-Type count.
// A document that is no page but a feed is the first link of the result itself. It
// never fails: a document that names nothing gives a Result without links.
func HTML(doc []byte, address string, header http.Header) Result {
	return Text(charset.Decode(doc, header.Get("Content-Type")).Text, address, header)
}

// Text is [HTML] of a document that has been decoded; of the header, Link counts.
func Text(text string, address string, header http.Header) Result {
	c := newCollector(address)
	c.header(header)
	if format := sniff(text); format != "" {
		c.document(text, format)
	} else if !isJSON(text) {
		c.page(text)
	}
	return c.result()
}

// Header looks for feeds, hubs and self in the Link headers of an answer.
func Header(h http.Header, address string) Result {
	c := newCollector(address)
	c.header(h)
	return c.result()
}

// found is a link before its address is resolved: a base element may come later.
type found struct {
	Link
	ref  string
	base bool // a base element of the page holds for it
	weak bool // counts only when its address, resolved, looks like a feed
	text bool // only its words say that it is a feed: it must be of the page's own host
	xml  bool // of a general type: counts unless its address names something else
}

// collector gathers what one document says.
type collector struct {
	own   *url.URL // the document's; nil: not known
	res   Result
	found []found
	guess int
	hubs  []found
	self  []found
	base  string // href of the base element
	moved string // of the first meta element that sends readers elsewhere
}

func newCollector(address string) *collector {
	c := &collector{res: Result{URL: address}}
	if u, ok := parseURL(nil, address); ok && u.Host != "" {
		c.own = u
	}
	return c
}

// add keeps a link unless there are too many.
func (c *collector) add(f found) {
	most := maxLinks
	if f.Guess {
		c.guess++
		most = maxGuess
	}
	if f.Guess && c.guess > most || !f.Guess && len(c.found)-c.guess >= most {
		if f.Guess {
			c.guess--
		}
		c.res.Cut = true
		return
	}
	f.Title = tidy(f.Title)
	c.found = append(c.found, f)
}

func (c *collector) addHub(ref string, based bool) {
	if len(c.hubs) >= maxHubs {
		c.res.Cut = true
		return
	}
	c.hubs = append(c.hubs, found{ref: ref, base: based})
}

// result resolves, merges and orders what was gathered.
func (c *collector) result() Result {
	base := c.own
	if u, ok := parseURL(c.own, c.base); ok && c.base != "" {
		base = u
		if c.res.Base = u.String(); c.own != nil && c.res.Base == c.own.String() {
			c.res.Base = ""
		}
	}
	c.res.Links = []Link{} // an empty list in JSON, not null
	seen := map[string]int{}
	for _, f := range c.found {
		f.URL = c.resolve(base, f)
		if f.From != FromDocument && (f.URL == "" || !c.counts(f)) {
			continue
		}
		f.classify()
		if i, ok := seen[f.URL]; ok {
			c.res.Links[i].merge(f.Link)
			continue
		}
		seen[f.URL] = len(c.res.Links)
		c.res.Links = append(c.res.Links, f.Link)
	}
	slices.SortStableFunc(c.res.Links, func(a, b Link) int { return a.rank() - b.rank() })
	for _, f := range c.hubs {
		if u := c.resolve(base, f); u != "" && !slices.Contains(c.res.Hubs, u) {
			c.res.Hubs = append(c.res.Hubs, u)
		}
	}
	for _, f := range c.self {
		if c.res.Self = c.resolve(base, f); c.res.Self != "" {
			break
		}
	}
	if c.moved != "" {
		c.res.Refresh = c.resolve(base, found{ref: c.moved, base: true})
	}
	return c.res
}

// resolve gives the absolute address of a link, "" when it has none that a reader
// could fetch.
func (c *collector) resolve(base *url.URL, f found) string {
	if !f.base {
		base = c.own
	}
	u, ok := parseURL(base, f.ref)
	if !ok {
		return ""
	}
	return u.String()
}

// counts decides about links whose address must speak for them.
func (c *collector) counts(f found) bool {
	u, err := url.Parse(f.URL)
	if err != nil {
		return false
	}
	if c.own != nil && f.URL == c.own.String() {
		return false // a page that names itself, mostly by an empty href
	}
	switch {
	case f.text:
		// Words are the weakest sign: "RSS" may also link to an explanation.
		return looksLikeFeed(u) || c.own != nil && u.Host == c.own.Host && !isFile(u) && !notFeed(u)
	case f.weak:
		return looksLikeFeed(u)
	case f.xml:
		return !notFeed(u)
	}
	return true
}

// classify tells comments and outlines from main feeds, and gives a format to
// links without a type where the address ends in one.
func (f *found) classify() {
	u, err := url.Parse(f.URL)
	if err != nil {
		return
	}
	if f.Format == "" {
		f.Format = formatOf(u)
	}
	switch {
	case f.Kind != "":
	case f.Format == OPML:
		f.Kind = Outline
	case isComments(u, f.Title):
		f.Kind = Comments
	default:
		f.Kind = Main
	}
}

// merge adds what a second mention of the same address says more.
func (l *Link) merge(more Link) {
	if l.Title == "" || l.Guess && !more.Guess && more.Title != "" {
		l.Title = more.Title
	}
	if l.Type == "" {
		l.Type = more.Type
	}
	if l.Format == "" {
		l.Format = more.Format
	}
	if l.Language == "" {
		l.Language = more.Language
	}
	if l.Guess && !more.Guess {
		l.Guess, l.From = false, more.From
	}
	if l.Kind == Main && more.Kind == Comments && !more.Guess {
		l.Kind = Comments
	}
}

// rank is the place of a link in the result; links of one rank stay in the order of
// the document, headers before it.
func (l Link) rank() int {
	switch {
	case l.From == FromDocument:
		return 0
	case l.From == FromWellKnown:
		return 10
	}
	rank := 1
	switch l.Kind {
	case Comments:
		rank = 2
	case Outline:
		rank = 3
	}
	if l.Guess {
		rank += 3
	}
	if l.Guess && l.From == FromAnchor {
		rank += 3
	}
	return rank
}
