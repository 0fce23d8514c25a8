package feed

// rdf reads RSS 0.90 and 1.0, in which the items stand beside the channel.
//
// spec:datafeeds-2006#rdf
func (p *parser) rdf() {
	p.f.Format = RSS
	switch p.ns {
	case "my.netscape.com/rdf/simple/0.9", "channel.netscape.com/rdf/simple/0.9":
		p.f.Version = "0.90"
	case "purl.org/rss/1.0":
		p.f.Version = "1.0"
	case "purl.org/net/rss1.1":
		p.f.Version = "1.1"
	default:
		p.problem(ProblemVersion, p.r.Offset(), "The document does not declare the namespace of RSS 1.0 or 0.90.")
	}
	p.r.Siblings("item", 2)
	s := feedSlots(p.f)
	p.each(func() { p.rdfTop(s) })
}

// rdfTop reads an element right within rdf:RDF.
func (p *parser) rdfTop(s *slots) {
	if p.r.Space == nsCore && p.r.Local == "channel" {
		if p.ns == "" { // declared further in
			p.version("", p.r.URI(""))
		}
		p.channel(s)
		return
	}
	if p.r.Space == nsCC {
		p.r.Skip() // the text of a licence; the channel names it
		return
	}
	p.channelElement(s)
}
