package river_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
)

// The test covers rule 24 of internal/readercheck.
func TestUpdateHintsApplyAfter304AndRestart(t *testing.T) {
	t.Parallel()
	fulltest.Long(t)
	fulltest.SkipUnderRace(t) // many simulated days; shorter tests use the same goroutines
	sy := `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>F</title>` +
		`<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>4</sy:updateFrequency><item><guid isPermaLink="false">a</guid><title>a</title></item></channel></rss>`
	cdf := `<CHANNEL HREF="http://feeds.test/"><TITLE>F</TITLE><SCHEDULE><INTERVALTIME DAY="0" HOUR="5"/></SCHEDULE><ITEM HREF="http://feeds.test/a"><TITLE>a</TITLE></ITEM></CHANNEL>`
	for name, c := range map[string]struct {
		body           string
		header         []string
		minGap, maxGap time.Duration // bounds of the time between two checks
		why            string
	}{
		"no hints":           {rss("", "a"), nil, 50 * time.Minute, 5 * time.Hour, ""},
		"ttl":                {rss("<ttl>180</ttl>", "a"), nil, 3 * time.Hour, 200 * time.Minute, "ttl 180"},
		"a short ttl":        {rss("<ttl>1</ttl>", "a"), nil, 5 * time.Minute, 6 * time.Minute, "ttl 1"},
		"an invalid ttl":     {rss("<ttl>0</ttl>", "a"), nil, 50 * time.Minute, 5 * time.Hour, "ttl 0 ignored"},
		"sy:":                {sy, nil, 6 * time.Hour, 7 * time.Hour, "sy: every 6 h"},
		"CDF":                {cdf, nil, 5 * time.Hour, 6 * time.Hour, "every 5 h"},
		"max-age":            {rss("", "a"), []string{"Cache-Control", "max-age=14400"}, 4 * time.Hour, 5 * time.Hour, "max-age 4 h"},
		"max-age before ttl": {rss("<ttl>60</ttl>", "a"), []string{"Cache-Control", "public, max-age=7200"}, 2 * time.Hour, 140 * time.Minute, "max-age 2 h"},
		"Expires":            {rss("", "a"), []string{"Expires", "Sat, 01 Jan 2000 08:00:00 GMT"}, 50 * time.Minute, 9 * time.Hour, ""},
		"Retry-After of 200": {rss("", "a"), []string{"Retry-After", "10800"}, 3 * time.Hour, 200 * time.Minute, "Retry-After 10800"},
		"beyond a day":       {rss("<ttl>99999</ttl>", "a"), nil, 20 * time.Hour, 24 * time.Hour, "ttl 99999"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, tagged(c.body, `"v"`, c.header...))
				w.follow(feedURL)
				for range 6 {
					w.advance(13 * time.Hour)
					w.restart()
				}
				w.advance(10 * time.Minute)
				list := w.requests()
				if len(list) < 3 {
					t.Fatalf("%d requests", len(list))
				}
				for i := 1; i < len(list); i++ {
					if gap := list[i].at.Sub(list[i-1].at); gap < c.minGap && (i > 1 || name != "CDF") || gap > c.maxGap+polling.Shortest {
						t.Errorf("%v between checks %d and %d, want %v to %v", gap, i-1, i, c.minGap, c.maxGap)
					}
					if i > 0 && list[i].header.Get("If-None-Match") != `"v"` {
						t.Errorf("check %d was unconditional", i)
					}
				}
				e, err := w.river.Explain(t.Context(), river.SourceID(feedURL))
				if err != nil || !strings.HasPrefix(e.Sentence, "next check ") || !strings.Contains(e.Sentence, c.why) {
					t.Errorf("%v, %q", err, e.Sentence)
				}
			})
		})
	}
}

// The test covers rule 24 of internal/readercheck.
func TestFeedIsNotCheckedInSkippedHoursAndDays(t *testing.T) {
	t.Parallel()
	var hours strings.Builder
	for h := range 24 {
		if h < 6 || h > 8 {
			fmt.Fprintf(&hours, "<hour>%d</hour>", h)
		}
	}
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("<skipHours>"+hours.String()+"</skipHours><skipDays><day>Monday</day><day>Thursday</day></skipDays>", "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.requests()
		for range 14 {
			w.advance(24 * time.Hour)
			w.restart()
		}
		list := w.requests()
		if len(list) < 10 {
			t.Errorf("%d requests in two weeks", len(list))
		}
		for _, r := range list {
			at := r.at.UTC()
			if h, d := at.Hour(), at.Weekday(); h < 6 || h > 8 || d == time.Monday || d == time.Thursday {
				t.Errorf("request on %s", at.Format("Monday 15:04"))
			}
		}
	})
}

func TestUserIntervalOverridesHints(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
		w.serve(feedURL, tagged(rss("<ttl>600</ttl>", "a"), `"v"`))
		w.follow(feedURL)
		w.advance(time.Minute)
		w.change(feedURL, func(s polling.State, now time.Time) polling.State {
			s.Interval = 20 * time.Minute
			s, _ = polling.Plan(s, now, polling.Options{})
			return s
		})
		w.requests()
		w.advance(2*time.Hour + time.Minute)
		if n := len(w.requests()); n != 6 {
			t.Errorf("%d checks in two hours", n)
		}
	})
}
