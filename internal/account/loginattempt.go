package account

import (
	"context"
	"errors"
	"time"

	"cloudburst/internal/fault"
)

// attempt is an admitted log-in. passed, failed or dropped ends it.
type attempt struct {
	l        *limiter
	from     Caller
	counted  []counted
	keys     []TallyKey // tallies to write: that of all clients, and those of counted
	finished bool
}

// counted is a tally that an attempt counts in.
type counted struct {
	*tally
	limit   int
	longest time.Duration
	only    bool // counts failures but does not stop the attempt
}

// loginSource is the name and the origin of a log-in.
type loginSource struct {
	from  Caller
	name  string
	known bool // the user logged in from this address before
	paced bool // holds a paced slot of the name
}

// start admits an attempt or returns how long to wait (fault.TooMany), before it is known whether
// the name exists. A log-in from a known address is only stopped by failures from there. Others
// wait for a paced slot when the name's limit is reached, so attackers cannot lock the owner out;
// see loginpace.go.
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

// startUnpaced is like start without paced slots. If only attempts in progress are in the way, it waits
// for them: concurrent log-ins are often programs of one user, and successful ones do not count.
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
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The sign-in was canceled while it was waiting.")
		}
		a, ended, err = l.startNow(ctx, now(), t)
	}
	return a, err
}

// addWaiting changes the number of waiting attempts; false: there are too many.
func (l *limiter) addWaiting(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.waiting+n > l.maxWaiting {
		return false
	}
	l.waiting += n
	return true
}

// startNow is like startUnpaced without waiting. If waiting could help, ended is closed when the next
// attempt ends.
//
// The attempt is counted before its rows are read. Every attempt that ends in between is therefore
// either in the rows or was counted as in progress.
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
			l.signal() // another attempt may wait for this one
		}
		return nil, ended, err
	}
	return a, nil, nil
}

// newAttempt finds the tallies that an attempt counts in.
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

// admit counts an attempt as in progress, or returns why not. A non-nil ended means that it may be
// admitted after the next attempt ends; the error slowed means that it may wait for a paced slot.
func (l *limiter) admit(a *attempt, now time.Time, t loginSource) (ended <-chan struct{}, err error) {
	for i, c := range a.counted { // the tally may have been replaced since
		a.counted[i].tally = l.peek(c.Key)
	}
	var wait, slow time.Duration
	held := false // only attempts in progress are in the way
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
		l.talliesOf(c.Key).keep(c.tally) // only now, so waiting clients cannot fill the memory
	}
	l.all.trying++
	return nil, nil
}

// release reverts admit.
func (l *limiter) release(a *attempt) {
	l.all.trying--
	for _, c := range a.counted {
		c.trying--
		l.talliesOf(c.Key).drop(c.tally)
	}
}

// signal wakes attempts that wait for the end of another one.
func (l *limiter) signal() {
	if l.ended != nil {
		close(l.ended)
		l.ended = nil
	}
}

// minuteWait returns how long all clients must wait.
func (l *limiter) minuteWait(now time.Time) time.Duration {
	if d := now.Sub(l.all.Since); d >= time.Minute || d < 0 {
		l.all.Failures, l.all.Since = 0, now
	}
	if l.all.Failures+l.all.trying >= l.minute {
		return max(l.all.Since.Add(time.Minute).Sub(now), time.Second)
	}
	return 0
}

// end ends the attempt. Further calls do nothing.
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

// failed counts the failure on disk before it returns; the error reports that it could not be
// stored. passed and dropped do not count. A successful attempt does not reset failures: otherwise
// an attacker with an account could guess forever.
func (a *attempt) failed(ctx context.Context, now time.Time) error {
	defer a.end() // in progress until it is counted
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
