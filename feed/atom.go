package feed

import "strings"

// atomFeed reads Atom 1.0, 0.3 and the versions between them.
//
// spec:datafeeds-2006#atom
func (p *parser) atomFeed() {
	p.f.Format = Atom
	switch version := strings.TrimSpace(p.attr("version")); {
	case strings.HasSuffix(p.ns, "w3.org/2005/atom"):
		p.f.Version, p.atom = "1.0", true
	case version != "":
		p.f.Version, p.atom = version, true
		if version != "0.1" && version != "0.2" && version != "0.3" {
			p.problem(ProblemVersion, p.r.Offset(), "Atom has no version "+quote(version)+"; the feed is read as Atom 0.3.")
		}
	case p.ns == "purl.org/atom/ns":
		p.f.Version, p.atom = "0.3", true
	default:
		p.atom = true
		p.problem(ProblemVersion, p.r.Offset(), "The feed does not declare the namespace http://www.w3.org/2005/Atom; it is read as Atom 1.0.")
	}
	if p.r.Local == "entry" { // the root element of a document may be a single entry
		p.readItem()
		return
	}
	p.f.Attrs = p.foreignAttrs()
	p.r.Siblings(p.entryName(), p.r.Depth())
	s := feedSlots(p.f)
	p.each(func() { p.channelElement(s) })
	if p.f.Link == "" && isWeb(p.f.ID) {
		p.f.Link = p.f.ID
	}
}

// entryName returns the name of the entry element in this document.
func (p *parser) entryName() string {
	name := p.r.Name
	return name[:len(name)-len("feed")] + "entry"
}
