package render

import (
	"strings"

	"cloudburst/feed"
)

// mediaCommunity writes ratings and statistics of viewers.
func (w *writer) mediaCommunity(c *feed.MediaCommunity) {
	if c == nil {
		return
	}
	w.open("media:community")
	w.empty("media:starRating", "average", c.StarAverage, "count", c.StarCount, "min", c.StarMin, "max", c.StarMax)
	w.empty("media:statistics", "views", c.Views, "favorites", c.Favorites)
	if len(c.Tags) > 0 {
		var b strings.Builder
		for i, tag := range c.Tags {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(tag.Name)
			if tag.Weight != "" {
				b.WriteString(": " + tag.Weight)
			}
		}
		w.leaf("media:tags", b.String())
	}
	w.close("media:community")
}

// mediaLists writes the comments and the pages that refer to the file.
func (w *writer) mediaLists(m *feed.MediaInfo) {
	w.list("media:comments", "media:comment", m.Comments)
	w.list("media:responses", "media:response", m.Responses)
	w.list("media:backLinks", "media:backLink", m.BackLinks)
}

// list writes an element with one child element per value.
func (w *writer) list(name, each string, values []string) {
	if len(values) == 0 {
		return
	}
	w.open(name)
	for _, v := range values {
		w.leaf(each, v)
	}
	w.close(name)
}

// mediaRest writes the remaining elements.
func (w *writer) mediaRest(m *feed.MediaInfo) {
	w.mediaEmbed(m.Embed)
	if s := m.Status; s != nil {
		w.empty("media:status", "state", s.State, "reason", s.Reason)
	}
	for i := range m.Prices {
		p := &m.Prices[i]
		w.empty("media:price", "type", p.Type, "info", p.Info, "price", p.Price, "currency", p.Currency)
	}
	w.mediaLinks("media:license", m.Licenses)
	w.mediaLinks("media:subTitle", m.SubTitles)
	w.mediaLinks("media:peerLink", m.PeerLinks)
	elements(m.Locations, w.mediaLocation)
	if m.Rights != "" {
		w.empty("media:rights", "status", m.Rights)
	}
	if len(m.Scenes) == 0 {
		return
	}
	w.open("media:scenes")
	for i := range m.Scenes {
		sc := &m.Scenes[i]
		w.open("media:scene")
		w.leaf("media:sceneTitle", sc.Title)
		w.leaf("media:sceneDescription", sc.Description)
		w.leaf("media:sceneStartTime", sc.Start)
		w.leaf("media:sceneEndTime", sc.End)
		w.close("media:scene")
	}
	w.close("media:scenes")
}

func (w *writer) mediaEmbed(e *feed.MediaEmbed) {
	if e == nil {
		return
	}
	w.open("media:embed", "url", w.uri(e.URL, "media:embed"), "width", e.Width, "height", e.Height)
	for i := range e.Params {
		if p := &e.Params[i]; p.Name != "" {
			w.element("media:param", p.Value, "name", p.Name)
		}
	}
	w.close("media:embed")
}

func (w *writer) mediaLinks(name string, list []feed.Link) {
	for i := range list {
		l := &list[i]
		url := w.uri(l.Href, name)
		if url == "" {
			continue
		}
		if kind, lang := w.mime(l.Type, name), w.language(l.Language, name); l.Title == "" {
			w.empty(name, "type", kind, "lang", lang, "href", url)
		} else {
			w.element(name, l.Title, "type", kind, "lang", lang, "href", url)
		}
	}
}

func (w *writer) mediaLocation(l *feed.MediaLocation) {
	attrs := []string{"description", l.Description, "start", l.Start, "end", l.End}
	if len(l.Where) == 0 {
		w.empty("media:location", attrs...)
		return
	}
	w.open("media:location", attrs...)
	w.places(l.Where)
	w.close("media:location")
}
