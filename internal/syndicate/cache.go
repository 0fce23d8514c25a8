package syndicate

import (
	"time"

	"cloudburst/feed/render"
	"cloudburst/internal/serve"
)

// feedKey identifies a feed. The private and the public form of a feed are different documents and
// have separate keys.
type feedKey struct {
	name    string
	private bool
}

// entry holds the cached nodes of one feed. It exists only while it has nodes or flights.
type entry struct {
	key      feedKey
	version  int64 // newest requested version; all nodes are of this version
	modified time.Time
	same     bool // the previous version was modified in the same second
	nodes    map[nodeKey]*node
	flights  map[flightKey]*flight
}

type kind uint8

const (
	whole      kind = iota // complete document
	delta                  // items that are new since an older state
	read                   // parsed feed
	pastStates             // history of older states
)

type nodeKey struct {
	kind    kind
	format  string
	variant uint64 // hash of the render options and links
	// A delta leads from one state to another.
	since, to int64
}

// node is a cached value in the LRU ring. Its content is immutable while shared, except the
// history, which the layer's lock guards.
type node struct {
	key        nodeKey
	of         *entry
	version    int64
	state      int64 // state of its source; 0: unknown
	size       int64
	used       int64 // last use, by the layer's clock
	prev, next *node

	doc      *serve.Document // of whole and delta; nil in a delta: send the complete document
	warnings []render.Warning
	source   *source
	history  *history
}

// lookup returns the cached node of a version or of a newer one, or nil.
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

// entryFor returns or creates the entry of a source. A newer version removes all nodes except the
// history.
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

// add caches a node and evicts others until the memory limit is met. It requires the lock, as do
// the functions below.
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

// limitVariants makes space for another document of one format. Clients choose the names of JSONP
// callbacks, and each name is another document.
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

// touch moves a node to the front of the ring.
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

// dropIfUnused removes an entry without nodes and flights.
func (l *Layer) dropIfUnused(e *entry) {
	if len(e.nodes) == 0 && len(e.flights) == 0 && l.feeds[e.key] == e {
		delete(l.feeds, e.key)
	}
}
