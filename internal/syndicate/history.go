package syndicate

import (
	"net/http"
	"slices"

	"cloudburst/internal/serve"
)

const (
	maxStates   = 50  // maximum states whose tags are known
	maxTags     = 400 // maximum tags of all states and formats
	maxTagsRead = 64  // maximum tags that are read from a request
)

// history records the tags of older states of a feed. It also records since which state each item
// has been unchanged. A delta does not contain removed items, so history does not record removed
// items. A state is the content that was read, which may be newer than the requested version,
// because the document may be saved between the lookup of the version and the read. State numbers
// increase. Two consecutive reads with the same content have the same state.
type history struct {
	state     int64 // state that items describes
	items     map[uint64]int64
	head      uint64
	headSince int64
	newest    int64    // newest state in headSince and items
	tags      []tagged // tags of past states, oldest first
}

// tagged is the tag of a state in a format.
type tagged struct {
	format, tag string
	state       int64
}

// recordState records the state or the tag of a new node. The caller must hold the lock and must
// not share the node yet.
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

// update compares the content with the newest state and returns the state of the content: next, or
// the newest state if nothing has changed.
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
		return h.state // the content is the same, except possibly for dates
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

// since returns the newest state for which the client sends a tag in a format. It checks only the
// first maxTagsRead tags, because it holds the lock.
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

// changedSince reports whether the feed has new or changed items since a state.
func (h *history) changedSince(state int64) bool { return h.newest > state }
