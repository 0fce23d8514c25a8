package syndicate

import (
	"net/http"
	"slices"

	"cloudburst/internal/serve"
)

const (
	maxStates   = 50  // states with known tags
	maxTags     = 400 // tags of all states and formats
	maxTagsRead = 64  // tags read of a request
)

// history knows the tags of older states of a feed, and since which state each item has been
// unchanged. Deltas contain no removed items, so removed items are not recorded.
//
// A state is the content that was read, not the requested version: a document may be saved after
// its version was looked up, and be read as the older version. State numbers increase. Two
// consecutive reads with the same content are one state.
type history struct {
	state     int64 // state of items
	items     map[uint64]int64
	head      uint64
	headSince int64
	newest    int64    // newest state in headSince and items
	tags      []tagged // oldest first
}

// tagged is the tag of a state in a format.
type tagged struct {
	format, tag string
	state       int64
}

// recordState records the state or the tag of a new node. It requires the lock, before the node is
// shared.
func (l *Layer) recordState(e *entry, n *node) {
	if n.source == nil && (n.key.kind != whole || n.state == 0) {
		return
	}
	k := nodeKey{kind: pastStates}
	p := e.nodes[k]
	if p == nil {
		p = &node{key: k, history: &history{}}
	} else {
		l.remove(p)
	}
	h := p.history
	if n.source != nil {
		l.state++
		n.source.state = h.update(&n.source.fingerprints, l.state)
	} else {
		h.tag(n.key.format, n.doc.Tag(), n.state)
	}
	p.size = int64(len(h.items)*24 + len(h.tags)*96 + overheadBytes)
	l.add(e, p)
}

// update compares the content with the newest state, and returns its state: next, or the old one if
// nothing changed.
func (h *history) update(p *fingerprints, next int64) (state int64) {
	same := h.items != nil && p.head == h.head
	items := make(map[uint64]int64, len(p.items))
	for _, x := range p.items {
		since, ok := h.items[x]
		if !ok {
			since, same = next, false
		}
		items[x] = since
	}
	if same && len(items) == len(h.items) {
		return h.state // the same content, except perhaps dates
	}
	if h.items == nil || p.head != h.head {
		h.head, h.headSince = p.head, next
	}
	h.items, h.state, h.newest = items, next, h.headSince
	for _, since := range items {
		h.newest = max(h.newest, since)
	}
	return next
}

func (h *history) tag(format, tag string, state int64) {
	h.tags = slices.DeleteFunc(h.tags, func(t tagged) bool { return t.format == format && t.tag == tag })
	h.tags = append(h.tags, tagged{format, tag, state})
	states, last := 0, int64(0)
	for i := len(h.tags) - 1; i >= 0; i-- {
		if h.tags[i].state != last {
			states, last = states+1, h.tags[i].state
		}
		if states > maxStates || len(h.tags)-i > maxTags {
			h.tags = slices.Delete(h.tags, 0, i+1)
			return
		}
	}
}

// since returns the newest state of which the client has a tag in a format. Only the first
// maxTagsRead tags are checked, because the search holds the lock.
func (h *history) since(format string, head http.Header) (state int64, ok bool) {
	read := 0
	for _, list := range head["If-None-Match"] {
		for tag, _, rest := serve.NextTag(list); tag != ""; tag, _, rest = serve.NextTag(rest) {
			if read++; read > maxTagsRead {
				return state, ok
			}
			base := serve.BaseTag(tag)
			for _, t := range h.tags {
				if t.tag == base && t.format == format && (!ok || t.state > state) {
					state, ok = t.state, true
				}
			}
		}
	}
	return state, ok
}

// changedSince reports whether anything is new since a state.
func (h *history) changedSince(state int64) bool { return h.newest > state }
