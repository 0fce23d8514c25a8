// Package cache keeps values in memory, within bounds.
package cache

import "container/list"

// LRU keeps the values that were used last. The zero value is ready, and keeps any
// number. An LRU has no lock: its owner has one.
type LRU[K comparable, V any] struct {
	Max     int   // values; 0: any number
	MaxSize int64 // sum of the sizes; 0: any

	entries map[K]*list.Element // of *entry
	order   list.List           // the value that was used last in front
	size    int64
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// Get finds a value, and notes that it is used.
func (c *LRU[K, V]) Get(k K) (v V, ok bool) {
	at, ok := c.entries[k]
	if !ok {
		return v, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Peek finds a value. That is no use of it.
func (c *LRU[K, V]) Peek(k K) (v V, ok bool) {
	if at := c.entries[k]; at != nil {
		return at.Value.(*entry[K, V]).value, true
	}
	return v, false
}

// Put keeps a value, in place of any other of its key, and drops what was not used for
// longest until the rest is within the bounds.
func (c *LRU[K, V]) Put(k K, v V, size int64) {
	c.Delete(k)
	if c.entries == nil {
		c.entries = map[K]*list.Element{}
	}
	c.entries[k] = c.order.PushFront(&entry[K, V]{k, v, size})
	c.size += size
	c.trim()
}

// Resize tells the size that a value has now, which is no use of it.
func (c *LRU[K, V]) Resize(k K, size int64) {
	if at := c.entries[k]; at != nil {
		e := at.Value.(*entry[K, V])
		c.size += size - e.size
		e.size = size
		c.trim()
	}
}

// Delete drops a value, if it is kept.
func (c *LRU[K, V]) Delete(k K) {
	if at := c.entries[k]; at != nil {
		c.drop(at)
	}
}

// Len is how many values are kept.
func (c *LRU[K, V]) Len() int { return len(c.entries) }

// Size is the sum of the sizes of all that is kept.
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
