package render

import (
	"slices"

	"cloudburst/feed"
)

// self returns the URL of the document itself.
func (w *writer) self() string {
	if w.o.Self != "" {
		return w.o.Self
	}
	return w.f.Self
}

// cloud returns the cloud to write, or nil if there is none.
func (w *writer) cloud() *feed.Cloud {
	if all := w.clouds(); len(all) > 0 {
		return &all[0]
	}
	return nil
}

// generator returns the generator to write, or nil if there is none.
func (w *writer) generator() *feed.Generator {
	if w.o.Generator != nil {
		return w.o.Generator
	}
	return w.f.Generator
}

// hubs returns the hubs without duplicates: first those of the options, then those of the feed.
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

// relation reports whether a link has the relation self or hub. Such links are written by the
// methods self and hubs, and not from Feed.Links.
func relation(l *feed.Link) bool { return l.Rel == "self" || l.Rel == "hub" }
