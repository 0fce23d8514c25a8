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

// entry holds the cached nodes of one feed. It exists only while it has nodes or builds in
// progress.
type entry struct {
	key      feedKey
	version  int64 // newest requested version; all nodes except the history have this version
	modified time.Time
	same     bool // the previous version has a Modified time in the same second
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
	// A delta has the items that are new in the state to since the state since.
	since, to int64
}

// node is a cached value in the LRU ring. Other goroutines read its content, so the content is
// immutable, except for the history, which the layer's lock protects.
type node struct {
	key        nodeKey
	of         *entry
	version    int64
	state      int64 // state of the document that the node was made from; 0: unknown
	size       int64
	used       int64 // value of the layer's clock at the last use
	prev, next *node

	doc      *serve.Document // document of a node of kind whole or delta; nil for a delta: send the complete document
	warnings []render.Warning
	source   *source
	history  *history
}

// lookup returns the cached node of this version or of a newer version; nil: the cache has no such
// node.
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

// entryFor returns the entry of a source, or creates it. A newer version removes all nodes of the
// entry except the history.
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

// add caches a node and removes the least recently used nodes until the cache is within its memory
// limit. The caller of add and of the functions below must hold the lock.
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

// limitVariants removes a document of a format if the format has too many documents. Clients choose
// the names of JSONP callbacks, and each name results in a document of its own.
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

// touch moves a node to the front of the LRU ring.
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

// dropIfUnused removes an entry that has no nodes and no builds in progress.
func (l *Layer) dropIfUnused(e *entry) {
	if len(e.nodes) == 0 && len(e.flights) == 0 && l.feeds[e.key] == e {
		delete(l.feeds, e.key)
	}
}
