package account

import (
	"context"
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

// turn lets an attempt at name through, or says how long to wait (fault.TooMany),
// before anybody has looked whether there is such a name. known: its user logged in from
// this very address before; then only what was tried from there stops it, so that
// nobody can be locked out by strangers.
//
// Where only attempts under way are in the way, it waits for them: many at once are the
// programs of somebody who saves many things, and what is right takes no try from anybody.
func (l *limiter) turn(ctx context.Context, now func() time.Time, from Caller, name string, known bool) (*attempt, error) {
	try, ended, err := l.begin(ctx, now(), from, name, known)
	if ended == nil {
		return try, err
	}
	if !l.lineUp(1) {
		return nil, busy()
	}
	defer l.lineUp(-1)
	timer := time.NewTimer(lineWait)
	defer timer.Stop()
	for ended != nil {
		select {
		case <-ended:
		case <-timer.C:
			return nil, busy()
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was given up before its turn came.")
		}
		try, ended, err = l.begin(ctx, now(), from, name, known)
	}
	return try, err
}

// lineUp adds to those who wait; false: there are too many.
func (l *limiter) lineUp(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.inLine+n > l.most {
		return false
	}
	l.inLine += n
	return true
}

// begin is turn that waits for nobody. Where that could help, ended is closed when
// the next attempt ends.
//
// The place is taken first and the rows are read then: every attempt that ended in between
// is either in its row or was under way when this one looked.
func (l *limiter) begin(ctx context.Context, now time.Time, from Caller, name string, known bool) (try *attempt, ended <-chan struct{}, err error) {
	l.mu.Lock()
	a := l.attempt(from, name, known)
	ended, err = l.admit(a, now, known)
	l.mu.Unlock()
	if err != nil {
		return nil, ended, err
	}
	rows, err := l.store.Tallies(ctx, a.keys)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(a)
	if err == nil {
		l.learn(rows)
		ended, err = l.admit(a, now, known)
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
func (l *limiter) attempt(from Caller, name string, known bool) *attempt {
	a := &attempt{l: l, from: from}
	a.counted = append(a.counted, counted{l.peek(l.sourceOf(from)), l.source, sourceWait, known})
	of := l.keys.tally(ofName, name)
	if known {
		of = l.keys.tally(ofOwner, name, address(from.Addr))
	}
	a.counted = append(a.counted, counted{l.peek(of), l.name, nameWait, false})
	a.keys = []TallyKey{l.all.Key, l.sourceOf(from), of}
	return a
}

// admit counts an attempt as under way, or says why not. With ended it could be let
// through after the next one has ended.
func (l *limiter) admit(a *attempt, now time.Time, known bool) (ended <-chan struct{}, err error) {
	for i, c := range a.counted { // what rows said may be remembered elsewhere by now
		a.counted[i].tally = l.peek(c.Key)
	}
	var wait time.Duration
	held := false // by attempts under way, and by nothing else
	for _, c := range a.counted {
		if c.only {
			continue
		}
		w := c.wait(now, c.trying, c.limit, c.longest)
		if w == 0 && c.trying >= l.each(c.limit) || w > 0 && c.Failures < c.limit && !c.Until.After(now) {
			held = true
		} else {
			wait = max(wait, w)
		}
	}
	if w := l.minuteWait(now); !known {
		wait = max(wait, w)
		held = held || w == 0 && l.all.trying >= l.each(l.minute)
	}
	switch {
	case wait > 0:
		return nil, tooMany(wait)
	case held:
		if l.ended == nil {
			l.ended = make(chan struct{})
		}
		return l.ended, busy()
	}
	for _, c := range a.counted {
		c.trying++
		l.of(c.Key).keep(c.tally) // only now: whoever has to wait cannot fill the memory
	}
	l.all.trying++
	return nil, nil
}

// leave is admit undone.
func (l *limiter) leave(a *attempt) {
	l.all.trying--
	for _, c := range a.counted {
		c.trying--
		l.of(c.Key).drop(c.tally)
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
	a.l.leave(a)
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
