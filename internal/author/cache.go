package author

import (
	"container/list"
	"context"
	"sync"
)

// headSize is about how much memory a feed takes without its document.
const headSize = 1024

// cache keeps feeds and documents that were read or saved lately. On a store that
// other processes write to it is asked whether the feed is still that one.
type cache struct {
	mu    sync.Mutex
	used  int64
	kept  map[place]*list.Element // of *entry
	order list.List               // the last one used in front
	// writes counts what made entries wrong: what was read before a write must not be
	// kept after it.
	writes uint64
}

type place struct{ user, name string }

type entry struct {
	place place
	feed  Feed
	doc   []byte // nil: only the feed is known
}

func (e *entry) size() int64 { return headSize + int64(len(e.doc)) }

// get finds a feed, with its document when that is wanted.
func (c *cache) get(user, name string, doc bool) (f Feed, d []byte, writes uint64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.kept[place{user, name}]
	if !ok {
		return Feed{}, nil, c.writes, false
	}
	e := at.Value.(*entry)
	if doc && e.doc == nil {
		return e.feed, nil, c.writes, false
	}
	c.order.MoveToFront(at)
	return e.feed, e.doc, c.writes, true
}

// put keeps what was read when there were so many writes, if nothing was written since.
func (c *cache) put(f Feed, doc []byte, writes uint64, most int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if writes != c.writes {
		return
	}
	e := &entry{place: place{f.User, f.Name}, feed: f, doc: doc}
	if at, ok := c.kept[e.place]; ok {
		if before := at.Value.(*entry); doc == nil && before.feed == f {
			e.doc = before.doc
		}
		c.drop(at)
	}
	if c.kept == nil {
		c.kept = make(map[place]*list.Element)
	}
	c.kept[e.place] = c.order.PushFront(e)
	c.used += e.size()
	for c.used > most && c.order.Len() > 0 {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(at *list.Element) {
	e := at.Value.(*entry)
	delete(c.kept, e.place)
	c.order.Remove(at)
	c.used -= e.size()
}

// forget says that a feed was written, or may have been.
func (c *cache) forget(user, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	if at, ok := c.kept[place{user, name}]; ok {
		c.drop(at)
	}
}

// find reads a feed, from memory when it is the one of the store.
func (s *Feeds) find(ctx context.Context, user, name string, doc bool) (Feed, []byte, error) {
	if err := checkFeed(user, name); err != nil {
		return Feed{}, nil, err
	}
	f, d, writes, ok := s.kept.get(user, name, doc)
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
			s.kept.put(now, nil, writes, s.memory())
			return now, nil, nil
		}
	}
	if f, d, err = s.Store.SavedDocument(ctx, user, name); err != nil {
		return Feed{}, nil, err
	}
	s.kept.put(f, d, writes, s.memory())
	return f, d, nil
}

func (s *Feeds) memory() int64 {
	if s.Memory > 0 {
		return s.Memory
	}
	return 32 << 20
}
