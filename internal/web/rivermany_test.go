package web

import (
	"fmt"
	"strings"
	"testing"

	"cloudburst/internal/river"
)

// followMany makes alice follow 200 more feeds in four categories, each with one unread item. It
// returns the IDs of the feeds.
func (x *riverHarness) followMany() (ids []int64) {
	var items []river.Item
	for i := range 200 {
		f := x.fakeRiver.follow("alice", river.Source{URL: fmt.Sprintf("http://127.0.0.1/%d.xml", i), About: river.About{Title: fmt.Sprintf("Feed %03d", i)}}, fmt.Sprint("Group ", i%4))
		it := river.Item{SourceID: f.Source.ID}
		it.GUID, it.Title = "1", "Item"
		ids, items = append(ids, f.Source.ID), append(items, it)
	}
	x.fakeRiver.arrive(items...)
	return ids
}

func TestRailOfManyFeedsListsOnlyThoseOfThePage(t *testing.T) {
	t.Parallel()
	x := newRiverHarness(t).as("alice")
	ids := x.followMany()
	var unread int64
	counts, _ := x.fakeRiver.CountUnread(t.Context(), "alice")
	for _, n := range counts {
		unread += n.Items
	}
	for _, c := range []struct {
		page, current, mark string
		feeds               int
	}{
		{"/river", fmt.Sprintf("All feeds %d unread", unread), fmt.Sprintf("Mark all %d read", unread), 0},
		{"/river?category=Group+1", "Group 1 50 unread", "Mark all 50 read", 50},
		{fmt.Sprint("/river?source=", ids[6]), "Feed 006 1 unread", "Mark 1 item read", 1},
	} {
		doc := check(t, x.open(c.page))
		var feeds int
		var current string
		for _, a := range find(find(doc, "nav", "rail")[0], "a", "") {
			href := attr(a, "href")
			if strings.Contains(href, "?source=") {
				feeds++
			}
			if attr(a, "aria-current") != "" {
				current = text(a)
			}
			if strings.Contains(href, "?category=Group") && !strings.HasSuffix(text(a), " 50 unread") {
				t.Errorf("%s: the rail has %q", c.page, text(a))
			}
		}
		if feeds != c.feeds || !strings.HasSuffix(current, c.current) {
			t.Errorf("%s: the rail has %d feeds, and %q is current", c.page, feeds, current)
		}
		if !strings.Contains(text(doc), c.mark) {
			t.Errorf("%s: no %q", c.page, c.mark)
		}
	}
}
