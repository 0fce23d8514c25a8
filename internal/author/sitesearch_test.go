package author_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"cloudburst/internal/author"
)

// indexStore records the calls of the search index.
type indexStore struct {
	author.SiteStore
	changed, indexed int
	fail             error
}

func (s *indexStore) IndexPosts(context.Context, int) (int, error) {
	n := s.changed - s.indexed
	if s.fail == nil {
		s.indexed = s.changed
	}
	return n, s.fail
}

func (s *indexStore) SearchPosts(context.Context, string, string, int) ([]author.Post, error) {
	return make([]author.Post, s.indexed), nil
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
		change := func() {
			store.changed++
			if err := site.Index(t.Context()); err != nil {
				t.Error(err)
			}
		}
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
