package account

import (
	"context"
	"errors"
	"time"

	"cloudburst/internal/fault"
)

// attempt is a log-in in progress that the limiter has admitted. The caller ends it with passed,
// failed or dropped.
type attempt struct {
	l        *limiter
	from     Caller
	counted  []counted
	keys     []TallyKey // keys of the tallies to write: the tally of all clients, and those in counted
	finished bool
}

// counted is a tally that counts an attempt, with its limits.
type counted struct {
	*tally
	limit   int
	longest time.Duration
	only    bool // the tally counts failures but cannot reject the attempt
}

// loginSource has the user name and the origin of a log-in.
type loginSource struct {
	from  Caller
	name  string
	known bool // the user has logged in from this address before
	paced bool // the attempt has a paced slot of the name
}

// start admits an attempt, or returns a fault.TooMany with the time to wait. It does not know yet
// whether the name exists. Only failures from the same address can reject a log-in from an address
// that the user has used before. When the limit of the name is reached, other log-ins wait for a
// paced slot (see loginpace.go), so that attackers cannot lock out the owner of the account.
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

// startUnpaced is like start without paced slots. If only attempts in progress prevent the
// admission, startUnpaced waits until they end, because concurrent log-ins often come from several
// programs of one user, and successful log-ins do not count.
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

// addWaiting adds n to the number of waiting attempts; false: the number would exceed its limit.
func (l *limiter) addWaiting(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 && l.waiting+n > l.maxWaiting {
		return false
	}
	l.waiting += n
	return true
}

// startNow is like startUnpaced but does not wait. If a wait could help, startNow returns a channel
// that is closed when the next attempt ends. It counts the attempt as in progress before it reads
// the rows, so every failure of another attempt is counted either in the rows or as an attempt in
// progress.
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
			l.signal() // another attempt may wait for the end of this attempt
		}
		return nil, ended, err
	}
	return a, nil, nil
}

// newAttempt returns an attempt with the tallies that count it.
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

// admit counts an attempt as in progress, or returns an error. If ended is not nil, the attempt may
// be admitted after the next attempt ends. If the error is slowed, the attempt may wait for a paced
// slot.
func (l *limiter) admit(a *attempt, now time.Time, t loginSource) (ended <-chan struct{}, err error) {
	for i, c := range a.counted { // the cached tally may have been replaced since newAttempt
		a.counted[i].tally = l.peek(c.Key)
	}
	var wait, slow time.Duration
	held := false // only attempts in progress prevent the admission
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
		l.talliesOf(c.Key).keep(c.tally) // cached only after the admission, so that waiting clients cannot fill the memory
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

// signal wakes the attempts that wait for the end of another attempt.
func (l *limiter) signal() {
	if l.ended != nil {
		close(l.ended)
		l.ended = nil
	}
}

// minuteWait returns how long all clients must wait because of the failures in this minute.
func (l *limiter) minuteWait(now time.Time) time.Duration {
	if d := now.Sub(l.all.Since); d >= time.Minute || d < 0 {
		l.all.Failures, l.all.Since = 0, now
	}
	if l.all.Failures+l.all.trying >= l.minute {
		return max(l.all.Since.Add(time.Minute).Sub(now), time.Second)
	}
	return 0
}

// end ends the attempt. Calls after the first do nothing.
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

// failed stores the failure of the attempt before it returns. An error means that the failure could
// not be stored. passed and dropped store nothing. A successful attempt does not reset the count of
// failures, because otherwise an attacker who has an account could guess passwords without a limit.
func (a *attempt) failed(ctx context.Context, now time.Time) error {
	defer a.end() // the attempt stays in progress until its failure is counted
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
