package render

import (
	"cmp"
	"slices"
	"strconv"

	"cloudburst/feed"
)

// feedModules writes the fields of a feed that the format itself cannot represent: modules
// and, last, unknown elements. The format's own writer handles title, links and hubs, texts,
// persons, categories, clouds and the image. In formats other than Atom it also handles
// language, publisher, rights and generator.
func (w *writer) feedModules(f *feed.Feed) {
	w.dublinCoreOfFeed(f)
	w.hints(&f.Hints)
	if url := w.uri(f.ErrorReports, "errorReports"); url != "" {
		w.use("rdf:resource")
		w.empty("admin:errorReportsTo", "rdf:resource", url)
	}
	w.licences(f.Licenses, f.Links)
	if f.Info.Value != "" && w.format != "atom03" {
		w.leaf("feedburner:browserFriendly", asWords(&f.Info))
	}
	w.blogChannel(f.BlogChannel)
	w.search(f.Search)
	w.accounts(f.Accounts)
	w.itunes(f.ITunes, true)
	if f.Podcast != nil || f.Hints.PodcastUpdates != "" {
		w.podcast(f.Podcast, f.Hints.PodcastUpdates)
	}
	w.media(f.Media, true)
	w.places(f.Where)
	w.unknown(f.Unknown, false)
}

// itemModules is like feedModules for an item. The format's own writer handles nested items, the
// comments page, contributors and the source.
func (w *writer) itemModules(it *feed.Item, inAtom bool) {
	if it.More != nil {
		w.more(it.More, it.Links, inAtom)
		w.itemImage(it)
	}
	w.itunes(it.ITunes, false)
	fileDuration(w, it)
	if it.Podcast != nil {
		w.podcast(it.Podcast, "")
	}
	w.media(it.Media, false)
	if it.More != nil {
		w.places(it.More.Where)
	}
	w.unknown(it.Unknown, true)
}

// dublinCoreOfFeed writes the dates of a feed for which the format has no element.
func (w *writer) dublinCoreOfFeed(f *feed.Feed) {
	switch w.format {
	case "atom", "atom03":
		w.dateRFC3339("dcterms:issued", &f.Published)
	}
	w.dateRFC3339("dcterms:created", &f.Created)
}

// hints writes when to read the feed again, as far as modules can express it.
//
// spec:feedstate-2007#syndication
func (w *writer) hints(h *feed.Hints) {
	period, frequency := h.UpdatePeriod, h.UpdateFrequency
	if period == "" && w.format != "rss20" { // RSS 2.0 has an element ttl of its own
		period, frequency = rhythmOf(h.TTL)
	}
	if period != "" {
		w.leaf("sy:updatePeriod", w.word(period, "updatePeriod", "hourly daily weekly monthly yearly"))
	}
	w.leaf("sy:updateFrequency", w.number(frequency, "updateFrequency", 1))
	w.dateRFC3339("sy:updateBase", &h.UpdateBase)
	if h.Archive {
		w.bare("fh:archive")
	}
	w.lose(lostHints, h.Schedule != nil || h.Expired)
}

// rhythmOf converts a ttl to the period and frequency of the syndication module. If an hour, a day
// or a week is not a multiple of the ttl, it returns "".
func rhythmOf(ttl string) (period, frequency string) {
	n, err := strconv.Atoi(ttl)
	if err != nil || n <= 0 {
		return "", ""
	}
	for _, p := range [...]struct {
		name    string
		minutes int
	}{{"hourly", 60}, {"daily", 24 * 60}, {"weekly", 7 * 24 * 60}} {
		if p.minutes%n == 0 {
			return p.name, strconv.Itoa(p.minutes / n)
		}
	}
	return "", ""
}

// lostTTL reports whether the syndication module cannot express the ttl.
func lostTTL(h *feed.Hints) bool {
	period, _ := rhythmOf(h.TTL)
	return h.TTL != "" && period == "" && h.UpdatePeriod == ""
}

// bare writes an empty element, whose presence is the information.
func (w *writer) bare(name string) {
	w.tag(name, nil)
	w.b = append(w.b, "/>"...)
}

// licences writes the licence URLs that no link contains.
func (w *writer) licences(list []string, links []feed.Link) {
	linked := map[string]bool{}
	for i := range links {
		if len(list) > 0 && links[i].Rel == "license" {
			linked[links[i].Href] = true
		}
	}
	for _, url := range list {
		if linked[url] {
			continue
		}
		if url = w.uri(url, "license"); url == "" {
			continue
		}
		if w.format == "rdf" {
			w.empty("cc:license", "rdf:resource", url)
		} else {
			w.element("creativeCommons:license", url)
		}
	}
}

func (w *writer) blogChannel(b *feed.BlogChannel) {
	if b == nil {
		return
	}
	w.leaf("blogChannel:blogRoll", w.uri(b.BlogRoll, "blogRoll"))
	w.leaf("blogChannel:mySubscriptions", w.uri(b.MySubscriptions, "mySubscriptions"))
	w.leaf("blogChannel:blink", w.uri(b.Blink, "blink"))
	w.leaf("blogChannel:changes", w.uri(b.Changes, "changes"))
}

func (w *writer) search(s *feed.Search) {
	if s == nil {
		return
	}
	w.leaf("opensearch:totalResults", w.number(s.TotalResults, "totalResults", 0))
	w.leaf("opensearch:startIndex", w.number(s.StartIndex, "startIndex", 0))
	w.leaf("opensearch:itemsPerPage", w.number(s.ItemsPerPage, "itemsPerPage", 0))
}

func (w *writer) accounts(list []feed.Account) {
	for i := range list {
		if a := &list[i]; a.Name != "" || a.Service != "" {
			w.element("source:account", a.Name, "service", a.Service)
		}
	}
}

// more writes the fields that few items have.
func (w *writer) more(m *feed.More, links []feed.Link, inAtom bool) {
	w.dublinCore(m, inAtom)
	if inAtom {
		w.publishing(m)
	} else {
		w.lose(lostModules, m.Draft || m.Edited.Raw != "")
	}
	w.comments(m, links, inAtom)
	w.leaf("slash:section", m.Section)
	w.leaf("slash:department", m.Department)
	w.hitParade(m.HitParade)
	w.replies(m.InReplyTo, inAtom)
	w.licences(m.Licenses, links)
	w.leaf("feedburner:origLink", w.uri(m.OriginalLink, "originalLink"))
	w.leaf("feedburner:origEnclosureLink", w.uri(m.OriginalMedia, "originalMedia"))
	w.chapters(m.Chapters, m.ChaptersVersion)
	w.leaf("source:markdown", m.Markdown)
	w.leaf("source:localTime", m.LocalTime)
	w.outlines(m.Outlines, 0)
	w.accounts(m.Accounts)
	w.lose(lostLinks, m.ExternalLink != "" && !slices.ContainsFunc(links, func(l feed.Link) bool { return l.Href == m.ExternalLink }))
	w.lose(lostImages, m.BannerImage != "")
	w.lose(lostModules, m.TextInput != nil)
}

// dublinCore writes the Dublin Core fields of an item. In Atom, rights have an element of the
// format, and in Atom 0.3 the creation date too.
func (w *writer) dublinCore(m *feed.More, inAtom bool) {
	if m.Publisher != nil {
		w.creator("dc:publisher", m.Publisher)
	}
	if !inAtom || w.format == "atom03" {
		w.leaf("dc:rights", asWords(&m.Rights))
	}
	w.leaf("dc:language", w.language(m.Language, "language"))
	if w.format != "atom03" {
		w.dateRFC3339("dcterms:created", &m.Created)
	}
	if w.moment(&m.Expires, "expires") {
		w.tag("dcterms:valid", nil)
		w.b = append(appendRFC3339(append(w.b, ">end="...), m.Expires.UTC), ";scheme=W3C-DTF</dcterms:valid>"...)
	}
}

// publishing writes the fields for programs that edit entries.
func (w *writer) publishing(m *feed.More) {
	w.dateRFC3339("app:edited", &m.Edited)
	if m.Draft {
		w.open("app:control")
		w.element("app:draft", "yes")
		w.close("app:control")
	}
}

// comments writes the URL and the number of comments, unless links already contain them.
func (w *writer) comments(m *feed.More, links []feed.Link, inAtom bool) {
	w.leaf("wfw:comment", w.uri(m.CommentAPI, "commentAPI"))
	if m.CommentsFeed != "" && !hasLink(links, "replies", m.CommentsFeed) {
		w.leaf("wfw:commentRss", w.uri(m.CommentsFeed, "commentsFeed"))
	}
	if at := w.uri(m.CommentsFeed, "commentsFeed"); at != "" && !inAtom {
		count := ""
		if m.CommentCount != nil && *m.CommentCount >= 0 {
			count = strconv.Itoa(*m.CommentCount)
		}
		w.empty("source:comments", "count", count, "feedUrl", at)
	}
	if m.CommentCount == nil || *m.CommentCount < 0 {
		return
	}
	n := strconv.Itoa(*m.CommentCount)
	if !inAtom {
		w.element("slash:comments", n)
		return
	}
	if !slices.ContainsFunc(links, func(l feed.Link) bool { return l.Rel == "replies" && l.Count == n }) {
		w.element("thr:total", n)
	}
}

// hitParade writes the number of hits for each threshold.
func (w *writer) hitParade(list []int) {
	if len(list) == 0 {
		return
	}
	if n := slices.Min(list); n < 0 {
		w.invalid(strconv.Itoa(n), "hitParade", "a list of numbers of at least 0")
		return
	}
	w.tag("slash:hit_parade", nil)
	for i, n := range list {
		w.b = strconv.AppendInt(append(w.b, ">,"[min(i, 1)]), int64(n), 10)
	}
	w.endTag("slash:hit_parade")
}

// replies writes the items to which an item replies, as elements of Atom threading. In RSS it also
// writes elements of another namespace, in which any identifier is allowed.
func (w *writer) replies(list []feed.InReplyTo, inAtom bool) {
	for i := range list {
		r := &list[i]
		ref := r.Ref
		if ref == "" {
			ref = r.Href
		}
		if !inAtom {
			w.leaf("source:inReplyTo", ref)
		}
		if !validIRI(ref) {
			if !inAtom && ref != "" {
				continue
			}
			w.warn("in-reply-to", "inReplyTo", "The ID of the item to which this one replies is not a URI; it is omitted: ", short(ref), ".")
			continue
		}
		w.empty("thr:in-reply-to", "ref", ref, "href", w.ref(r.Href, "inReplyTo"), "type", w.mime(r.Type, "inReplyTo"), "source", w.ref(r.Source, "inReplyTo"))
	}
}

func (w *writer) chapters(list []feed.Chapter, version string) {
	if len(list) == 0 {
		return
	}
	w.open("psc:chapters", "version", cmp.Or(version, "1.2"))
	for i := range list {
		c := &list[i]
		w.empty("psc:chapter", "start", c.Start, "title", c.Title, "href", w.iri(c.Link, "chapter"), "image", w.iri(c.Image, "chapter"))
	}
	w.close("psc:chapters")
}

// outlines writes headlines with their attributes and the headlines below them.
func (w *writer) outlines(list []feed.Outline, depth int) {
	for i := range list {
		o := &list[i]
		w.tag("source:outline", nil)
		w.plainAttrs(o.Attrs)
		if len(o.Outlines) == 0 || depth >= deepestTree {
			w.lose(lostUnknown, len(o.Outlines) > 0)
			w.b = append(w.b, "/>"...)
			continue
		}
		w.b = append(w.b, '>')
		w.depth++
		w.outlines(o.Outlines, depth+1)
		w.close("source:outline")
	}
}

// itemImage writes the image of an item as a Media RSS thumbnail, unless the iTunes image is the
// same. RSS and Atom have no element for the image of an item.
func (w *writer) itemImage(it *feed.Item) {
	img := it.More.Image
	if img == nil || img.URL == "" || it.ITunes != nil && it.ITunes.Image == img.URL {
		return
	}
	if it.Media != nil && len(it.Media.Thumbnails) > 0 {
		w.lose(lostImages, it.Media.Thumbnails[0].URL != img.URL)
		return
	}
	url := w.uri(img.URL, "image")
	if url == "" {
		return
	}
	w.warn("image", "image", titleOf(w.format), " has no element for the image of an item; it is written as a Media RSS thumbnail.")
	w.empty("media:thumbnail", "url", url, "width", positive(img.Width), "height", positive(img.Height))
}

// positive formats a number of at least 1. For other numbers it returns "".
func positive[T int | int64](n T) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}
