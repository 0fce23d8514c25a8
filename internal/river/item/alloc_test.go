package item

import (
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

// If a change needs fewer allocations, lower the limits.
func TestAllocationsPerConvertedItemAreBounded(t *testing.T) {
	fulltest.SkipUnderRace(t)
	c := NewConverter()
	for _, k := range []struct {
		kind  feedtest.Kind
		limit float64 // maximum number of allocations per item
	}{
		{feedtest.RSSContent, 5.2}, {feedtest.AtomHTML, 4.6}, {feedtest.Podcast, 3.6},
	} {
		f, err := feed.ParseBytes(feedtest.Make(k.kind, 100e3, 1).Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(5, func() {
			for i := range f.Items {
				c.Content(f, &f.Items[i])
			}
		}) / float64(len(f.Items))
		t.Logf("%s: %.2f allocations per item, of %d", k.kind, n, len(f.Items))
		if n > k.limit {
			t.Errorf("%s: %.2f allocations per item, more than %g", k.kind, n, k.limit)
		}
	}
}
