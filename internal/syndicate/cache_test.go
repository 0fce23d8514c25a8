package syndicate

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

func TestCacheMemoryIsBounded(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	l.Memory = 300_000
	for i := range 50 {
		s := saved(1, rss(strings.Split(strings.Repeat("item ", 20), " ")...))
		s.Key = fmt.Sprint(i)
		for _, f := range []string{"", "rss20", "atom", "jsonfeed"} {
			if w := get(t, l, s, f); w.Code != 200 {
				t.Error(w.Code)
			}
		}
		checkInvariants(t, l)
	}
	if len(l.feeds) > 20 || l.used < l.Memory/2 {
		t.Errorf("%d feeds in %d bytes", len(l.feeds), l.used)
	}
	// A document larger than the memory limit is still served.
	big := saved(1, rss(strings.Repeat("long", 200_000)))
	big.Key = "big"
	for range 2 {
		if w := get(t, l, big, "atom"); w.Code != 200 || w.Body.Len() < 800_000 {
			t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
		}
		checkInvariants(t, l)
	}
}

func TestLeastRecentlyUsedFeedIsEvictedFirst(t *testing.T) {
	t.Parallel()
	l := newLayer(t)
	l.Memory = 200_000
	loads := map[string]int{}
	request := func(key string) {
		s := saved(1, nil)
		s.Key = key
		s.Load = func(context.Context) ([]byte, string, error) { loads[key]++; return rss("one"), "", nil }
		get(t, l, s, "")
	}
	for i := range 200 {
		request("favourite")
		request(fmt.Sprint(i))
	}
	if loads["favourite"] != 1 {
		t.Errorf("the favourite was loaded %d times", loads["favourite"])
	}
	if request("0"); loads["0"] != 2 {
		t.Errorf("the first was loaded %d times", loads["0"])
	}
}
