package content

import (
	"fmt"
	"testing"
)

func TestImageSizeCacheIsBounded(t *testing.T) {
	t.Parallel()
	var c imageSizes
	for i := range 3 * maxCachedSizes {
		c.mu.Lock()
		c.put(sizeKey(fmt.Sprint(i)), dimensions{i + 1, 1})
		c.mu.Unlock()
		if width, _ := c.sizeOf("0"); width != "1" {
			t.Fatalf("after %d others, a size that is asked for is forgotten", i)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*maxCachedSizes {
		t.Errorf("%d sizes are cached", n)
	}
	if width, _ := c.sizeOf("1"); width != "" {
		t.Error("nothing is forgotten")
	}
	c.learn("broken", []byte("GIF89a"))
	if width, _ := c.sizeOf("broken"); width != "" {
		t.Error("a broken image has a size")
	}
}
