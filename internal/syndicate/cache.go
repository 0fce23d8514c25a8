package syndicate

import (
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/serve"
)

// feedKey finds a feed. One that is served to some readers in private and to others
// in public is two: what is kept of them is not the same.
type feedKey struct {
	name    string
	private bool
}

// entry is what is known of one feed. It is only there while something of it is.
type entry struct {
	key      feedKey
	version  int64 // the newest that was asked for; what is kept is of this one
	modified time.Time
	same     bool // the version before it was of the same second
	nodes    map[nodeKey]*node
	flights  map[flightKey]*flight
}

type kind uint8

const (
	whole      kind = iota // a document
	delta                  // what is new in it since an older version
	read                   // the feed itself
	pastStates             // what is known of older versions
)

type nodeKey struct {
	kind    kind
	format  string
	variant uint64 // a hash of what it was told to say
	// A delta leads from one state to another.
	since, to int64
}

// node is something that is kept, in the order of its use. What it holds does not
// change while it is shared, save that of past, which the layer's lock guards.
type node struct {
	key        nodeKey
	of         *entry
	version    int64
	state      int64 // of the source that it was made from; 0 is unknown
	size       int64
	used       int64 // when, by the layer's clock
	prev, next *node

	doc      *serve.Document // of whole and delta; nil in a delta: the whole is better
	warnings []render.Warning
	source   *source
	history  *history
}

// hit is what is kept of a version, or of a newer one.
func (l *Layer) lookup(key feedKey, version int64, k nodeKey) *node {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.feeds[key]
	if e == nil || e.version < version {
		return nil
	}
	n := e.nodes[k]
	if n != nil {
		l.touch(n)
		if p := e.nodes[nodeKey{kind: pastStates}]; p != nil {
			l.touch(p)
		}
	}
	return n
}

// enter finds or makes the entry of a source. A newer version leaves nothing of the
// older but what is known of its past.
func (l *Layer) entryFor(s *Source) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := feedKey{s.Key, s.Private}
	e := l.feeds[key]
	if e == nil {
		e = &entry{key: key, version: s.Version, modified: s.Modified, nodes: map[nodeKey]*node{}, flights: map[flightKey]*flight{}}
		l.feeds[key] = e
	}
	if s.Version > e.version {
		for k, n := range e.nodes {
			if k.kind != pastStates {
				l.remove(n)
			}
		}
		e.same = e.modified.Unix() == s.Modified.Unix()
		e.version, e.modified = s.Version, s.Modified
	}
	return e
}

// add keeps a node, and lets go of others until there is room. It is called with the
// lock held, as are those below.
func (l *Layer) add(e *entry, n *node) {
	if old := e.nodes[n.key]; old != nil {
		l.remove(old)
	}
	if n.size > l.Memory {
		return
	}
	if n.key.kind == whole || n.key.kind == delta {
		l.limitVariants(e, n.key)
	}
	n.of = e
	e.nodes[n.key] = n
	l.used += n.size
	n.prev, n.next = n, n
	l.touch(n)
	for l.used > l.Memory {
		last := l.ring.prev
		l.remove(last)
		l.dropIfUnused(last.of)
	}
}

// thin makes a place among the documents of one format. Strangers choose the names of
// callbacks, and each is another document.
func (l *Layer) limitVariants(e *entry, k nodeKey) {
	n := 0
	var oldest *node
	for o, at := range e.nodes {
		if o.kind != k.kind || o.format != k.format {
			continue
		}
		if n++; oldest == nil || at.used < oldest.used {
			oldest = at
		}
	}
	if n >= maxVariants {
		l.remove(oldest)
	}
}

// touch puts a node at the front.
func (l *Layer) touch(n *node) {
	l.clock++
	n.used = l.clock
	if l.ring.next == n {
		return
	}
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = &l.ring, l.ring.next
	n.prev.next, n.next.prev = n, n
}

func (l *Layer) remove(n *node) {
	n.prev.next, n.next.prev = n.next, n.prev
	n.prev, n.next = nil, nil
	l.used -= n.size
	delete(n.of.nodes, n.key)
}

// leave lets go of an entry that nothing is kept or made for.
func (l *Layer) dropIfUnused(e *entry) {
	if len(e.nodes) == 0 && len(e.flights) == 0 && l.feeds[e.key] == e {
		delete(l.feeds, e.key)
	}
}
