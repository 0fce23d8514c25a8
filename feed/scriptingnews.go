package feed

import (
	"cmp"
	"html"
	"slices"
	"strings"
)

// scriptingNews reads the format of UserLand's Scripting News from December 1997 on (1.0a2), and
// its version 2.0b1 of 1999. A header precedes the items. Each item is a text and a list of
// links; a link names the words of the text that it belongs to.
func (p *parser) scriptingNews() {
	p.f.Format = ScriptingNews
	if v := p.attr("version"); v != "" {
		p.f.Version = v
	}
	s := feedSlots(p.f)
	p.r.Siblings("item", p.r.Depth())
	at := p.r.Offset()
	p.each(func() {
		switch p.r.Local {
		case "header":
			p.each(func() { p.newsHeader(s) })
		case "item":
			p.readItemAs(p.newsItem)
		default:
			p.newsHeader(s)
		}
	})
	switch p.f.Version {
	case "1.0a2", "2.0b1":
	case "":
		p.problem(ProblemVersion, at, "The feed has no scriptingNewsVersion; it is read as 2.0b1.")
	default:
		p.problem(ProblemVersion, at, "scriptingNews has no version "+quote(p.f.Version)+"; the feed is read as 2.0b1.")
	}
}

// newsHeader reads an element of the header. RSS 0.91 has many of these elements too.
//
// spec:scriptingnews2-1999#header
func (p *parser) newsHeader(s *slots) {
	f := p.f
	switch p.r.Local {
	case "scriptingnewsversion":
		f.Version = p.leaf()
	case "whichchannel":
		f.ID = p.leaf()
	case "channeltitle":
		p.title(s)
	case "channeldescription":
		p.set(s.summary, p.construct(htmlText))
	case "channellink":
		if v := unampersand(p.leaf()); v != "" {
			p.addLink(s, Link{Rel: "alternate", Href: p.url(v)})
		}
	default:
		if !p.newsImage() {
			p.element(s)
		}
	}
}

// newsImage reads one of the six elements of the image.
func (p *parser) newsImage() bool {
	at := p.r.Offset()
	switch p.r.Local {
	case "imageurl", "imagetitle", "imagelink", "imagecaption", "imagewidth", "imageheight":
	default:
		return false
	}
	name, v := p.r.Local, p.leaf()
	if v == "" {
		return true
	}
	img := orNew(&p.f.Image)
	switch name {
	case "imageurl":
		img.URL = p.url(v)
	case "imagetitle":
		img.Title = v
	case "imagelink":
		img.Link = p.url(v)
	case "imagecaption":
		img.Description = v
	case "imagewidth":
		img.Width = int(p.count(v, at, "width"))
	case "imageheight":
		img.Height = int(p.count(v, at, "height"))
	}
	return true
}

// newsLink is a link of an item and the words of the text that it belongs to.
type newsLink struct{ url, words string }

// newsItem reads an item.
//
// spec:scriptingnews2-1999#item
func (p *parser) newsItem() {
	s := itemSlots(p.item)
	var text Text
	var more strings.Builder // all texts joined, if there are several
	var links []newsLink
	at := p.r.Offset()
	p.each(func() {
		switch p.r.Local {
		case "text":
			if t := p.construct(plainText); t.Value != "" {
				if text.Value != "" {
					if more.Len() == 0 {
						more.WriteString(text.Value)
					}
					more.WriteString("\n\n")
					more.WriteString(t.Value)
					t.Value = more.String()
				}
				text = t
			}
		case "link":
			if l := p.newsLink(); l != (newsLink{}) {
				links = appendBudgeted(&p.budget, links, l)
			}
		case "url": // the element is not inside <link>
			links = appendBudgeted(&p.budget, links, newsLink{url: p.url(unampersand(p.leaf()))})
		default:
			p.element(s)
		}
	})
	if text.Value == "" && len(links) == 0 && p.item.Title.Value == "" {
		p.problem(ProblemMissing, at, "An item has no text.")
	}
	for i, l := range links {
		if l.url == "" {
			continue
		}
		rel := "related"
		if i == 0 {
			rel = "alternate"
		}
		p.addLink(s, Link{Rel: rel, Href: l.url, Title: l.words})
	}
	if t := p.linked(text, links); t.Value != "" {
		p.addContent(s, t)
	}
	p.itemDone()
}

// newsLink reads a URL and its words.
func (p *parser) newsLink() (l newsLink) {
	l.url = p.hrefAttr()
	text, markup := p.r.Leaf()
	if !markup {
		if l.url == "" {
			l.url = text // the element has the form of RSS, with the URL as its text
		} else {
			l.words = text
		}
	} else {
		p.each(func() {
			switch p.r.Local {
			case "url":
				l.url = unampersand(p.leaf())
			case "linetext":
				l.words = oneLine(p.leaf())
			default:
				p.keep(&p.item.Unknown)
			}
		})
	}
	l.url = p.url(l.url)
	return l
}

// linked converts a text with links to HTML: the words of each link become a hyperlink, in the
// order of the links if possible. Links whose words are not in the text follow it. A text without
// links stays unchanged.
//
// spec:scriptingnews2-1999#linetext
func (p *parser) linked(t Text, links []newsLink) Text {
	if t.Type == "" {
		t = Text{Type: plainText, Language: dashed(p.r.Lang()), Base: p.base().String()}
	}
	markup := t.Type != plainText
	places, missing := placesOf(t.Value, links, markup)
	if len(places) == 0 && (len(missing) == 0 || t.Value != "" && missing[0].words == "") {
		return t
	}
	write := func(out *strings.Builder, s string) {
		if !markup {
			s = strings.ReplaceAll(html.EscapeString(s), "\n\n", "<br>\n<br>\n")
		}
		out.WriteString(s)
	}
	n := len(t.Value)
	for _, l := range links {
		n += len(`<a href=""></a> `) + len(l.url) + len(l.words)
	}
	if !p.budget.take(n) {
		return t
	}
	var out strings.Builder
	out.Grow(n)
	from := 0
	for _, at := range places {
		write(&out, t.Value[from:at.begin])
		out.WriteString(`<a href="` + html.EscapeString(at.url) + `">`)
		write(&out, t.Value[at.begin:at.end])
		out.WriteString("</a>")
		from = at.end
	}
	write(&out, t.Value[from:])
	for _, l := range missing {
		if l.words == "" && out.Len() > 0 {
			continue // a link without words is only added to the list of links
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(`<a href="` + html.EscapeString(l.url) + `">` + html.EscapeString(cmp.Or(l.words, l.url)) + "</a>")
	}
	t.Value, t.Type = out.String(), htmlText
	if p.o.Sanitize != nil {
		t.Value, p.changed = p.o.Sanitize(t.Value), true
	}
	return t
}

// newsPlace is the position of a link in a text.
type newsPlace struct {
	begin, end int
	url        string
}

// placesOf finds the words of links in a text. places is in the order of the text. missing contains
// the links that were not found, beginning with those that have words.
func placesOf(text string, links []newsLink, markup bool) (places []newsPlace, missing []newsLink) {
	const limit = 200                    // maximum number of links in a text
	next, work := 0, 64*len(text)+10_000 // next offset, and number of bytes that the search may compare
	for n, l := range links {
		if l.url == "" {
			continue
		}
		i := -1
		if l.words != "" && n < limit {
			for _, from := range [...]int{next, 0} {
				if i = findWords(text[from:], l.words, markup, &work); i >= 0 {
					i += from
					break
				}
			}
		}
		at := newsPlace{begin: i, url: l.url}
		if i >= 0 {
			at.end = i + wordsEnd(text[i:], l.words, &work)
		}
		k, taken := slices.BinarySearchFunc(places, at, func(a, b newsPlace) int {
			switch {
			case a.end <= b.begin:
				return -1
			case b.end <= a.begin:
				return 1
			}
			return 0
		})
		if i < 0 || taken {
			missing = append(missing, l)
			continue
		}
		places = slices.Insert(places, k, at)
		next = max(next, at.end)
	}
	slices.SortStableFunc(missing, func(a, b newsLink) int {
		return cmp.Compare(min(len(b.words), 1), min(len(a.words), 1))
	})
	return places, missing
}

// oneLine joins lines and collapses white space.
func oneLine(s string) string {
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// findWords returns the offset of words in text, or −1. It prefers whole words. It skips tags if
// the text has markup. A space in words matches any white space.
func findWords(text, words string, markup bool, work *int) int {
	first, _, _ := strings.Cut(words, " ")
	whole, part := -1, -1
	for i := 0; i < len(text) && *work > 0; i++ {
		n := strings.Index(text[i:], first)
		if n < 0 {
			*work -= len(text) - i
			break
		}
		*work -= n + 1
		if markup {
			if tag := strings.IndexByte(text[i:i+n+1], '<'); tag >= 0 {
				end := strings.IndexByte(text[i+tag:], '>')
				if end < 0 {
					break
				}
				i += tag + end
				continue
			}
		}
		i += n
		n = wordsEnd(text[i:], words, work)
		switch {
		case n == 0:
		case (i == 0 || !isLetterOrDigit(text[i-1])) && (i+n == len(text) || !isLetterOrDigit(text[i+n])):
			whole = i
		case part < 0:
			part = i
		}
		if whole >= 0 {
			return whole
		}
	}
	return part
}

// wordsEnd returns the length of words at the start of text, or 0 if text does not start with
// words.
func wordsEnd(text, words string, work *int) int {
	i := 0
	defer func() { *work -= i }()
	for k := 0; k < len(words); k++ {
		switch {
		case i >= len(text):
			return 0
		case words[k] == ' ' && isSpaces(text[i]):
			for i < len(text) && isSpaces(text[i]) {
				i++
			}
		case words[k] != text[i]:
			return 0
		default:
			i++
		}
	}
	return i
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

func isSpaces(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
