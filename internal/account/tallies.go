package account

import "cloudburst/internal/cache"

// tallies is an LRU cache of tallies with a limited size.
type tallies struct{ entries cache.LRU[TallyKey, *tally] }

func newTallies(limit int) tallies {
	return tallies{cache.LRU[TallyKey, *tally]{Max: orDefault(limit, 1<<14)}}
}

// find returns the cached tally of a key, or a new tally that is not cached yet.
func (l *tallies) find(k TallyKey) *tally {
	if t, ok := l.entries.Get(k); ok {
		return t
	}
	return &tally{Tally: Tally{Key: k}}
}

// keep caches a tally that find returned.
func (l *tallies) keep(t *tally) {
	if _, ok := l.entries.Peek(t.Key); !ok {
		l.entries.Put(t.Key, t, 0)
	}
}

// drop removes a tally without failures and attempts from the cache.
func (l *tallies) drop(t *tally) {
	if now, _ := l.entries.Peek(t.Key); now == t && t.trying == 0 && t.Failures == 0 && t.Last.IsZero() {
		l.entries.Delete(t.Key)
	}
}
