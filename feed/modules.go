package feed

import (
	"strconv"
	"strings"
)

// contentModule reads the elements of content: and xhtml:.
func (p *parser) contentModule(s *slots) bool {
	switch p.r.Local {
	case "encoded":
		return p.content(s, htmlText)
	case "body", "div":
		return p.content(s, xhtmlText)
	}
	return false
}

// module reads the smaller modules. Elements without a field are stored in Unknown.
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

// place reads the modules for places.
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
		if p.r.Local != "archive" { // a complete feed can still change, an archive cannot
			return false
		}
		f.Hints.Archive = true
		p.empty()
	case nsFeedburner:
		if p.r.Local != "browserfriendly" {
			return false
		}
		p.set(&f.Info, p.construct(plainText))
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

// syndication reads the syndication module of RSS 1.0.
//
// spec:feedstate-2007#syndication
func (p *parser) syndication() bool {
	h := &p.f.Hints
	switch p.r.Local {
	case "updateperiod":
		p.put(&h.UpdatePeriod, p.leaf())
	case "updatefrequency":
		p.put(&h.UpdateFrequency, p.leaf())
	case "updatebase":
		p.date(&h.UpdateBase, nil)
	default:
		return false
	}
	return true
}

func (p *parser) admin(s *slots) bool {
	switch p.r.Local {
	case "generatoragent":
		p.put(&orNew(s.generator).URL, p.resourceOrLeaf())
		if **s.generator == (Generator{}) {
			*s.generator = nil
		}
	case "errorreportsto":
		p.put(&p.f.ErrorReports, p.resourceOrLeaf())
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
		p.put(&o.TotalResults, p.leaf())
	case "startindex":
		p.put(&o.StartIndex, p.leaf())
	case "itemsperpage":
		p.put(&o.ItemsPerPage, p.leaf())
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
		p.put(&b.BlogRoll, p.url(p.leaf()))
	case "mysubscriptions":
		p.put(&b.MySubscriptions, p.url(p.leaf()))
	case "blink":
		p.put(&b.Blink, p.url(p.leaf()))
	case "changes":
		p.put(&b.Changes, p.url(p.leaf()))
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
		p.put(&m.Section, p.leaf())
	case "department":
		p.put(&m.Department, p.leaf())
	case "hit_parade", "hitparade":
		p.hitParade(m)
	default:
		return false
	}
	return true
}

func (p *parser) hitParade(m *More) {
	text := p.leaf()
	whole := true
	for v := range strings.SplitSeq(text, ",") {
		if n, ok := atoi(v); ok && len(m.HitParade) < 100 {
			m.HitParade = appendBudgeted(&p.budget, m.HitParade, n)
		} else {
			whole = false
		}
	}
	if !whole {
		p.keepText(p.r.Name, text)
	}
}

func (p *parser) commentCount(m *More) {
	at := p.r.Offset()
	text := p.leaf()
	n, ok := atoi(text)
	switch {
	case !ok && text != "":
		p.problem(ProblemValue, at, "This number of comments is not a number: "+quote(text)+".")
		p.keepText(p.r.Name, text)
	case ok && (m.CommentCount == nil || p.counted(*m.CommentCount)):
		m.CommentCount = &n
	case ok && *m.CommentCount != n:
		p.keepText(p.r.Name, text)
	}
}

// counted reports whether one of the first links states the same number of comments.
func (p *parser) counted(n int) bool {
	const limit = 100 // maximum number of links that are compared for each number
	want := strconv.Itoa(n)
	for i := range p.item.Links[:min(len(p.item.Links), limit)] {
		if p.item.Links[i].Count == want {
			return true
		}
	}
	return false
}

func (p *parser) commentAPI() bool {
	switch p.r.Local {
	case "comment":
		p.put(&p.more().CommentAPI, p.url(p.leaf()))
	case "commentrss", "commentsrss":
		p.put(&p.more().CommentsFeed, p.url(p.leaf()))
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
		p.empty()
		p.reply(m, r)
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
	if len(m.Chapters) > 0 { // this is a further list of chapters
		return false
	}
	m.ChaptersVersion = p.attr("version")
	p.inside(func() bool {
		if p.r.Local != "chapter" || p.full(len(m.Chapters), 1000, "chapters") {
			return false
		}
		c := Chapter{Start: p.attr("start"), Title: p.attr("title"), Link: p.url(p.attr("href")), Image: p.url(p.attr("image"))}
		if text := p.leaf(); c.Title == "" {
			c.Title = text
		} else {
			p.keepText(p.r.Name, text)
		}
		m.Chapters = appendBudgeted(&p.budget, m.Chapters, c)
		return true
	})
	return true
}

func (p *parser) sourceOfFeed() bool {
	switch p.r.Local {
	case "account":
		p.account(&p.f.Accounts)
	case "self":
		v := p.url(p.leaf())
		if p.f.Self == "" {
			p.f.Self = v
		} else if p.f.Self != v {
			p.keepText(p.r.Name, v)
		}
	case "cloud":
		if v := p.url(p.leaf()); v != "" {
			p.hub("rssCloud", v)
		}
	default:
		return false
	}
	return true
}

func (p *parser) sourceOfItem() bool {
	m := p.more()
	switch p.r.Local {
	case "account":
		p.account(&m.Accounts)
	case "markdown":
		p.put(&m.Markdown, p.leaf())
	case "localtime":
		p.put(&m.LocalTime, p.leaf())
	case "outline":
		m.Outlines = appendBudgeted(&p.budget, m.Outlines, p.outline())
	case "inreplyto":
		p.reply(m, InReplyTo{Ref: p.leaf()})
	case "comments":
		sourceComments(p, m)
	default:
		return false
	}
	return true
}

// sourceComments stores the feed of comments, which is in an attribute or in the text, and their
// number.
//
// spec:source-namespace#comments
func sourceComments(p *parser, m *More) {
	at, count, text := p.attr("feedurl"), p.attr("count"), p.leaf()
	if at == "" {
		at = text
	}
	p.put(&m.CommentsFeed, p.url(at))
	if n, err := strconv.Atoi(count); err == nil && n >= 0 && m.CommentCount == nil {
		m.CommentCount = &n
	}
}

// reply stores the item that an item replies to. Many feeds declare the same reply in two modules:
// one has an identifier, and the other has further data.
func (p *parser) reply(m *More, r InReplyTo) {
	if r == (InReplyTo{}) || len(m.InReplyTo) >= 100 {
		return
	}
	for i := range m.InReplyTo {
		switch there := &m.InReplyTo[i]; {
		case r == InReplyTo{Ref: there.Ref}:
			return
		case *there == InReplyTo{Ref: r.Ref}:
			*there = r
			return
		}
	}
	m.InReplyTo = appendBudgeted(&p.budget, m.InReplyTo, r)
}

func (p *parser) account(to *[]Account) {
	a := Account{Service: p.attr("service")}
	if a.Name = p.leaf(); a != (Account{}) && !p.full(len(*to), 100, "accounts") {
		*to = appendBudgeted(&p.budget, *to, a)
	}
}

// outline reads a headline with its children.
func (p *parser) outline() Outline {
	var o Outline
	for i := range p.r.Attrs {
		a := &p.r.Attrs[i]
		if !strings.HasPrefix(a.Name, "xmlns") && !(p.inRDF && a.Name == "rdf:parseType") {
			o.Attrs = appendBudgeted(&p.budget, o.Attrs, Attr{Name: a.Name, Value: p.r.Decode(a.Raw)})
		}
	}
	p.inside(func() bool {
		if p.r.Local != "outline" {
			return false
		}
		if p.countUnknown(0) {
			o.Outlines = appendBudgeted(&p.budget, o.Outlines, p.outline())
		}
		return true
	})
	return o
}

func (p *parser) feedburner() bool {
	switch p.r.Local {
	case "origlink":
		p.put(&p.more().OriginalLink, p.url(p.leaf()))
	case "origenclosurelink":
		p.put(&p.more().OriginalMedia, p.url(p.leaf()))
	default:
		return false
	}
	return true
}

// publishing reads the elements of the Atom Publishing Protocol (RFC 5023).
func (p *parser) publishing() bool {
	switch p.r.Local {
	case "edited":
		p.date(&p.more().Edited, nil)
	case "control":
		p.inside(func() bool {
			if p.r.Local != "draft" {
				return false
			}
			switch v := p.leaf(); {
			case strings.EqualFold(v, "yes"):
				p.more().Draft = true
			case !strings.EqualFold(v, "no"):
				p.keepText(p.r.Name, v)
			}
			return true
		})
	default:
		return false
	}
	return true
}
