package river_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
)

// The test starts with data of an earlier version, which stored each name of the server as a
// separate feed.
func TestFeedsStoredUnderTwoServerNamesAreMerged(t *testing.T) {
	t.Parallel()
	const alias, own = "http://alias.test/", "http://own.test/"
	var one atomic.Bool
	canonical := func(url string) string {
		if rest, ok := strings.CutPrefix(url, alias); ok && one.Load() {
			return own + rest
		}
		return url
	}
	withDisk(t, river.Options{HostInterval: -1, Canonical: canonical}, func(t *testing.T, h *diskHarness) {
		for _, origin := range []string{alias, own} {
			for _, path := range []string{"both", "single", "renewed"} {
				h.serve(origin+path, doc(rss("", path)))
			}
		}
		for _, q := range []river.Request{
			{URL: alias + "both", Title: "Both", Categories: []string{"Old"}}, {URL: own + "both", Categories: []string{"New"}},
			{URL: alias + "single", Categories: []string{"One"}}, {URL: alias + "renewed"}, {Reader: "bob", URL: alias + "both", Title: "Mine"},
			{URL: "http://alias.test.example/feed"},
		} {
			h.serve(q.URL, doc(rss("", "x")))
			h.add(q)
		}
		kept := h.source(alias + "single").ID
		starred := h.items(alias + "both")[0].ID
		yes := true
		if _, err := h.river.Mark(t.Context(), "ann", []int64{starred}, nil, &yes); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.PutForwarding(t.Context(), forward.Forwarding{Reader: "bob", SourceID: h.source(alias + "both").ID}, 5); err != nil {
			t.Fatal(err)
		}
		one.Store(true)
		users := func(context.Context) ([]string, error) { return []string{"", "ann", "bob"}, nil }
		for range 2 { // the second call finds nothing to do
			if err := h.river.Unify(t.Context(), alias, func(url string) bool { return url == alias+"renewed" }, users); err != nil {
				t.Fatal(err)
			}
		}
		h.requests()
		h.advance(0)
		want := "Feed http://alias.test.example/feed\nFeed " + own + "both New|Old\nFeed " + own + "renewed\nFeed " + own + "single One"
		if got := h.list("ann"); got != want {
			t.Errorf("ann follows\n%s\nwant\n%s", got, want)
		}
		if got := h.list("bob"); got != "Mine "+own+"both own" {
			t.Errorf("bob follows %s", got)
		}
		if list, err := h.store.Forwardings(t.Context(), "bob"); err != nil || len(list) != 1 || list[0].SourceID != h.source(own+"both").ID {
			t.Errorf("bob's forwardings: %+v, %v", list, err)
		}
		if f, err := h.river.Find(t.Context(), "ann", own+"single"); err != nil || f.SourceID != kept || f.Source.Items != 1 {
			t.Errorf("the source with one name is now %+v, %v", f, err)
		}
		entries, err := h.river.Items(t.Context(), river.ItemQuery{Reader: "ann", Starred: true})
		if err != nil || len(entries) != 1 || entries[0].ID != starred {
			t.Errorf("starred: %v, %v", entries, err)
		}
		if a := h.add(river.Request{URL: alias + "single"}); a.New || a.Source.ID != kept {
			t.Errorf("the feed was added again: %+v", a.Source)
		}
	})
}
