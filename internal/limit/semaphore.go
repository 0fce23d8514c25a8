package limit

import "sync"

// Semaphore bounds the work in progress for each key. It is safe for concurrent use.
type Semaphore struct {
	max int

	mu  sync.Mutex
	now map[string]int
}

// NewSemaphore returns a Semaphore that admits at most limit concurrent holders for each key.
func NewSemaphore(limit int) *Semaphore { return &Semaphore{max: limit, now: map[string]int{}} }

// Acquire admits one holder for key. If ok, the caller must call release when its work ends.
func (c *Semaphore) Acquire(key string) (release func(), ok bool) { return c.AcquireN(key, 1) }

// AcquireN admits n holders at once, or none. If a key has no holders, AcquireN always succeeds.
func (c *Semaphore) AcquireN(key string, n int) (release func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now[key]; now > 0 && now+n > c.max {
		return nil, false
	}
	c.now[key] += n
	return func() { c.release(key, n) }, true
}

// Release ends one holder that Acquire admitted, for callers that cannot keep the function release.
func (c *Semaphore) Release(key string) { c.release(key, 1) }

func (c *Semaphore) release(key string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now[key] -= n; c.now[key] <= 0 {
		delete(c.now, key)
	}
}
