package hub

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"cloudburst/internal/fault"
)

// Bytes of contents in memory. What is being delivered may wait for room; what
// nobody delivers at the moment is kept for the next one who does.
const (
	contentMost = 128 << 20
	contentIdle = 32 << 20
)

// contents holds the bytes that WebSub subscribers get, once for all of them.
type contents struct {
	load func(ctx context.Context, topicID int64) (Content, error)

	mu    sync.Mutex
	room  chan struct{} // closed and replaced when room is made
	held  map[contentKey]*heldContent
	idle  []contentKey // not in use, the oldest first
	bytes int64        // of all that are held
	spare int64        // of them not in use
}

type contentKey struct{ topic, version int64 }

type heldContent struct {
	key     contentKey
	ready   chan struct{} // closed when content and err are set
	content *Content      // nil: nothing is kept of that version
	err     error

	// Rises from 0 under the lock only, so that whoever has a use may share it
	// without: thousands of deliveries of one content do not wait for each other.
	uses atomic.Int64

	// Guarded by contents.mu.
	size  int64
	spare bool // among the idle
}

// share counts one more user of what somebody uses already; false: nobody does.
func (h *heldContent) share() bool {
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

func newContents(load func(context.Context, int64) (Content, error)) *contents {
	return &contents{load: load, held: map[contentKey]*heldContent{}, room: make(chan struct{})}
}

// acquire returns what holds the content of that version or a newer one; its content
// is nil when there is none. size is how large it probably is. Without an error it
// must be released.
func (c *contents) acquire(ctx context.Context, topicID, version, size int64) (*heldContent, error) {
	key := contentKey{topicID, version}
	h, mine, err := c.enter(ctx, key, size)
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
		c.release(h)
		return nil, err
	}
	return h, nil
}

// enter counts one more user of a content. mine: it is not there yet, and the
// caller is the one to fill it. It waits until there is room.
func (c *contents) enter(ctx context.Context, key contentKey, size int64) (h *heldContent, mine bool, err error) {
	for {
		c.mu.Lock()
		if h := c.held[key]; h != nil {
			c.use(h)
			c.mu.Unlock()
			return h, false, nil
		}
		if c.fits(size) {
			h := &heldContent{key: key, ready: make(chan struct{}), size: size}
			h.uses.Store(1)
			c.held[key] = h
			c.bytes += size
			c.mu.Unlock()
			return h, true, nil
		}
		room := c.room
		c.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// fits makes room for size bytes and reports whether it could. One content fits
// always, or it would wait for itself.
func (c *contents) fits(size int64) bool {
	c.evict(contentMost - size - (c.bytes - c.spare))
	return c.bytes+size <= contentMost || c.bytes == 0
}

// fill reads a content for everybody who waits for it.
func (c *contents) fill(ctx context.Context, h *heldContent) {
	got, err := c.load(ctx, h.key.topic)
	c.mu.Lock()
	defer c.mu.Unlock()
	size := int64(0)
	switch {
	case err != nil && fault.CodeOf(err) == fault.NotFound:
	case err != nil:
		h.err = err
	case got.Version >= h.key.version:
		h.content, size = &got, int64(len(got.Body))
	}
	c.bytes += size - h.size
	h.size = size
	close(h.ready)
}

// put keeps a content that was just read and committed.
func (c *contents) put(topicID int64, got Content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := contentKey{topicID, got.Version}
	size := int64(len(got.Body))
	if c.held[key] != nil || !c.fits(size) {
		return
	}
	h := &heldContent{key: key, ready: make(chan struct{}), content: &got, size: size}
	close(h.ready)
	c.held[key] = h
	c.bytes += size
	c.rest(h)
}

// rest puts h among the idle.
func (c *contents) rest(h *heldContent) {
	h.spare = true
	c.spare += h.size
	c.idle = append(c.idle, h.key)
	c.evict(contentIdle)
}

// use counts one more user of h.
func (c *contents) use(h *heldContent) {
	if h.spare {
		h.spare = false
		c.spare -= h.size
		for i, k := range c.idle {
			if k == h.key {
				c.idle = slices.Delete(c.idle, i, i+1)
				break
			}
		}
	}
	h.uses.Add(1)
}

func (c *contents) release(h *heldContent) {
	if h.uses.Add(-1) > 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.uses.Load() > 0 || h.spare || c.held[h.key] != h {
		return // somebody came, and may have gone again
	}
	if h.err != nil {
		c.drop(h)
		return
	}
	c.rest(h)
	c.tell()
}

// evict drops what nobody uses until no more than most bytes of it are kept. A
// content that is not there takes no room but a line, so the lines are bounded too.
func (c *contents) evict(most int64) {
	const lines = 4096
	for len(c.idle) > 0 && (c.spare > max(most, 0) || len(c.idle) > lines) {
		key := c.idle[0]
		c.idle = c.idle[1:]
		h := c.held[key]
		c.spare -= h.size
		c.drop(h)
	}
}

func (c *contents) drop(h *heldContent) {
	delete(c.held, h.key)
	c.bytes -= h.size
	c.tell()
}

// tell wakes those who wait for room.
func (c *contents) tell() {
	close(c.room)
	c.room = make(chan struct{})
}
