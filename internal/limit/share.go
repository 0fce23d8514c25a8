package limit

import (
	"cloudburst/internal/lease"
	"context"
	"crypto/sha256"
	"log/slog"
	"time"
)

// Nodes on one database share their rates. A request writes nothing: each node counts its own use.
// Once a second, or earlier after heavy use, a node adds its use to a row per network or host and,
// in the same statement, reads the use of all nodes. The use that other nodes do not know is
// therefore bounded, and becomes a debt for all nodes. While the database is unreachable, each node
// limits by its own use.

// Allowances stores the use of rates by all nodes.
type Allowances interface {
	// Spend adds the use of each allowance and returns the time at which each allowance is full
	// again: the later of now and its previous time, plus Used. No two elements of list have the
	// same Kind and Key.
	Spend(ctx context.Context, list []Spent, now time.Time) ([]time.Time, error)
	// SweepAllowances removes up to limit rows and returns the number of removed rows. It removes
	// allowances that are full at now. If more than keep rows remain, it also removes those that
	// will be full next.
	SweepAllowances(ctx context.Context, now time.Time, keep, limit int) (int64, error)
}

// Spent is the use of one allowance.
type Spent struct {
	Kind, Key string        // Key has at most 16 bytes with any values
	Used      time.Duration // the used amount, as the time that refills it, to the millisecond
}

const (
	shareEvery    = time.Second
	sharePause    = 100 * time.Millisecond // minimum time between two rounds
	shareBatch    = 2000                   // maximum number of rows per round
	shareTimeout  = 5 * time.Second        // time limit of a round
	soonFraction  = 8                      // a use of 1/8 of a burst starts a round immediately
	shareFraction = 64                     // a use of less than 1/64 of a burst within 16 s is not reported
	shareSpan     = 16 * time.Second
	maxDebt       = 16 // maximum debt in bursts; bounds the wait if the clock of another node is wrong
	sweepEvery    = time.Minute
	maxRows       = 200_000 // maximum number of rows, about 30 MB
	sweepBatch    = 5000
)

// share is the part of a Limiter that exchanges its use with other nodes.
type share struct {
	kind     string
	soon     func()     // called after heavy use; starts a round immediately
	reported []reported // uses reported in the last round
}

// reported is the use of one key in a round.
type reported struct {
	key  string
	used time.Duration
}

// minReported returns the minimum use of a key that is reported to the other nodes, as the time
// that refills it.
func (l *Limiter) minReported() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/shareFraction, 1))
}

// reportAtOnce returns the unreported use of a key from which a report is sent immediately instead
// of at the next interval, as the time that refills it.
func (l *Limiter) reportAtOnce() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/soonFraction, 1))
}

// spend adds a token to the use that the other nodes do not know yet.
func (l *Limiter) spend(key string, step time.Duration) {
	used, known := l.spent[key]
	if !known && len(l.spent) >= l.keys {
		return
	}
	used += step
	l.spent[key] = used
	if used >= l.reportAtOnce() && used-step < l.reportAtOnce() {
		l.shared.soon()
	}
}

// unreported returns the use of at most limit keys that the other nodes do not know yet, and resets
// this use to zero.
func (l *Limiter) unreported(now time.Time, limit int) []Spent {
	if l.shared == nil || l.rate <= 0 || limit <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.reported = l.shared.reported[:0]
	var list []Spent
	for key, used := range l.spent {
		whole := used.Truncate(time.Millisecond)
		if used < l.minReported() || whole == 0 {
			continue
		}
		if len(list) == limit {
			break
		}
		sum := sha256.Sum256([]byte(key))
		list = append(list, Spent{Kind: l.shared.kind, Key: string(sum[:16]), Used: whole})
		l.shared.reported = append(l.shared.reported, reported{key, whole})
		if used -= whole; used > 0 {
			l.spent[key] = used
		} else {
			delete(l.spent, key)
		}
	}
	if age := now.Sub(l.since); age >= shareSpan || age < 0 {
		l.spent, l.since = map[string]time.Duration{}, now
	}
	return list
}

// adopt applies the use of all nodes. full has the order of the list that unreported returned.
func (l *Limiter) adopt(full []time.Time, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := now.Add(time.Duration(float64(time.Second) / l.rate * l.burst * maxDebt))
	for i, t := range l.shared.reported {
		at := full[i].Add(l.spent[t.key])
		if at.After(limit) {
			at = limit
		}
		tat, known := l.tat[t.key]
		if at.After(tat) && (known || len(l.tat) < l.keys) {
			l.tat[t.key] = at
		}
	}
}

// Exchange shares the rates of limiters with the other nodes on one database. Add limiters
// before Run.
type Exchange struct {
	Store Allowances
	Now   func() time.Time
	Log   *slog.Logger

	all  []*Limiter
	wake chan struct{}
}

// NewExchange returns an Exchange that uses store and the clock now.
func NewExchange(store Allowances, now func() time.Time, log *slog.Logger) *Exchange {
	return &Exchange{Store: store, Now: now, Log: log, wake: make(chan struct{}, 1)}
}

// Add shares a limiter under a kind that is the same on all nodes.
func (e *Exchange) Add(kind string, l *Limiter) {
	l.shared = &share{kind: kind, soon: func() { lease.Wake(e.wake) }}
	l.spent = map[string]time.Duration{}
	e.all = append(e.all, l)
}

// Run exchanges rates until ctx ends.
func (e *Exchange) Run(ctx context.Context) {
	swept := e.Now()
	for lease.Sleep(ctx, e.wake, shareEvery) {
		e.round(ctx)
		if now := e.Now(); now.Sub(swept).Abs() >= sweepEvery {
			swept = now
			e.sweep(ctx, now)
		}
		if !lease.Sleep(ctx, nil, sharePause) {
			return
		}
	}
}

// round reports the use of this node and adopts the use of all nodes. Use that cannot be reported
// now is dropped, because a later report would count it as new use.
func (e *Exchange) round(ctx context.Context) {
	now := e.Now()
	var list []Spent
	counts := make([]int, len(e.all))
	for i, l := range e.all {
		some := l.unreported(now, shareBatch-len(list))
		list, counts[i] = append(list, some...), len(some)
	}
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shareTimeout)
	defer cancel()
	full, err := e.Store.Spend(ctx, list, now)
	if err != nil {
		if ctx.Err() == nil {
			e.Log.Warn("cannot share limits among nodes; each node limits on its own for now", "err", err)
		}
		return
	}
	for i, l := range e.all {
		if counts[i] > 0 {
			l.adopt(full[:counts[i]], e.Now())
			full = full[counts[i]:]
		}
	}
}

func (e *Exchange) sweep(ctx context.Context, now time.Time) {
	for {
		n, err := e.Store.SweepAllowances(ctx, now, maxRows, sweepBatch)
		if err != nil && ctx.Err() == nil {
			e.Log.Warn("cannot remove old rows of the shared rates", "err", err)
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}
