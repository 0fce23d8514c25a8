package item

import (
	"slices"
	"time"

	"cloudburst/feed"
)

// arrivals returns the items of new entries, newest first in the order of the document. The
// position of an item is the time of the check. At the first check, the position is the item's
// own date. Each item gets a different position.
func (m *Merge) arrivals(fresh []int) (out []Item) {
	if m.upward {
		slices.Reverse(fresh)
	}
	taken := make(map[int64]bool, len(fresh))
	for _, i := range fresh {
		e := &m.entries[i]
		at := m.Now
		if date := e.date(); m.First && !date.IsZero() && date.Before(m.Now) && date.Year() > 1970 {
			at = date
		}
		for taken[at.UnixMilli()] {
			at = at.Add(-time.Millisecond)
		}
		taken[at.UnixMilli()] = true
		out = append(out, Item{
			ID: e.id, SourceID: m.Source, GUID: e.item.ID, Hash: e.hash, At: at, ReadAt: m.Now, Content: m.Content(e.item),
		})
	}
	return out
}

func (e *entry) date() time.Time { return dateOf(e.item) }

func dateOf(it *feed.Item) time.Time {
	if t := toTime(it.Published); !t.IsZero() {
		return t
	}
	return toTime(it.Updated)
}

// order reports whether the items are in date order, and in which direction. If the items have no
// dates, the position of the new items decides.
func (m *Merge) order() (ordered, upward bool) {
	up, down, n := true, true, 0
	var before time.Time
	for i := range m.entries {
		date := m.entries[i].date()
		if date.IsZero() {
			continue
		}
		if n > 0 {
			up = up && !date.Before(before)
			down = down && !date.After(before)
		}
		before = date
		n++
	}
	if n > 1 && up != down {
		return true, up
	}
	if n > 1 && !up {
		return false, false
	}
	return m.undated()
}

// undated derives the order from the items that both documents have.
func (m *Merge) undated() (ordered, upward bool) {
	at, firstOld, lastNew, firstNew := -1, -1, -1, -1
	for i := range m.entries {
		j, ok := m.before[m.entries[i].id]
		if !ok {
			lastNew = i
			if firstNew < 0 {
				firstNew = i
			}
			continue
		}
		if j < at {
			return false, false // known items changed their order, so the document is not sorted by age
		}
		at = j
		if firstOld < 0 {
			firstOld = i
		}
	}
	return true, lastNew >= 0 && firstOld >= 0 && firstNew > firstOld && lastNew == len(m.entries)-1
}
