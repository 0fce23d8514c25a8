package account

import "cloudburst/internal/cache"

// tallies are those of some kinds of keys. How many are remembered is bounded: those
// that were not used for longest are forgotten.
type tallies struct{ entries cache.LRU[TallyKey, *tally] }

func newTallies(limit int) tallies {
	return tallies{cache.LRU[TallyKey, *tally]{Max: orDefault(limit, 1<<14)}}
}

// find gives what is remembered, or a new tally that is not yet.
func (l *tallies) find(k TallyKey) *tally {
	if t, ok := l.entries.Get(k); ok {
		return t
	}
	return &tally{Tally: Tally{Key: k}}
}

// keep remembers a tally that find gave.
func (l *tallies) keep(t *tally) {
	if _, ok := l.entries.Peek(t.Key); !ok {
		l.entries.Put(t.Key, t, 0)
	}
}

// drop forgets a tally that says nothing.
func (l *tallies) drop(t *tally) {
	if now, _ := l.entries.Peek(t.Key); now == t && t.trying == 0 && t.Failures == 0 && t.Last.IsZero() {
		l.entries.Delete(t.Key)
	}
}
