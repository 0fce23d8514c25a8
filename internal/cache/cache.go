// Package cache provides bounded in-memory caches.
package cache

import "container/list"

// LRU stores the most recently used values. The zero value is ready and unbounded. An LRU has no
// lock: the caller must serialize access.
type LRU[K comparable, V any] struct {
	Max     int   // maximum number of values; 0: unlimited
	MaxSize int64 // maximum sum of the sizes; 0: unlimited

	entries map[K]*list.Element // the values are of type *entry
	order   list.List           // the most recently used value is in front
	size    int64
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// Get returns a value and marks it as used.
func (c *LRU[K, V]) Get(k K) (v V, ok bool) {
	at, ok := c.entries[k]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Peek returns a value without marking it as used.
func (c *LRU[K, V]) Peek(k K) (v V, ok bool) {
	if at := c.entries[k]; at != nil {
		return at.Value.(*entry[K, V]).value, true
	}
	return v, false
}

// Put stores a value and replaces an existing value with the same key. It then drops the least
// recently used values beyond the limits.
func (c *LRU[K, V]) Put(k K, v V, size int64) {
	c.Delete(k)
	if c.entries == nil {
		c.entries = map[K]*list.Element{}
	}
	c.entries[k] = c.order.PushFront(&entry[K, V]{k, v, size})
	c.size += size
	c.trim()
}

// Resize updates the size of a value without marking it as used.
func (c *LRU[K, V]) Resize(k K, size int64) {
	if at := c.entries[k]; at != nil {
		e := at.Value.(*entry[K, V])
		c.size += size - e.size
		e.size = size
		c.trim()
	}
}

// Delete removes a value, if present.
func (c *LRU[K, V]) Delete(k K) {
	if at := c.entries[k]; at != nil {
		c.drop(at)
	}
}

// Len returns the number of values.
func (c *LRU[K, V]) Len() int { return len(c.entries) }

// Size returns the sum of the sizes of all values.
func (c *LRU[K, V]) Size() int64 { return c.size }

func (c *LRU[K, V]) trim() {
	for len(c.entries) > 0 && (c.Max > 0 && len(c.entries) > c.Max || c.MaxSize > 0 && c.size > c.MaxSize) {
		c.drop(c.order.Back())
	}
}

func (c *LRU[K, V]) drop(at *list.Element) {
	e := c.order.Remove(at).(*entry[K, V])
	delete(c.entries, e.key)
	c.size -= e.size
}
