package render

import (
	"slices"

	"cloudburst/feed"
)

// self is the address that the document says it has.
func (w *writer) self() string {
	if w.o.Self != "" {
		return w.o.Self
	}
	return w.f.Self
}

// cloud is the one to name, nil for none.
func (w *writer) cloud() *feed.Cloud {
	switch {
	case w.o.Cloud != nil:
		return w.o.Cloud
	case len(w.f.Clouds) > 0:
		return &w.f.Clouds[0]
	}
	return w.f.Cloud
}

// generator is the program to name, nil for none.
func (w *writer) generator() *feed.Generator {
	if w.o.Generator != nil {
		return w.o.Generator
	}
	return w.f.Generator
}

// hubs are the places to name where one asks for notifications: those of the options
// before those of the feed, each once.
func (w *writer) hubs() []feed.Hub {
	if len(w.o.Hubs) == 0 {
		return w.f.Hubs
	}
	all := make([]feed.Hub, 0, len(w.o.Hubs)+len(w.f.Hubs))
	for _, url := range w.o.Hubs {
		if h := (feed.Hub{Type: "WebSub", URL: url}); !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	for _, h := range w.f.Hubs {
		if !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}

// relation reports the links of a feed that self, hubs and Feed.Link stand for: these
// are written from there, not from Feed.Links.
func relation(l *feed.Link) bool { return l.Rel == "self" || l.Rel == "hub" }
