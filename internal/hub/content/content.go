// Package content holds contents in memory while they are delivered.
package content

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"cloudburst/internal/fault"
)

// idleShare limits unused contents to 1/idleShare of the memory.
const idleShare = 4

// ErrFull means that contents in use fill the memory.
var ErrFull = errors.New("hub: no room for another content")

// Content is the bytes of one version of a topic, exactly as read. It is shared and must not be
// changed.
type Content struct {
	Version int64
	Type    string // Content-Type as the server sent it
	Body    []byte
}

// Cache shares the bytes for WebSub subscribers. Only a run over a shard may wait for memory,
// because it holds no delivery slot. A delivery holds a slot and must not wait: the content that
// occupies the memory may be released only after another delivery gets this slot.
type Cache struct {
	load func(ctx context.Context, topicID int64) (Content, error)
	max  int64 // maximum bytes held; a single content always fits

	mu        sync.Mutex
	freed     chan struct{}   // closed and replaced when memory is freed
	queue     []chan struct{} // waiters in order of arrival
	held      map[key]*Held
	idle      []key // unused contents, the oldest first
	bytes     int64 // total size of all contents
	idleBytes int64 // total size of unused contents
}

type key struct{ topic, version int64 }

// Held is a content in the cache, possibly still loading.
type Held struct {
	key     key
	ready   chan struct{} // closed when content and err are set
	Content *Content      // immutable; nil: no content of that version is stored
	err     error

	// uses increases from 0 only under the lock. A caller that already has a use may add another
	// one without the lock, so that thousands of deliveries of one content do not wait for each
	// other.
	uses atomic.Int64

	// Guarded by Cache.mu.
	size int64
	idle bool // in the idle list, may be evicted
}

// Share adds a use to a content. It returns false if the content is not in use.
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

// New returns a cache of at most limit bytes that loads missing contents.
func New(limit int64, load func(context.Context, int64) (Content, error)) *Cache {
	return &Cache{load: load, max: limit, held: map[key]*Held{}, freed: make(chan struct{})}
}

// Acquire returns the content of the given version or a newer one. If the topic has no stored
// content, Content is nil. size is the expected size in bytes. If no memory is free, Acquire waits
// if wait is set, and otherwise returns ErrFull. After success the caller must call Release.
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

// reserve adds a use of a content. If mine is true, the content is new, and the caller must call
// fill.
func (c *Cache) reserve(ctx context.Context, k key, size int64, wait bool) (h *Held, mine bool, err error) {
	me := make(chan struct{}) // identifies this caller in the queue
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

// leaveQueue removes a waiter from the queue, so that the next waiter proceeds.
func (c *Cache) leaveQueue(me chan struct{}) {
	if i := slices.Index(c.queue, me); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.wakeWaiters()
	}
}

// fits evicts unused contents and reports whether size bytes fit. A single content always fits.
func (c *Cache) fits(size int64) bool {
	c.evict(c.max - size - (c.bytes - c.idleBytes))
	return c.bytes+size <= c.max || c.bytes == 0
}

// fill loads a content for all callers that wait for it.
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
	c.wakeWaiters() // the content may be smaller than expected
}

// Put adds the content of a change that was just read and committed.
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

// markIdle adds h to the idle list.
func (c *Cache) markIdle(h *Held) {
	h.idle = true
	c.idleBytes += h.size
	c.idle = append(c.idle, h.key)
	c.evict(c.max / idleShare)
}

// use adds a use of h.
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
		return // the content has been used again meanwhile
	}
	if h.err != nil {
		c.drop(h)
		return
	}
	c.markIdle(h)
	c.wakeWaiters()
}

// evict drops the oldest unused contents until the others hold at most limit bytes. An entry
// without content holds no bytes, so evict also bounds the number of entries.
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

// wakeWaiters wakes all waiters for memory.
func (c *Cache) wakeWaiters() {
	if len(c.queue) == 0 {
		return
	}
	close(c.freed)
	c.freed = make(chan struct{})
}
