package account

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// What is counted, and how long somebody waits who failed too often.
const (
	window     = 15 * time.Minute // in which failures are counted
	shortWait  = time.Minute      // the first wait; each next is twice as long
	sourceWait = time.Hour        // the longest of a source
	nameWait   = 15 * time.Minute // the longest of a name, whose owner it may hit
	forgive    = 6 * time.Hour    // without failures, and waits begin with the first again

	lineWait = 20 * time.Second // the longest for attempts that were there before
)

// tally is what is known of one source or name.
type tally struct {
	key      key
	failures int
	trying   int       // attempts under way: each may fail
	since    time.Time // of the first of the failures
	last     time.Time // of the last one
	until    time.Time // no attempts before
	waits    int       // so far
}

// key is a kind and a hash of a source or name, so that long ones take no more memory.
type key [16]byte

// The kinds of keys.
const (
	ofSource   = 's' // a network
	ofName     = 'n' // a user name, from where its user never was before
	ofOwner    = 'o' // a user name and an address from which its user logged in before
	ofRegister = 'r' // a network, making accounts; and all of them
	ofSecret   = 'w' // a reader's secret, each use of which by WSSE leaves a row
	ofHeader   = 'h' // a header of WSSE
	ofLook     = 'l' // a network that has to wait, and looks through all secrets of a feed
)

func keyOf(kind byte, parts ...string) key {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	k := key(h.Sum(nil)[:16])
	k[0] = kind
	return k
}

// limiter counts failures at all doors.
type limiter struct {
	source, name, minute int
	log                  *slog.Logger

	mu sync.Mutex
	// Apart, so that nobody makes it forget one kind with many of another.
	names, sources, others tallies

	all    tally         // of everybody, in the minute since all.since
	inLine int           // that wait for the end of attempts under way
	most   int           // that may
	ended  chan struct{} // closed when the next attempt ends; nil: nobody waits for it
}

func newLimiter(l Limits, most int, log *slog.Logger) *limiter {
	return &limiter{source: or(l.Source, 20), name: or(l.Name, 10), minute: or(l.Minute, 300), most: most, log: log,
		names: newTallies(l.Keys), sources: newTallies(l.Keys), others: newTallies(l.Keys)}
}

// of is where a key is remembered.
func (l *limiter) of(k key) *tallies {
	switch k[0] {
	case ofName, ofOwner:
		return &l.names
	case ofSource:
		return &l.sources
	}
	return &l.others
}

// get finds or makes a tally.
func (l *limiter) get(k key) *tally {
	t := l.peek(k)
	l.of(k).keep(t)
	return t
}

// peek is get that remembers nothing new.
func (l *limiter) peek(k key) *tally { return l.of(k).find(k) }

// wait is how long an attempt has to wait; 0: not at all.
func (t *tally) wait(now time.Time, limit int, longest time.Duration) time.Duration {
	if d := t.until.Sub(now); d > 0 {
		if d > longest { // the clock was set back, which makes nobody wait longer
			d = longest
			t.until = now.Add(d)
			t.since = t.until
		}
		return d
	}
	if d := now.Sub(t.since); d >= window || d < 0 {
		t.failures = 0
	}
	if t.failures+t.trying >= limit {
		return time.Second // those under way come first
	}
	return 0
}

// fail counts, and reports how long the wait is that this makes.
func (t *tally) fail(now time.Time, limit int, longest time.Duration) time.Duration {
	if now.Sub(t.last) >= forgive {
		t.waits = 0
	}
	if t.failures == 0 || now.Sub(t.since) >= window {
		t.failures, t.since = 0, now
	}
	t.last = now
	if t.failures++; t.failures < limit {
		return 0
	}
	wait := min(shortWait<<min(t.waits, 20), longest)
	t.waits++
	t.until = now.Add(wait)
	// After the wait a few attempts are free, not all of them again.
	t.failures, t.since = limit-max(limit/4, 1), t.until
	return wait
}

// minuteWait is how long everybody waits.
func (l *limiter) minuteWait(now time.Time) time.Duration {
	if d := now.Sub(l.all.since); d >= time.Minute || d < 0 {
		l.all.failures, l.all.since = 0, now
	}
	if l.all.failures+l.all.trying >= l.minute {
		return max(l.all.since.Add(time.Minute).Sub(now), time.Second)
	}
	return 0
}

// attempt is one try that was let through. One of its methods ends it.
type attempt struct {
	l        *limiter
	from     Caller
	counted  []counted
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
	try, ended, err := l.begin(now(), from, name, known)
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
		try, ended, err = l.begin(now(), from, name, known)
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
func (l *limiter) begin(now time.Time, from Caller, name string, known bool) (try *attempt, ended <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	source := network(from.Addr)
	a := &attempt{l: l, from: from}
	a.counted = append(a.counted, counted{l.peek(keyOf(ofSource, source)), l.source, sourceWait, known})
	if known {
		a.counted = append(a.counted, counted{l.peek(keyOf(ofOwner, name, address(from.Addr))), l.name, nameWait, false})
	} else {
		a.counted = append(a.counted, counted{l.peek(keyOf(ofName, name)), l.name, nameWait, false})
	}
	var wait time.Duration
	held := false // by attempts under way, and by nothing else
	for _, c := range a.counted {
		w := c.wait(now, c.limit, c.longest)
		switch {
		case c.only:
		case w > 0 && c.failures < c.limit && !c.until.After(now):
			held = true
		default:
			wait = max(wait, w)
		}
	}
	if w := l.minuteWait(now); !known {
		wait = max(wait, w)
	}
	switch {
	case wait > 0:
		return nil, nil, tooMany(wait)
	case held:
		if l.ended == nil {
			l.ended = make(chan struct{})
		}
		return nil, l.ended, busy()
	}
	for _, c := range a.counted {
		c.trying++
		l.of(c.key).keep(c.tally) // only now: whoever has to wait cannot fill the memory
	}
	l.all.trying++
	return a, nil, nil
}

func (a *attempt) end(now time.Time, failed bool) {
	a.l.mu.Lock()
	defer a.l.mu.Unlock()
	if a.finished {
		return
	}
	a.finished = true
	if a.l.ended != nil {
		close(a.l.ended)
		a.l.ended = nil
	}
	a.l.all.trying--
	if failed {
		a.l.all.failures++
	}
	for _, c := range a.counted {
		c.trying--
		if failed {
			a.l.said(a.from, a.l.get(c.key).fail(now, c.limit, c.longest))
		}
		a.l.of(c.key).drop(c.tally)
	}
}

// failed counts. passed and dropped do not: what was right, and what was never
// answered. An attempt that passed forgives no failure: with an account of one's own
// one could go on for ever.
func (a *attempt) failed(now time.Time)  { a.end(now, true) }
func (a *attempt) passed(now time.Time)  { a.end(now, false) }
func (a *attempt) dropped(now time.Time) { a.end(now, false) }

// stopped says how long a source has to wait; nothing is counted.
func (l *limiter) stopped(now time.Time, from Caller) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait := l.peek(keyOf(ofSource, network(from.Addr))).wait(now, l.source, sourceWait); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// missed counts a failure that took no work and could not have been a guess: a token or
// secret that is none. It returns how long to wait (fault.TooMany) instead when
// there were too many before. It counts for the source alone: if it counted for the name
// or for all, readers whose secrets were revoked would lock others out.
func (l *limiter) missed(now time.Time, from Caller) error {
	if err := l.stopped(now, from); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said(from, l.get(keyOf(ofSource, network(from.Addr))).fail(now, l.source, sourceWait))
	return nil
}

// rate lets something that leaves a row happen most times in a span, and counts it.
func (l *limiter) rate(now time.Time, k key, most int, span time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.get(k)
	if err := t.full(now, most, span); err != nil {
		return err
	}
	t.failures++
	return nil
}

// full is rate that does not count.
func (l *limiter) full(now time.Time, k key, most int, span time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peek(k).full(now, most, span)
}

func (t *tally) full(now time.Time, most int, span time.Duration) error {
	if d := now.Sub(t.since); d >= span || d < 0 {
		t.failures, t.since = 0, now
	}
	if t.failures < most {
		return nil
	}
	wait := t.since.Add(span).Sub(now)
	return &fault.Error{Code: fault.TooMany, RetryAfter: up(wait), Msg: "That was done too often. Please wait " + spoken(wait) + " and try again."}
}

func (l *limiter) said(from Caller, wait time.Duration) {
	if wait > 0 {
		l.log.Warn("log-ins fail too often", "source", network(from.Addr), "door", from.Door, "wait", wait)
	}
}

func tooMany(wait time.Duration) error {
	if wait <= time.Second {
		return busy()
	}
	return &fault.Error{Code: fault.TooMany, RetryAfter: up(wait),
		Msg: "There were too many attempts that failed. Please wait " + spoken(wait) + " and try again."}
}

// busy is for those who only came at the same time as many others.
func busy() error {
	return &fault.Error{Code: fault.TooMany, RetryAfter: 2 * time.Second,
		Msg: "Too many people are signing in at this very moment. Please try again in a few seconds."}
}

// up is a wait in whole seconds, as headers have it.
func up(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// spoken is a wait in words, rounded up.
func spoken(d time.Duration) string {
	switch {
	case d <= time.Minute:
		return "a minute"
	case d <= 5*time.Minute:
		return "five minutes"
	case d <= 15*time.Minute:
		return "a quarter of an hour"
	}
	return "an hour"
}

// network is the source that an address is counted as: what one customer usually has.
func network(a netip.Addr) string { return prefix(a, 24, 56) }

// address is where one person is.
func address(a netip.Addr) string { return prefix(a, 32, 64) }

func prefix(a netip.Addr, four, six int) string {
	a = a.Unmap().WithZone("")
	bits := six
	if a.Is4() {
		bits = four
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return "none"
	}
	return p.String()
}
