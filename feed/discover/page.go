package discover

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// page reads an HTML page token by token.
func (c *collector) page(text string) {
	p := pageReader{c: c, z: html.NewTokenizer(strings.NewReader(text)), head: true}
	xml := strings.HasPrefix(text, "<?xml")
	for {
		switch tt := p.z.Next(); tt {
		case html.ErrorToken:
			p.endAnchor()
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			p.start()
			if xml && tt == html.SelfClosingTagToken {
				p.z.NextIsNotRawText() // in XHTML, <title/> is a complete element without text
			}
		case html.EndTagToken:
			p.end()
		case html.TextToken:
			if p.anchor != nil && len(p.words) < maxTitle {
				p.words = append(p.words, p.z.Text()...)
			}
		}
	}
}

// pageReader holds the state of reading a page.
type pageReader struct {
	c        *collector
	z        *html.Tokenizer
	head     bool   // no element of the body has begun
	template int    // depth of template elements, whose content is not part of the page
	anchor   *found // the a element that is open
	rels     []string
	words    []byte // the text of this a element
}

// attrs contains the attributes that matter. If an attribute is repeated, the first one counts.
type attrs struct {
	rel, href, typ, title, lang, alt, label string
	hasHref                                 bool
}

func (p *pageReader) attrs(more bool) (a attrs) {
	for n := 0; more && n < maxAttrs; n++ {
		var key, val []byte
		key, val, more = p.z.TagAttr()
		var to *string
		switch string(key) {
		case "rel":
			to = &a.rel
		case "href":
			to, a.hasHref = &a.href, true
		case "type":
			to = &a.typ
		case "title":
			to = &a.title
		case "hreflang":
			to = &a.lang
		case "alt":
			to = &a.alt
		case "aria-label":
			to = &a.label
		default:
			continue
		}
		if *to == "" && len(val) <= maxURL {
			*to = string(val)
		}
	}
	return a
}

func (p *pageReader) start() {
	tag, more := p.z.TagName()
	name := string(tag) // copy the name, because the tokenizer overwrites tag
	switch name {
	case "template":
		p.template++
	case "html", "head", "title", "script", "style", "noscript", "basefont", "bgsound":
	case "link", "base":
		if p.template == 0 {
			p.element(name, p.attrs(more))
		}
	case "meta":
		if p.template == 0 && p.c.moved == "" {
			p.c.moved = p.refresh(more)
		}
	case "a", "area":
		p.head = false
		p.endAnchor()
		if p.template == 0 {
			p.startAnchor(name, p.attrs(more))
		}
	case "img":
		p.head = false
		if p.anchor != nil {
			p.words = append(p.words, ' ')
			p.words = append(p.words, p.attrs(more).alt...)
		}
	default:
		p.head = false
	}
	if name == "noscript" {
		// Read the content of noscript: its links count, because feed readers run no scripts.
		p.z.NextIsNotRawText()
	}
}

func (p *pageReader) end() {
	switch tag, _ := p.z.TagName(); string(tag) {
	case "head":
		p.head = false
	case "template":
		p.template = max(p.template-1, 0)
	case "a":
		p.endAnchor()
	}
}

// element handles a link or base element.
func (p *pageReader) element(name string, a attrs) {
	if !a.hasHref {
		return
	}
	if name == "base" {
		// spec:html-2024#base
		if p.c.base == "" && clean(a.href) != "" {
			p.c.base = a.href
		}
		return
	}
	rels := strings.Fields(strings.ToLower(a.rel))
	// spec:websub-2018#head-only
	if p.head {
		for _, rel := range rels {
			switch rel {
			case "hub":
				p.c.addHub(a.href, true)
			case "self":
				if len(p.c.self) < maxHubs {
					p.c.self = append(p.c.self, found{ref: a.href, base: true})
				}
			}
		}
	}
	// spec:datafeeds-2006#autodiscovery
	f, ok := declared(rels, a.typ)
	if !ok {
		return
	}
	f.ref, f.base, f.From, f.Title, f.Language = a.href, true, FromLink, a.title, a.lang
	p.c.add(f)
}

// startAnchor stores an a or area element until its text has been read.
func (p *pageReader) startAnchor(name string, a attrs) {
	if clean(a.href) == "" || strings.HasPrefix(a.href, "#") {
		return
	}
	p.rels, p.words = strings.Fields(strings.ToLower(a.rel)), p.words[:0]
	p.anchor = &found{Link: Link{From: FromAnchor, Type: a.typ, Title: a.title, Language: a.lang}, ref: a.href, base: true}
	if p.anchor.Title == "" {
		p.anchor.Title = a.label
	}
	if name == "area" {
		p.words = append(p.words, a.alt...)
		p.endAnchor()
	}
}

// endAnchor classifies the a element that ends.
func (p *pageReader) endAnchor() {
	if p.anchor == nil {
		return
	}
	f := *p.anchor
	p.anchor = nil
	title, words := f.Title, string(p.words)
	if title == "" {
		title = words
	}
	name, format, class := classOf(f.Type)
	scheme, _, _ := strings.Cut(f.ref, ":")
	d, ok := declared(p.rels, f.Type)
	switch f.Type = name; {
	case ok && (d.Type != "" || slices.Contains(p.rels, "feed")):
		f.Kind, f.Format, f.Guess, f.weak, f.xml = d.Kind, d.Format, d.Guess, d.weak, d.xml
	case class == surelyFeed:
		f.Format, f.Guess = format, true
	case class == noFeed:
		return
	case isPseudoScheme(strings.TrimSpace(scheme)):
		f.Guess = true
	case isFeedWords(words) || isFeedWords(f.Title):
		f.Guess, f.text = true, true
	case mayLookLikeFeed(f.ref):
		f.Guess, f.weak = true, true
	default:
		return
	}
	f.Title = title
	p.c.add(f)
}

// mayLookLikeFeed is a fast check of an unresolved URL that rejects most links of a page.
func mayLookLikeFeed(ref string) bool {
	u, ok := parseURL(nil, ref)
	return ok && looksLikeFeed(u)
}

// isFeedWords reports whether a text can only mean a feed.
func isFeedWords(s string) bool {
	s = strings.Trim(tidy(strings.ToLower(s)), " .:!()[]«»→›")
	switch s {
	case "rss", "atom", "feed", "rss feed", "rss-feed", "rssfeed", "atom feed", "atom-feed", "web feed", "xml feed", "json feed", "news feed",
		"rss 2.0", "rss 1.0", "rss 0.91", "rss 0.92", "atom 1.0", "rdf", "rss 2", "rss2", "feed rss", "rss/atom", "rss / atom", "rss icon", "feed icon",
		"subscribe via rss", "subscribe by rss", "subscribe with rss", "subscribe (rss)", "subscribe to feed", "subscribe to rss", "subscribe to this feed",
		"entries (rss)", "entries rss", "entries feed", "posts feed", "posts rss", "posts (atom)", "comments (rss)", "comments rss", "comments feed",
		"flux rss", "fil rss", "canal rss", "rss-kanal", "rss-лента", "rss лента", "syndicate this site", "syndicate this site (xml)":
		return true
	}
	return false
}
