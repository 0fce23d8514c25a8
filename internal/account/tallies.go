package account

import "container/list"

// tallies are those of some kinds of keys. How many are remembered is bounded: those
// that were not used for longest are forgotten.
type tallies struct {
	most  int
	kept  map[TallyKey]*list.Element // of *tally
	order *list.List                 // most recently used first
}

func newTallies(most int) tallies {
	return tallies{most: or(most, 1<<14), kept: map[TallyKey]*list.Element{}, order: list.New()}
}

// find gives what is remembered, or a new tally that is not yet.
func (l *tallies) find(k TallyKey) *tally {
	if e, ok := l.kept[k]; ok {
		l.order.MoveToFront(e)
		return e.Value.(*tally)
	}
	return &tally{Tally: Tally{Key: k}}
}

// keep remembers a tally that find gave.
func (l *tallies) keep(t *tally) {
	if _, ok := l.kept[t.Key]; ok {
		return
	}
	for len(l.kept) >= l.most {
		delete(l.kept, l.order.Remove(l.order.Back()).(*tally).Key)
	}
	l.kept[t.Key] = l.order.PushFront(t)
}

// drop forgets a tally that says nothing.
func (l *tallies) drop(t *tally) {
	e, ok := l.kept[t.Key]
	if ok && e.Value == t && t.trying == 0 && t.Failures == 0 && t.Last.IsZero() {
		l.order.Remove(e)
		delete(l.kept, t.Key)
	}
}
