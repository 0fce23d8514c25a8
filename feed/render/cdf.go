package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cloudburst/feed"
)

// appendCDF writes the Channel Definition Format. It writes the elements that Internet Explorer
// read, and the elements of the W3C submission, which have an attribute VALUE. An item that
// contains items becomes a channel.
//
// spec:cdf-1997#written
func appendCDF(w *writer) {
	f := w.f
	c := cdf{w}
	w.root("CHANNEL", c.channelAttrs()...)
	c.head(asWords(&f.Title), &f.Subtitle)
	c.logo(f.Icon, "ICON")
	if f.Image != nil {
		c.logo(f.Image.URL, "IMAGE")
		w.loseExtension(f.Image.Extension)
		w.lose(lostImages, cmp.Or(f.Image.Title, f.Image.Link, f.Image.Description) != "" || f.Image.Width+f.Image.Height > 0)
	}
	c.values(f.Authors, f.Publisher, asWords(&f.Rights), &f.Published, f.Categories)
	if f.Rating != "" {
		w.empty("RATINGS", "VALUE", f.Rating)
	}
	c.links(f.Links, f.Link, f.Title.Value != "")
	c.schedule(f.Hints.Schedule)
	c.others(f.Unknown)
	c.lostOfFeed()
	eachItem(w, f.Items, c.item)
	w.done("CHANNEL")
}

type cdf struct{ *writer }

// channelAttrs returns the URLs of the channel and its page, and the date of its last change.
func (c cdf) channelAttrs() []string {
	f := c.f
	attrs := []string{"HREF", pageLink(c.writer), "LASTMOD", c.moment(&f.Updated, "LASTMOD"), "SELF", c.uri(c.self(), "self"), "xml:lang", c.language(f.Language, "language")}
	return append(attrs, c.otherAttrs(f.Unknown, "CHANNEL")...)
}

// logo writes an image.
//
// spec:cdf-1997#logo
func (c cdf) logo(url, style string) {
	if url = c.uri(url, "image"); url != "" {
		c.empty("LOGO", "HREF", url, "STYLE", style)
	}
}

// moment formats a date for CDF, in UTC, or returns "" if there is none.
func (c cdf) moment(d *feed.Date, where string) string {
	if !c.writer.moment(d, where) {
		return ""
	}
	b := appendRFC3339(make([]byte, 0, 32), d.UTC.Truncate(1e9))
	return strings.TrimSuffix(string(b[:len(b)-1]), ":00")
}

// head writes the title and the abstract of a channel or item.
func (c cdf) head(title string, about *feed.Text) {
	c.leaf("TITLE", plainWords(title))
	c.leaf("ABSTRACT", plainWords(asWords(about)))
}

// plainWords returns the text for an element without a declared type, in which programs expect
// HTML.
func plainWords(s string) string { return titleText(&feed.Text{Value: s, Type: plainText}) }

// values writes the elements of the submission that have a VALUE attribute.
func (c cdf) values(authors []feed.Person, publisher *feed.Person, rights string, published *feed.Date, categories []feed.Category) {
	for i := range authors {
		if who := personLine(&authors[i]); who != "" {
			c.empty("AUTHOR", "VALUE", who)
		}
		c.lose(lostPersons, authors[i].URL != "" || authors[i].Avatar != "")
	}
	if publisher != nil {
		c.empty("PUBLISHER", "VALUE", personLine(publisher))
	}
	c.empty("COPYRIGHT", "VALUE", rights)
	c.empty("PUBLICATIONDATE", "VALUE", c.moment(published, "PUBLICATIONDATE"))
	for i := range categories {
		k := &categories[i]
		c.empty("CATEGORY", "VALUE", cmp.Or(k.Term, k.Label))
		c.lose(lostSchemes, k.Scheme != "" || k.Label != "" && k.Term != "")
	}
}

// links writes links to pages other than the main page of the channel or item.
func (c cdf) links(links []feed.Link, page string, titled bool) {
	for i := range links {
		l := &links[i]
		switch {
		case l.Rel == "self" || l.Rel == "hub" || isAlternate(l) && l.Href == page && l.Title == "":
		case l.Rel == "related" || isAlternate(l):
			words := l.Title
			if !titled { // without a title, programs would take the link's text for the title
				words = ""
			}
			if url := c.uri(l.Href, "links"); url != "" {
				c.element("A", words, "HREF", url)
			}
		default:
			c.lose(lostLinks, true)
		}
	}
}

// schedule writes when to read the channel.
//
// spec:cdf-1997#schedule
func (c cdf) schedule(s *feed.Schedule) {
	if n, err := strconv.ParseUint(c.f.Hints.TTL, 10, 31); s == nil && err == nil && n > 0 {
		s = &feed.Schedule{IntervalTime: feed.Span{Min: c.f.Hints.TTL}}
	}
	if s == nil {
		return
	}
	zone := s.EarliestTime.Zone
	c.open("SCHEDULE", "STARTDATE", c.day(s.StartDate), "STOPDATE", c.day(s.StopDate), "TIMEZONE", c.zone(zone))
	c.span("INTERVALTIME", &s.IntervalTime, "")
	c.span("EARLIESTTIME", &s.EarliestTime, zone)
	c.span("LATESTTIME", &s.LatestTime, zone)
	c.close("SCHEDULE")
}

// span writes a duration, with its time zone if that differs from the zone of the schedule.
func (c cdf) span(name string, s *feed.Span, zone string) {
	own := s.Zone
	if own == zone {
		own = ""
	}
	c.empty(name, "DAY", c.number(s.Day, name, 0), "HOUR", c.number(s.Hour, name, 0), "MIN", c.number(s.Min, name, 0),
		"SEC", c.number(s.Sec, name, 0), "TIMEZONE", c.zone(own))
}

// day returns a date without a time, with hyphens or, as in the submission, with dots. For any
// other value it returns "" and adds a warning.
func (c cdf) day(s string) string {
	if _, err := time.Parse(time.DateOnly, strings.ReplaceAll(s, ".", "-")); err == nil || s == "" {
		return s
	}
	c.invalid(s, "SCHEDULE", "a date like 2026-11-20")
	return ""
}

// zone returns an offset from UTC. For any other value it returns "" and adds a warning.
func (c cdf) zone(s string) string {
	if _, err := time.Parse("-0700", s); err == nil || s == "" {
		return s
	}
	c.invalid(s, "SCHEDULE", "a zone like +0100")
	return ""
}

// item writes an item. An item that contains items becomes a channel.
func (c cdf) item(it *feed.Item) {
	name := "ITEM"
	if len(it.Items) > 0 && len(c.at) < deepest {
		name = "CHANNEL"
	}
	link := c.uri(it.Link, "link")
	if link == "" {
		link = c.uri(c.madeLink(it), "link")
	}
	attrs := []string{"HREF", link, "LASTMOD", c.moment(&it.Updated, "LASTMOD")}
	c.open(name, append(attrs, c.otherAttrs(it.Unknown, name)...)...)
	about := &it.Summary
	for i := range it.Content {
		if t := &it.Content[i]; about.Value == "" && t.Src == "" && isWords(t.Type) {
			about = t
		} else {
			c.lose(lostContent, t.Value != "" && t.Value != about.Value || t.Src != "")
		}
	}
	title := asWords(&it.Title)
	if plainWords(title) == "" {
		title = c.titleWords(about)
	}
	c.head(title, about)
	more := it.More
	if more == nil {
		more = new(feed.More)
	}
	if more.Image != nil {
		c.logo(more.Image.URL, "IMAGE")
	}
	loseMore(c.writer, more)
	c.lose(lostLanguages, more.Language != "")
	c.lose(lostImages, more.BannerImage != "")
	c.lose(lostLinks, more.ExternalLink != "")
	c.values(it.Byline(), more.Publisher, asWords(&more.Rights), &it.Published, it.Categories)
	c.links(it.Links, it.Link, it.Title.Value != "")
	c.others(it.Unknown)
	c.lostOfItem(it)
	if name == "CHANNEL" {
		eachItem(c.writer, it.Items, c.item)
	}
	c.close(name)
}

// others writes elements that exist only in CDF. A feed has them if it was read from CDF.
func (c cdf) others(list []feed.Node) {
	for i := range list {
		n := &list[i]
		switch {
		case c.f.Format != feed.CDF || n.Space != "" || n.Prefix != "":
			c.lose(lostUnknown, true)
		case isCDFElement(n.Name):
			c.tree(n)
		case !isCDFSelf(n):
			c.lose(lostUnknown, true)
		}
	}
}

// otherAttrs returns the attributes that exist only in CDF. The parser stores these attributes in a
// node with the name of the element.
func (c cdf) otherAttrs(list []feed.Node, name string) (attrs []string) {
	for i := range list {
		n := &list[i]
		if c.f.Format != feed.CDF || n.Space != "" || !isCDFSelf(n) || !strings.EqualFold(n.Name, name) {
			continue
		}
		for _, a := range n.Attrs {
			switch up := strings.ToUpper(a.Name); up {
			case "PRECACHE", "LEVEL", "ISCLONABLE":
				if !slices.Contains(attrs, up) {
					attrs = append(attrs, up, a.Value)
				}
			default:
				c.lose(lostUnknown, true)
			}
		}
	}
	return attrs
}

func isCDFSelf(n *feed.Node) bool {
	return (strings.EqualFold(n.Name, "CHANNEL") || strings.EqualFold(n.Name, "ITEM")) && n.Text == "" && len(n.Children) == 0
}

// isCDFElement reports whether CDF defines this element and package feed has no field for it.
func isCDFElement(name string) bool {
	switch strings.ToUpper(name) {
	case "LOGTARGET", "LOG", "LOGIN", "USAGE", "PURGETIME", "HTTP-EQUIV", "USERSCHEDULE", "AUTHORIZATION", "MINSTORAGE", "TRACKING", "LOGO":
		return true
	}
	return false
}

func (c cdf) lostOfFeed() {
	f := c.f
	c.lose(lostIDs, f.ID != "")
	c.lose(lostDocs, f.Docs != "")
	loseFeed(c.writer)
	c.lose(lostClouds, c.cloud() != nil)
	c.lose(lostHubs, len(c.hubs()) > 0)
	c.lose(lostHints, len(f.Hints.SkipHours)+len(f.Hints.SkipDays) > 0)
}

func (c cdf) lostOfItem(it *feed.Item) {
	c.lose(lostIDs, hasGUID(it))
	loseItem(c.writer, it)
	c.lose(lostEnclosures, len(it.Enclosures) > 0)
}
