package web

import (
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
)

func TestFeedsToBeginWithAreAWellFormedListOfADozen(t *testing.T) {
	t.Parallel()
	folders, err := startFolders()
	if err != nil {
		t.Fatal(err)
	}
	n, seen := 0, map[string]bool{}
	for _, f := range folders {
		for _, feed := range f.Feeds {
			n++
			if !webAddress(feed.URL) || !webAddress(feed.Home) || feed.Title == "" || feed.Text == "" || seen[feed.URL] {
				t.Errorf("%+v", feed)
			}
			seen[feed.URL] = true
		}
	}
	if n != 12 {
		t.Errorf("%d feeds", n)
	}
}

func TestPictureOfTheChecksHasWordsAndEveryForm(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	e := explanation(river.Source{URL: "https://a.example/"}, now)
	svg := string(checksChart(e.Checks, now.Add(time.Hour), now))
	has(t, svg, "<title", "<desc", "5 brought something, 13 found it the same and 2 did not work. The next is in 1 h.", `class="cross"`, `class="same"`, `class="s1"`, `class="next"`)
	if checksChart(e.Checks[:1], now, now) != "" || checksChart(nil, now, now) != "" {
		t.Error("one check is no picture")
	}
	e.Checks[1].At = e.Checks[0].At
	if svg := checksChart(e.Checks[:2], time.Time{}, e.Checks[0].At); strings.Contains(string(svg), "NaN") {
		t.Error(svg)
	}
}
