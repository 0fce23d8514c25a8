package feed

import (
	"slices"
	"strconv"
	"strings"
)

// itunesScheme is the scheme of iTunes categories and keywords.
const itunesScheme = "http://www.itunes.com/"

// itunes reads Apple's podcast elements. Elements with a counterpart in other formats also set
// the common field if the feed does not set it.
func (p *parser) itunes(s *slots) bool {
	if s.itunes == nil {
		return false
	}
	fresh := *s.itunes == nil
	it := orNew(s.itunes)
	if p.itunesText(it, s) || p.itunesOther(it, s) {
		return true
	}
	to := p.itunesField(it)
	if to == nil {
		if fresh {
			*s.itunes = nil
		}
		return false
	}
	p.put(to, p.leaf())
	if p.r.Local == "duration" {
		it.Seconds = seconds(it.Duration)
	}
	return true
}

// itunesField returns the field for an element whose value is a plain text.
func (p *parser) itunesField(it *ITunes) *string {
	switch p.r.Local {
	case "title":
		return &it.Title
	case "explicit":
		return &it.Explicit
	case "block":
		return &it.Block
	case "duration":
		return &it.Duration
	case "order":
		return &it.Order
	case "episode":
		return &it.Episode
	case "season":
		return &it.Season
	case "episodetype", "type":
		return &it.Type
	case "isclosedcaptioned":
		return &it.Captioned
	}
	return nil
}

func (p *parser) itunesText(it *ITunes, s *slots) bool {
	switch p.r.Local {
	case "author":
		who := p.person()
		it.Author = who.line()
		if n := len(*s.authors); !slices.ContainsFunc((*s.authors)[:min(n, 100)], who.same) {
			if p.addPerson(s.authors, who); len(*s.authors) > n {
				s.podcaster = n + 1
			}
		}
	case "subtitle":
		depth := p.r.Depth()
		t := p.construct(plainText)
		p.put(&it.Subtitle, t.Value)
		if s.level == ofFeed && (s.summary.Value == "" || *s.summary == it.Summary) {
			*s.summary, s.summaryDepth = t, depth+borrowed
		}
	case "summary":
		depth := p.r.Depth()
		t := p.construct(plainText)
		p.set(&it.Summary, t)
		p.itunesSummary(s, t, depth)
	case "keywords":
		for word := range strings.SplitSeq(p.leaf(), ",") {
			if word = strings.TrimSpace(word); word != "" {
				it.Keywords = appendBudgeted(&p.budget, it.Keywords, word)
				p.tag(s, Category{Term: word, Scheme: itunesScheme})
			}
		}
	default:
		return false
	}
	return true
}

// itunesSummary uses itunes:summary as the description of an item without a description. If the
// item has a description but no content, a different itunes:summary is the content.
func (p *parser) itunesSummary(s *slots, t Text, depth int) {
	settle(p, s)
	switch {
	case t.Value == "" || s.level == ofFeed && s.summary.Value != "":
	case s.summary.Value == "":
		p.setSummary(s, t, depth)
	case s.level == ofItem && len(*s.content) == 0 && t.Value != s.summary.Value:
		p.addContent(s, t)
	}
}

func (p *parser) itunesOther(it *ITunes, s *slots) bool {
	switch p.r.Local {
	case "image", "link":
		v := p.url(p.hrefAttr())
		if v != "" {
			p.empty()
		} else {
			v = p.url(p.leaf())
		}
		p.put(&it.Image, v)
		p.itunesImage(v, s)
	case "category":
		p.itunesCategory(it, s, itunesScheme)
	case "owner":
		who := p.person()
		if it.Owner != nil && *it.Owner != who {
			p.keepElement(it.Owner.line(), "url", it.Owner.URL, "image", it.Owner.Avatar)
		}
		it.Owner = &who
		if s.publisher != nil && *s.publisher == nil && who != (Person{}) {
			*s.publisher = &who
		}
	case "new-feed-url":
		p.put(&it.NewFeedURL, p.url(p.leaf()))
		if s.level == ofFeed && it.NewFeedURL != "" {
			p.f.Moved = &Moved{To: it.NewFeedURL, From: "itunes:new-feed-url"}
		}
	case "complete":
		p.put(&it.Complete, p.leaf())
		p.f.Hints.Complete = strings.EqualFold(it.Complete, "yes") || strings.EqualFold(it.Complete, "true")
	default:
		return false
	}
	return true
}

// itunesImage sets the image of a feed or item that has no other image.
func (p *parser) itunesImage(url string, s *slots) {
	switch {
	case url == "":
	case s.level == ofFeed && (p.f.Image == nil || p.f.Image.URL == ""):
		orNew(&p.f.Image).URL = url
	case s.level == ofItem && p.more().Image == nil:
		p.more().Image = &Image{URL: url}
	}
}

// itunesCategory reads a category and its subcategories. In ITunes, the scheme of a subcategory is
// its parent.
func (p *parser) itunesCategory(it *ITunes, s *slots, parent string) {
	name := p.attr("text")
	if strings.ContainsAny(name, "\n\t\r") { // XML has a space for each of these characters
		name = strings.Join(strings.Fields(name), " ")
	}
	if name != "" && !p.full(len(it.Categories), 100, "categories of iTunes") {
		c := Category{Term: name}
		if parent != itunesScheme {
			c.Scheme = parent
		}
		it.Categories = appendBudgeted(&p.budget, it.Categories, c)
		p.tag(s, Category{Term: name, Scheme: itunesScheme})
	}
	text, markup := p.r.Leaf()
	if !markup {
		if name == "" && text != "" {
			it.Categories = appendBudgeted(&p.budget, it.Categories, Category{Term: text})
			p.tag(s, Category{Term: text, Scheme: itunesScheme})
		} else {
			p.keepText(p.r.Name, text)
		}
		return
	}
	p.inside(func() bool {
		if p.r.Local != "category" {
			return false
		}
		p.itunesCategory(it, s, name)
		return true
	})
}

// seconds reads a duration in seconds, MM:SS or HH:MM:SS. It returns 0 for any other text.
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
