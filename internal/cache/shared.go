package cache

import "sync"

// Shared is an LRU for concurrent use, limited by size only. The zero value is ready and unbounded.
type Shared[K comparable, V any] struct {
	MaxSize int64   // maximum sum of the sizes; 0: unlimited
	Counts  *Counts // Put updates Values and Bytes; the caller counts hits and misses; nil: no counters

	mu  sync.Mutex
	lru LRU[K, V]
}

// Get returns a value and marks it as used.
func (c *Shared[K, V]) Get(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(k)
}

// Put stores a value, as [LRU.Put] does.
func (c *Shared[K, V]) Put(k K, v V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.MaxSize = c.MaxSize
	c.lru.Put(k, v, int64(size))
	if c.Counts != nil {
		c.Counts.Values.Store(int64(c.lru.Len()))
		c.Counts.Bytes.Store(c.lru.Size())
	}
}
