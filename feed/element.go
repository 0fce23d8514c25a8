package feed

import "strings"

// element reads the current element into its field. All XML formats use it, because authors mix
// formats, and an element has the same meaning in each of them.
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

// core reads the elements that RSS and Atom themselves define.
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
		depth := p.r.Depth()
		p.setSummary(s, p.construct(plainText), depth)
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
		p.date(s.published, &s.names.published)
	case "updated", "modified", "lastbuilddate", "lastmod":
		p.date(s.updated, &s.names.updated)
	case "created":
		return p.otherDate(s, func(m *More) *Date { return &m.Created }, &p.f.Created)
	case "expirationdate":
		return p.otherDate(s, func(m *More) *Date { return &m.Expires }, nil)
	default:
		return false
	}
	return true
}

// otherDate reads a date into a field of More, which of returns.
func (p *parser) otherDate(s *slots, of func(*More) *Date, atFeed *Date) bool {
	switch {
	case s.level == ofItem:
		p.date(of(p.more()), nil)
	case s.level == ofFeed && atFeed != nil:
		p.date(atFeed, nil)
	default:
		return false
	}
	return true
}

func (p *parser) corePerson(s *slots) bool {
	switch p.r.Local {
	case "author", "managingeditor":
		mergeAuthor(p, s, p.person())
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
		if *to != nil && **to != who {
			p.keepElement((*to).line(), "url", (*to).URL, "image", (*to).Avatar)
		}
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

// title stores the first title that is not empty; a title of the item itself takes precedence over
// a title in a group.
func (p *parser) title(s *slots) {
	depth := p.r.Depth()
	t := p.construct(plainText)
	switch same := s.title.Value == t.Value; {
	case s.title.Value == "":
	case s.titleDepth <= depth:
		if !same {
			p.keepText(p.r.Name, t.Value)
		}
		return
	case s.titleDepth < borrowed && !same:
		p.keepText(p.r.Name, s.title.Value)
	}
	*s.title = t
	if s.titleDepth = 0; t.Value != "" {
		s.titleDepth = depth
	}
}

// summary reads a description or summary. If there is a second one, it is the content, because
// authors with a short and a long text use both elements, in either order.
func (p *parser) summary(s *slots, kind string) {
	depth := p.r.Depth()
	settle(p, s)
	t := itemText(p, kind, s.level == ofItem && s.summary.Value == "")
	switch {
	case s.level != ofItem || s.summary.Value == "" || s.summaryDepth > depth:
		p.setSummary(s, t, depth)
	case t.Value == "" || t.Value == s.summary.Value:
	case len(*s.content) == 0 && s.summaryDepth == depth:
		if t.Type == htmlText && strings.IndexByte(t.Value, '<') < 0 && strings.IndexByte(t.Value, '&') < 0 {
			t.Type = plainText
		}
		p.addContent(s, t)
	case s.summaryDepth == depth:
		p.setSummary(s, t, depth)
	default:
		p.keepText(p.r.Name, t.Value)
	}
}

// setSummary stores the summary of the current element.
func (p *parser) setSummary(s *slots, t Text, depth int) {
	settle(p, s)
	if t.Value == "" && s.summary.Value != "" {
		return
	}
	if t.Value != s.summary.Value && s.summaryDepth < borrowed {
		p.keepText(s.names.summary, s.summary.Value)
	}
	*s.summary, s.summaryDepth, s.names.summary = t, depth, p.r.Name
}

func (p *parser) abstract(s *slots) {
	depth := p.r.Depth()
	t := p.construct(plainText)
	if s.level != ofFeed || s.summary.Value == "" {
		p.setSummary(s, t, depth)
	} else if t.Value != s.summary.Value {
		p.keepText(p.r.Name, t.Value)
	}
}

// content reads one form of an item's content.
func (p *parser) content(s *slots, kind string) bool {
	if s.content == nil {
		return false
	}
	if strings.HasPrefix(p.attr("type"), "multipart/") { // multipart content of Atom 0.3 contains the same text in several media types
		p.inside(func() bool { return p.r.Space == nsCore && p.r.Local == "content" && p.content(s, kind) })
		return true
	}
	p.addContent(s, itemText(p, kind, true))
	return true
}

func (p *parser) addContent(s *slots, t Text) {
	if s.content != nil && (t.Value != "" || t.Src != "") {
		*s.content = p.texts.add(*s.content, t)
	}
}

// feedOnly reads elements that only feeds have.
func (p *parser) feedOnly(s *slots) bool {
	f := p.f
	switch p.r.Local {
	case "language":
		p.language(s, &f.Language)
	case "image":
		p.image()
	case "logo":
		if v := p.url(p.leaf()); v != "" && (f.Image == nil || f.Image.URL == "") {
			orNew(&f.Image).URL = v
		} else if v != "" && v != f.Image.URL {
			p.keepText(p.r.Name, v)
		}
	case "icon":
		p.put(&f.Icon, p.url(p.leaf()))
	case "textinput":
		p.textInput(&f.TextInput)
	case "cloud":
		p.cloud()
	case "generator":
		p.generator(s)
	case "info":
		p.set(&f.Info, p.construct(plainText))
	case "docs":
		p.put(&f.Docs, p.url(p.leaf()))
	case "rating":
		p.put(&f.Rating, p.leaf())
	case "errorreportsto":
		p.put(&f.ErrorReports, p.leaf())
	case "where":
		return p.geo(&f.Where)
	default:
		return p.hint()
	}
	return true
}

// hint reads the elements that declare when to check the feed again.
func (p *parser) hint() bool {
	h := &p.f.Hints
	switch p.r.Local {
	case "ttl":
		p.put(&h.TTL, p.leaf())
	case "skiphours":
		p.skips(&h.SkipHours)
	case "skipdays":
		p.skips(&h.SkipDays)
	default:
		return false
	}
	return true
}

// skips reads hours or days. Each has an element of its own, or all are in one text.
func (p *parser) skips(to *[]string) {
	text, markup := p.r.Leaf()
	if !markup {
		for _, v := range strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || c == ',' || c == ';' }) {
			if !p.full(len(*to), 100, "hours or days") {
				*to = append(*to, v)
			}
		}
		return
	}
	p.each(func() {
		if v := p.leaf(); v != "" && !p.full(len(*to), 100, "hours or days") {
			*to = append(*to, v)
		}
	})
}

// itemOnly reads elements that only items have.
func (p *parser) itemOnly(s *slots) bool {
	switch p.r.Local {
	case "source":
		return p.source()
	case "comments":
		p.put(&p.more().Comments, p.url(p.leaf()))
	case "language":
		p.language(s, &p.more().Language)
	case "textinput":
		p.textInput(&p.more().TextInput)
	case "image":
		return p.itemImage()
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
	return true
}

// itemImage reads the image of an item. If there are several images, the first counts.
func (p *parser) itemImage() bool {
	img := new(Image)
	if have := p.more().Image; have != nil {
		if have.URL != "" {
			return false
		}
		*img = *have
	}
	if p.imageInto(img); *img != (Image{}) {
		p.more().Image = img
	}
	return true
}

// language reads a language. The language of a feed may already be known from the document or
// the header.
func (p *parser) language(s *slots, to *string) {
	v := dashed(p.leaf())
	switch {
	case v == "":
		return
	case s.level == ofFeed && s.language == "":
		*to = v
	default:
		p.put(to, v)
	}
	s.language = v
}

func (p *parser) sourceOnly(s *slots) bool {
	src := p.item.Source
	switch p.r.Local {
	case "generator":
		p.generator(s)
	case "icon":
		p.put(&src.Icon, p.url(p.leaf()))
	case "logo":
		p.put(&src.Logo, p.url(p.leaf()))
	default:
		return false
	}
	return true
}
