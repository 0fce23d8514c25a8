package author

import (
	"context"
	"sync"

	"cloudburst/internal/cache"
)

// headSize is about how much memory a feed takes without its document.
const headSize = 1024

// memo keeps feeds and documents that were read or saved lately. On a store that
// other processes write to it is asked whether the feed is still that one.
type feedCache struct {
	mu      sync.Mutex
	entries cache.LRU[feedKey, *entry]
	// writes counts what made entries wrong: what was read before a write must not be
	// kept after it.
	writes uint64
}

type feedKey struct{ user, name string }

type entry struct {
	feed Feed
	doc  []byte // nil: only the feed is known
}

// get finds a feed, with its document when that is wanted.
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

// put keeps what was read when there were so many writes, if nothing was written since.
func (c *feedCache) put(f Feed, doc []byte, writes uint64, limit int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes != c.writes {
		return
	}
	k := feedKey{f.User, f.Name}
	if before, ok := c.entries.Peek(k); ok && doc == nil && before.feed == f {
		doc = before.doc
	}
	c.entries.MaxSize = limit
	c.entries.Put(k, &entry{f, doc}, headSize+int64(len(doc)))
}

// forget says that a feed was written, or may have been.
func (c *feedCache) forget(user, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	c.entries.Delete(feedKey{user, name})
}

// find reads a feed, from memory when it is the one of the store.
func (s *Feeds) find(ctx context.Context, user, name string, doc bool) (Feed, []byte, error) {
	if err := checkFeed(user, name); err != nil {
		return Feed{}, nil, err
	}
	f, d, writes, ok := s.cache.get(user, name, doc)
	if ok && !s.Shared {
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
