package feed

import "strings"

// element reads the current element into where it belongs. It is the same for all the
// XML formats: authors mix them, and an element means what it means wherever it is.
func (p *parser) element(s *slots) {
	known := false
	switch p.r.Space {
	case nsCore:
		known = p.core(s)
	case nsDC, nsDCTerms:
		known = p.dublinCore(s)
	case nsContent, nsXHTML:
		known = p.contentModule(s)
	case nsMedia:
		known = p.media(s)
	case nsITunes:
		known = p.itunes(s)
	case nsPodcast:
		known = p.podcast(s)
	default:
		known = p.module(s)
	}
	if !known {
		p.keep(s.unknown)
	}
}

// core reads the elements of RSS and Atom themselves.
func (p *parser) core(s *slots) bool {
	return p.f.Format == CDF && p.cdfElement(s) || p.coreText(s) || p.coreLink(s) || p.coreDate(s) || p.corePerson(s) ||
		s.level == ofFeed && p.feedOnly(s) || s.level == ofItem && p.itemOnly(s) ||
		s.level == ofSource && p.sourceOnly(s)
}

func (p *parser) coreText(s *slots) bool {
	switch p.r.Local {
	case "title":
		p.title(s)
	case "description":
		p.summary(s, htmlText)
	case "summary":
		if s.level == ofFeed && s.summary.Value != "" {
			return false
		}
		p.summary(s, plainText)
	case "abstract":
		p.abstract(s)
	case "subtitle", "tagline":
		if s.level == ofItem {
			return false
		}
		p.set(s.summary, p.construct(plainText))
	case "rights", "copyright":
		p.set(p.rights(s), p.construct(plainText))
	case "content":
		return p.content(s, plainText)
	case "fullitem":
		return p.content(s, htmlText)
	case "body":
		return p.content(s, xhtmlText)
	case "category", "keywords":
		p.category(s, "")
	case "tags":
		for term := range strings.SplitSeq(p.leaf(), ",") {
			p.tag(s, Category{Term: strings.TrimSpace(term)})
		}
	default:
		return false
	}
	return true
}

func (p *parser) coreLink(s *slots) bool {
	switch p.r.Local {
	case "link", "a":
		p.linkElement(s)
	case "guid", "id":
		p.guid(s)
	case "enclosure":
		p.enclosure(s)
	default:
		return false
	}
	return true
}

func (p *parser) coreDate(s *slots) bool {
	switch p.r.Local {
	case "pubdate", "published", "issued":
		p.date(s.published)
	case "updated", "modified", "lastbuilddate", "lastmod":
		p.date(s.updated)
	case "created":
		return p.otherDate(s, func(m *More) *Date { return &m.Created }, &p.f.Created)
	case "expirationdate":
		return p.otherDate(s, func(m *More) *Date { return &m.Expires }, nil)
	default:
		return false
	}
	return true
}

// otherDate reads a date that items have among the rare things.
func (p *parser) otherDate(s *slots, of func(*More) *Date, atFeed *Date) bool {
	switch {
	case s.level == ofItem:
		p.date(of(p.more()))
	case s.level == ofFeed && atFeed != nil:
		p.date(atFeed)
	default:
		return false
	}
	return true
}

func (p *parser) corePerson(s *slots) bool {
	switch p.r.Local {
	case "author", "managingeditor":
		p.addPerson(s.authors, p.person())
	case "contributor":
		p.addPerson(s.contributors, p.person())
	case "webmaster":
		return p.publisher(s)
	default:
		return false
	}
	return true
}

func (p *parser) publisher(s *slots) bool {
	to := s.publisher
	switch {
	case s.level == ofItem:
		to = &p.more().Publisher
	case to == nil:
		return false
	}
	if who := p.person(); who != (Person{}) {
		*to = &who
	}
	return true
}

func (p *parser) rights(s *slots) *Text {
	if s.level == ofItem {
		return &p.more().Rights
	}
	return s.rights
}

// set stores a text, unless it is empty and there is one already.
func (p *parser) set(to *Text, t Text) {
	if t.Value != "" || to.Value == "" {
		*to = t
	}
}

// title keeps the first one that is not empty; one further out counts more than one
// in a group of its own.
func (p *parser) title(s *slots) {
	depth := p.r.Depth()
	t := p.construct(plainText)
	if s.title.Value != "" && s.titleDepth <= depth {
		return
	}
	*s.title = t
	if s.titleDepth = 0; t.Value != "" {
		s.titleDepth = depth
	}
}

// summary reads a description or summary. A second one is the content: authors who
// have a short and a long text use both elements for them, in either order.
func (p *parser) summary(s *slots, kind string) {
	depth := p.r.Depth()
	t := p.construct(kind)
	switch {
	case s.level != ofItem || s.summary.Value == "" || s.summaryDepth > depth:
		p.set(s.summary, t)
		s.summaryDepth = depth
	case t.Value == "" || t.Value == s.summary.Value:
	case len(*s.content) == 0 && s.summaryDepth == depth:
		if t.Type == htmlText && strings.IndexByte(t.Value, '<') < 0 && strings.IndexByte(t.Value, '&') < 0 {
			t.Type = plainText
		}
		p.addContent(s, t)
	case s.summaryDepth == depth:
		p.set(s.summary, t)
	}
}

func (p *parser) abstract(s *slots) {
	t := p.construct(plainText)
	if s.level != ofFeed || s.summary.Value == "" {
		p.set(s.summary, t)
	}
}

// content reads one of the forms of an item.
func (p *parser) content(s *slots, kind string) bool {
	if s.content == nil {
		return false
	}
	p.addContent(s, p.construct(kind))
	return true
}

func (p *parser) addContent(s *slots, t Text) {
	if s.content != nil && (t.Value != "" || t.Src != "") {
		*s.content = p.texts.add(*s.content, t)
	}
}

// feedOnly reads what only a feed has.
func (p *parser) feedOnly(s *slots) bool {
	f := p.f
	switch p.r.Local {
	case "language":
		if v := p.leaf(); v != "" {
			f.Language = strings.ReplaceAll(v, "_", "-")
		}
	case "image":
		p.image()
	case "logo":
		if v := p.url(p.leaf()); v != "" && (f.Image == nil || f.Image.URL == "") {
			orNew(&f.Image).URL = v
		}
	case "icon":
		f.Icon = p.url(p.leaf())
	case "textinput":
		p.textInput(&f.TextInput)
	case "cloud":
		p.cloud()
	case "generator":
		p.generator(s)
	case "info":
		f.Info = p.construct(plainText)
	case "docs":
		f.Docs = p.url(p.leaf())
	case "rating":
		f.Rating = p.leaf()
	case "errorreportsto":
		f.ErrorReports = p.leaf()
	case "where":
		return p.geo(&f.Where)
	default:
		return p.hint()
	}
	return true
}

// hint reads when to read the feed again.
func (p *parser) hint() bool {
	h := &p.f.Hints
	switch p.r.Local {
	case "ttl":
		h.TTL = p.leaf()
	case "skiphours":
		p.skips(&h.SkipHours)
	case "skipdays":
		p.skips(&h.SkipDays)
	default:
		return false
	}
	return true
}

// skips reads hours or days: an element each, or all in one text.
func (p *parser) skips(to *[]string) {
	text, markup := p.r.Leaf()
	if !markup {
		for _, v := range strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || c == ',' || c == ';' }) {
			if len(*to) < 100 {
				*to = append(*to, v)
			}
		}
		return
	}
	p.each(func() {
		if v := p.leaf(); v != "" && len(*to) < 100 {
			*to = append(*to, v)
		}
	})
}

// itemOnly reads what only an item has.
func (p *parser) itemOnly(s *slots) bool {
	switch p.r.Local {
	case "source":
		p.source()
	case "comments":
		p.more().Comments = p.url(p.leaf())
	case "language":
		p.more().Language = strings.ReplaceAll(p.leaf(), "_", "-")
	case "textinput":
		p.textInput(&p.more().TextInput)
	case "image":
		img := new(Image)
		p.imageInto(img)
		if *img != (Image{}) {
			p.more().Image = img
		}
	case "item":
		p.nestedItem()
	case "channel":
		if p.f.Format != CDF {
			return false
		}
		p.nestedItem()
	case "where":
		return p.geo(&p.more().Where)
	default:
		return false
	}
	_ = s
	return true
}

func (p *parser) sourceOnly(s *slots) bool {
	src := p.item.Source
	switch p.r.Local {
	case "generator":
		p.generator(s)
	case "icon":
		src.Icon = p.url(p.leaf())
	case "logo":
		src.Logo = p.url(p.leaf())
	default:
		return false
	}
	return true
}
