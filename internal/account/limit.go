package account

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/fault"
)

// What is counted, and how long somebody waits who failed too often.
const (
	window      = 15 * time.Minute // in which failures are counted
	shortWait   = time.Minute      // the first wait; each next is twice as long
	sourceWait  = time.Hour        // the longest of a source
	nameWait    = 15 * time.Minute // the longest of a name, whose owner it may hit
	forgetAfter = 6 * time.Hour    // without failures, and waits begin with the first again

	sourceRegisters = 5   // accounts that one source may make in a window
	allRegisters    = 100 // that all may make in an hour

	queueTimeout = 20 * time.Second // the longest for attempts that were there before
)

// The kinds of keys.
const (
	ofSource   = 's' // a network
	ofName     = 'n' // a user name, from where its user never was before
	ofOwner    = 'o' // a user name and an address from which its user logged in before
	ofPace     = 'p' // a user name, of which attempts are paced
	ofRegister = 'r' // a network, making accounts; and all of them
	ofAll      = 'z' // everybody's failures in a minute: the last in order, so that it is held for the shortest

	// What follows is this process's own, because it guards its work or stands before a row.
	ofSecret = 'w' // a reader's secret, each use of which by WSSE leaves a row
	ofHeader = 'h' // a header of WSSE
	ofLook   = 'l' // a network that has to wait, and looks through all secrets of a feed
)

// kinds are those that are rows, each bounded in number.
func kinds() []byte { return []byte{ofName, ofOwner, ofPace, ofSource, ofRegister, ofAll} }

// tally is what is known here of one source or name: what the store said last, and what is
// under way.
type tally struct {
	Tally
	trying int // attempts under way: each may fail
}

// limiter counts failures at all doors. The rows of the store are what counts, on all nodes
// and over restarts; what is remembered of them here saves asking for those who have to
// wait, knows what is under way, and goes on where a row cannot be written.
type limiter struct {
	source, name, minute int
	keep                 int // rows of each kind
	shared               bool
	store                TallyStore
	keys                 *keys
	log                  *slog.Logger

	mu sync.Mutex
	// Apart, so that nobody makes it forget one kind with many of another.
	names, sources, others tallies

	all        tally         // of everybody, in the minute since its Since
	waiting    int           // that wait for the end of attempts under way
	paced      int           // that wait for a slot of a name; a quarter of most at once
	maxWaiting int           // that may
	ended      chan struct{} // closed when the next attempt ends; nil: nobody waits for it
	grown      int           // rows that may be new since they were trimmed
}

func (a *Accounts) newLimiter(limit int) *limiter {
	o := a.Options.Limits
	l := &limiter{source: orDefault(o.Source, 20), name: orDefault(o.Name, 10), minute: orDefault(o.Minute, 300), keep: orDefault(o.Keys, 1<<14), maxWaiting: limit,
		shared: a.Shared, store: a.Store, keys: a.keys, log: a.log,
		names: newTallies(o.Keys), sources: newTallies(o.Keys), others: newTallies(o.Keys)}
	l.all.Key = a.keys.tally(ofAll)
	return l
}

// of is where a key is remembered.
func (l *limiter) talliesOf(k TallyKey) *tallies {
	switch k[0] {
	case ofName, ofOwner, ofPace:
		return &l.names
	case ofSource:
		return &l.sources
	}
	return &l.others
}

// get finds or makes a tally.
func (l *limiter) get(k TallyKey) *tally {
	if k == l.all.Key {
		return &l.all
	}
	t := l.peek(k)
	l.talliesOf(k).keep(t)
	return t
}

// peek is get that remembers nothing new.
func (l *limiter) peek(k TallyKey) *tally {
	if k == l.all.Key {
		return &l.all
	}
	return l.talliesOf(k).find(k)
}

// sourceOf is the key of where somebody is.
func (l *limiter) sourceOf(from Caller) TallyKey { return l.keys.tally(ofSource, network(from.Addr)) }

// learn takes over what rows say that are newer than what is known here.
func (l *limiter) learn(rows []Tally) {
	for _, row := range rows {
		if row.Change == 0 {
			continue
		}
		if t := l.get(row.Key); row.Change > t.Change {
			t.Tally = row
		}
	}
}

// each is how many attempts may be under way at once of one key that may fail limit times.
// Other nodes do not know of them; with a quarter at each, they are no second allowance.
func (l *limiter) perNode(limit int) int {
	if l.shared {
		return max(limit/4, 1)
	}
	return limit
}

// wait is how long an attempt has to wait; 0: not at all. trying are under way.
func (t *Tally) wait(now time.Time, trying, limit int, longest time.Duration) time.Duration {
	if d := t.Until.Sub(now); d > 0 {
		if d > longest { // the clock was set back, which makes nobody wait longer
			d = longest
			t.Until = now.Add(d)
			t.Since = t.Until
		}
		return d
	}
	if d := now.Sub(t.Since); d >= window || d < 0 {
		t.Failures = 0
	}
	if t.Failures+trying >= limit {
		return time.Second // those under way come first
	}
	return 0
}

// fail counts, and reports how long the wait is that this begins; 0 where there was one
// already, which a paced attempt makes longer.
func (t *Tally) fail(now time.Time, limit int, longest time.Duration) time.Duration {
	if now.Sub(t.Last) >= forgetAfter {
		t.Waits = 0
	}
	if t.Failures == 0 || now.Sub(t.Since) >= window {
		t.Failures, t.Since = 0, now
	}
	t.changed(now)
	if t.Failures++; t.Failures < limit {
		return 0
	}
	wait := min(shortWait<<min(t.Waits, 20), longest)
	waits := t.Until.After(now)
	t.Waits++
	t.Until = now.Add(wait)
	// After the wait a few attempts are free, not all of them again.
	t.Failures, t.Since = limit-max(limit/4, 1), t.Until
	if waits {
		return 0
	}
	return wait
}

// changed says that it was changed now. Its number grows even where a row was trimmed meanwhile.
func (t *Tally) changed(now time.Time) {
	t.Last, t.Change = now, max(t.Change+1, now.UnixMilli())
}

// stopped says how long a source has to wait; nothing is counted.
func (l *limiter) checkSource(ctx context.Context, now time.Time, from Caller) error {
	k := l.sourceOf(from)
	if err := l.checkSourceInMemory(now, k); err != nil {
		return err
	}
	rows, err := l.store.Tallies(ctx, []TallyKey{k})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.learn(rows)
	l.mu.Unlock()
	return l.checkSourceInMemory(now, k)
}

// waits is stopped by what is known here.
func (l *limiter) checkSourceInMemory(now time.Time, source TallyKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.peek(source)
	if wait := t.wait(now, t.trying, l.source, sourceWait); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// missed counts a failure that took no work and could not have been a guess: a token or
// secret that is none. It returns how long to wait (fault.TooMany) instead when
// there were too many before. It counts for the source alone: if it counted for the name
// or for all, readers whose secrets were revoked would lock others out.
func (l *limiter) countFailure(ctx context.Context, now time.Time, from Caller) error {
	k := l.sourceOf(from)
	if err := l.checkSourceInMemory(now, k); err != nil {
		return err
	}
	var before error
	err := l.write(ctx, now, from, []TallyKey{k}, func(list []Tally) (time.Duration, bool) {
		before = nil
		if wait := list[0].wait(now, 0, l.source, sourceWait); wait > 0 {
			before = tooMany(wait)
			return 0, false
		}
		return list[0].fail(now, l.source, sourceWait), true
	})
	return cmp.Or(err, before)
}

// write changes rows, and what is known of them here, before it returns. Where the rows
// cannot be written, it is counted here all the same, and the error returned. change
// returns the wait that it makes.
func (l *limiter) write(ctx context.Context, now time.Time, from Caller, keys []TallyKey, change func([]Tally) (time.Duration, bool)) error {
	var wait time.Duration
	rows, err := l.store.ChangeTallies(context.WithoutCancel(ctx), keys, func(list []Tally) (write bool) {
		wait, write = change(list)
		return write
	})
	l.mu.Lock()
	if err != nil {
		rows = make([]Tally, len(keys))
		for i, k := range keys {
			rows[i] = l.peek(k).Tally
		}
		wait, _ = change(rows)
	}
	l.learn(rows)
	l.grown += len(keys)
	trim := l.grown >= max(l.keep/16, 1)
	if trim {
		l.grown = 0
	}
	l.mu.Unlock()
	l.logWait(from, wait)
	if trim && err == nil {
		if err := l.trim(ctx, now); err != nil {
			l.log.Warn("trim what is remembered of log-ins that failed", "err", err)
		}
	}
	return err
}

// trim bounds the rows, and removes those that say nothing any more.
func (l *limiter) trim(ctx context.Context, now time.Time) error {
	const batch = 1000
	for _, kind := range kinds() {
		for {
			n, err := l.store.TrimTallies(ctx, kind, now.Add(-forgetAfter), l.keep, batch)
			if err != nil {
				return err
			}
			if n < batch {
				break
			}
		}
	}
	return nil
}

// register counts an account that somebody wants to make for himself.
func (l *limiter) register(ctx context.Context, now time.Time, from Caller) error {
	keys := []TallyKey{l.keys.tally(ofRegister, network(from.Addr)), l.keys.tally(ofRegister)}
	full := func(list []Tally) error {
		return cmp.Or(list[0].full(now, sourceRegisters, window), list[1].full(now, allRegisters, time.Hour))
	}
	l.mu.Lock()
	before := full([]Tally{l.peek(keys[0]).Tally, l.peek(keys[1]).Tally})
	l.mu.Unlock()
	if before != nil {
		return before
	}
	err := l.write(ctx, now, from, keys, func(list []Tally) (time.Duration, bool) {
		if before = full(list); before != nil {
			return 0, false
		}
		for i := range list {
			list[i].Failures++
			list[i].changed(now)
		}
		return 0, true
	})
	return cmp.Or(err, before)
}

// rate lets something happen here most times in a span, and counts it.
func (l *limiter) rate(now time.Time, k TallyKey, limit int, span time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.get(k)
	if err := t.full(now, limit, span); err != nil {
		return err
	}
	t.Failures++
	return nil
}

// full is rate that does not count.
func (l *limiter) full(now time.Time, k TallyKey, limit int, span time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peek(k).full(now, limit, span)
}

func (t *Tally) full(now time.Time, limit int, span time.Duration) error {
	if d := now.Sub(t.Since); d >= span || d < 0 {
		t.Failures, t.Since = 0, now
	}
	if t.Failures < limit {
		return nil
	}
	wait := t.Since.Add(span).Sub(now)
	return &fault.Error{Code: fault.TooMany, RetryAfter: wholeSeconds(wait), Msg: "That was done too often. Please wait " + waitWords(wait) + " and try again."}
}

func (l *limiter) logWait(from Caller, wait time.Duration) {
	if wait > 0 {
		l.log.Warn("log-ins fail too often", "source", network(from.Addr), "door", from.Via, "wait", wait)
	}
}

func tooMany(wait time.Duration) error {
	if wait <= time.Second {
		return busy()
	}
	return &fault.Error{Code: fault.TooMany, RetryAfter: wholeSeconds(wait),
		Msg: "There were too many attempts that failed. Please wait " + waitWords(wait) + " and try again."}
}

// busy is for those who only came at the same time as many others.
func busy() error {
	return &fault.Error{Code: fault.TooMany, RetryAfter: 2 * time.Second,
		Msg: "Too many people are signing in at this very moment. Please try again in a few seconds."}
}

// up is a wait in whole seconds, as headers have it.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// spoken is a wait in words, rounded up.
func waitWords(d time.Duration) string {
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
