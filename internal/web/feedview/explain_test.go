package feedview

import (
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
)

func TestChecksChartHasADescriptionAndAMarkForEachCheck(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	e := explanation(river.Source{URL: "https://a.example/"}, now)
	svg := string(checksChart(e.Checks, now.Add(time.Hour), now, nil))
	has(t, svg, "<title", "<desc", "5 brought new items, 13 found no change and 2 failed. The next is in 1 h.", `class="cross"`, `class="same"`, `class="s1"`, `class="next"`)
	if checksChart(e.Checks[:1], now, now, nil) != "" || checksChart(nil, now, now, nil) != "" {
		t.Error("one check has a chart")
	}
	e.Checks[1].At = e.Checks[0].At
	if svg := checksChart(e.Checks[:2], time.Time{}, e.Checks[0].At, nil); strings.Contains(string(svg), "NaN") {
		t.Error(svg)
	}
}

// explanation returns the last 20 checks of a feed. Some of these checks found new items.
func explanation(s river.Source, now time.Time) river.Explanation {
	e := river.Explanation{Source: s}
	for i := range 20 {
		c := river.Check{At: now.Add(-time.Duration(i*i+i)*13*time.Minute - 20*time.Minute), Status: 304, Outcome: polling.Unchanged}
		switch {
		case i%4 == 1:
			c.Status, c.Outcome = 200, polling.Changed
		case i == 6 || i == 7:
			c.Status, c.Outcome = 0, polling.Failed
		}
		e.Checks = append(e.Checks, c)
	}
	return e
}

func has(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in:\n%s", w, text)
		}
	}
}
