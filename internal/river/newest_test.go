package river_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
)

// dated returns a feed with n items, one for every six hours. With upward, the oldest item comes
// first.
func dated(n int, upward bool) string {
	var b strings.Builder
	for i := range n {
		k := n - i
		if upward {
			k = i + 1
		}
		at := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(k) * 6 * time.Hour)
		fmt.Fprintf(&b, "<item><guid isPermaLink=\"false\">%d</guid><title>t%d</title><pubDate>%s</pubDate></item>", k, k, at.Format(time.RFC1123Z))
	}
	return `<rss version="2.0"><channel><title>Long</title><ttl>60</ttl>` + b.String() + `</channel></rss>`
}

func TestNewestItemsOfLongFeedAreStoredWhateverTheOrder(t *testing.T) {
	t.Parallel()
	for _, upward := range []bool{false, true} {
		t.Run(fmt.Sprint("upward ", upward), func(t *testing.T) {
			t.Parallel()
			withHarness(t, river.Options{}, func(t *testing.T, w *harness) {
				w.serve(feedURL, doc(dated(3000, upward)))
				w.follow(feedURL)
				w.advance(10 * time.Minute)
				s := w.source(feedURL)
				if s.Items != 1000 || w.items(feedURL)[0].Content.Title != "t3000" || !strings.Contains(s.About.Problem, "3000 items; the newest 1000") {
					t.Errorf("%d items, %q, first %s", s.Items, s.About.Problem, w.items(feedURL)[0].Content.Title)
				}
				w.serve(feedURL, doc(dated(3001, upward)))
				w.advance(2 * time.Hour)
				list := w.checks(feedURL)
				if c := list[len(list)-2]; c.New != 1 || c.Edited+c.Withdrawn != 0 || w.items(feedURL)[0].Content.Title != "t3001" {
					t.Errorf("%+v, first %s", c, w.items(feedURL)[0].Content.Title)
				}
			})
		})
	}
}

func TestHigherItemLimitStoresMoreItems(t *testing.T) {
	t.Parallel()
	withHarness(t, river.Options{Keep: 2500}, func(t *testing.T, w *harness) {
		w.serve(feedURL, doc(dated(3000, true)))
		w.follow(feedURL)
		w.advance(10 * time.Minute)
		if s := w.source(feedURL); s.Items != 2500 {
			t.Errorf("%d items", s.Items)
		}
	})
}
