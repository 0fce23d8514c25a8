package feed

import "strings"

// itunesScheme is what categories and keywords of iTunes have as their scheme.
const itunesScheme = "http://www.itunes.com/"

// itunes reads Apple's podcast elements. What other formats have an element for goes
// there as well, where the feed has none of its own.
func (p *parser) itunes(s *slots) bool {
	if s.itunes == nil {
		return false
	}
	it := orNew(s.itunes)
	if p.itunesText(it, s) || p.itunesOther(it, s) {
		return true
	}
	switch to := p.itunesField(it); to {
	case nil:
		return false
	default:
		*to = p.leaf()
	}
	if p.r.Local == "duration" {
		it.Seconds = seconds(it.Duration)
	}
	return true
}

// itunesField is where a plain value goes.
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
		p.addPerson(s.authors, who)
	case "subtitle":
		t := p.construct(plainText)
		it.Subtitle = t.Value
		if s.level == ofFeed && s.summary.Value == "" {
			*s.summary = t
		}
	case "summary":
		t := p.construct(plainText)
		it.Summary = t
		p.itunesSummary(s, t)
	case "keywords":
		for word := range strings.SplitSeq(p.leaf(), ",") {
			if word = strings.TrimSpace(word); word != "" {
				it.Keywords = kept(&p.budget, it.Keywords, word)
				p.tag(s, Category{Term: word, Scheme: itunesScheme})
			}
		}
	default:
		return false
	}
	return true
}

// itunesSummary gives an item without a description this one, and one with a
// description but without content this content, if it says something else.
func (p *parser) itunesSummary(s *slots, t Text) {
	switch {
	case t.Value == "" || s.level == ofFeed && s.summary.Value != "":
	case s.summary.Value == "":
		*s.summary = t
		s.summaryDepth = p.r.Depth() + 1
	case s.level == ofItem && len(*s.content) == 0 && t.Value != s.summary.Value:
		p.addContent(s, t)
	}
}

func (p *parser) itunesOther(it *ITunes, s *slots) bool {
	switch p.r.Local {
	case "image", "link":
		it.Image = p.url(p.hrefAttr())
		if text := p.leaf(); it.Image == "" {
			it.Image = p.url(text)
		}
		p.itunesImage(it.Image, s)
	case "category":
		p.itunesCategory(it, s, itunesScheme)
	case "owner":
		who := p.person()
		it.Owner = &who
		if s.publisher != nil && *s.publisher == nil && who != (Person{}) {
			*s.publisher = &who
		}
	case "new-feed-url":
		it.NewFeedURL = p.url(p.leaf())
		if s.level == ofFeed && it.NewFeedURL != "" {
			p.f.Moved = &Moved{To: it.NewFeedURL, From: "itunes:new-feed-url"}
		}
	case "complete":
		it.Complete = p.leaf()
		p.f.Hints.Complete = strings.EqualFold(it.Complete, "yes") || strings.EqualFold(it.Complete, "true")
	default:
		return false
	}
	return true
}

// itunesImage is the picture of what has no other.
func (p *parser) itunesImage(url string, s *slots) {
	switch {
	case url == "":
	case s.level == ofFeed && (p.f.Image == nil || p.f.Image.URL == ""):
		orNew(&p.f.Image).URL = url
	case s.level == ofItem && p.more().Image == nil:
		p.more().Image = &Image{URL: url}
	}
}

// itunesCategory reads a category and those in it, whose scheme it is in ITunes.
func (p *parser) itunesCategory(it *ITunes, s *slots, parent string) {
	name := p.attr("text")
	if name != "" && len(it.Categories) < 100 {
		c := Category{Term: name}
		if parent != itunesScheme {
			c.Scheme = parent
		}
		it.Categories = kept(&p.budget, it.Categories, c)
		p.tag(s, Category{Term: name, Scheme: itunesScheme})
	}
	text, markup := p.r.Leaf()
	if !markup {
		if name == "" && text != "" {
			it.Categories = kept(&p.budget, it.Categories, Category{Term: text})
			p.tag(s, Category{Term: text, Scheme: itunesScheme})
		}
		return
	}
	p.each(func() {
		if p.r.Local == "category" {
			p.itunesCategory(it, s, name)
		}
	})
}
