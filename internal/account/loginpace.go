package account

import (
	"cmp"
	"context"
	"time"

	"cloudburst/internal/fault"
)

// When the limit of a name is reached, an attempt from a network with few failures is not rejected
// but waits for a slot. The owner of the account can sign in after seconds. Attackers can guess at
// most 8,640 passwords of the name a day, from any number of networks and nodes.
const (
	paceStep = 10 * time.Second // interval between the slots of one name
	paceWait = 20 * time.Second // longest wait of an attempt for a slot
)

// slowed is the error for an attempt that may wait for a slot.
type slowed struct{ error }

func (e slowed) Unwrap() error { return e.error }

// mayPace reports whether attempts of a source may wait for slots: its failures and attempts in
// progress are less than a quarter of its limit.
func (l *limiter) mayPace(source *tally) bool {
	return source.Failures+source.trying < max(l.source/4, 1)
}

// pace waits for the next free slot of a name. fault.TooMany: too many attempts already wait.
// refused: the source has failed too often at another node.
//
// spec:cloudburst#log-in-pace
func (l *limiter) pace(ctx context.Context, now func() time.Time, t loginSource, refused slowed) error {
	if _, err := l.slotDelay(now(), t.name, nil); err != nil { // checked in the cache first, so that rejected attempts cause no query
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
		return fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was canceled while it was waiting.")
	}
}

// enqueue adds a waiting attempt to the count of its source, which it updates with the rows of
// other nodes, and to the number of paced attempts. release reverts both.
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

// slotDelay returns the time until the next free slot of a name. row is the tally of the name; nil:
// the cached tally. fault.TooMany: the time is too long.
func (l *limiter) slotDelay(now time.Time, name string, row *Tally) (time.Duration, error) {
	if row == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		row = &l.peek(l.keys.tally(ofPace, name)).Tally
	}
	d := max(row.Until.Sub(now), 0)
	switch {
	case d > paceWait+paceStep: // possible only if the clock was set back
		return 0, nil
	case d > paceWait:
		return d, tooMany(d - paceWait)
	}
	return d, nil
}

// takeSlot reserves the next free slot of a name in its row, and returns the time until then.
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
