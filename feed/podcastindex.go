package feed

import "cmp"

// podcast reads the elements of Podcasting 2.0. If an element that must occur only once is
// repeated, the first one counts, and the others are stored as nodes.
func (p *parser) podcast(s *slots) bool {
	if s.podcast == nil {
		return false
	}
	c := orNew(s.podcast)
	if !p.podcastValue(c) && !p.podcastLinks(c) && !p.podcastParts(c) {
		p.keep(&c.Other)
	}
	return true
}

func (p *parser) podcastValue(c *Podcast) bool {
	switch p.r.Local {
	case "guid":
		p.put(&c.GUID, p.leaf())
	case "locked":
		if c.Locked != "" {
			return false
		}
		c.LockedOwner = p.attr("owner")
		c.Locked = p.leaf()
	case "medium":
		p.put(&c.Medium, p.leaf())
	case "season":
		if c.Season != "" {
			return false
		}
		c.SeasonName = p.attr("name")
		c.Season = p.leaf()
	case "episode":
		if c.Episode != "" {
			return false
		}
		c.EpisodeLabel = p.attr("display")
		c.Episode = p.leaf()
	case "txt":
		t := PodcastTxt{Purpose: p.attr("purpose")}
		t.Value = p.leaf()
		c.Txt = appendBudgeted(&p.budget, c.Txt, t)
	case "updatefrequency":
		rule := p.attr("rrule")
		if rule+p.attr("complete")+p.attr("dtstart") == "" {
			p.put(&p.f.Hints.PodcastUpdates, p.leaf())
		} else if n, ok := p.node(); ok { // the element has further data: store it as a node, too
			p.put(&p.f.Hints.PodcastUpdates, cmp.Or(rule, n.Text))
			c.Other = append(c.Other, n)
		}
	default:
		return false
	}
	return true
}

func (p *parser) podcastLinks(c *Podcast) bool {
	l := Link{Href: p.url(p.hrefAttr()), Type: p.attr("type"), Language: p.attr("language"), Rel: p.attr("rel")}
	switch p.r.Local {
	case "funding":
		l.Title = p.leaf()
		c.Funding = appendBudgeted(&p.budget, c.Funding, l)
	case "chapters":
		if c.Chapters != nil {
			return false
		}
		p.empty()
		c.Chapters = &l
	case "transcript":
		p.empty()
		c.Transcripts = appendBudgeted(&p.budget, c.Transcripts, l)
	case "license":
		if c.License != nil {
			return false
		}
		l.Title = p.leaf()
		c.License = &l
	default:
		return false
	}
	return true
}

func (p *parser) podcastParts(c *Podcast) bool {
	switch p.r.Local {
	case "person":
		who := PodcastPerson{Role: p.attr("role"), Group: p.attr("group"), Image: p.url(p.attr("img")), URL: p.url(p.attr("href"))}
		who.Name = p.leaf()
		c.People = appendBudgeted(&p.budget, c.People, who)
	case "location":
		l := PodcastLocation{Geo: p.attr("geo"), OSM: p.attr("osm"), Rel: p.attr("rel"), Country: p.attr("country")}
		l.Name = p.leaf()
		c.Locations = appendBudgeted(&p.budget, c.Locations, l)
	case "soundbite":
		b := Soundbite{Start: p.attr("starttime"), Duration: p.attr("duration")}
		b.Title = p.leaf()
		c.Soundbites = appendBudgeted(&p.budget, c.Soundbites, b)
	case "trailer":
		t := Trailer{URL: p.url(p.attr("url")), Length: p.attr("length"), Type: p.attr("type"), Season: p.attr("season")}
		p.setDate(&t.Published, p.attr("pubdate"), p.r.Offset())
		t.Title = p.leaf()
		c.Trailers = appendBudgeted(&p.budget, c.Trailers, t)
	default:
		return false
	}
	return true
}
