package account

import (
	"context"
	"errors"
	"time"

	"cloudburst/internal/fault"
)

// attempt is one try that was let through. One of its methods ends it.
type attempt struct {
	l        *limiter
	from     Caller
	counted  []counted
	keys     []TallyKey // of its rows: everybody's, and those of counted
	finished bool
}

// counted is a tally that an attempt counts in.
type counted struct {
	*tally
	limit   int
	longest time.Duration
	only    bool // it does not stop the attempt, it only counts
}

// try is what an attempt is: at which name and from where.
type loginSource struct {
	from  Caller
	name  string
	known bool // the user of the name logged in from this very address before
	paced bool // a slot of the name was taken for it
}

// turn lets an attempt through, or says how long to wait (fault.TooMany), before anybody has
// looked whether there is such a name. Of a known one only what was tried from there stops
// it. Others wait for a slot where the name's limit is used up, so that nobody can lock the
// owner out; see pace.go.
func (l *limiter) start(ctx context.Context, now func() time.Time, t loginSource) (*attempt, error) {
	a, err := l.startUnpaced(ctx, now, t)
	refused, slow := errors.AsType[slowed](err)
	if !slow {
		return a, err
	}
	if err := l.pace(ctx, now, t, refused); err != nil {
		return nil, err
	}
	t.paced = true
	return l.startUnpaced(ctx, now, t)
}

// enter is turn without slots. Where only attempts under way are in the way, it waits for
// them: many at once are the programs of somebody who saves many things, and what is right
// takes no try from anybody.
func (l *limiter) startUnpaced(ctx context.Context, now func() time.Time, t loginSource) (*attempt, error) {
	a, ended, err := l.startNow(ctx, now(), t)
	if ended == nil {
		return a, err
	}
	if !l.addWaiting(1) {
		return nil, busy()
	}
	defer l.addWaiting(-1)
	timer := time.NewTimer(queueTimeout)
	defer timer.Stop()
	for ended != nil {
		select {
		case <-ended:
		case <-timer.C:
			return nil, busy()
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was given up before its turn came.")
		}
		a, ended, err = l.startNow(ctx, now(), t)
	}
	return a, err
}

// lineUp adds to those who wait; false: there are too many.
func (l *limiter) addWaiting(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.waiting+n > l.maxWaiting {
		return false
	}
	l.waiting += n
	return true
}

// begin is enter that waits for nobody. Where that could help, ended is closed when
// the next attempt ends.
//
// The place is taken first and the rows are read then: every attempt that ended in between
// is either in its row or was under way when this one looked.
func (l *limiter) startNow(ctx context.Context, now time.Time, t loginSource) (_ *attempt, ended <-chan struct{}, err error) {
	l.mu.Lock()
	a := l.newAttempt(t)
	ended, err = l.admit(a, now, t)
	l.mu.Unlock()
	if err != nil {
		return nil, ended, err
	}
	rows, err := l.store.Tallies(ctx, a.keys)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(a)
	if err == nil {
		l.learn(rows)
		ended, err = l.admit(a, now, t)
	}
	if err != nil {
		if ended == nil {
			l.signal() // somebody may have waited for this one
		}
		return nil, ended, err
	}
	return a, nil, nil
}

// attempt finds what an attempt will count in.
func (l *limiter) newAttempt(t loginSource) *attempt {
	a := &attempt{l: l, from: t.from}
	a.counted = append(a.counted, counted{l.peek(l.sourceOf(t.from)), l.source, sourceWait, t.known})
	of := l.keys.tally(ofName, t.name)
	if t.known {
		of = l.keys.tally(ofOwner, t.name, address(t.from.Addr))
	}
	a.counted = append(a.counted, counted{l.peek(of), l.name, nameWait, t.paced})
	a.keys = []TallyKey{l.all.Key, l.sourceOf(t.from), of}
	return a
}

// admit counts an attempt as under way, or says why not. With ended it could be let
// through after the next one has ended, with slowed in a slot.
func (l *limiter) admit(a *attempt, now time.Time, t loginSource) (ended <-chan struct{}, err error) {
	for i, c := range a.counted { // what rows said may be remembered elsewhere by now
		a.counted[i].tally = l.peek(c.Key)
	}
	var wait, slow time.Duration
	held := false // by attempts under way, and by nothing else
	for _, c := range a.counted {
		if c.only {
			continue
		}
		w := c.wait(now, c.trying, c.limit, c.longest)
		if w == 0 && c.trying >= l.perNode(c.limit) || w > 0 && c.Failures < c.limit && !c.Until.After(now) {
			held = true
		} else if c.Key[0] == ofName {
			slow = w
		} else {
			wait = max(wait, w)
		}
	}
	if w := l.minuteWait(now); !t.known {
		wait = max(wait, w)
		held = held || w == 0 && l.all.trying >= l.perNode(l.minute)
	}
	switch {
	case wait == 0 && slow > 0 && l.mayPace(a.counted[0].tally):
		return nil, slowed{tooMany(slow)}
	case wait > 0 || slow > 0:
		return nil, tooMany(max(wait, slow))
	case held:
		if l.ended == nil {
			l.ended = make(chan struct{})
		}
		return l.ended, busy()
	}
	for _, c := range a.counted {
		c.trying++
		l.talliesOf(c.Key).keep(c.tally) // only now: whoever has to wait cannot fill the memory
	}
	l.all.trying++
	return nil, nil
}

// leave is admit undone.
func (l *limiter) release(a *attempt) {
	l.all.trying--
	for _, c := range a.counted {
		c.trying--
		l.talliesOf(c.Key).drop(c.tally)
	}
}

// signal tells those who wait that an attempt ended.
func (l *limiter) signal() {
	if l.ended != nil {
		close(l.ended)
		l.ended = nil
	}
}

// minuteWait is how long everybody waits.
func (l *limiter) minuteWait(now time.Time) time.Duration {
	if d := now.Sub(l.all.Since); d >= time.Minute || d < 0 {
		l.all.Failures, l.all.Since = 0, now
	}
	if l.all.Failures+l.all.trying >= l.minute {
		return max(l.all.Since.Add(time.Minute).Sub(now), time.Second)
	}
	return 0
}

// end ends an attempt.
func (a *attempt) end() {
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	if a.finished {
		return
	}
	a.finished = true
	a.l.release(a)
	a.l.signal()
}

// failed counts, on disk before it returns; the error says that this could not be done.
// passed and dropped do not count: what was right, and what was never answered. An attempt
// that passed forgives no failure: with an account of one's own one could go on for ever.
func (a *attempt) failed(ctx context.Context, now time.Time) error {
	defer a.end() // it is under way until it is counted
	return a.l.write(ctx, now, a.from, a.keys, func(list []Tally) (longest time.Duration, write bool) {
		all := &list[0]
		if d := now.Sub(all.Since); d >= time.Minute || d < 0 {
			all.Failures, all.Since = 0, now
		}
		all.Failures++
		all.changed(now)
		for i, c := range a.counted {
			longest = max(longest, list[i+1].fail(now, c.limit, c.longest))
		}
		return longest, true
	})
}

func (a *attempt) passed()  { a.end() }
func (a *attempt) dropped() { a.end() }
