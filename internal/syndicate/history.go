package syndicate

import (
	"net/http"
	"slices"

	"cloudburst/internal/serve"
)

const (
	maxStates   = 50  // whose tags are known
	maxTags     = 400 // of all their formats
	maxTagsRead = 64  // of a request
)

// history is what is known of older states of a feed: which tags they had, and since
// which state each item of the newest is what it is. Items that went are not told to
// anybody, so nothing is kept of them.
//
// A state is what was read, not what was asked for: a document may have been saved
// anew after its version was looked up, and be read as that version. States grow, and
// two that were read one after the other and say the same are one.
type history struct {
	state     int64 // that items is of
	items     map[uint64]int64
	head      uint64
	headSince int64
	newest    int64    // the newest of headSince and of items
	tags      []tagged // the oldest first
}

// tagged is the tag that a state had in a format.
type tagged struct {
	format, tag string
	state       int64
}

// learn notes what a node tells of its version. It is called with the lock held, before
// anybody has the node.
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

// seen compares what was read with the newest state, and returns its own: next unless
// nothing has changed.
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
		return h.state // read once more, or only dates are others
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

// since is the newest state that a reader has in a format, by the tags that it holds, of
// which the first tagsRead count: everybody else waits for the lock meanwhile.
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

// changedSince says that there is anything new for who has a state.
func (h *history) changedSince(state int64) bool { return h.newest > state }
