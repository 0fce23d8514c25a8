package author_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloudburst/internal/author"
)

// indexStore records the calls of the search index.
type indexStore struct {
	author.SiteStore
	mu               sync.Mutex
	changed, indexed int
	fail             error
	runs             int // number of calls that indexed posts
}

func (s *indexStore) IndexPosts(context.Context, int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.changed - s.indexed
	if n > 0 {
		s.runs++
	}
	if s.fail == nil {
		s.indexed = s.changed
	}
	return n, s.fail
}

func (s *indexStore) SearchPosts(context.Context, string, string, int) ([]author.Post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return make([]author.Post, s.indexed), nil
}

// change changes a post.
func (s *indexStore) change(t *testing.T, site *author.Site) {
	t.Helper()
	s.mu.Lock()
	s.changed++
	s.mu.Unlock()
	if err := site.Index(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSearchFindsPostsThatWereJustChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &indexStore{changed: 1}
		site := &author.Site{Store: store}
		search := func(want int) {
			t.Helper()
			if found, err := site.Search(t.Context(), "alice", "x", 10); err != nil || len(found) != want {
				t.Errorf("%d posts, want %d: %v", len(found), want, err)
			}
		}
		change := func() { store.change(t, site) }
		change() // nothing runs in the background yet
		search(2)
		ctx, cancel := context.WithCancel(t.Context())
		var failed []error
		var ended bool
		go func() {
			site.RunIndex(ctx, func(err error) { failed = append(failed, err) })
			ended = true
		}()
		synctest.Wait()
		change()
		change()
		if store.indexed != 2 {
			t.Error("the change waited for its indexing")
		}
		search(4)
		store.fail = errors.New("disk full")
		change()
		search(4)
		if store.fail = nil; len(failed) != 1 {
			t.Errorf("failures: %v", failed)
		}
		change()
		search(6)
		cancel()
		synctest.Wait()
		if change(); !ended || store.indexed != 7 {
			t.Errorf("ended %v, %d posts indexed", ended, store.indexed)
		}
	})
}

func TestContinuedChangesDelayTheIndexing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &indexStore{}
		site := &author.Site{Store: store}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go site.RunIndex(ctx, func(err error) { t.Error(err) })
		synctest.Wait()
		change := func() {
			store.change(t, site)
			time.Sleep(50 * time.Millisecond)
		}
		for range 500 {
			change()
		}
		synctest.Wait()
		if store.runs < 2 || store.runs > 3 {
			t.Errorf("%d transactions in 25 seconds of changes", store.runs)
		}
		change()
		begun := time.Now()
		if found, err := site.Search(t.Context(), "alice", "x", 10); err != nil || len(found) != 501 || time.Since(begun) != 0 {
			t.Errorf("%d posts after %v: %v", len(found), time.Since(begun), err)
		}
		change()
		time.Sleep(time.Second)
		synctest.Wait()
		if store.indexed != 502 {
			t.Errorf("%d posts indexed after the last change", store.indexed)
		}
	})
}
