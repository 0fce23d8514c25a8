package syndicate

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/serve"
)

// wantsDelta reports whether the client accepts only the new items of a feed.
//
// spec:rfc3229#a-im
func wantsDelta(r *http.Request) bool {
	accept := r.Header["A-Im"]
	return len(accept) > 0 && r.Method == http.MethodGet && len(r.Header["If-None-Match"]) > 0 && serve.Weight(accept, "feed") > 0 && !feedparser(r.Header)
}

// feedparser reports whether the Python library feedparser sent a request. It recognizes the
// library by a media type that no other program accepts. The library sends A-IM for every program
// that uses it, and many of the programs, such as rss2email, treat the status 226 as an error.
//
// spec:cloudburst#delta-feedparser
func feedparser(h http.Header) bool {
	return slices.ContainsFunc(h["Accept"], func(accept string) bool { return strings.Contains(accept, "application/x-netcdf") })
}

// delta returns the document with the new items in n for a client that has an older state. same
// reports that n has no new items. If d is nil and same is false, the complete document must be
// sent.
//
// spec:rfc3229#instance
func (l *Layer) delta(r *http.Request, s Source, n *node) (d *serve.Document, same bool) {
	l.mu.Lock()
	e := l.feeds[feedKey{s.Key, s.Private}]
	if e == nil || e.version != n.version || s.Version != n.version {
		l.mu.Unlock()
		return nil, false
	}
	p := e.nodes[nodeKey{kind: pastStates}]
	if p == nil || p.history.state != n.state {
		l.mu.Unlock()
		return nil, false
	}
	since, ok := p.history.since(n.key.format, r.Header)
	same = ok && !p.history.changedSince(since)
	k := n.key
	k.kind, k.since, k.to = delta, since, n.state
	made := e.nodes[k]
	if made != nil {
		l.touch(made)
	}
	l.mu.Unlock()
	switch {
	case !ok || same:
		return nil, same
	case made != nil:
		return made.doc, false
	}
	return l.missDelta(r.Context(), e, s, k, n), false
}

// missDelta builds a delta that is not cached. It is a function of its own for the same reason as
// miss.
func (l *Layer) missDelta(ctx context.Context, e *entry, s Source, k nodeKey, n *node) *serve.Document {
	made, err := l.buildOnce(ctx, e, s.Version, k, func(ctx context.Context) (*node, error) {
		return l.writeDelta(ctx, e, s, k, n.doc)
	})
	if err != nil {
		return nil // the caller then sends the complete document
	}
	return made.doc
}

// writeDelta builds a document with the items that are new or changed since the state k.since.
//
// spec:rfc3229#im-used
func (l *Layer) writeDelta(ctx context.Context, e *entry, s Source, k nodeKey, current *serve.Document) (*node, error) {
	n := &node{state: k.to, size: overheadBytes}
	src, err := l.source(ctx, e, s)
	if err != nil || src.feed == nil || src.state != k.to {
		return n, err
	}
	format := k.format
	if format == "" {
		// The client requests the feed as saved, so use the format of the saved document.
		format = formatOf(src.feed)
	}
	items, ok := l.newItems(e, src, k.since)
	if !ok || format == "" || len(items) == len(src.feed.Items) && len(items) > 0 {
		return n, nil
	}
	release, err := l.acquireSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	part := *src.feed
	part.Items = items
	body, kind, _, err := renderAs(src, &part, &s, k.format, format)
	if err != nil {
		return nil, err
	}
	o := l.options(e, &s, k.format)
	o.Type, o.Delta, o.Tag = kind, "feed", current.Tag()
	// spec:rfc3229#not-stored
	o.Cache, o.Vary, o.Tags = "no-store, im", "A-IM, If-None-Match", ""
	if s.Private {
		o.Cache = "private, no-store"
	}
	n.doc = serve.New(body, o)
	n.size = int64(n.doc.Size())
	return n, nil
}

// newItems returns the items of src that are new or changed since an older state.
func (l *Layer) newItems(e *entry, src *source, since int64) (items []feed.Item, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := e.nodes[nodeKey{kind: pastStates}]
	if p == nil || p.history.state != src.state {
		return nil, false
	}
	for i, x := range src.items {
		if p.history.items[x] > since {
			items = append(items, src.feed.Items[i])
		}
	}
	return items, true
}
