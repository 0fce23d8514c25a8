package syndicate

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cloudburst/feed"
	"cloudburst/internal/serve"
)

// wantsDelta says that a reader can add new items to those it has.
//
// spec:rfc3229#a-im
func wantsDelta(r *http.Request) bool {
	accept := r.Header["A-Im"]
	return len(accept) > 0 && r.Method == http.MethodGet && len(r.Header["If-None-Match"]) > 0 && serve.Weight(accept, "feed") > 0 && !feedparser(r.Header)
}

// feedparser reports a request of that Python library, by a media type that only the library accepts.
// It sends A-IM on behalf of every program, and many of them, such as rss2email, take the status 226
// for an error.
//
// spec:cloudburst#delta-feedparser
func feedparser(h http.Header) bool {
	return slices.ContainsFunc(h["Accept"], func(accept string) bool { return strings.Contains(accept, "application/x-netcdf") })
}

// delta is what is new in n for a reader who holds an older version. same says that
// there is nothing new. Neither: the whole document is what to send.
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

// missDelta makes a delta that is not there. It stands by itself as miss does.
func (l *Layer) missDelta(ctx context.Context, e *entry, s Source, k nodeKey, n *node) *serve.Document {
	made, err := l.buildOnce(ctx, e, s.Version, k, func(ctx context.Context) (*node, error) {
		return l.writeDelta(ctx, e, s, k, n.doc)
	})
	if err != nil {
		return nil // the whole one is there already
	}
	return made.doc
}

// writeDelta makes a document of the feed with the items that are newer than k.since.
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
		// As it was saved: then in the format that it was saved in.
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
	o.Cache, o.Vary = "no-store, im", "A-IM, If-None-Match"
	if s.Private {
		o.Cache = "private, no-store"
	}
	n.doc = serve.New(body, o)
	n.size = int64(n.doc.Size())
	return n, nil
}

// newItems are those of a source that an older state did not have as they are now.
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
