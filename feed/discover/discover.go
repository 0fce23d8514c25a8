// Package discover finds the feeds of a web page. It reads link elements, the Link headers of the
// response and plain links that look like feeds. If it finds none, it tries the usual URLs of
// feeds. It also reads the hubs that a page or a feed declares, and the URL that it declares as its
// own (self).
//
// Start with [HTML], which only parses a document, or [Find], which sends requests. The
// first link of a [Result] is the best feed to subscribe to without asking the user.
//
// # Interoperability
//
// Pages are tokenized as in browsers, in linear time, and can be malformed:
//   - rel is a list of words in upper or lower case.
//   - The first base element applies to the whole page, wherever it is.
//   - URLs can contain spaces, backslashes and the scheme feed:.
//   - An alternate of type application/json is a feed only if its URL looks like one,
//     because weblog programs use the same type for their APIs.
//   - Hubs and self are read only in the head of a page: the body can contain comments of
//     visitors.
package discover

import (
	"net/http"
	"net/url"
	"slices"

	"cloudburst/internal/charset"
)

// Limits on the work that one document can cause.
const (
	maxLinks  = 256  // links that a page declares as feeds
	maxGuess  = 64   // links that only look like feeds
	maxHubs   = 16   // hubs of one document
	maxURL    = 4096 // bytes of a URL
	maxTitle  = 200  // characters of a title
	maxAttrs  = 32   // attributes of one element
	maxValues = 64   // links of all Link headers
)

// Format is the family of formats that a feed belongs to.
type Format string

// The formats that this package distinguishes. The zero Format means a feed of unknown
// format: only its URL, or a type as general as text/xml, is known.
const (
	RSS           Format = "rss" // 0.91 to 2.0
	RDF           Format = "rdf" // RSS 0.90 and 1.0
	Atom          Format = "atom"
	JSON          Format = "json"
	CDF           Format = "cdf"
	ScriptingNews Format = "scriptingnews"
	Redirect      Format = "redirect" // a document that states the new URL of a feed
	OPML          Format = "opml"
)

// Kind is the purpose of a feed.
type Kind string

// The kinds of feeds.
const (
	Main     Kind = "feed"
	Comments Kind = "comments" // comments of visitors
	Outline  Kind = "outline"  // a list in OPML, such as a blogroll
)

// From names the place where a feed was found.
type From string

// Places where feeds are found, the most reliable first.
const (
	FromDocument  From = "document"   // the document is a feed itself
	FromHeader    From = "header"     // a Link header
	FromLink      From = "link"       // a link element
	FromAnchor    From = "anchor"     // an a or area element
	FromWellKnown From = "well-known" // a usual URL of feeds, verified by [Find]
)

// Cloud is the cloud element of a feed, as written.
type Cloud struct {
	Domain            string `json:"domain,omitempty"`
	Port              string `json:"port,omitempty"`
	Path              string `json:"path,omitempty"`
	RegisterProcedure string `json:"registerProcedure,omitempty"`
	Protocol          string `json:"protocol,omitempty"`
}

// Result contains the feeds, hubs and related URLs that a document declares.
type Result struct {
	URL    string   `json:"url,omitempty"`    // URL of the document
	Base   string   `json:"base,omitempty"`   // base URL of relative references, if it differs from URL
	Format Format   `json:"format,omitempty"` // format of the document, if it is a feed itself
	Links  []Link   `json:"links"`            // main feeds, then comments, outlines and guesses
	Hubs   []string `json:"hubs,omitempty"`   // targets of rel=hub (WebSub), those in headers first
	Self   string   `json:"self,omitempty"`   // target of rel=self
	Cloud  *Cloud   `json:"cloud,omitempty"`
	// Refresh is the target of an immediate redirect by a meta element.
	Refresh string `json:"refresh,omitempty"`
	// Cut is true if the document has more links than the limits allow.
	Cut bool `json:"cut,omitempty"`
}

// Best returns the feed to subscribe to if the user does not choose one.
func (r *Result) Best() (l Link, ok bool) {
	if len(r.Links) == 0 {
		return Link{}, false
	}
	return r.Links[0], true
}

// Sure reports whether the document or its headers declare a feed. Otherwise the document only
// links to URLs that look like feeds.
func (r *Result) Sure() bool {
	return slices.ContainsFunc(r.Links, func(l Link) bool { return !l.Guess })
}

// HTML finds the feeds that a document declares. address is its URL after redirects and
// header the header of its response, of which HTML uses Link and Content-Type; both can
// be empty. If the document is a feed itself, it is the first link of the result. HTML
// never fails: without any feed, the Result has no links.
func HTML(doc []byte, address string, header http.Header) Result {
	return Text(charset.Decode(doc, header.Get("Content-Type")).Text, address, header)
}

// Text is like [HTML] for a document that is already decoded to UTF-8. Of header, it uses Link
// only.
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

// Header finds feeds, hubs and self in the Link headers of a response.
func Header(h http.Header, address string) Result {
	c := newCollector(address)
	c.header(h)
	return c.result()
}

// found is a link whose URL is not resolved yet, because a base element may follow.
type found struct {
	Link
	ref  string
	base bool // its URL is relative to the base element of the page
	weak bool // counts only if its resolved URL looks like a feed
	text bool // only the text of the link looks like a feed, so its host must be that of the page
	xml  bool // has a general XML type: counts unless its URL looks like another kind of file
}

// collector collects the links of one document.
type collector struct {
	own   *url.URL // URL of the document; nil if unknown
	res   Result
	found []found
	guess int
	hubs  []found
	self  []found
	base  string // href of the base element
	moved string // target of the first redirecting meta element
}

func newCollector(address string) *collector {
	c := &collector{res: Result{URL: address}}
	if u, ok := parseURL(nil, address); ok && u.Host != "" {
		c.own = u
	}
	return c
}

// add adds a link unless the limit is reached.
func (c *collector) add(f found) {
	limit := maxLinks
	if f.Guess {
		c.guess++
		limit = maxGuess
	}
	if f.Guess && c.guess > limit || !f.Guess && len(c.found)-c.guess >= limit {
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

// result resolves, merges and sorts the collected links.
func (c *collector) result() Result {
	base := c.own
	if u, ok := parseURL(c.own, c.base); ok && c.base != "" {
		base = u
		if c.res.Base = u.String(); c.own != nil && c.res.Base == c.own.String() {
			c.res.Base = ""
		}
	}
	c.res.Links = []Link{} // encode as an empty list in JSON, not as null
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

// resolve returns the absolute URL of a link, or "" if the URL cannot be fetched.
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

// counts reports whether a link is a feed, judged by its resolved URL.
func (c *collector) counts(f found) bool {
	u, err := url.Parse(f.URL)
	if err != nil {
		return false
	}
	if c.own != nil && f.URL == c.own.String() {
		return false // the page links to itself, usually by an empty href
	}
	switch {
	case f.text:
		// The text is the weakest sign: a link "RSS" may also lead to an explanation of RSS.
		return looksLikeFeed(u) || c.own != nil && u.Host == c.own.Host && !isFile(u) && !notFeed(u)
	case f.weak:
		return looksLikeFeed(u)
	case f.xml:
		return !notFeed(u)
	}
	return true
}
