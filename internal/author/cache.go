package author

import (
	"context"
	"sync"

	"cloudburst/internal/cache"
)

// headSize is the approximate memory of a feed without its document, in bytes.
const headSize = 1024

// feedCache caches feeds and documents that were recently read or saved. If other processes write
// to the same store, Feeds asks the store whether a cached feed is current.
type feedCache struct {
	mu      sync.Mutex
	entries cache.LRU[feedKey, *entry]
	// writes counts invalidations. A value that was read before an invalidation must not be cached
	// after that invalidation.
	writes uint64
}

type feedKey struct{ user, name string }

type entry struct {
	feed Feed
	doc  []byte // nil: the document is not cached
}

// get returns a cached feed, and its document if doc is set. ok is false if the cache lacks the
// feed or a document that doc requests.
func (c *feedCache) get(user, name string, doc bool) (f Feed, d []byte, writes uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(feedKey{user, name})
	if !ok {
		return Feed{}, nil, c.writes, false
	}
	if doc && e.doc == nil {
		return e.feed, nil, c.writes, false
	}
	return e.feed, e.doc, c.writes, true
}

// put caches a feed that was read when the cache had counted this number of writes. It does nothing
// if the count has increased since, or if the cache has a newer version: a concurrent call has read
// that version after its commit. limit is the size of the cache in bytes.
func (c *feedCache) put(f Feed, doc []byte, writes uint64, limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes != c.writes {
		return
	}
	k := feedKey{f.User, f.Name}
	before, ok := c.entries.Peek(k)
	switch {
	case ok && before.feed.Version > f.Version:
		return
	case ok && doc == nil && before.feed == f:
		doc = before.doc
	}
	c.entries.MaxSize = limit
	c.entries.Put(k, &entry{f, doc}, headSize+int64(len(doc)))
}

// forget removes a feed from the cache because the feed in the store has changed or may have
// changed.
func (c *feedCache) forget(user, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	c.entries.Delete(feedKey{user, name})
}

// find returns a feed, and its document if doc is set. It reads the store if the cached feed may be
// outdated.
func (s *Feeds) find(ctx context.Context, user, name string, doc bool) (Feed, []byte, error) {
	_, group := GroupOf(name)
	if !group && name != Public {
		return Feed{}, nil, noFeed(user, name)
	}
	f, d, writes, ok := s.cache.get(user, name, doc)
	if ok && !s.Shared && !group { // a change of a post can change the feed of any group, so group feeds are always checked
		return f, d, nil
	}
	var err error
	if ok || !doc {
		now, err := s.Store.SavedFeed(ctx, user, name)
		if err != nil {
			return Feed{}, nil, err
		}
		if ok && now == f {
			return f, d, nil
		}
		if !doc {
			s.cache.put(now, nil, writes, s.memory())
			return now, nil, nil
		}
	}
	if f, d, err = s.Store.SavedDocument(ctx, user, name); err != nil {
		return Feed{}, nil, err
	}
	s.cache.put(f, d, writes, s.memory())
	return f, d, nil
}

func (s *Feeds) memory() int64 {
	if s.Memory > 0 {
		return s.Memory
	}
	return 32 << 20
}
