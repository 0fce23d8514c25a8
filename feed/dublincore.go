package feed

import "strings"

// dublinCore reads the elements of dc: and dcterms:.
func (p *parser) dublinCore(s *slots) bool {
	switch p.r.Local {
	case "title":
		p.title(s)
	case "description":
		p.summary(s, htmlText)
	case "abstract":
		return p.dcAbstract(s)
	case "creator", "author":
		members(p, func() { p.addAuthor(s, p.dcPerson()) })
	case "contributor":
		members(p, func() { p.addPerson(s.contributors, p.dcPerson()) })
	case "publisher":
		return p.publisher(s)
	case "subject":
		members(p, func() {
			if v := p.rdfAttr("resource"); v != "" {
				p.tag(s, Category{Term: v})
			}
			p.category(s, "")
		})
	case "rights":
		p.set(p.rights(s), p.construct(plainText))
	case "license":
		p.license(s, p.resourceOrLeaf())
	case "language":
		switch s.level {
		case ofFeed:
			p.language(s, &p.f.Language)
		case ofItem:
			p.language(s, &p.more().Language)
		default:
			return false
		}
	case "date", "modified":
		p.date(s.updated, &s.names.updated)
	case "issued", "available":
		p.date(s.published, &s.names.published)
	case "created":
		return p.otherDate(s, func(m *More) *Date { return &m.Created }, &p.f.Created)
	case "valid":
		return p.valid(s)
	case "identifier":
		if *s.id != "" {
			return false
		}
		*s.id, s.names.id = p.leaf(), p.r.Name
	case "source":
		return s.level == ofItem && p.dcSource()
	default:
		return false
	}
	return true
}

// members calls use for the current element or, if the element contains a list of RDF, for each
// member of the list.
func members(p *parser, use func()) {
	if rest, empty := p.r.Unread(); empty || !startsList(p, rest) {
		use()
		return
	}
	p.each(func() { p.each(use) })
}

// startsList reports whether the content of an element starts with rdf:Seq, rdf:Bag or rdf:Alt.
func startsList(p *parser, content string) bool {
	content = strings.TrimLeft(content, " \t\r\n")
	prefix, name, _ := strings.Cut(content[:min(len(content), 100)], ":")
	prefix, tag := strings.CutPrefix(prefix, "<")
	return tag && (hasTag(name, "Seq") || hasTag(name, "Bag") || hasTag(name, "Alt")) && spaceOf(prefix, p.r.URI(prefix)) == nsRDF
}

// dcPerson reads a person by name, or by a URL in RDF.
func (p *parser) dcPerson() Person {
	url := p.url(p.rdfAttr("resource"))
	who := p.person()
	if who.URL == "" {
		who.URL = url
	}
	return who
}

// resourceOrLeaf returns the rdf:resource of an element, or its text.
func (p *parser) resourceOrLeaf() string {
	v := p.rdfAttr("resource")
	if text := p.leaf(); v == "" {
		v = text
	}
	return v
}

// valid reads dcterms:valid, whose text has the form "start=…;end=…".
func (p *parser) valid(s *slots) bool {
	if s.level != ofItem {
		return false
	}
	at := p.r.Offset()
	text := p.leaf()
	whole := true
	for part := range strings.SplitSeq(text, ";") {
		switch name, value, _ := strings.Cut(part, "="); strings.TrimSpace(name) {
		case "end":
			p.setDate(&p.more().Expires, strings.TrimSpace(value), at)
		case "", "scheme":
		default: // there is no field for the start
			whole = false
		}
	}
	if !whole {
		p.keepText(p.r.Name, text)
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
		src.Title = Text{Value: v, Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()}
	default:
		p.keepText(p.r.Name, v)
	}
	return true
}

// dcAbstract stores dcterms:abstract as the summary if there is no other summary.
func (p *parser) dcAbstract(s *slots) bool {
	if settle(p, s); s.summary.Value != "" {
		return false
	}
	depth := p.r.Depth()
	p.setSummary(s, p.construct(htmlText), depth+1)
	return true
}

// license adds the URL of a licence.
func (p *parser) license(s *slots, url string) {
	switch url = p.url(url); {
	case url == "":
	case s.level == ofItem:
		p.more().Licenses = appendBudgeted(&p.budget, p.more().Licenses, url)
	case s.level == ofFeed:
		p.f.Licenses = appendBudgeted(&p.budget, p.f.Licenses, url)
	}
}
