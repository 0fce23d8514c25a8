package cache

import (
	"strings"
	"testing"
)

// keys returns which of the keys a to f are in the cache.
func keys(c *LRU[string, int]) string {
	var out []string
	for _, k := range []string{"a", "b", "c", "d", "e", "f"} {
		if _, ok := c.Peek(k); ok {
			out = append(out, k)
		}
	}
	return strings.Join(out, "")
}

func TestLeastRecentlyUsedValuesAreEvicted(t *testing.T) {
	t.Parallel()
	c := LRU[string, int]{Max: 3}
	for i, k := range []string{"a", "b", "c"} {
		c.Put(k, i, 0)
	}
	if v, ok := c.Get("a"); v != 0 || !ok {
		t.Errorf("a is %d, %v", v, ok)
	}
	if v, ok := c.Peek("b"); v != 1 || !ok {
		t.Errorf("b is %d, %v", v, ok)
	}
	c.Put("d", 3, 0)
	c.Put("a", 4, 0)
	if got := keys(&c); got != "acd" || c.Len() != 3 {
		t.Errorf("kept are %s", got)
	}
	if v, _ := c.Get("a"); v != 4 {
		t.Errorf("a is %d, want the later value", v)
	}
	c.Delete("a")
	c.Delete("x")
	if _, ok := c.Get("a"); ok || c.Len() != 2 {
		t.Error("a is kept after it was deleted")
	}
}

func TestCacheSizeStaysWithinTheLimit(t *testing.T) {
	t.Parallel()
	c := LRU[string, int]{MaxSize: 100}
	c.Put("a", 0, 40)
	c.Put("b", 0, 40)
	c.Resize("a", 50)
	c.Resize("x", 500)
	if got := keys(&c); got != "ab" || c.Size() != 90 {
		t.Errorf("kept are %s with %d bytes", got, c.Size())
	}
	c.Put("c", 0, 20)
	if got := keys(&c); got != "bc" || c.Size() != 60 {
		t.Errorf("kept are %s with %d bytes", got, c.Size())
	}
	c.Resize("b", 90)
	if got := keys(&c); got != "c" || c.Size() != 20 {
		t.Errorf("kept are %s with %d bytes", got, c.Size())
	}
	c.Put("d", 0, 101)
	if c.Len() != 0 || c.Size() != 0 {
		t.Errorf("%d values of %d bytes are kept for one that is larger than the bound", c.Len(), c.Size())
	}
}
