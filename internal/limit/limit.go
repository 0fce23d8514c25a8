// Package limit bounds what unknown clients can cause: rates per key ([Limiter]), work in progress
// per key ([Semaphore]), and an exchange through which several nodes on one database share their
// rates ([Exchange]).
package limit

import (
	"sync"
	"time"
)

// Limiter is a bounded set of token buckets by key. When the set is full, it forgets full buckets,
// which carry no information; if there are none, a new key gets no token. It is safe for concurrent
// use.
type Limiter struct {
	rate  float64 // tokens per second; <= 0: no limit
	burst float64 // maximum number of tokens in a bucket
	keys  int     // maximum number of keys

	shared *share // exchange with other nodes; nil: there are no other nodes

	mu    sync.Mutex
	tat   map[string]time.Time     // key: bucket, value: time when the bucket is full again
	turns map[string]time.Time     // key: bucket, value: last assigned turn
	spent map[string]time.Duration // if shared: use that other nodes do not know yet, as the time that refills it
	since time.Time                // time when spent was last empty
}

// New returns a Limiter with rate tokens per second, buckets of burst tokens, and at most keys
// keys. A rate of 0 or less means no limit.
func New(rate, burst float64, keys int) *Limiter {
	return &Limiter{rate: rate, burst: burst, keys: keys, tat: map[string]time.Time{}, turns: map[string]time.Time{}}
}

// Off reports whether the limiter has no limit.
func (l *Limiter) Off() bool { return l.rate <= 0 }

// Take takes a token. If there is none, it returns how long the caller must wait.
func (l *Limiter) Take(key string, now time.Time) (wait time.Duration, ok bool) {
	return l.takeUpTo(l.burst, key, now)
}

// Charge takes a token even if the bucket is empty, which makes the next wait longer. The bucket
// can be at most burst tokens below empty.
func (l *Limiter) Charge(key string, now time.Time) { _, _ = l.takeUpTo(2*l.burst, key, now) }

// takeUpTo takes a token from a bucket that can hold the given number of tokens. If that is more
// than burst, the bucket can go below empty, which is a debt.
func (l *Limiter) takeUpTo(tokens float64, key string, now time.Time) (wait time.Duration, ok bool) {
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

// Turn returns how long a caller must wait after Take refused a token. Waiting callers get turns
// one after the other; otherwise all of them would return for the same token.
func (l *Limiter) Turn(key string, now time.Time) time.Duration {
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

// forget drops times that have passed, and reports whether the set has capacity for another key.
func (l *Limiter) forget(times map[string]time.Time, now time.Time) bool {
	for k, at := range times {
		if !at.After(now) {
			delete(times, k)
		}
	}
	return len(times) < l.keys
}

// Wait returns the time until a token is available, or 0 if one is available now. It takes no
// token.
func (l *Limiter) Wait(key string, now time.Time) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	step := time.Duration(float64(time.Second) / l.rate)
	l.mu.Lock()
	defer l.mu.Unlock()
	tat := l.tat[key]
	if tat.Before(now) { // the bucket is full, or the key is unknown
		return 0
	}
	return max(tat.Sub(now)-time.Duration(float64(step)*(l.burst-1)), 0)
}
