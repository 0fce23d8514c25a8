package feed

import (
	"math"
	"strings"

	"cloudburst/internal/scan"
)

// cdf reads the Channel Definition Format of 1997: the W3C submission and the variant of Internet
// Explorer. Elements shared with RSS are read as in RSS. A channel inside the channel is an item
// with nested items.
func (p *parser) cdf() {
	p.f.Format = CDF
	s := feedSlots(p.f)
	p.cdfAttributes(s)
	p.siblings(p.r.Depth())
	p.each(func() { p.channelElement(s) })
}

// siblings declares that the items of the channel at this depth are not nested. Many
// <ITEM> elements have no end tag, and would otherwise contain the following items.
func (p *parser) siblings(depth int) {
	name := "item"
	switch p.r.Open(depth) {
	case "CHANNEL":
		name = "ITEM"
	case "Channel":
		name = "Item"
	}
	p.r.Siblings(name, depth)
}

// cdfPart reads a channel inside another channel.
func (p *parser) cdfPart(read func()) {
	depth := p.r.Depth()
	p.siblings(depth)
	read()
	if p.r.Depth() >= depth-1 {
		p.siblings(depth - 1)
	}
}

// looksLikeCDF distinguishes a CDF <CHANNEL> from an RSS <channel> without <rss>.
func (p *parser) looksLikeCDF() bool {
	if p.r.Name == "CHANNEL" || strings.Contains(strings.ToLower(p.r.DocType()), "channel.dtd") {
		return true
	}
	for _, name := range [...]string{"href", "base", "lastmod", "level", "precache", "self", "isclonable"} {
		if _, ok := p.r.Attr(name); ok {
			return true
		}
	}
	return false
}

// cdfAttributes reads the attributes BASE, HREF and LASTMOD. Other CDF attributes are stored
// as a node with the element's name.
//
// spec:cdf-1997#attributes
func (p *parser) cdfAttributes(s *slots) {
	if len(p.r.Attrs) == 0 {
		return
	}
	at := p.r.Offset()
	if v := p.attr("base"); v != "" {
		p.setBase(v)
		if s.level == ofFeed {
			p.f.Base = p.base().String()
		}
	}
	if v := p.attr("lastmod"); v != "" {
		p.setDate(s.updated, v, at)
	}
	if v := p.attr("href"); v != "" {
		p.addLink(s, Link{Rel: "alternate", Href: p.url(v)})
	}
	if p.f.Format != CDF {
		return
	}
	var rest []Attr
	for i := range p.r.Attrs {
		switch a := &p.r.Attrs[i]; strings.ToLower(a.Name) {
		case "base", "lastmod", "href", "xml:base", "xml:lang":
		case "self":
			if s.level == ofFeed {
				p.addLink(s, Link{Rel: "self", Href: p.url(p.r.Decode(a.Raw))})
			}
		default:
			if !strings.HasPrefix(a.Name, "xmlns") && p.countUnknown(0) {
				rest = append(rest, Attr{Name: a.Name, Value: p.r.Decode(a.Raw)})
			}
		}
	}
	if rest != nil {
		*s.unknown = append(*s.unknown, Node{Name: scan.Local(p.r.Name), Attrs: rest})
	}
}

// cdfElement reads elements that are specific to CDF. It returns false for all others.
func (p *parser) cdfElement(s *slots) bool {
	switch p.r.Local {
	case "channel":
		if s.level != ofItem {
			return false
		}
		p.cdfPart(p.nestedItem)
	case "schedule":
		if s.level != ofFeed || p.f.Hints.Schedule != nil {
			return false
		}
		p.schedule()
	case "logo":
		return p.cdfLogo(s)
	case "a":
		p.cdfAnchor(s)
	case "keywords":
		p.cdfKeywords(s)
	case "introuri":
		p.cdfLink(s, "related")
	default:
		return p.cdfValue(s)
	}
	return true
}

// cdfAnchor reads <A>. It uses the URL if HREF is missing, and the text if the item has no title.
func (p *parser) cdfAnchor(s *slots) {
	href := p.attr("href")
	t := Text{Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()}
	t.Value = p.leaf()
	if href = strings.TrimSpace(href); href != "" {
		rel := "alternate"
		if *s.link != "" {
			rel = "related"
		}
		p.addLink(s, Link{Rel: rel, Href: p.url(href), Title: t.Value})
	}
	if t.Value != "" && s.title.Value == "" {
		*s.title, s.titleDepth = t, math.MaxInt // a later <TITLE> replaces this title
	}
}

func (p *parser) cdfKeywords(s *slots) {
	for word := range strings.SplitSeq(p.valueOrLeaf(), ",") {
		if word = strings.TrimSpace(word); word != "" {
			p.tag(s, Category{Term: word})
		}
	}
}

func (p *parser) cdfLink(s *slots, rel string) {
	href := p.hrefAttr()
	if v := p.valueOrLeaf(); href == "" {
		href = v
	}
	if href != "" {
		p.addLink(s, Link{Rel: rel, Href: p.url(href)})
	}
}

// valueOrLeaf reads the text of an element from the attribute VALUE, the form of the W3C
// submission, or from between its tags.
func (p *parser) valueOrLeaf() string {
	v := strings.TrimSpace(p.attr("value"))
	if text := p.leaf(); text != "" {
		return text
	}
	return v
}

// cdfValue reads the elements of the W3C submission that have an attribute VALUE. Without VALUE, it
// returns false, so that other functions read the element.
//
// spec:cdf-1997#value
func (p *parser) cdfValue(s *slots) bool {
	v, at := strings.TrimSpace(p.attr("value")), p.r.Offset()
	if p.r.Local == "ratings" || p.r.Local == "rating" {
		v = p.attr("pics-label") + v
	}
	if v == "" {
		return false
	}
	text := Text{Value: v, Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()}
	switch p.r.Local {
	case "title":
		*s.title, s.titleDepth = text, p.r.Depth()
	case "abstract":
		*s.summary = text
	case "author":
		p.addPerson(s.authors, splitPerson(v))
	case "publisher":
		p.cdfPublisher(s, splitPerson(v))
	case "copyright":
		*p.rights(s) = text
	case "publicationdate":
		p.setDate(s.published, v, at)
	case "lastmod":
		p.setDate(s.updated, v, at)
	case "category":
		p.tag(s, Category{Term: v})
	case "ratings", "rating":
		if s.level != ofFeed {
			return false
		}
		p.f.Rating = v
	default:
		return false
	}
	p.r.Skip()
	return true
}

func (p *parser) cdfPublisher(s *slots, who Person) {
	if s.level == ofItem {
		p.more().Publisher = &who
	} else if s.publisher != nil {
		*s.publisher = &who
	}
}

// cdfLogo reads one of up to three images: an icon, an image for lists and a wide image. A
// second image of the same style is stored as an unknown element.
//
// spec:cdf-1997#logo
func (p *parser) cdfLogo(s *slots) bool {
	u := p.hrefAttr()
	if u == "" {
		u = p.attr("value")
	}
	if u = strings.TrimSpace(u); u == "" {
		return false // the URL may be between the tags, as in Atom
	}
	style := strings.ToLower(p.attr("style") + p.attr("type"))
	small := style == "icon" || style == "small"
	wide := style == "image-wide" || style == "big"
	switch {
	case s.level == ofItem:
		if m := p.more(); m.Image == nil {
			m.Image = &Image{URL: p.url(u)}
		} else {
			p.keep(s.unknown)
			return true
		}
	case small && p.f.Icon == "":
		p.f.Icon = p.url(u)
	case !small && !wide && p.f.Image == nil:
		p.f.Image = &Image{URL: p.url(u)}
	default:
		p.keep(s.unknown)
		return true
	}
	p.r.Skip()
	return true
}

// schedule reads the update schedule of a channel.
//
// spec:cdf-1997#schedule
func (p *parser) schedule() {
	c := new(Schedule)
	c.StartDate = p.attr("startdate")
	if c.StopDate = p.attr("stopdate"); c.StopDate == "" {
		c.StopDate = p.attr("enddate")
	}
	zone := p.attr("timezone")
	p.each(func() {
		switch p.r.Local {
		case "intervaltime":
			c.IntervalTime = p.span()
		case "earliesttime":
			c.EarliestTime = p.span()
		case "latesttime":
			c.LatestTime = p.span()
		case "startdate":
			c.StartDate = p.valueOrLeaf()
		case "stopdate", "enddate":
			c.StopDate = p.valueOrLeaf()
		default:
			p.keep(&p.f.Unknown)
		}
	})
	if c.EarliestTime.Zone == "" {
		c.EarliestTime.Zone = zone
	}
	if c.LatestTime != (Span{}) && c.LatestTime.Zone == "" {
		c.LatestTime.Zone = zone
	}
	if *c != (Schedule{}) {
		p.f.Hints.Schedule = c
	}
}

func (p *parser) span() Span {
	t := Span{Day: p.attr("day"), Hour: p.attr("hour"), Min: p.attr("min"), Sec: p.attr("sec"), Zone: p.attr("timezone")}
	p.r.Skip()
	return t
}
