package hub

import (
	"net/netip"
	"sync"
	"time"
)

// limiter is a set of token buckets by key, bounded in number: at the bound,
// buckets that are full again (which say nothing) are forgotten first, and if
// there are none, a new key shares the fate of all: it is refused.
type limiter struct {
	rate  float64 // tokens per second; <= 0: no limit
	burst float64 // tokens
	keys  int     // most keys

	shared *share // what is used here is told to other nodes; nil: there are none

	mu    sync.Mutex
	tat   map[string]time.Time     // when the bucket is full again
	turns map[string]time.Time     // the last one that was given away
	spent map[string]time.Duration // with shared: what the others have not heard of, as the time until it is there again
	since time.Time                // when spent was empty
}

func newLimiter(rate, burst float64, keys int) *limiter {
	return &limiter{rate: rate, burst: burst, keys: keys, tat: map[string]time.Time{}, turns: map[string]time.Time{}}
}

// take takes a token; when there is none it says how long to wait.
func (l *limiter) take(key string, now time.Time) (wait time.Duration, ok bool) {
	return l.takeUpTo(l.burst, key, now)
}

// owe is take, also of a token that is not there yet: the next wait is longer. At most as many
// tokens as the burst are owed.
func (l *limiter) owe(key string, now time.Time) { _, _ = l.takeUpTo(2*l.burst, key, now) }

// takeUpTo is take of a bucket of so many tokens, in which tokens that are owed are below zero.
func (l *limiter) takeUpTo(tokens float64, key string, now time.Time) (wait time.Duration, ok bool) {
	if l.rate <= 0 {
		return 0, true
	}
	step := time.Duration(float64(time.Second) / l.rate)
	depth := time.Duration(float64(step) * (tokens - 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	tat, known := l.tat[key]
	if tat.Before(now) {
		tat = now
	}
	if over := tat.Sub(now) - depth; over > 0 {
		return over, false
	}
	if !known && len(l.tat) >= l.keys && !l.forget(l.tat, now) {
		return step, false
	}
	l.tat[key] = tat.Add(step)
	if l.shared != nil {
		l.spend(key, step)
	}
	return 0, true
}

// turn says how long to wait before another try at what take refused. Many who wait
// get one turn after the other, or all of them would come back for the same token.
func (l *limiter) turn(key string, now time.Time) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	step := time.Duration(float64(time.Second) / l.rate)
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.turns[key]
	if last.Before(now) {
		last = now
	}
	if !known && len(l.turns) >= l.keys && !l.forget(l.turns, now) {
		return step
	}
	l.turns[key] = last.Add(step)
	return l.turns[key].Sub(now)
}

// forget drops what is over, and reports whether there is room for another key.
func (l *limiter) forget(times map[string]time.Time, now time.Time) bool {
	for k, at := range times {
		if !at.After(now) {
			delete(times, k)
		}
	}
	return len(times) < l.keys
}

// crowd bounds how much is under way at once for each key.
type crowd struct {
	most int

	mu  sync.Mutex
	now map[string]int
}

func newCrowd(most int) *crowd { return &crowd{most: most, now: map[string]int{}} }

// begin admits one more; end must be called when it is over.
func (c *crowd) begin(key string) (end func(), ok bool) { return c.beginAll(key, 1) }

// beginAll admits n more, or none of them. Who is alone is always admitted.
func (c *crowd) beginAll(key string, n int) (end func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now[key]; now > 0 && now+n > c.most {
		return nil, false
	}
	c.now[key] += n
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.now[key] -= n; c.now[key] == 0 {
			delete(c.now, key)
		}
	}, true
}

// sourceKey is the network that counts as one source: /24 or /56.
func sourceKey(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 56
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return "unknown"
	}
	return p.String()
}
