package render

import "cloudburst/feed"

// newer reports whether to write an element that is newer than most validators, which report it as
// an error.
//
// spec:cloudburst#strict
func (w *writer) newer(name string, has bool) bool {
	if has && w.o.Strict {
		w.warn("newer", name, "Most validators reject ", name, "; it is omitted.")
		return false
	}
	return has
}

// newerMedia writes the elements added by Media RSS 1.5, and unknown elements.
func (w *writer) newerMedia(m *feed.MediaInfo) {
	if !w.o.Strict {
		w.mediaCommunity(m.Community)
		w.mediaLists(m)
		w.mediaRest(m)
	} else {
		w.newer("media:community", m.Community != nil)
		w.newer("media:comments", len(m.Comments)+len(m.Responses)+len(m.BackLinks) > 0)
		w.newer("media:embed", m.Embed != nil)
		w.newer("media:status", m.Status != nil || m.Rights != "")
		w.newer("media:price", len(m.Prices) > 0)
		w.newer("media:license", len(m.Licenses)+len(m.SubTitles)+len(m.PeerLinks) > 0)
		w.newer("media:location", len(m.Locations)+len(m.Scenes) > 0)
	}
	for i := range m.Other {
		switch n := &m.Other[i]; {
		case n.Name == "copyright" && m.Copyright != nil:
			w.warn("unknown-element", "media:copyright", "Only one copyright is allowed; another one is omitted.")
		case n.Name == "adult" || w.newer("media:"+n.Name, true):
			w.tree(n)
		}
	}
}

// isLateFOAF reports whether an element of Friend of a Friend is unknown to most validators,
// which know only five.
func isLateFOAF(n *feed.Node) bool {
	switch n.Name {
	case "homepage", "weblog", "plan", "firstName", "workplaceHomepage":
		return false
	}
	return bareURI(n.Space) == "xmlns.com/foaf/0.1"
}

// strictPlace returns a geometry in the subset that most validators accept: without heights
// and holes, and with a point and a radius instead of a circle.
func (w *writer) strictPlace(g *feed.Geometry) *feed.Geometry {
	if !w.o.Strict || g.Type != "Circle" && len(g.Coordinates[0]) == 2 && len(g.Holes) == 0 {
		return g
	}
	w.warn("newer", "where", "Most validators reject heights, holes and circles; this place is simplified.")
	out := *g
	out.Holes, out.Coordinates = nil, make([][]float64, len(g.Coordinates))
	for i, p := range g.Coordinates {
		out.Coordinates[i] = p[:2]
	}
	if g.Type == "Circle" {
		out.Type = "Point"
	}
	return &out
}
