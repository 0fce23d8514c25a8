package feed

import "strings"

// dublinCore reads the elements of dc: and dcterms:.
func (p *parser) dublinCore(s *slots) bool {
	switch p.r.Local {
	case "title":
		p.title(s)
	case "description", "abstract":
		p.summary(s, htmlText)
	case "creator", "author":
		p.addPerson(s.authors, p.dcPerson())
	case "contributor":
		p.addPerson(s.contributors, p.dcPerson())
	case "publisher":
		return p.publisher(s)
	case "subject":
		if v := p.rdfAttr("resource"); v != "" {
			p.tag(s, Category{Term: v})
		}
		p.category(s, "")
	case "rights":
		p.set(p.rights(s), p.construct(plainText))
	case "license":
		p.license(s, p.resourceOrLeaf())
	case "language":
		v := strings.ReplaceAll(p.leaf(), "_", "-")
		switch {
		case v == "":
		case s.level == ofFeed:
			p.f.Language = v
		case s.level == ofItem:
			p.more().Language = v
		}
	case "date", "modified":
		p.date(s.updated)
	case "issued", "available":
		p.date(s.published)
	case "created":
		return p.otherDate(s, func(m *More) *Date { return &m.Created }, &p.f.Created)
	case "valid":
		return p.valid(s)
	case "identifier":
		if *s.id != "" {
			return false
		}
		*s.id = p.leaf()
	case "source":
		return s.level == ofItem && p.dcSource()
	default:
		return false
	}
	return true
}

// dcPerson is somebody by name, or by an address in RDF.
func (p *parser) dcPerson() Person {
	url := p.url(p.rdfAttr("resource"))
	who := p.person()
	if who.URL == "" {
		who.URL = url
	}
	return who
}

// resourceOrLeaf is what an element refers to by rdf:resource, or its text.
func (p *parser) resourceOrLeaf() string {
	v := p.rdfAttr("resource")
	if text := p.leaf(); v == "" {
		v = text
	}
	return v
}

// valid reads dcterms:valid: "start=…;end=…".
func (p *parser) valid(s *slots) bool {
	if s.level != ofItem {
		return false
	}
	at := p.r.Offset()
	for part := range strings.SplitSeq(p.leaf(), ";") {
		if name, value, ok := strings.Cut(part, "="); ok && strings.TrimSpace(name) == "end" {
			p.setDate(&p.more().Expires, strings.TrimSpace(value), at)
		}
	}
	return true
}

func (p *parser) dcSource() bool {
	v := p.resourceOrLeaf()
	src := orNew(&p.item.Source)
	switch {
	case isWeb(v) && src.URL == "":
		src.URL = v
	case src.Title.Value == "":
		src.Title = Text{Value: v, Type: plainText}
	}
	return true
}

// license adds the address of a licence.
func (p *parser) license(s *slots, url string) {
	switch url = p.url(url); {
	case url == "":
	case s.level == ofItem:
		p.more().Licenses = kept(&p.budget, p.more().Licenses, url)
	case s.level == ofFeed:
		p.f.Licenses = kept(&p.budget, p.f.Licenses, url)
	}
}
