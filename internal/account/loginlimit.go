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

// Windows, waits and limits.
const (
	window      = 15 * time.Minute // period in which failures are counted
	shortWait   = time.Minute      // first wait; each further one is twice as long
	sourceWait  = time.Hour        // longest wait of a source
	nameWait    = 15 * time.Minute // longest wait of a name; it may affect the owner
	forgetAfter = 6 * time.Hour    // time without failures after which waits start at shortWait again

	sourceRegisters = 5   // accounts that one source may create in a window
	allRegisters    = 100 // accounts that all clients may create in an hour

	queueTimeout = 20 * time.Second // longest wait for attempts in progress
)

// Kinds of keys.
const (
	ofSource   = 's' // a network
	ofName     = 'n' // a user name, from an address that is new for the user
	ofOwner    = 'o' // a user name and an address from which its user logged in before
	ofPace     = 'p' // a user name whose attempts are paced
	ofRegister = 'r' // a network that creates accounts, and all networks together
	ofAll      = 'z' // failures of all clients in a minute; last in order, so its row is locked for the shortest time

	// The following kinds are only in memory: they limit the work of this process, or are checked
	// before a row is written.
	ofSecret = 'w' // a reader's secret; each use by WSSE writes a row
	ofHeader = 'h' // a WSSE header
	ofLook   = 'l' // a waiting network whose headers are compared with all secrets of a feed
)

// kinds returns the kinds stored as rows, each bounded in number.
func kinds() []byte { return []byte{ofName, ofOwner, ofPace, ofSource, ofRegister, ofAll} }

// tally is the cached row of one source or name, with the attempts in progress.
type tally struct {
	Tally
	trying int // attempts in progress: each may fail
}

// limiter counts failures at all endpoints. The rows of the store are authoritative for all nodes
// and over restarts. The cache avoids queries for waiting clients, knows the attempts in progress,
// and continues to count when rows cannot be written.
type limiter struct {
	source, name, minute int
	keep                 int // stored rows of each kind
	shared               bool
	store                TallyStore
	keys                 *keys
	log                  *slog.Logger

	mu sync.Mutex
	// Separate caches: many keys of one kind do not evict another kind.
	names, sources, others tallies

	all        tally         // all clients, in the minute since its Since
	waiting    int           // login attempts that wait until another attempt ends
	paced      int           // attempts that wait for a paced slot; at most maxWaiting/4
	maxWaiting int           // limit of waiting
	ended      chan struct{} // closed when the next attempt ends; nil: no attempt waits
	newRows    int           // possible new rows since the last trim
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

// peek is like get, without caching a new tally.
func (l *limiter) peek(k TallyKey) *tally {
	if k == l.all.Key {
		return &l.all
	}
	return l.talliesOf(k).find(k)
}

// sourceOf returns the key of a client's network.
func (l *limiter) sourceOf(from Caller) TallyKey { return l.keys.tally(ofSource, network(from.Addr)) }

// learn updates the cache with newer rows.
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

// perNode returns how many attempts of one key may be in progress here. Other nodes do not know of
// them; a quarter per node prevents a second allowance.
func (l *limiter) perNode(limit int) int {
	if l.shared {
		return max(limit/4, 1)
	}
	return limit
}

// wait returns how long an attempt must wait while trying others are in progress; 0: no wait.
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
		return time.Second // attempts in progress come first
	}
	return 0
}

// fail counts a failure and returns the wait that starts with it. It returns 0 during an existing
// wait, which a paced attempt extends.
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
	// After the wait a quarter of the limit is available.
	t.Failures, t.Since = limit-max(limit/4, 1), t.Until
	if waits {
		return 0
	}
	return wait
}

// changed marks a change now. The change number also increases if the row was trimmed in between.
func (t *Tally) changed(now time.Time) {
	t.Last, t.Change = now, max(t.Change+1, now.UnixMilli())
}

// checkSource returns fault.TooMany if a source must wait. It counts nothing.
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

// checkSourceInMemory is like checkSource without a query.
func (l *limiter) checkSourceInMemory(now time.Time, source TallyKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.peek(source)
	if wait := t.wait(now, t.trying, l.source, sourceWait); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// countFailure counts an invalid token or secret. It returns fault.TooMany instead if the source
// must wait. It counts for the source only: counts for the name or for all clients would let
// readers with revoked secrets lock others out.
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

// write changes rows and updates the cache before it returns. If the rows cannot be written, it
// still counts in the cache and returns the error. change returns the wait that starts.
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

// trim deletes rows beyond the limit and rows without recent failures.
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

// register counts a self-service registration, or returns fault.TooMany.
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

// rate counts an event, or returns fault.TooMany beyond limit events in a span. Only this process
// counts.
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

// full is like rate, without counting.
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
	return &fault.Error{Code: fault.TooMany, RetryAfter: wholeSeconds(wait), Msg: "There were too many attempts. Please wait " + waitWords(wait) + " and try again."}
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
		Msg: "There were too many failed attempts. Please wait " + waitWords(wait) + " and try again."}
}

// busy is the error for log-ins that only exceed the limits of concurrency.
func busy() error {
	return &fault.Error{Code: fault.TooMany, RetryAfter: 2 * time.Second,
		Msg: "Too many people are signing in at the moment. Please try again in a few seconds."}
}

// wholeSeconds rounds a wait up to seconds, as headers need it.
func wholeSeconds(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// waitWords returns a wait in words, rounded up.
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

// network returns the network that an address counts for: usually that of one customer.
func network(a netip.Addr) string { return prefix(a, 24, 56) }

// address returns the network of one user: an IPv4 address, or a /64 of IPv6.
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
