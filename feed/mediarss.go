package feed

import "strings"

// mediaScheme is the default scheme of media:category.
const mediaScheme = "http://search.yahoo.com/mrss/category_schema"

// media reads the Media RSS elements of a feed or an item.
//
// spec:datafeeds-2006#media-rss
func (p *parser) media(s *slots) bool {
	if s.media == nil {
		return false
	}
	m := orNew(s.media)
	switch p.r.Local {
	case "group":
		var g MediaGroup
		p.inside(func() bool {
			if p.r.Space == nsMedia && p.r.Local == "content" {
				g.Contents = appendBudgeted(&p.budget, g.Contents, p.mediaContent(s))
			} else {
				p.mediaElement(&g.MediaInfo, s)
			}
			return true
		})
		m.Groups = appendBudgeted(&p.budget, m.Groups, g)
	case "content":
		m.Contents = appendBudgeted(&p.budget, m.Contents, p.mediaContent(s))
	default:
		p.mediaElement(&m.MediaInfo, s)
	}
	return true
}

func (p *parser) mediaContent(s *slots) MediaContent {
	c := MediaContent{
		URL: p.url(strings.TrimSpace(p.attr("url"))), FileSize: p.attr("filesize"), Type: unfolded(p.attr("type")), Medium: p.attr("medium"),
		IsDefault: p.attr("isdefault"), Expression: p.attr("expression"), Bitrate: p.attr("bitrate"),
		Framerate: p.attr("framerate"), SamplingRate: p.attr("samplingrate"), Channels: p.attr("channels"),
		Duration: p.attr("duration"), Height: p.attr("height"), Width: p.attr("width"), Lang: p.attr("lang"),
		Attrs: p.foreignAttrs(),
	}
	p.inside(func() bool { p.mediaElement(&c.MediaInfo, s); return true })
	return c
}

// mediaElement reads an element that can occur in an item, a group or a content.
func (p *parser) mediaElement(m *MediaInfo, s *slots) {
	if p.r.Space != nsMedia && p.r.Space != nsGeoRSS {
		p.element(s)
		return
	}
	if !p.mediaTexts(m, s) && !p.mediaFile(m) && !p.mediaPeople(m) && !p.mediaRest(m) {
		p.keep(&m.Other)
	}
}

// mediaTexts reads the title and description of a file. An item without texts of its own uses these
// texts.
func (p *parser) mediaTexts(m *MediaInfo, s *slots) bool {
	switch p.r.Local {
	case "title":
		if p.set(&m.Title, p.construct(plainText)); s.title.Value == "" {
			*s.title, s.titleDepth = m.Title, p.r.Depth()+borrowed
		}
	case "description":
		settle(p, s)
		if p.set(&m.Description, p.construct(htmlText)); s.summary.Value == "" {
			*s.summary, s.summaryDepth = m.Description, p.r.Depth()+borrowed
		}
	case "keywords":
		for word := range strings.SplitSeq(p.leaf(), ",") {
			if word = strings.TrimSpace(word); word != "" {
				m.Keywords = appendBudgeted(&p.budget, m.Keywords, word)
				p.tag(s, Category{Term: word})
			}
		}
	case "category":
		c := Category{Scheme: p.attr("scheme"), Label: p.attr("label")}
		c.Term = p.leaf()
		if c == (Category{}) {
			return true
		}
		m.Categories = appendBudgeted(&p.budget, m.Categories, c)
		if c.Scheme == "" {
			c.Scheme = mediaScheme
		}
		p.tag(s, c)
	case "rights":
		v := p.attr("status")
		p.empty()
		p.put(&m.Rights, v)
	case "text":
		t := MediaText{Type: p.attr("type"), Lang: p.attr("lang"), Start: p.attr("start"), End: p.attr("end")}
		if t.Value = p.leaf(); mediaType(t.Type) == htmlText {
			v := Text{Value: t.Value}
			p.markup(&v, p.base())
			t.Value = v.Value
		}
		m.Texts = appendBudgeted(&p.budget, m.Texts, t)
	default:
		return false
	}
	return true
}

func (p *parser) mediaFile(m *MediaInfo) bool {
	switch p.r.Local {
	case "thumbnail":
		t := MediaThumbnail{URL: p.url(p.attr("url")), Width: p.attr("width"), Height: p.attr("height"), Time: p.attr("time")}
		if text := p.leaf(); t.URL == "" {
			t.URL = p.url(text)
		} else {
			p.keepText(p.r.Name, text)
		}
		if t != (MediaThumbnail{}) {
			m.Thumbnails = appendBudgeted(&p.budget, m.Thumbnails, t)
		}
	case "hash":
		h := MediaHash{Algo: p.attr("algo")}
		h.Value = p.leaf()
		m.Hashes = appendBudgeted(&p.budget, m.Hashes, h)
	case "player":
		l := MediaPlayer{URL: p.url(p.attr("url")), Width: p.attr("width"), Height: p.attr("height")}
		l.Content = p.leaf()
		m.Players = appendBudgeted(&p.budget, m.Players, l)
	case "embed":
		if m.Embed != nil {
			return false
		}
		p.mediaEmbed(m)
	case "license":
		m.Licenses = appendBudgeted(&p.budget, m.Licenses, p.mediaLink())
	case "subtitle":
		m.SubTitles = appendBudgeted(&p.budget, m.SubTitles, p.mediaLink())
	case "peerlink":
		m.PeerLinks = appendBudgeted(&p.budget, m.PeerLinks, p.mediaLink())
	case "backlinks":
		p.mediaList(&m.BackLinks)
	case "comments":
		p.mediaList(&m.Comments)
	case "responses":
		p.mediaList(&m.Responses)
	default:
		return false
	}
	return true
}

func (p *parser) mediaLink() Link {
	l := Link{Href: p.url(p.hrefAttr()), Type: p.attr("type"), Language: p.attr("lang")}
	if l.Title = p.leaf(); l.Href == "" {
		l.Href, l.Title = p.url(l.Title), ""
	}
	return l
}

func (p *parser) mediaList(to *[]string) {
	p.inside(func() bool {
		if p.r.Space != nsMedia && p.r.Space != nsCore || len(p.r.Attrs) > 0 || p.full(len(*to), 1000, "elements of Media RSS") {
			return false
		}
		if v := p.leaf(); v != "" {
			*to = appendBudgeted(&p.budget, *to, v)
		}
		return true
	})
}

func (p *parser) mediaEmbed(m *MediaInfo) {
	e := &MediaEmbed{URL: p.url(p.attr("url")), Width: p.attr("width"), Height: p.attr("height")}
	p.inside(func() bool {
		name := p.attr("name")
		if name == "" || len(e.Params) >= 100 {
			return false
		}
		e.Params = appendBudgeted(&p.budget, e.Params, Attr{Name: name, Value: p.leaf()})
		return true
	})
	m.Embed = e
}

func (p *parser) mediaPeople(m *MediaInfo) bool {
	switch p.r.Local {
	case "credit":
		c := MediaCredit{Role: p.attr("role"), Scheme: p.attr("scheme"), Attrs: p.foreignAttrs()}
		c.Name = p.leaf()
		m.Credits = appendBudgeted(&p.budget, m.Credits, c)
	case "copyright":
		if m.Copyright != nil {
			return false
		}
		c := MediaCopyright{URL: p.url(p.attr("url"))}
		c.Value = p.leaf()
		m.Copyright = &c
	case "rating":
		r := MediaRating{Scheme: p.attr("scheme")}
		r.Value = p.leaf()
		m.Ratings = appendBudgeted(&p.budget, m.Ratings, r)
	case "adult": // media:adult is the predecessor of media:rating
		m.Ratings = appendBudgeted(&p.budget, m.Ratings, MediaRating{Scheme: "urn:simple", Value: map[bool]string{true: "adult", false: "nonadult"}[strings.EqualFold(p.leaf(), "true")]})
	case "restriction":
		r := MediaRestriction{Relationship: p.attr("relationship"), Type: p.attr("type")}
		r.Value = p.leaf()
		m.Restrictions = appendBudgeted(&p.budget, m.Restrictions, r)
	case "community":
		p.mediaCommunity(orNew(&m.Community))
	default:
		return false
	}
	return true
}

func (p *parser) mediaCommunity(c *MediaCommunity) {
	p.inside(func() bool {
		switch p.r.Local {
		case "starrating":
			c.StarAverage, c.StarCount, c.StarMin, c.StarMax = p.attr("average"), p.attr("count"), p.attr("min"), p.attr("max")
			p.empty()
		case "statistics":
			c.Views, c.Favorites = p.attr("views"), p.attr("favorites")
			p.empty()
		case "tags":
			for tag := range strings.SplitSeq(p.leaf(), ",") {
				name, weight, _ := strings.Cut(tag, ":")
				if name = strings.TrimSpace(name); name != "" && len(c.Tags) < 1000 {
					c.Tags = appendBudgeted(&p.budget, c.Tags, MediaTag{Name: name, Weight: strings.TrimSpace(weight)})
				}
			}
		default:
			return false
		}
		return true
	})
}

func (p *parser) mediaRest(m *MediaInfo) bool {
	switch p.r.Local {
	case "status":
		if m.Status != nil {
			return false
		}
		m.Status = &MediaStatus{State: p.attr("state"), Reason: p.attr("reason")}
		p.empty()
	case "price":
		if c := (MediaPrice{Type: p.attr("type"), Info: p.attr("info"), Price: p.attr("price"), Currency: p.attr("currency")}); c != (MediaPrice{}) {
			m.Prices = appendBudgeted(&p.budget, m.Prices, c)
		}
		p.empty()
	case "location":
		l := MediaLocation{Description: p.attr("description"), Start: p.attr("start"), End: p.attr("end")}
		p.inside(func() bool { return p.geo(&l.Where) })
		if l.Description != "" || l.Start != "" || l.End != "" || l.Where != nil {
			m.Locations = appendBudgeted(&p.budget, m.Locations, l)
		}
	case "scenes":
		p.inside(func() bool {
			if p.r.Local != "scene" {
				return false
			}
			if sc := p.mediaScene(); sc != (MediaScene{}) {
				m.Scenes = appendBudgeted(&p.budget, m.Scenes, sc)
			}
			return true
		})
	default:
		return false
	}
	return true
}

func (p *parser) mediaScene() MediaScene {
	var sc MediaScene
	p.inside(func() bool {
		switch strings.TrimPrefix(p.r.Local, "scene") {
		case "title":
			p.put(&sc.Title, p.leaf())
		case "description":
			p.put(&sc.Description, p.leaf())
		case "starttime":
			p.put(&sc.Start, p.leaf())
		case "endtime":
			p.put(&sc.End, p.leaf())
		default:
			return false
		}
		return true
	})
	return sc
}
