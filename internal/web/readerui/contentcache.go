package readerui

import "sync"

// contentKey identifies a content. An edited item has another Seq.
type contentKey struct {
	id, seq int64
	full    int64 // when the full text was read
	whole   bool
	lang    string // code of the language of its fixed words
}

// contentCache caches recently used contents in two generations. The zero value is ready.
type contentCache struct {
	mu         sync.Mutex
	young, old map[contentKey]*itemContent
	size       int // bytes of the young generation
}

func (c *contentCache) get(k contentKey, write func() *itemContent) *itemContent {
	c.mu.Lock()
	found := c.young[k]
	if found == nil {
		if found = c.old[k]; found != nil {
			c.put(k, found)
		}
	}
	c.mu.Unlock()
	if found != nil {
		return found
	}
	found = write()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, found)
	return found
}

// replace replaces a content in the cache.
func (c *contentCache) replace(k contentKey, v *itemContent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, v)
}

func (c *contentCache) put(k contentKey, v *itemContent) {
	if c.size > maxCachedContents || c.young == nil {
		c.old, c.young, c.size = c.young, map[contentKey]*itemContent{}, 0
	}
	if c.young[k] == nil {
		c.size += v.size()
	}
	c.young[k] = v
}

// size is the approximate memory size of a content in bytes.
func (c *itemContent) size() int {
	n := 400
	for _, address := range c.unsized {
		n += 16 + len(address)
	}
	return n + len(c.Title) + len(c.Href) + len(c.Headline) + len(c.Shown) + len(c.Below) + len(c.Facts) + len(c.More)
}
