package feed

import (
	"slices"
	"strconv"
	"strings"

	"cloudburst/internal/scan"
)

// linkElement reads <link>. Its URL is in its text or in an attribute.
func (p *parser) linkElement(s *slots) {
	at := p.r.Offset()
	var l Link
	if len(p.r.Attrs) > 0 {
		l = Link{
			Rel: strings.ToLower(strings.TrimSpace(p.attr("rel"))), Type: strings.ToLower(strings.TrimSpace(unfolded(p.attr("type")))), Title: p.attr("title"),
			Language: p.attr("hreflang"), Length: p.attr("length"),
		}
		l.Href = p.hrefAttr()
		for _, a := range p.r.Attrs {
			if prefix := scan.Prefix(a.Name); prefix != "" && spaceOf(prefix, p.r.URI(prefix)) == nsThr {
				l.Count, l.Updated = p.attr(prefix+":count"), p.attr(prefix+":updated")+p.attr(prefix+":when")
				break
			}
		}
	}
	if strings.Contains(l.Href, "://") && !isWeb(l.Href) { // another scheme such as at://, in addition to the link to a web page
		if text := unampersand(p.leaf()); isWeb(text) {
			l.Href = text
		}
	} else if l.Href != "" {
		p.r.Skip()
	} else if _, empty := p.r.Attr("href"); empty { // an empty reference means the document itself
		p.r.Skip()
		l.Href = p.base().String()
	} else {
		l.Href = unampersand(p.leaf())
	}
	if l.Rel = strings.TrimPrefix(l.Rel, "http://www.iana.org/assignments/relation/"); l.Rel == "" { // RFC 4287 §4.2.7.2: the IRI means the same as the name
		l.Rel = "alternate"
	}
	if l.Href = strings.TrimSpace(l.Href); l.Href == "" {
		return
	}
	l.Href = p.url(l.Href)
	if l.Rel == "enclosure" && s.level == ofItem {
		p.addEnclosure(Enclosure{URL: l.Href, Type: l.Type, Length: p.count(l.Length, at, "length"), Title: l.Title})
		return
	}
	p.addLink(s, l)
}

// addLink stores a link in the list of links, and in the field for its relation.
func (p *parser) addLink(s *slots, l Link) {
	switch l.Rel {
	case "alternate":
		if isPage(l.Type) || *s.link == "" && (l.Type == plainText || strings.HasPrefix(l.Type, htmlText)) {
			*s.link = l.Href
		}
	case "replies":
		if s.level == ofItem {
			p.replies(l)
		}
	case "self", "hub", "next", "license":
		p.feedLink(s, l)
	}
	*s.links = p.links.add(*s.links, l)
}

// isPage reports the media types of web pages, including the short forms of Atom.
func isPage(mediaType string) bool {
	switch mediaType {
	case "", htmlText, xhtmlText, "html", "xhtml":
		return true
	}
	return false
}

// feedLink stores a link in the field for its relation.
func (p *parser) feedLink(s *slots, l Link) {
	switch {
	case l.Rel == "license" && s.level == ofItem:
		p.more().Licenses = appendBudgeted(&p.budget, p.more().Licenses, l.Href)
	case s.level != ofFeed:
		if l.Rel == "self" && s.level == ofSource {
			p.item.Source.URL = l.Href
		}
	case l.Rel == "license":
		p.f.Licenses = appendBudgeted(&p.budget, p.f.Licenses, l.Href)
	case l.Rel == "self":
		p.f.Self = l.Href
	case l.Rel == "next":
		p.f.Next = l.Href
	case l.Rel == "hub":
		p.hub("WebSub", l.Href)
	}
}

// maxHubs is the maximum number of hubs of a feed that are stored. Subscribers do not use more.
const maxHubs = 100

// hub adds a hub unless the feed already has it.
func (p *parser) hub(kind, url string) {
	h := Hub{Type: kind, URL: url}
	if len(p.f.Hubs) < maxHubs && !slices.Contains(p.f.Hubs, h) {
		p.f.Hubs = append(p.f.Hubs, h)
	}
}

// replies stores a link to the comments of an item. By RFC 4685 §4, a link without a type leads to
// an Atom feed.
func (p *parser) replies(l Link) {
	m := p.more()
	if n, err := strconv.Atoi(l.Count); err == nil && m.CommentCount == nil {
		m.CommentCount = &n
	}
	switch {
	case l.Type != "" && isPage(l.Type):
		if m.Comments == "" {
			m.Comments = l.Href
		}
	case m.CommentsFeed == "":
		m.CommentsFeed = l.Href
	}
}

// hrefAttr returns the URL in the attributes of the current element, under any common name.
func (p *parser) hrefAttr() string {
	if len(p.r.Attrs) == 0 {
		return ""
	}
	for _, name := range [...]string{"href", "url", "uri"} {
		if v := p.attr(name); v != "" {
			return v
		}
	}
	return p.rdfAttr("resource")
}

// unampersand decodes &amp;amp;, an ampersand that was escaped twice, which is common in links.
func unampersand(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "&amp;", "&")
}

// unfolded joins the lines of a URL or media type, because pages that display feeds break long
// lines.
func unfolded(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

func isWeb(s string) bool {
	const plain, safe = "http://", "https://"
	return strings.HasPrefix(s, plain) || strings.HasPrefix(s, safe) ||
		len(s) > len(safe) && s[0] == 'H' && (strings.EqualFold(s[:len(plain)], plain) || strings.EqualFold(s[:len(safe)], safe))
}

// category reads a category. The term is in an attribute or in the text.
func (p *parser) category(s *slots, scheme string) {
	c := Category{Scheme: scheme}
	if len(p.r.Attrs) > 0 {
		c.Term, c.Label = p.attr("term"), p.attr("label")
		if v := p.attr("scheme"); v != "" {
			c.Scheme = v
		} else if v := p.attr("domain"); v != "" {
			c.Scheme = v
		}
	}
	text := p.leaf()
	if c.Term == "" {
		c.Term, text = text, ""
	}
	if c.Term != "" || c.Scheme != scheme || c.Label != "" {
		p.tag(s, c)
	}
	if text != "" {
		p.tag(s, Category{Term: text})
	}
}

// tag adds a category unless the list already has it.
func (p *parser) tag(s *slots, c Category) {
	if s.categories == nil || c == (Category{}) {
		return
	}
	if n := len(*s.categories); (n < 1000 || !p.tagged(s.categories, c)) && !p.full(n, 1000, "categories") && !p.tagged(s.categories, c) {
		*s.categories = p.subjects.add(*s.categories, c)
	}
}

// tagged reports whether a list contains a category. For a long list it uses a map.
func (p *parser) tagged(list *[]Category, c Category) bool {
	const few = 32
	if len(*list) < few {
		return slices.Contains(*list, c)
	}
	if p.tagsOf != list {
		p.tagsOf, p.tags = list, make(map[Category]struct{}, 2*few)
		for _, have := range *list {
			p.tags[have] = struct{}{}
		}
	}
	n := len(p.tags)
	p.tags[c] = struct{}{}
	return len(p.tags) == n
}
