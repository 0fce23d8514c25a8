package syndicate

import (
	"net/http"
	"slices"

	"cloudburst/internal/serve"
)

const (
	versionsKept = 50  // whose tags are known
	tagsKept     = 400 // of all their formats
)

// history is what is known of older versions of a feed: which tags they had, and
// since which version each item of the newest is what it is. Items that went are not
// told to anybody, so nothing is kept of them.
type history struct {
	version   int64 // that items is of
	items     map[uint64]int64
	head      uint64
	headSince int64
	tags      []tagged // the oldest first
}

// tagged is the tag that a version had in a format.
type tagged struct {
	format, tag string
	version     int64
}

// learn notes what a node tells of its version. It is called with the lock held.
func (l *Layer) learn(e *entry, n *node) {
	if n.source == nil && n.key.kind != whole {
		return
	}
	k := nodeKey{kind: past}
	p := e.nodes[k]
	if p == nil {
		p = &node{key: k, history: &history{version: -1}}
	} else {
		l.remove(p)
	}
	h := p.history
	if n.source != nil {
		h.seen(n.version, &n.source.prints)
	} else {
		h.tag(n.key.format, n.doc.Tag(), n.version)
	}
	p.size = int64(len(h.items)*24 + len(h.tags)*96 + sizeOfTheRest)
	l.add(e, p)
}

// seen compares the items of a new version with those of the last one.
func (h *history) seen(version int64, p *prints) {
	if version == h.version {
		return // read once more
	}
	items := make(map[uint64]int64, len(p.items))
	for _, x := range p.items {
		since, ok := h.items[x]
		if !ok {
			since = version
		}
		items[x] = since
	}
	if p.head != h.head || h.items == nil {
		h.head, h.headSince = p.head, version
	}
	h.items, h.version = items, version
}

func (h *history) tag(format, tag string, version int64) {
	h.tags = slices.DeleteFunc(h.tags, func(t tagged) bool { return t.format == format && t.tag == tag })
	h.tags = append(h.tags, tagged{format, tag, version})
	versions, last := 0, int64(0)
	for i := len(h.tags) - 1; i >= 0; i-- {
		if versions == 0 || h.tags[i].version != last {
			versions, last = versions+1, h.tags[i].version
		}
		if versions > versionsKept || len(h.tags)-i > tagsKept {
			h.tags = slices.Delete(h.tags, 0, i+1)
			return
		}
	}
}

// since is the newest version that a reader has in a format, by the tags that it holds.
func (h *history) since(format string, head http.Header) (version int64, ok bool) {
	for _, list := range head["If-None-Match"] {
		for tag, _, rest := serve.NextTag(list); tag != ""; tag, _, rest = serve.NextTag(rest) {
			base := serve.BaseTag(tag)
			for _, t := range h.tags {
				if t.tag == base && t.format == format && (!ok || t.version > version) {
					version, ok = t.version, true
				}
			}
		}
	}
	return version, ok
}

// changedSince says that there is anything new for who has a version.
func (h *history) changedSince(version int64) bool {
	if h.headSince > version {
		return true
	}
	for _, since := range h.items {
		if since > version {
			return true
		}
	}
	return false
}
