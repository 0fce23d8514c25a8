package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// rss reads RSS 0.91 to 0.94 and 2.0.
//
// spec:datafeeds-2006#rss-versions
func (p *parser) rss() {
	p.f.Format = RSS
	version, _ := p.r.AttrLocal("version")
	p.f.Version = strings.TrimSpace(version)
	at, root := p.r.Offset(), p.r.Name
	p.rssVersion(at)
	p.f.Attrs = p.foreignAttrs()
	p.r.Siblings("item", p.r.Depth())
	s := feedSlots(p.f)
	p.each(func() { p.rssTop(s) })
	switch {
	case p.stopped:
	case p.channels == 0:
		p.problemAt(ProblemMissing, p.r.Line(at), root, "There is no channel element; the content of <"+root+"> is read as the channel.")
	case p.outside > 0:
		p.problemAt(ProblemMarkup, p.r.Line(p.outside), root+"/item", "There are items outside of the channel element; they are read anyway.")
	}
}

// rssTop reads a child of the root. The elements of a channel belong into <channel>, but many
// authors put items after it.
func (p *parser) rssTop(s *slots) {
	switch {
	case p.r.Space != nsCore:
		p.channelElement(s)
	case p.r.Local == "channel":
		if p.channels > 0 {
			p.problem(ProblemMarkup, p.r.Offset(), "There is more than one channel; the items of all are read.")
			s.titleDepth = 1 << 20 // the last title counts, as for the other elements of the feed
		}
		p.channel(s)
	case p.r.Local == "item" || p.r.Local == "entry" || p.r.Local == "items":
		if p.outside == 0 {
			p.outside = p.r.Offset()
		}
		p.channelElement(s)
	case !p.core(s):
		p.wrapper(s)
	}
}

// wrapper reads an unexpected element that may enclose the feed.
func (p *parser) wrapper(s *slots) {
	if len(p.r.Attrs) > 0 {
		p.keep(s.unknown)
		return
	}
	n := Node{Name: scan.Local(p.r.Name), Prefix: scan.Prefix(p.r.Name)}
	n.Space = p.r.URI(n.Prefix)
	text, markup := p.r.Leaf()
	if markup {
		p.each(func() { p.rssTop(s) })
		return
	}
	if p.unknown++; p.unknown <= p.o.Limits.Unknown {
		n.Text = text
		*s.unknown = append(*s.unknown, n)
	}
}

// channel reads <channel>.
func (p *parser) channel(s *slots) {
	if lang := p.r.Lang(); lang != "" && p.f.Language == "" {
		p.f.Language = dashed(lang)
	}
	p.channels++
	p.f.Base = p.base().String()
	p.r.Siblings("item", p.r.Depth())
	p.cdfAttributes(s)
	p.f.Attrs = append(p.f.Attrs, p.foreignAttrs()...)
	if about := unfolded(p.rdfAttr("about")); about != "" && p.f.ID == "" {
		p.f.ID, s.names.id = about, "rdf:about"
	}
	p.each(func() { p.channelElement(s) })
	p.r.Siblings("item", p.r.Depth())
}

// listed reads <items>: a list of references in RSS 1.0, and the items themselves in RSS 1.1. Some
// feeds in other formats also have an element around all items.
func (p *parser) listed() {
	p.r.Siblings("item", p.r.Depth())
	p.each(func() {
		switch {
		case p.r.Space == nsCore && p.r.Local == "item":
			p.readItem()
		case p.r.Space == nsRDF:
			p.listed()
			p.r.Siblings("item", p.r.Depth())
		}
	})
}

// channelElement reads an item, or an element of the feed.
func (p *parser) channelElement(s *slots) {
	switch {
	case p.r.Space != nsCore:
		p.element(s)
	case p.r.Local == "item" || p.r.Local == "entry":
		p.readItem()
	case p.r.Local == "channel" && p.f.Format == CDF: // a channel inside the channel, with items of its own
		p.cdfPart(p.readItem)
	case p.r.Local == "channel" && p.f.Format == RSS: // the start tag is written twice
		p.each(func() { p.channelElement(s) })
	case p.r.Local == "items": // a table of contents in RDF; in some feeds, an element around all items
		p.listed()
		p.r.Siblings("item", p.r.Depth())
	default:
		p.element(s)
	}
}

// rssVersion checks the version and distinguishes the two formats called 0.91.
func (p *parser) rssVersion(at int) {
	f := p.f
	switch f.Version {
	case "0.91":
		f.Variant = "userland"
		if strings.Contains(strings.ToLower(p.r.DocType()), "netscape") {
			f.Variant = "netscape"
		}
	case "0.90", "0.92", "0.93", "0.94", "2.0", "2.01", "2.0.1":
	case "":
		p.problem(ProblemVersion, at, "The rss element has no version attribute; the feed is read as RSS 2.0.")
	default:
		p.problem(ProblemVersion, at, "RSS has no version "+short(f.Version)+"; the feed is read as RSS 2.0.")
	}
}

// rssChannelAsRoot reads a feed whose root element is <channel>, without <rss>.
func (p *parser) rssChannelAsRoot() {
	p.f.Format = RSS
	p.problem(ProblemVersion, p.r.Offset(), "The rss element around the channel is missing.")
	p.channel(feedSlots(p.f))
	p.rest(func() { p.rssTop(feedSlots(p.f)) })
}

// rssItemAsRoot reads items that no feed element encloses.
func (p *parser) rssItemAsRoot() {
	p.f.Format = RSS
	p.problem(ProblemVersion, p.r.Offset(), "There is an item without the rss and channel elements around it.")
	p.readItem()
	p.rest(func() { p.rssTop(feedSlots(p.f)) })
}

// rest reads further elements at the top level of a document that has several.
func (p *parser) rest(use func()) {
	for !p.stopped {
		switch p.next() {
		case scan.Start:
			use()
			p.r.SkipTo(0)
		case scan.EOF:
			return
		}
	}
}
