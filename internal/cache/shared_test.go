package cache

import (
	"sync"
	"testing"
)

func TestSharedCacheEvictsLeastRecentlyUsedValues(t *testing.T) {
	t.Parallel()
	c := Shared[int, int]{MaxSize: 30}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 100 {
				c.Put(i, n, 3)
				_, _ = c.Get(i)
			}
		})
	}
	group.Wait()
	for i := range 8 {
		if v, ok := c.Get(i); !ok || v != 99 {
			t.Errorf("%d: %d %v", i, v, ok)
		}
	}
	_, _ = c.Get(0)
	c.Put(100, 1, 24)
	for k, want := range map[int]bool{0: true, 1: false, 6: false, 7: true, 100: true} {
		if _, ok := c.Get(k); ok != want {
			t.Errorf("%d is kept: %v, want %v", k, ok, want)
		}
	}
}
