package render

import (
	"testing"

	"cloudburst/feed"
	"cloudburst/feed/feedtest"
	"cloudburst/internal/fulltest"
)

// Lower a limit when the writers need fewer allocations; never raise it.
func TestAllocationsPerWrittenItemAreBounded(t *testing.T) {
	fulltest.SkipUnderRace(t)
	f, err := feed.ParseBytes(feedtest.Make(feedtest.RSSContent, 40_000, 1).Body, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format string
		limit  float64 // maximum number of allocations per item
	}{
		{"rss20", 0.5}, {"atom", 2.9}, {"jsonfeed", 9.4},
	} {
		buf := written(t, f, c.format)
		n := testing.AllocsPerRun(5, func() { buf, _, _ = Append(buf[:0], f, c.format, nil) }) / float64(len(f.Items))
		t.Logf("%s: %.2f allocations per item, of %d", c.format, n, len(f.Items))
		if n > c.limit {
			t.Errorf("%s: %.2f allocations per item, more than %g", c.format, n, c.limit)
		}
	}
}
