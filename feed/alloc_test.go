package feed_test

import (
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

// Lower a limit when the parser needs fewer allocations; never raise it.
func TestAllocationsPerItemAreBounded(t *testing.T) {
	fulltest.SkipUnderRace(t)
	for _, c := range []struct {
		kind  feedtest.Kind
		limit float64 // maximum number of allocations per item
	}{
		{feedtest.RSSContent, 4.8}, {feedtest.AtomHTML, 1.7}, {feedtest.JSON, 2.2}, {feedtest.Podcast, 9.1},
	} {
		d := feedtest.Make(c.kind, 100e3, 1)
		f, err := feed.ParseBytes(d.Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(5, func() { _, _ = feed.ParseBytes(d.Body, nil) }) / float64(len(f.Items))
		t.Logf("%s: %.2f allocations per item, of %d", c.kind, n, len(f.Items))
		if n > c.limit {
			t.Errorf("%s: %.2f allocations per item, more than %g", c.kind, n, c.limit)
		}
	}
}
