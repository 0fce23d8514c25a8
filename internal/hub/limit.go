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

	mu  sync.Mutex
	tat map[string]time.Time // when the bucket is full again
}

func newLimiter(rate, burst float64, keys int) *limiter {
	return &limiter{rate: rate, burst: burst, keys: keys, tat: map[string]time.Time{}}
}

// take takes a token; when there is none it says how long to wait.
func (l *limiter) take(key string, now time.Time) (wait time.Duration, ok bool) {
	if l.rate <= 0 {
		return 0, true
	}
	step := time.Duration(float64(time.Second) / l.rate)
	depth := time.Duration(float64(step) * (l.burst - 1))
	l.mu.Lock()
	defer l.mu.Unlock()
	tat, known := l.tat[key]
	if tat.Before(now) {
		tat = now
	}
	if over := tat.Sub(now) - depth; over > 0 {
		return over, false
	}
	if !known && len(l.tat) >= l.keys && !l.forget(now) {
		return step, false
	}
	l.tat[key] = tat.Add(step)
	return 0, true
}

func (l *limiter) forget(now time.Time) bool {
	for k, tat := range l.tat {
		if !tat.After(now) {
			delete(l.tat, k)
		}
	}
	return len(l.tat) < l.keys
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
