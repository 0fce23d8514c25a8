package feed

import (
	"strconv"
	"strings"
)

// contentModule reads content: and xhtml:.
func (p *parser) contentModule(s *slots) bool {
	switch p.r.Local {
	case "encoded":
		return p.content(s, htmlText)
	case "body", "div":
		return p.content(s, xhtmlText)
	}
	return false
}

// module reads the smaller modules. What has no field is kept as it is.
func (p *parser) module(s *slots) bool {
	if n, known := p.place(s); known {
		return n
	}
	switch s.level {
	case ofFeed:
		return p.feedModule(s)
	case ofItem:
		return p.itemModule(s)
	}
	return false
}

// place reads the modules that name places.
func (p *parser) place(s *slots) (read, known bool) {
	switch p.r.Space {
	case nsGeoRSS, nsGML, nsGeo:
		switch s.level {
		case ofFeed:
			return p.geo(&p.f.Where), true
		case ofItem:
			return p.geo(&p.more().Where), true
		}
	}
	return false, false
}

func (p *parser) feedModule(s *slots) bool {
	f := p.f
	switch p.r.Space {
	case nsSY:
		return p.syndication()
	case nsAdmin:
		return p.admin(s)
	case nsLicense, nsCC:
		return p.licenseModule(s)
	case nsOpenSearch:
		return p.search()
	case nsBlogChannel:
		return p.blogChannel()
	case nsSource:
		return p.sourceOfFeed()
	case nsHistory:
		if p.r.Local != "complete" && p.r.Local != "archive" {
			return false
		}
		f.Hints.Archive = true
		p.r.Skip()
	case nsFeedburner:
		if p.r.Local != "browserfriendly" {
			return false
		}
		f.Info = p.construct(plainText)
	default:
		return false
	}
	return true
}

func (p *parser) itemModule(s *slots) bool {
	switch p.r.Space {
	case nsRSSCloud:
		if p.r.Local != "item" {
			return false
		}
		p.nestedItem()
		return true
	case nsSlash:
		return p.slash()
	case nsWFW:
		return p.commentAPI()
	case nsThr:
		return p.threading()
	case nsLicense, nsCC:
		return p.licenseModule(s)
	case nsPSC:
		return p.chapters()
	case nsSource:
		return p.sourceOfItem()
	case nsFeedburner:
		return p.feedburner()
	case nsApp:
		return p.publishing()
	}
	return false
}

// syndication reads RSS 1.0's module of that name.
//
// spec:feedstate-2007#syndication
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

func (p *parser) admin(s *slots) bool {
	switch p.r.Local {
	case "generatoragent":
		if v := p.resourceOrLeaf(); v != "" && *s.generator == nil {
			*s.generator = &Generator{URL: v}
		}
	case "errorreportsto":
		p.f.ErrorReports = p.resourceOrLeaf()
	default:
		return false
	}
	return true
}

func (p *parser) licenseModule(s *slots) bool {
	if p.r.Local != "license" {
		return false
	}
	v := p.resourceOrLeaf()
	p.license(s, v)
	return true
}

func (p *parser) search() bool {
	o := orNew(&p.f.Search)
	switch p.r.Local {
	case "totalresults":
		o.TotalResults = p.leaf()
	case "startindex":
		o.StartIndex = p.leaf()
	case "itemsperpage":
		o.ItemsPerPage = p.leaf()
	default:
		if *o == (Search{}) {
			p.f.Search = nil
		}
		return false
	}
	return true
}

func (p *parser) blogChannel() bool {
	b := orNew(&p.f.BlogChannel)
	switch p.r.Local {
	case "blogroll":
		b.BlogRoll = p.url(p.leaf())
	case "mysubscriptions":
		b.MySubscriptions = p.url(p.leaf())
	case "blink":
		b.Blink = p.url(p.leaf())
	case "changes":
		b.Changes = p.url(p.leaf())
	default:
		if *b == (BlogChannel{}) {
			p.f.BlogChannel = nil
		}
		return false
	}
	return true
}

func (p *parser) slash() bool {
	m := p.more()
	switch p.r.Local {
	case "comments":
		p.commentCount(m)
	case "section":
		m.Section = p.leaf()
	case "department":
		m.Department = p.leaf()
	case "hit_parade", "hitparade":
		for v := range strings.SplitSeq(p.leaf(), ",") {
			if n, ok := atoi(v); ok && len(m.HitParade) < 100 {
				m.HitParade = kept(&p.budget, m.HitParade, n)
			}
		}
	default:
		return false
	}
	return true
}

func (p *parser) commentCount(m *More) {
	at := p.r.Offset()
	text := p.leaf()
	if n, ok := atoi(text); ok {
		m.CommentCount = &n
	} else if text != "" {
		p.problem(ProblemValue, at, "This number of comments is no number: "+quote(text)+".")
	}
}

func (p *parser) commentAPI() bool {
	switch p.r.Local {
	case "comment":
		p.more().CommentAPI = p.url(p.leaf())
	case "commentrss", "commentsrss":
		p.more().CommentsFeed = p.url(p.leaf())
	default:
		return false
	}
	return true
}

func (p *parser) threading() bool {
	m := p.more()
	switch p.r.Local {
	case "in-reply-to":
		r := InReplyTo{Ref: p.attr("ref"), Href: p.url(p.attr("href")), Type: p.attr("type"), Source: p.url(p.attr("source"))}
		p.r.Skip()
		if r != (InReplyTo{}) && len(m.InReplyTo) < 100 {
			m.InReplyTo = kept(&p.budget, m.InReplyTo, r)
		}
	case "total":
		p.commentCount(m)
	default:
		return false
	}
	return true
}

func (p *parser) chapters() bool {
	if p.r.Local != "chapters" {
		return false
	}
	m := p.more()
	p.each(func() {
		if p.r.Local == "chapter" && len(m.Chapters) < 1000 {
			m.Chapters = kept(&p.budget, m.Chapters, Chapter{
				Start: p.attr("start"), Title: p.attr("title"), Link: p.url(p.attr("href")), Image: p.url(p.attr("image")),
			})
		}
		p.r.Skip()
	})
	return true
}

func (p *parser) sourceOfFeed() bool {
	switch p.r.Local {
	case "account":
		p.f.Accounts = kept(&p.budget, p.f.Accounts, p.account())
	case "self":
		v := p.url(p.leaf())
		if p.f.Self == "" {
			p.f.Self = v
		}
	case "cloud":
		p.hub("rssCloud", p.url(p.leaf()))
	case "localtime":
		return false
	default:
		return false
	}
	return true
}

func (p *parser) sourceOfItem() bool {
	m := p.more()
	switch p.r.Local {
	case "account":
		m.Accounts = kept(&p.budget, m.Accounts, p.account())
	case "markdown":
		m.Markdown = p.leaf()
	case "localtime":
		m.LocalTime = p.leaf()
	case "outline":
		m.Outlines = kept(&p.budget, m.Outlines, p.outline())
	case "inreplyto":
		if v := p.leaf(); v != "" {
			m.InReplyTo = kept(&p.budget, m.InReplyTo, InReplyTo{Ref: v})
		}
	default:
		return false
	}
	return true
}

func (p *parser) account() Account {
	a := Account{Service: p.attr("service")}
	a.Name = p.leaf()
	return a
}

// outline reads a headline and those under it.
func (p *parser) outline() Outline {
	var o Outline
	for i := range p.r.Attrs {
		a := &p.r.Attrs[i]
		if !strings.HasPrefix(a.Name, "xmlns") {
			o.Attrs = kept(&p.budget, o.Attrs, Attr{Name: a.Name, Value: p.r.Decode(a.Raw)})
		}
	}
	p.each(func() {
		if p.r.Local == "outline" && p.strange(0) {
			o.Outlines = kept(&p.budget, o.Outlines, p.outline())
		}
	})
	return o
}

func (p *parser) feedburner() bool {
	switch p.r.Local {
	case "origlink":
		p.more().OriginalLink = p.url(p.leaf())
	case "origenclosurelink":
		p.more().OriginalMedia = p.url(p.leaf())
	default:
		return false
	}
	return true
}

// publishing reads the elements of the Atom Publishing Protocol (RFC 5023).
func (p *parser) publishing() bool {
	switch p.r.Local {
	case "edited":
		p.date(&p.more().Edited)
	case "control":
		p.each(func() {
			if p.r.Local == "draft" {
				p.more().Draft = strings.EqualFold(p.leaf(), "yes")
			}
		})
	default:
		return false
	}
	return true
}

// seconds reads a duration: seconds, MM:SS or HH:MM:SS; 0 for anything else.
func seconds(s string) int {
	total := 0
	for part := range strings.SplitSeq(strings.TrimSpace(s), ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || n < 0 || n > 1e7 {
			return 0
		}
		if total = total*60 + int(n); total > 1e9 {
			return 0
		}
	}
	return total
}
