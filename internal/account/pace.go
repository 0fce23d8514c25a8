package account

import (
	"cmp"
	"context"
	"time"

	"cloudburst/internal/fault"
)

// Where a name's limit is used up, attempts from networks that did not fail often
// themselves are not refused but paced: the owner is let in after seconds, and others guess
// no more than 8,640 passwords of this name a day, from however many networks and nodes.
const (
	paceStep = 10 * time.Second // between two attempts at one name
	paceWait = 20 * time.Second // the longest that an attempt waits for its slot
)

// slowed is the refusal of an attempt that may take a slot instead.
type slowed struct{ error }

func (e slowed) Unwrap() error { return e.error }

// quiet reports a source that failed so seldom that it gets slots: less than a quarter of
// its limit, counting the attempts that are under way or wait for a slot.
func (l *limiter) mayPace(source *tally) bool {
	return source.Failures+source.trying < max(l.source/4, 1)
}

// pace waits for the next free slot of a name. The error is fault.TooMany when too many
// attempts wait already, and refused when the source failed too often at another node.
//
// spec:cloudburst#log-in-pace
func (l *limiter) pace(ctx context.Context, now func() time.Time, t loginSource, refused slowed) error {
	if _, err := l.slotDelay(now(), t.name, nil); err != nil { // no work for those who are refused
		return err
	}
	rows, err := l.store.Tallies(ctx, []TallyKey{l.sourceOf(t.from)})
	if err != nil {
		return err
	}
	release, err := l.enqueue(t, rows, refused)
	if err != nil {
		return err
	}
	defer release()
	wait, err := l.takeSlot(ctx, now(), t)
	if err != nil {
		return err
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was given up before its turn came.")
	}
}

// queue counts an attempt that waits for its slot: as under way at its source, of which rows
// says what other nodes know, and among all that wait. leave ends that.
func (l *limiter) enqueue(t loginSource, rows []Tally, refused slowed) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(rows)
	source := l.peek(l.sourceOf(t.from))
	switch {
	case !l.mayPace(source):
		return nil, refused.error
	case l.paced >= max(l.maxWaiting/4, 1):
		return nil, busy()
	}
	l.paced++
	source.trying++
	l.sources.keep(source)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.paced--
		source.trying--
		l.sources.drop(source)
		l.signal()
	}, nil
}

// free is how long until the next free slot of a name, by its row; nil stands for what is
// known of the row here. The error is fault.TooMany when that is too long.
func (l *limiter) slotDelay(now time.Time, name string, row *Tally) (time.Duration, error) {
	if row == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		row = &l.peek(l.keys.tally(ofPace, name)).Tally
	}
	d := max(row.Until.Sub(now), 0)
	switch {
	case d > paceWait+paceStep: // the clock was set back
		return 0, nil
	case d > paceWait:
		return d, tooMany(d - paceWait)
	}
	return d, nil
}

// slot takes the next free slot of a name, in its row, and returns how long until then.
func (l *limiter) takeSlot(ctx context.Context, now time.Time, t loginSource) (wait time.Duration, err error) {
	var full error
	err = l.write(ctx, now, t.from, []TallyKey{l.keys.tally(ofPace, t.name)}, func(list []Tally) (time.Duration, bool) {
		if wait, full = l.slotDelay(now, t.name, &list[0]); full != nil {
			return 0, false
		}
		list[0].Until = now.Add(wait + paceStep)
		list[0].changed(now)
		return 0, true
	})
	return wait, cmp.Or(err, full)
}
