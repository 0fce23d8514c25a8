package feed

import (
	"strings"

	"cloudburst/internal/scan"
)

// rdf reads RSS 0.90 and 1.0, in which items are siblings of the channel.
//
// spec:datafeeds-2006#rdf
func (p *parser) rdf() {
	p.f.Format, p.inRDF = RSS, true
	at, root := p.r.Offset(), p.r.Name
	p.f.Version = rdfVersion(p.r.URI(""))
	p.r.Siblings("item", p.r.Depth())
	s := feedSlots(p.f)
	p.each(func() { p.rdfTop(s) })
	if p.f.Version != "" {
		return
	}
	if p.channels == 0 && len(p.f.Items) == 0 { // the document is not a feed: RDF has many other uses
		p.foreign = true
		return
	}
	p.problemAt(ProblemVersion, p.r.Line(at), root, "The document does not declare the namespace of RSS 1.0 or 0.90.")
}

// rdfTop reads a child element of rdf:RDF.
func (p *parser) rdfTop(s *slots) {
	if p.f.Version == "" {
		p.f.Version = rdfVersion(p.r.URI(scan.Prefix(p.r.Name)))
	}
	if p.r.Space == nsCore && p.r.Local == "channel" {
		p.channel(s)
		return
	}
	if p.r.Local == "br" { // <br> of HTML has no end tag, so the following elements are not its content
		p.each(func() { p.rdfTop(s) })
		return
	}
	if p.r.Space == nsCC {
		p.keep(&p.f.Unknown) // the element is the text of a licence, to which the channel refers
		return
	}
	p.channelElement(s)
}

// rss11 reads RSS 1.1, whose root is the channel.
func (p *parser) rss11() {
	p.f.Format, p.f.Version, p.inRDF = RSS, "1.1", true
	p.channel(feedSlots(p.f))
}

// rdfVersion returns the version of RSS with this namespace, or "".
func rdfVersion(uri string) string {
	switch bareURI(uri) {
	case "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9":
		return "0.90"
	case "purl.org/rss/1.0":
		return "1.0"
	case "purl.org/net/rss1.1":
		return "1.1"
	}
	return ""
}

// XMLExtension is the namespace of the element xml. Package render uses this element in RSS 1.0 for
// elements that have no other form there. Its content is read like elements of other formats.
//
// spec:rdfxml-2014#item-properties
const XMLExtension = "urn:x-cloudburst:extension"

// isExtension reports whether the current element is the element xml of XMLExtension.
func (p *parser) isExtension() bool {
	return p.r.Local == "xml" && p.r.URI(scan.Prefix(p.r.Name)) == XMLExtension
}

// rdfAttr returns the RDF attribute with this local name, about or resource. The attribute is found
// with any prefix or none, because RDF documents do not always use rdf.
func (p *parser) rdfAttr(local string) string {
	for k := range p.r.Attrs {
		a := &p.r.Attrs[k]
		if len(a.Name) < len(local) || !strings.EqualFold(a.Name[len(a.Name)-len(local):], local) {
			continue
		}
		switch prefix := scan.Prefix(a.Name); {
		case len(a.Name) == len(local) && !p.inRDF, prefix != "" && len(prefix)+1+len(local) != len(a.Name):
		case prefix == "" && len(a.Name) != len(local):
		case prefix == "" || strings.EqualFold(prefix, "rdf") || p.r.SpaceOf(prefix) == nsRDF:
			return p.r.Decode(a.Raw)
		}
	}
	return ""
}
