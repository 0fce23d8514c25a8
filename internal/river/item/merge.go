package item

import (
	"cmp"
	"slices"
	"time"

	"cloudburst/feed"
)

// Merge compares a document with the last document of its feed. Call Read. Then set Known to the
// stored items whose IDs Unsure returns. Then call Result.
type Merge struct {
	Source  int64
	Last    []Known // items of the last document, in its order
	Feed    *feed.Feed
	Now     time.Time
	First   bool           // true if the feed was never read before
	Partial bool           // true if a hub pushed the document: items that it lacks are not removed
	Known   map[int64]Item // stored items with the IDs that Unsure returned, by ID
	Content func(*feed.Item) Content

	entries []entry
	before  map[int64]int // key: item ID; value: index in Last
	gone    []int64       // IDs in Last that the document does not have
	ordered bool          // true if the items of the document are in date order
	upward  bool          // true if the oldest item comes first
}

// entry is one item of the document.
type entry struct {
	item *feed.Item
	id   int64
	hash int64
	same bool // true if the item has not changed since the last document
}

// matches reports whether the item with this hash in the store has the content of e.
func (e *entry) matches(hash int64) bool {
	return hash == e.hash || hash>>32 == e.hash>>32 && hadHash(e.item, hash)
}

// Merged contains the changes that a document causes.
type Merged struct {
	Put       []Item // new items first, with Seq 0, then changed items
	Withdrawn []Item
	Last      []Known // items of this document, for the next Merge
	Fresh     int     // number of new items
	Edited    int
	Restored  int // number of withdrawn items that are in the feed again
}

// maxTombstones is the maximum number of removals that one document may declare.
const maxTombstones = 1000

// Read reads the items of the document. If several items have the same ID, only the first counts.
//
// spec:cloudburst#river-first-id-counts
func (m *Merge) Read() {
	m.before = make(map[int64]int, len(m.Last))
	for i, k := range m.Last {
		m.before[k.ID] = i
	}
	seen := make(map[int64]bool, len(m.Feed.Items))
	m.entries = make([]entry, 0, len(m.Feed.Items))
	for i := range m.Feed.Items {
		it := &m.Feed.Items[i]
		e := entry{item: it, id: m.idOf(it), hash: hashOf(it)}
		if seen[e.id] {
			continue
		}
		seen[e.id] = true
		if j, ok := m.before[e.id]; ok {
			e.same = e.matches(m.Last[j].Hash)
		}
		m.entries = append(m.entries, e)
	}
	for _, k := range m.Last {
		if !seen[k.ID] {
			m.gone = append(m.gone, k.ID)
		}
	}
	m.matchRenamed()
	m.ordered, m.upward = m.order()
}

// idOf returns the ID of an item. If the last document had the item under a former ID, the item keeps
// that ID.
//
// spec:cloudburst#river-former-ids
func (m *Merge) idOf(it *feed.Item) int64 {
	id := ID(m.Source, it.ID)
	if m.has(id) {
		return id
	}
	if former := it.FormerID(m.Feed.Base); former != "" && former != it.ID {
		if old := ID(m.Source, former); m.has(old) {
			return old
		}
	}
	return id
}

// has reports whether the last document had an item with this ID.
func (m *Merge) has(id int64) bool {
	_, ok := m.before[id]
	return ok
}

// matchRenamed matches items whose ID changed, because some programs create new IDs for every
// request. Items with identical content are the same item. If more than half of the items seem
// new, items that differ only in their links are the same item too.
//
// spec:cloudburst#river-changing-ids
func (m *Merge) matchRenamed() {
	fresh := 0
	for i := range m.entries {
		if _, ok := m.before[m.entries[i].id]; !ok {
			fresh++
		}
	}
	if fresh == 0 || len(m.Last) == 0 {
		return
	}
	whole, text := m.byContent()
	kept := map[int64]bool{} // IDs of the document's items whose content did not change
	for i := range m.entries {
		kept[m.entries[i].id] = m.entries[i].same
	}
	mostNew := fresh*2 > len(m.entries) && len(m.gone)*2 > len(m.Last)
	for i := range m.entries {
		e := &m.entries[i]
		if _, ok := m.before[e.id]; ok {
			continue
		}
		if id, ok := whole[e.hash]; ok {
			m.rename(e, id, kept[id])
		} else if id, ok := text[e.hash>>32]; ok && mostNew && e.hash>>32 != noText>>32 && slices.Contains(m.gone, id) {
			m.rename(e, id, false)
		}
	}
}

// byContent returns the item IDs of the last document in two maps. The key of whole is the hash
// of the whole item; the key of text is the hash of its text. If several items have equal
// content, the map contains the item that the document no longer has.
func (m *Merge) byContent() (whole, text map[int64]int64) {
	whole, text = map[int64]int64{}, map[int64]int64{}
	gone := make(map[int64]bool, len(m.gone))
	for _, id := range m.gone {
		gone[id] = true
	}
	put := func(in map[int64]int64, hash, id int64) {
		if old, ok := in[hash]; !ok || gone[id] || !gone[old] {
			in[hash] = id
		}
	}
	for _, k := range m.Last {
		put(whole, k.Hash, k.ID)
		put(text, k.Hash>>32, k.ID)
	}
	return whole, text
}

// rename gives e the ID of a known item. If the document also has that item, unchanged, then e is
// a duplicate of it: e is remembered but not displayed.
func (m *Merge) rename(e *entry, id int64, double bool) {
	if i := slices.Index(m.gone, id); i >= 0 {
		m.gone = slices.Delete(m.gone, i, i+1)
		e.same, e.id = true, id
		e.hash = m.Last[m.before[id]].Hash
	} else if double {
		e.same = true
	}
}

// Unsure returns the IDs of the items that the caller looks up in the store.
func (m *Merge) Unsure() (ids []int64) {
	for i := range m.entries {
		if !m.entries[i].same {
			ids = append(ids, m.entries[i].id)
		}
	}
	ids = append(ids, m.missing()...)
	return append(ids, m.tombstones()...)
}

// Result returns the changes that the document causes.
func (m *Merge) Result() Merged {
	out := Merged{Last: make([]Known, 0, len(m.entries))}
	var changed []Item
	var fresh []int // indexes of new items in m.entries
	for i := range m.entries {
		e := &m.entries[i]
		out.Last = append(out.Last, Known{ID: e.id, Hash: e.hash})
		if e.same {
			continue
		}
		was, ok := m.Known[e.id]
		switch {
		case !ok:
			fresh = append(fresh, i)
		case !e.matches(was.Hash):
			it := m.item(e, was)
			it.EditedAt = m.Now
			changed = append(changed, it)
			out.Edited++
		case !was.WithdrawnAt.IsZero():
			changed = append(changed, m.item(e, was))
			out.Restored++
		}
	}
	out.Put = append(m.arrivals(fresh), changed...)
	out.Fresh = len(fresh)
	if m.Partial {
		out.Last = m.keepLast(out.Last)
	}
	for _, id := range m.newlyWithdrawn() {
		out.Withdrawn = append(out.Withdrawn, Item{ID: id, SourceID: m.Source, WithdrawnAt: m.Now})
	}
	return out
}

// item returns the item to store for e. It takes the dates from was, the stored version of the
// item.
func (m *Merge) item(e *entry, was Item) Item {
	return Item{
		ID: e.id, SourceID: m.Source, GUID: e.item.ID, Hash: e.hash, At: was.At, EditedAt: was.EditedAt,
		ReadAt: cmp.Or(was.ReadAt, was.At), Content: m.Content(e.item),
	}
}

// keepLast adds the items of the last full document that a partial document lacks to list.
func (m *Merge) keepLast(list []Known) []Known {
	for _, k := range m.Last {
		if len(list) >= maxLast {
			break
		}
		if slices.Contains(m.gone, k.ID) {
			list = append(list, k)
		}
	}
	return list
}

// maxLast is the maximum number of items of a document that are remembered for the next Merge.
const maxLast = 2000

// missing returns the items that the document no longer has although it still has older items. It
// returns none if the list is not sorted by age, or if most items disappeared at once.
//
// spec:cloudburst#river-withdrawn
func (m *Merge) missing() (ids []int64) {
	if m.Partial || !m.ordered || len(m.gone) == 0 || len(m.entries) == 0 {
		return nil
	}
	here := make(map[int64]bool, len(m.entries))
	for i := range m.entries {
		here[m.entries[i].id] = true
	}
	older := false // true after the first item that is still in the document; later items in last are newer
	last := slices.Clone(m.Last)
	if !m.upward {
		slices.Reverse(last)
	}
	for _, k := range last {
		if here[k.ID] {
			older = true
		} else if older {
			ids = append(ids, k.ID)
		}
	}
	if len(ids) > 2 && len(ids)*2 > len(m.Last) {
		return nil
	}
	return ids
}

// tombstones returns the items that a document declares as removed (RFC 6721).
func (m *Merge) tombstones() (ids []int64) {
	for i := range m.Feed.Unknown {
		n := &m.Feed.Unknown[i]
		if n.Name != "deleted-entry" || n.Space != "http://purl.org/atompub/tombstones/1.0" {
			continue
		}
		for _, a := range n.Attrs {
			if a.Name == "ref" && len(ids) < maxTombstones {
				ids = append(ids, ID(m.Source, a.Value))
			}
		}
	}
	return ids
}

// newlyWithdrawn returns the IDs of the stored items that this document withdraws.
func (m *Merge) newlyWithdrawn() (out []int64) {
	here := make(map[int64]bool, len(m.entries))
	for i := range m.entries {
		here[m.entries[i].id] = true
	}
	for _, id := range append(m.missing(), m.tombstones()...) {
		was, ok := m.Known[id]
		if ok && was.WithdrawnAt.IsZero() && !here[id] && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
