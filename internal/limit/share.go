package limit

import (
	"cloudburst/internal/lease"
	"context"
	"crypto/sha256"
	"log/slog"
	"time"
)

// Nodes on one database share their rates. No request writes anything: each node counts for
// itself, and once a second, or as soon as much was used, it adds its use to a row for each
// network or host and reads the use of all nodes by the same statement. So the use that the
// other nodes do not know is bounded, and becomes a debt that all of them wait for. While the
// database is away, each node limits by what it knows.

// Allowances is where nodes add up what they use of their rates.
type Allowances interface {
	// Spend adds to what is used of each, and returns until when each is used up at
	// least in part: the later of now and what it was before, and Used after it. No two of
	// list have the same Kind and Key.
	Spend(ctx context.Context, list []Spent, now time.Time) ([]time.Time, error)
	// SweepAllowances removes up to limit rows: those that are whole again at now, and the
	// next to be so beyond keep rows. It returns how many.
	SweepAllowances(ctx context.Context, now time.Time, keep, limit int) (int64, error)
}

// Spent is what was used of one allowance.
type Spent struct {
	Kind, Key string        // Key: at most 16 bytes of any kind
	Used      time.Duration // until so much is there again, to the millisecond
}

const (
	shareEvery    = time.Second
	sharePause    = 100 * time.Millisecond // at least, between two
	shareBatch    = 2000                   // rows at a time
	shareTimeout  = 5 * time.Second        // after which the others are not waited for
	soonFraction  = 8                      // the part of a burst, 1/8, after which it does not wait a second
	shareFraction = 64                     // what is less than 1/64 of a burst in 16 s is nobody's concern
	shareSpan     = 16 * time.Second
	maxDebt       = 16 // bursts, that are waited for at most, whatever the clocks of others say
	sweepEvery    = time.Minute
	maxRows       = 200_000 // rows, some 30 MB
	sweepBatch    = 5000
)

// share is how a limiter shares its use with other nodes.
type share struct {
	kind     string
	soon     func()     // much was used: do not wait
	reported []reported // in the last round
}

// reported is the use of one key in a round.
type reported struct {
	key  string
	used time.Duration
}

// least is the smallest use that is reported, atOnce the use that is reported at once.
func (l *Limiter) minReported() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/shareFraction, 1))
}

func (l *Limiter) reportAtOnce() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/soonFraction, 1))
}

// spend counts a token that the other nodes do not know yet.
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

// unreported takes the use that has to be reported, of at most so many keys.
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

// adopt takes over the use of all nodes, in the order of unreported.
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

// NewExchange makes an Exchange.
func NewExchange(store Allowances, now func() time.Time, log *slog.Logger) *Exchange {
	return &Exchange{Store: store, Now: now, Log: log, wake: make(chan struct{}, 1)}
}

// Add shares a limiter under a name that all nodes give it.
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

// round reports the use of this node and adopts that of all nodes. Use that cannot be reported
// now is not reported later: by then it would count as new use.
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
			e.Log.Warn("limits are this node's alone for now", "err", err)
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
			e.Log.Warn("sweep what nodes used of their rates", "err", err)
		}
		if err != nil || n < sweepBatch {
			return
		}
	}
}
