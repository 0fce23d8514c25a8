// Package content keeps contents in memory while they are delivered.
package content

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"cloudburst/internal/fault"
)

// idleShare is the share of the memory that is kept for the next one who
// delivers, when nobody does at the moment.
const idleShare = 4

// ErrFull: the contents that are being delivered fill the memory meant for them.
var ErrFull = errors.New("hub: no room for another content")

// Content is the bytes of one version of a topic, exactly as they were read.
// They are shared by many and must not be changed.
type Content struct {
	Version int64
	Type    string // Content-Type, as its server gave it
	Body    []byte
}

// Cache holds the bytes that WebSub subscribers get, once for all of them. Only a
// pass over a part may wait for room, because it keeps nobody from delivering: a
// delivery has a slot, and a content that is in use may be waiting for just that slot.
type Cache struct {
	load func(ctx context.Context, topicID int64) (Content, error)
	max  int64 // bytes of all that are held; but one content fits always

	mu        sync.Mutex
	freed     chan struct{}   // closed and replaced when room is made
	queue     []chan struct{} // those who wait for it, the first come first served
	held      map[key]*Held
	idle      []key // not in use, the oldest first
	bytes     int64 // of all that are held
	idleBytes int64 // of them not in use
}

type key struct{ topic, version int64 }

// Held is a content in the cache, or one that is being loaded.
type Held struct {
	key     key
	ready   chan struct{} // closed when content and err are set
	Content *Content      // nil: nothing is kept of that version. It does not change
	err     error

	// Rises from 0 under the lock only, so that whoever has a use may share it
	// without: thousands of deliveries of one content do not wait for each other.
	uses atomic.Int64

	// Guarded by Cache.mu.
	size int64
	idle bool // among the idle
}

// Share counts one more user of what somebody uses already; false: nobody does.
func (h *Held) Share() bool {
	if h == nil {
		return false
	}
	for {
		n := h.uses.Load()
		if n == 0 {
			return false
		}
		if h.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// New makes a cache that holds most bytes, and loads what is missing.
func New(limit int64, load func(context.Context, int64) (Content, error)) *Cache {
	return &Cache{load: load, max: limit, held: map[key]*Held{}, freed: make(chan struct{})}
}

// Acquire returns what holds the content of that version or a newer one; its content
// is nil when there is none. size is how large it probably is. When there is no room
// it waits, or returns ErrFull. Without an error it must be released.
func (c *Cache) Acquire(ctx context.Context, topicID, version, size int64, wait bool) (*Held, error) {
	h, mine, err := c.reserve(ctx, key{topicID, version}, size, wait)
	if err != nil {
		return nil, err
	}
	if mine {
		c.fill(ctx, h)
	}
	select {
	case <-h.ready:
		err = h.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.Release(h)
		return nil, err
	}
	return h, nil
}

// enter counts one more user of a content. mine: it is not there yet, and the
// caller is the one to fill it.
func (c *Cache) reserve(ctx context.Context, k key, size int64, wait bool) (h *Held, mine bool, err error) {
	me := make(chan struct{}) // only to know it again
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.leaveQueue(me)
	for ctx.Err() == nil {
		if h := c.held[k]; h != nil {
			c.use(h)
			return h, false, nil
		}
		if (len(c.queue) == 0 || c.queue[0] == me) && c.fits(size) {
			h := &Held{key: k, ready: make(chan struct{}), size: size}
			h.uses.Store(1)
			c.held[k] = h
			c.bytes += size
			return h, true, nil
		}
		if !wait {
			return nil, false, ErrFull
		}
		if !slices.Contains(c.queue, me) {
			c.queue = append(c.queue, me)
		}
		freed := c.freed
		c.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
	return nil, false, ctx.Err()
}

// leave takes someone out of the queue, if he is in it; it is the turn of the next.
func (c *Cache) leaveQueue(me chan struct{}) {
	if i := slices.Index(c.queue, me); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.wakeWaiters()
	}
}

// fits makes room for size bytes and reports whether it could. One content fits
// always, or it would wait for itself.
func (c *Cache) fits(size int64) bool {
	c.evict(c.max - size - (c.bytes - c.idleBytes))
	return c.bytes+size <= c.max || c.bytes == 0
}

// fill reads a content for everybody who waits for it.
func (c *Cache) fill(ctx context.Context, h *Held) {
	got, err := c.load(ctx, h.key.topic)
	c.mu.Lock()
	defer c.mu.Unlock()
	size := int64(0)
	switch {
	case err != nil && fault.CodeOf(err) == fault.NotFound:
	case err != nil:
		h.err = err
	case got.Version >= h.key.version:
		h.Content, size = &got, int64(len(got.Body))
	}
	c.bytes += size - h.size
	h.size = size
	close(h.ready)
	c.wakeWaiters() // it may be smaller than was thought
}

// Put keeps a content that was just read and committed.
func (c *Cache) Put(topicID int64, got Content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{topicID, got.Version}
	size := int64(len(got.Body))
	if c.held[k] != nil || !c.fits(size) {
		return
	}
	h := &Held{key: k, ready: make(chan struct{}), Content: &got, size: size}
	close(h.ready)
	c.held[k] = h
	c.bytes += size
	c.markIdle(h)
}

// rest puts h among the idle.
func (c *Cache) markIdle(h *Held) {
	h.idle = true
	c.idleBytes += h.size
	c.idle = append(c.idle, h.key)
	c.evict(c.max / idleShare)
}

// use counts one more user of h.
func (c *Cache) use(h *Held) {
	if h.idle {
		h.idle = false
		c.idleBytes -= h.size
		for i, k := range c.idle {
			if k == h.key {
				c.idle = slices.Delete(c.idle, i, i+1)
				break
			}
		}
	}
	h.uses.Add(1)
}

// Release ends one use of h.
func (c *Cache) Release(h *Held) {
	if h.uses.Add(-1) > 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.uses.Load() > 0 || h.idle || c.held[h.key] != h {
		return // somebody came, and may have gone again
	}
	if h.err != nil {
		c.drop(h)
		return
	}
	c.markIdle(h)
	c.wakeWaiters()
}

// evict drops what nobody uses until no more than most bytes of it are kept. A
// content that is not there takes no room but a line, so the lines are bounded too.
func (c *Cache) evict(limit int64) {
	const lines = 4096
	for len(c.idle) > 0 && (c.idleBytes > max(limit, 0) || len(c.idle) > lines) {
		k := c.idle[0]
		c.idle = c.idle[1:]
		h := c.held[k]
		c.idleBytes -= h.size
		c.drop(h)
	}
}

func (c *Cache) drop(h *Held) {
	delete(c.held, h.key)
	c.bytes -= h.size
	c.wakeWaiters()
}

// tell wakes those who wait for room.
func (c *Cache) wakeWaiters() {
	if len(c.queue) == 0 {
		return
	}
	close(c.freed)
	c.freed = make(chan struct{})
}
