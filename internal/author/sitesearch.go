package author

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"cloudburst/internal/lease"
)

const (
	indexBatch  = 200                    // maximum number of posts that one transaction makes searchable
	smallBatch  = 20                     // the same while no search waits, because saves wait for the transaction
	indexAfter  = 100 * time.Millisecond // time from a change to its indexing, so that one transaction indexes several changes
	indexWithin = 10 * time.Second       // maximum time that imports and other continued changes delay the indexing
	searchAfter = 3 * time.Second        // maximum time that a search waits for the indexing of changed posts
)

// indexing is the state of [Site.RunIndex]. After a crash, the store knows which posts are not indexed.
type indexing struct {
	mu      sync.Mutex
	running bool
	changes int           // number of calls of Index
	current chan struct{} // closed when the changed posts are searchable; nil: all posts are

	searches atomic.Int64 // number of searches that wait

	start        sync.Once
	wake, sought chan struct{} // a post changed; a search waits
}

func (x *indexing) init() {
	x.start.Do(func() { x.wake, x.sought = make(chan struct{}, 1), make(chan struct{}, 1) })
}

// Search returns the newest published posts of a user that contain all words of a text.
func (s *Site) Search(ctx context.Context, user, text string, limit int) ([]Post, error) {
	s.index.await(ctx)
	return s.Store.SearchPosts(ctx, user, text, limit)
}

// await returns when the posts that have changed are searchable, or after searchAfter.
func (x *indexing) await(ctx context.Context) {
	x.mu.Lock()
	current := x.current
	x.mu.Unlock()
	if current == nil {
		return
	}
	x.searches.Add(1)
	defer x.searches.Add(-1)
	lease.Wake(x.sought)
	lease.Sleep(ctx, current, searchAfter)
}

// Index updates the search index for all posts that have changed. While RunIndex runs, it does this
// soon, and searches wait for it.
func (s *Site) Index(ctx context.Context) error {
	x := &s.index
	x.init()
	x.mu.Lock()
	running := x.running
	if x.changes++; running && x.current == nil {
		x.current = make(chan struct{})
	}
	x.mu.Unlock()
	if !running {
		return s.indexAll(ctx)
	}
	lease.Wake(x.wake)
	return nil
}

// RunIndex indexes the posts that an earlier process left, and then the posts of each call of Index,
// until ctx ends. It passes errors to failed.
func (s *Site) RunIndex(ctx context.Context, failed func(error)) {
	x := &s.index
	x.init()
	x.set(true)
	defer x.set(false)
	var until time.Time
	for ctx.Err() == nil {
		for time.Now().Before(until) && s.changing() && lease.Sleep(ctx, x.sought, indexAfter) {
		}
		x.mu.Lock()
		from := x.changes
		x.mu.Unlock()
		n, err := s.indexNext(ctx)
		if n > 0 && err == nil {
			continue
		}
		if err != nil {
			failed(err)
		}
		x.mu.Lock()
		if err != nil || x.changes == from {
			x.release()
		}
		x.mu.Unlock()
		if lease.Sleep(ctx, x.wake, time.Hour) {
			until = time.Now().Add(indexWithin)
			lease.Sleep(ctx, x.sought, indexAfter)
		}
	}
}

// indexNext indexes some posts. It leaves half of the time to saves, unless a search waits.
func (s *Site) indexNext(ctx context.Context) (n int, err error) {
	if s.index.searches.Load() > 0 {
		return s.Store.IndexPosts(ctx, indexBatch)
	}
	began := time.Now()
	if n, err = s.Store.IndexPosts(ctx, smallBatch); n > 0 {
		lease.Sleep(ctx, s.index.sought, time.Since(began))
	}
	return n, err
}

// changing reports whether RunIndex leaves the database to other writes: posts are changing, and no
// search waits.
func (s *Site) changing() bool {
	if s.index.searches.Load() > 0 {
		return false
	}
	select {
	case <-s.index.wake:
		return true
	default:
		return s.Posts != nil && s.Posts.importing.Load() > 0
	}
}

func (x *indexing) set(running bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running = running
	x.release()
}

// release lets the searches continue that wait. The caller holds mu.
func (x *indexing) release() {
	if x.current != nil {
		close(x.current)
		x.current = nil
	}
}

func (s *Site) indexAll(ctx context.Context) error {
	for {
		n, err := s.Store.IndexPosts(ctx, indexBatch)
		if err != nil || n == 0 {
			return err
		}
	}
}
