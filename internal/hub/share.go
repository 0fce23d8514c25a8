package hub

import (
	"context"
	"crypto/sha256"
	"time"
)

// Nodes on one database share their rates: what is used up at one is used up at all.
// Nothing is written for a request. Each node counts for itself, and once a second, or as
// soon as much was used, it adds what it used to a row for each network or host and
// learns from the same statement what all have used. So what a node lets through unknown
// to the others is bounded, and is a debt that all wait for afterwards; while the database
// is away each goes on by what it knows.

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
	shareEvery = time.Second
	sharePause = 100 * time.Millisecond // at least, between two
	shareMost  = 2000                   // rows at a time
	shareSlow  = 5 * time.Second        // after which the others are not waited for
	shareSoon  = 8                      // the part of a burst, 1/8, after which it does not wait a second
	shareLeast = 64                     // what is less than 1/64 of a burst in 16 s is nobody's concern
	shareSpan  = 16 * time.Second
	shareDebt  = 16 // bursts, that are waited for at most, whatever the clocks of others say
	sweepEvery = time.Minute
	sharedKeep = 200_000 // rows, some 30 MB
	sweepShare = 5000
)

// share tells a limiter's use to other nodes.
type share struct {
	kind string
	soon func() // much was used: do not wait
	told []told // by what the last look took
}

// told is what a look took of one key.
type told struct {
	key  string
	used time.Duration
}

// least is what is told, soon what is told at once.
func (l *limiter) least() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/shareLeast, 1))
}

func (l *limiter) atOnce() time.Duration {
	return time.Duration(float64(time.Second) / l.rate * max(l.burst/shareSoon, 1))
}

// spend counts a token that the others have not heard of.
func (l *limiter) spend(key string, step time.Duration) {
	used, known := l.spent[key]
	if !known && len(l.spent) >= l.keys {
		return
	}
	used += step
	l.spent[key] = used
	if used >= l.atOnce() && used-step < l.atOnce() {
		l.shared.soon()
	}
}

// unheard takes what the others have to hear of, at most so many keys.
func (l *limiter) unheard(now time.Time, most int) []Spent {
	if l.shared == nil || l.rate <= 0 || most <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.told = l.shared.told[:0]
	var list []Spent
	for key, used := range l.spent {
		whole := used.Truncate(time.Millisecond)
		if used < l.least() || whole == 0 {
			continue
		}
		if len(list) == most {
			break
		}
		sum := sha256.Sum256([]byte(key))
		list = append(list, Spent{Kind: l.shared.kind, Key: string(sum[:16]), Used: whole})
		l.shared.told = append(l.shared.told, told{key, whole})
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

// heard takes over what all nodes have used, in the order of unheard.
func (l *limiter) heard(full []time.Time, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := now.Add(time.Duration(float64(time.Second) / l.rate * l.burst * shareDebt))
	for i, t := range l.shared.told {
		at := full[i].Add(l.spent[t.key])
		if at.After(most) {
			at = most
		}
		tat, known := l.tat[t.key]
		if at.After(tat) && (known || len(l.tat) < l.keys) {
			l.tat[t.key] = at
		}
	}
}

// shareAll makes the limiters tell the other nodes.
func (h *Hub) shareAll() {
	if h.Allowances == nil {
		return
	}
	for kind, l := range map[string]*limiter{"source": h.sourceLimit, "host": h.hostLimit, "strange": h.strangeLimit, "consent": h.consentLimit,
		"unmet": h.unmetLimit, "vain": h.vainLimit} {
		l.shared = &share{kind: kind, soon: func() { h.wake(h.wakeShare) }}
		l.spent = map[string]time.Duration{}
		h.sharing = append(h.sharing, l)
	}
}

// shareLoop tells and hears until ctx ends.
func (h *Hub) shareLoop(ctx context.Context) {
	swept := h.now()
	for h.sleep(ctx, h.wakeShare, shareEvery) {
		h.share(ctx)
		if now := h.now(); now.Sub(swept).Abs() >= sweepEvery {
			swept = now
			h.sweepShared(ctx, now)
		}
		if !h.pause(ctx, sharePause) {
			return
		}
	}
}

// share tells the others what was used here. What cannot be told is not told later: by
// then it would count as if it were used then.
func (h *Hub) share(ctx context.Context) {
	now := h.now()
	var list []Spent
	parts := make([]int, len(h.sharing))
	for i, l := range h.sharing {
		some := l.unheard(now, shareMost-len(list))
		list, parts[i] = append(list, some...), len(some)
	}
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, shareSlow)
	defer cancel()
	full, err := h.Allowances.Spend(ctx, list, now)
	if err != nil {
		if ctx.Err() == nil {
			h.Log.Warn("limits are this node's alone for now", "err", err)
		}
		return
	}
	for i, l := range h.sharing {
		if parts[i] > 0 {
			l.heard(full[:parts[i]], h.now())
			full = full[parts[i]:]
		}
	}
}

func (h *Hub) sweepShared(ctx context.Context, now time.Time) {
	for {
		n, err := h.Allowances.SweepAllowances(ctx, now, sharedKeep, sweepShare)
		if err != nil && ctx.Err() == nil {
			h.Log.Warn("sweep what nodes used of their rates", "err", err)
		}
		if err != nil || n < sweepShare {
			return
		}
	}
}
