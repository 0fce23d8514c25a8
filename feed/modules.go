package feed

// contentModule reads content: and xhtml:.
func (p *parser) contentModule(s *slots) bool {
	switch p.r.Local {
	case "encoded":
		p.content(s, p.construct(htmlText))
	case "body", "div":
		if s.level != ofItem {
			return false
		}
		p.content(s, p.construct(xhtmlText))
	default:
		return false
	}
	return true
}

// module reads the smaller modules.
func (p *parser) module(s *slots) bool {
	switch p.r.Space {
	case nsSY:
		return s.level == ofFeed && p.syndication()
	case nsRSSCloud:
		if p.r.Local == "item" && s.level == ofItem {
			p.nestedItem()
			return true
		}
	}
	return false
}

// syndication reads RSS 1.0's module of that name.
//
// spec:feedstate-2007#sy
func (p *parser) syndication() bool {
	h := &p.f.Hints
	switch p.r.Local {
	case "updateperiod":
		h.UpdatePeriod = p.leaf()
	case "updatefrequency":
		h.UpdateFrequency = p.leaf()
	case "updatebase":
		p.date(&h.UpdateBase)
	default:
		return false
	}
	return true
}

func (p *parser) media(s *slots) bool   { return false }
func (p *parser) itunes(s *slots) bool  { return false }
func (p *parser) podcast(s *slots) bool { return false }
