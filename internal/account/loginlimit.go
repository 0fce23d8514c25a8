package account

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"cloudburst/internal/date"
	"cloudburst/internal/fault"
)

// Time windows, waits and limits.
const (
	window      = 15 * time.Minute // period in which failures are counted
	shortWait   = time.Minute      // first wait; each further wait is twice as long
	sourceWait  = time.Hour        // longest wait of a source
	nameWait    = 15 * time.Minute // longest wait of a name; shorter, because the owner of the account may have to wait too
	forgetAfter = 6 * time.Hour    // time without failures after which waits start at shortWait again

	sourceRegisters = 5   // maximum accounts that one source may create in a window
	allRegisters    = 100 // maximum accounts that all clients together may create in an hour

	queueTimeout = 20 * time.Second // longest wait for attempts in progress
)

// Kinds of tally keys.
const (
	ofSource   = 's' // a network of clients
	ofName     = 'n' // a user name, from an address that is new for the user
	ofOwner    = 'o' // a user name and an address from which its user logged in before
	ofPace     = 'p' // a user name whose attempts are paced
	ofRegister = 'r' // a network that creates accounts; without a network: all networks together
	ofAll      = 'z' // failures of all clients in a minute; the highest letter, so that its row is locked last and for the shortest time

	// Tallies of the following kinds are only in memory. They limit the work of this process, or are
	// checked before a row is stored.
	ofSecret = 'w' // a reader's secret; each use by WSSE writes a row
	ofHeader = 'h' // a WSSE header
	ofLook   = 'l' // a network that must wait, whose headers are compared with all secrets of a feed
)

// kinds returns the kinds of tallies that the store has. The number of stored tallies of each kind
// is limited.
func kinds() []byte { return []byte{ofName, ofOwner, ofPace, ofSource, ofRegister, ofAll} }

// tally is the cached tally of one source or name, with the number of attempts in progress.
type tally struct {
	Tally
	trying int // number of attempts in progress, each of which may fail
}

// limiter counts failures at all endpoints. The rows in the store are authoritative for all nodes
// and survive restarts. The cache avoids queries for clients that must wait, has the number of
// attempts in progress, and continues to count if rows cannot be written.
type limiter struct {
	source, name, minute int
	keep                 int // maximum number of stored rows of each kind
	shared               bool
	store                TallyStore
	keys                 *keys
	log                  *slog.Logger

	mu sync.Mutex
	// The caches are separate, so that many keys of one kind do not evict keys of another kind.
	names, sources, others tallies

	all        tally         // failures of all clients in the minute that began at Since
	waiting    int           // login attempts that wait until another attempt ends
	paced      int           // attempts that wait for a paced slot; at most maxWaiting/4
	maxWaiting int           // maximum of waiting
	ended      chan struct{} // closed when the next attempt ends; nil: no attempt waits
	newRows    int           // upper limit of the number of rows added since the last trim
}

func (a *Accounts) newLimiter(maxWaiting int) *limiter {
	o := a.Options.Limits
	l := &limiter{source: orDefault(o.Source, 20), name: orDefault(o.Name, 10), minute: orDefault(o.Minute, 300), keep: orDefault(o.Keys, 1<<14), maxWaiting: maxWaiting,
		shared: a.Shared, store: a.Store, keys: a.keys, log: a.log,
		names: newTallies(o.Keys), sources: newTallies(o.Keys), others: newTallies(o.Keys)}
	l.all.Key = a.keys.tally(ofAll)
	return l
}

// talliesOf returns the cache for a key.
func (l *limiter) talliesOf(k TallyKey) *tallies {
	switch k[0] {
	case ofName, ofOwner, ofPace:
		return &l.names
	case ofSource:
		return &l.sources
	}
	return &l.others
}

// get finds or creates a tally and caches it.
func (l *limiter) get(k TallyKey) *tally {
	if k == l.all.Key {
		return &l.all
	}
	t := l.peek(k)
	l.talliesOf(k).keep(t)
	return t
}

// peek is like get but does not cache a new tally.
func (l *limiter) peek(k TallyKey) *tally {
	if k == l.all.Key {
		return &l.all
	}
	return l.talliesOf(k).find(k)
}

// sourceOf returns the key of a client's network.
func (l *limiter) sourceOf(from Caller) TallyKey { return l.keys.tally(ofSource, network(from.Addr)) }

// learn updates the cached tallies with rows that are newer.
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

// perNode returns how many attempts of one key may be in progress in this process. If other nodes
// share the store, this is a quarter of the limit, because a node does not know the attempts in
// progress at other nodes.
func (l *limiter) perNode(limit int) int {
	if l.shared {
		return max(limit/4, 1)
	}
	return limit
}

// wait returns how long a new attempt must wait if trying other attempts are in progress; 0: no
// wait.
func (t *Tally) wait(now time.Time, trying, limit int, longest time.Duration) time.Duration {
	if d := t.Until.Sub(now); d > 0 {
		if d > longest { // the clock was set back; the wait must not become longer
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
		return time.Second // attempts in progress may use up the limit, so try again after they end
	}
	return 0
}

// fail counts a failure and returns the wait that starts with the failure; 0: no wait starts. A
// failure during a wait, by a paced attempt, extends the wait and also returns 0.
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
	// After the wait, a quarter of the limit is available.
	t.Failures, t.Since = limit-max(limit/4, 1), t.Until
	if waits {
		return 0
	}
	return wait
}

// changed records a change at the time now. Change increases even if a trim has deleted the row
// since the previous change.
func (t *Tally) changed(now time.Time) {
	t.Last, t.Change = now, max(t.Change+1, now.UnixMilli())
}

// checkSource returns a fault.TooMany if a source must wait. It does not count the attempt.
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

// checkSourceInMemory is like checkSource but reads only the cache.
func (l *limiter) checkSourceInMemory(now time.Time, source TallyKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.peek(source)
	if wait := t.wait(now, t.trying, l.source, sourceWait); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// countFailure counts an invalid token or secret for its source, or returns a fault.TooMany if the
// source must wait. It does not count for the name or for all clients, because readers with revoked
// secrets could then lock out other people.
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

// write changes the tallies of keys in the store and in the cache before it returns. If the store
// fails, write changes only the cache and returns the error. change returns the wait that starts;
// 0: no wait.
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
	l.newRows += len(keys)
	trim := l.newRows >= max(l.keep/16, 1)
	if trim {
		l.newRows = 0
	}
	l.mu.Unlock()
	l.logWait(from, wait)
	if trim && err == nil {
		if err := l.trim(ctx, now); err != nil {
			l.log.Warn("cannot trim the counts of failed log-ins", "err", err)
		}
	}
	return err
}

// trim deletes rows without recent failures, and the earliest rows beyond the limit.
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

// register counts a registration of a new account by its owner. fault.TooMany: the limit is
// reached.
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

// rate counts an event in this process. fault.TooMany: limit events were already counted in the
// span.
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

// full is like rate but does not count the event.
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
	return &fault.Error{Code: fault.TooMany, RetryAfter: wholeSeconds(wait), Msg: fmt.Sprintf("There were too many attempts. Try again in %s.", waitWords(wait))}
}

func (l *limiter) logWait(from Caller, wait time.Duration) {
	if wait > 0 {
		l.log.Warn("too many failed log-ins", "source", network(from.Addr), "via", from.Via, "wait", wait)
	}
}

func tooMany(wait time.Duration) error {
	if wait <= time.Second {
		return busy()
	}
	return &fault.Error{Code: fault.TooMany, RetryAfter: wholeSeconds(wait),
		Msg: fmt.Sprintf("There were too many failed attempts. Try again in %s.", waitWords(wait))}
}

// busy returns the error for a log-in that is rejected only because too many log-ins are in
// progress.
func busy() error {
	return &fault.Error{Code: fault.TooMany, RetryAfter: 2 * time.Second,
		Msg: "Too many people are signing in at the moment. Please try again in a few seconds."}
}

// wholeSeconds rounds a wait up to whole seconds, the unit of the header Retry-After.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// waitWords returns a wait in words for users. A wait of more than two minutes is rounded up to minutes.
func waitWords(d time.Duration) string {
	if d = wholeSeconds(d); d > 2*time.Minute {
		d = (d + time.Minute - 1).Truncate(time.Minute)
	}
	return date.InWords(d)
}

// network returns the network whose failures an address counts for: a /24 of IPv4 or a /56 of IPv6,
// which is usually the network of one customer.
func network(a netip.Addr) string { return prefix(a, 24, 56) }

// address returns the network from which one user logs in: an IPv4 address, or a /64 of IPv6.
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
