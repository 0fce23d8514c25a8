package render

import (
	"slices"

	"cloudburst/feed"
)

// podcast writes the Podcasting 2.0 elements. updates is the update frequency of a feed.
func (w *writer) podcast(p *feed.Podcast, updates string) {
	if p == nil {
		w.leaf("podcast:updateFrequency", updates)
		return
	}
	w.leaf("podcast:guid", p.GUID)
	w.leaf("podcast:locked", p.Locked, "owner", p.LockedOwner)
	w.leaf("podcast:medium", p.Medium)
	w.leaf("podcast:season", p.Season, "name", p.SeasonName)
	w.leaf("podcast:episode", p.Episode, "display", p.EpisodeLabel)
	if updates != "" && !hasNode(p.Other, "updateFrequency") {
		w.element("podcast:updateFrequency", updates)
	}
	for i := range p.Txt {
		w.element("podcast:txt", p.Txt[i].Value, "purpose", p.Txt[i].Purpose)
	}
	w.podcastLinks(p)
	w.podcastParts(p)
	elements(p.Other, w.tree)
}

func hasNode(list []feed.Node, name string) bool {
	return slices.ContainsFunc(list, func(n feed.Node) bool { return n.Name == name })
}

func (w *writer) podcastLinks(p *feed.Podcast) {
	for i := range p.Funding {
		l := &p.Funding[i]
		if url := w.uri(l.Href, "podcast:funding"); url != "" {
			w.element("podcast:funding", l.Title, "url", url)
		}
	}
	if l := p.Chapters; l != nil {
		w.podcastLink("podcast:chapters", l)
	}
	for i := range p.Transcripts {
		w.podcastLink("podcast:transcript", &p.Transcripts[i])
	}
	if l := p.License; l != nil && (l.Title != "" || l.Href != "") {
		w.element("podcast:license", l.Title, "url", w.uri(l.Href, "podcast:license"))
	}
}

// podcastLink writes an element with a URL and a text.
func (w *writer) podcastLink(name string, l *feed.Link) {
	url := w.uri(l.Href, name)
	if url == "" {
		return
	}
	w.empty(name, "url", url, "type", w.mime(l.Type, name), "language", w.language(l.Language, name), "rel", l.Rel)
}

func (w *writer) podcastParts(p *feed.Podcast) {
	for i := range p.People {
		who := &p.People[i]
		w.element("podcast:person", who.Name, "role", who.Role, "group", who.Group,
			"img", w.uri(who.Image, "podcast:person"), "href", w.uri(who.URL, "podcast:person"))
	}
	for i := range p.Locations {
		l := &p.Locations[i]
		w.element("podcast:location", l.Name, "rel", l.Rel, "geo", l.Geo, "osm", l.OSM, "country", l.Country)
	}
	for i := range p.Soundbites {
		b := &p.Soundbites[i]
		start, duration := w.decimal(b.Start, "podcast:soundbite"), w.decimal(b.Duration, "podcast:soundbite")
		if start != "" && duration != "" {
			w.element("podcast:soundbite", b.Title, "startTime", start, "duration", duration)
		}
	}
	elements(p.Trailers, w.podcastTrailer)
}

func (w *writer) podcastTrailer(t *feed.Trailer) {
	url := w.uri(t.URL, "podcast:trailer")
	if url == "" {
		return
	}
	w.tag("podcast:trailer", nil)
	if w.moment(&t.Published, "podcast:trailer") {
		w.b = append(appendRFC822(append(w.b, ` pubdate="`...), t.Published.UTC), '"')
	}
	w.optional("url", url)
	w.optional("length", w.number(t.Length, "podcast:trailer", 0))
	w.optional("type", w.mime(t.Type, "podcast:trailer"))
	w.optional("season", w.number(t.Season, "podcast:trailer", 0))
	w.b = append(w.b, '>')
	w.escape(t.Title, "podcast:trailer", inText)
	w.endTag("podcast:trailer")
}
