package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func riverSweepTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SweepRemovesOldItemsOutsideFeed":   riverTest(sweepOld),
		"SweepRemovesItemsBeyondLimit":      riverTest(sweepMany),
		"SweepKeepsStarredAndCurrentItems":  riverTest(sweepKeeps),
		"SweepRemovesLongUnfollowedSources": riverTest(sweepSources),
		"SweepKeepsSourceWithStarredItem":   riverTest(sweepStarredSource),
		"SweepRunsInSmallSteps":             riverTest(sweepSteps),
		"SweptItemIsNotFound":               riverTest(sweepSearch),
		"ReturnedItemIsKept":                riverTest(sweepReturned),
		"SweepOfEmptyStoreDoesNothing":      riverTest(sweepNothing),
		"SweptItemIsNotForwarded":           riverTest(sweepForwarding),
	}
}

const longKept = 180 * 24 * time.Hour

// sweep sweeps until nothing is left and returns the number of deleted rows.
func (s *stream) sweep(keep int) (total int) {
	s.t.Helper()
	for range 1000 {
		n, err := s.SweepRiver(s.Ctx, keep, s.In(-longKept), 7)
		s.must(err)
		if n == 0 {
			return total
		}
		total += n
	}
	s.t.Fatal("the sweep does not end")
	return 0
}

func sweepNothing(t *testing.T, s *stream) {
	storetest.Same(t, "empty", s.sweep(10), 0)
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 20)...)
	s.readFeed(src.ID)
	storetest.Same(t, "young and few", s.sweep(20), 0)
}

func sweepOld(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 10)...)
	s.pass(longKept + time.Second - 5*time.Minute)
	s.readFeed(src.ID, s.newItem(src.ID, 50, s.Now))
	storetest.Same(t, "removed", s.sweep(1000), 5)
	storetest.Same(t, "left", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 50", "Title 0", "Title 1", "Title 2", "Title 3", "Title 4"})
	storetest.Same(t, "counted", s.sourceNow(src.ID).Items, int64(6))
}

func sweepMany(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	s.readFeed(src.ID, s.items(src.ID, 0, 30)...)
	s.readFeed(src.ID)
	s.readFeed(other.ID, s.items(other.ID, 0, 10)...)
	s.readFeed(other.ID)
	storetest.Same(t, "removed", s.sweep(10), 20)
	storetest.Same(t, "the newest are left", []any{len(s.ask(river.ItemQuery{Reader: "ann", SourceID: src.ID})), s.titles(river.ItemQuery{Reader: "ann", SourceID: src.ID, Oldest: true, Limit: 1})},
		[]any{10, []string{"Title 9"}})
	got := s.sourceNow(src.ID)
	storetest.Same(t, "counted", []any{got.Items, got.NewestAt, s.sourceNow(other.ID).Items}, []any{int64(10), s.Now, int64(10)})
}

func sweepKeeps(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 20)
	s.readFeed(src.ID, put...)
	got := s.take(src.ID)
	got.Last = nil
	for _, it := range put[10:15] { // these items are in the current document
		got.Last = append(got.Last, river.Known{ID: it.ID, Hash: it.Hash})
	}
	s.save(river.Saved{Source: got})
	yes := true
	s.markItems("ann", ids(put)[18:19], nil, &yes)
	s.markItems("ann", ids(put)[19:], &yes, nil)
	storetest.Same(t, "removed", s.sweep(5), 9)
	storetest.Same(t, "left", len(s.ask(river.ItemQuery{Reader: "ann"})), 11)
	s.pass(2 * longKept)
	storetest.Same(t, "removed later", s.sweep(5), 5)
	storetest.Same(t, "left", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 10", "Title 11", "Title 12", "Title 13", "Title 14", "Title 18"})
	known, err := s.KnownItems(s.Ctx, src.ID, ids(put))
	storetest.Same(t, "known", []any{len(known), err}, []any{6, error(nil)})
}

func sweepReturned(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	s.readFeed(src.ID)
	got := s.take(src.ID)
	got.Last = []river.Known{{ID: put[1].ID}}
	s.save(river.Saved{Source: got})
	s.pass(2 * longKept)
	storetest.Same(t, "removed", s.sweep(10), 2)
	storetest.Same(t, "left", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 1"})
}

func sweepSources(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	for _, src := range []river.Source{src, other} {
		s.readFeed(src.ID, s.items(src.ID, 0, 20)...)
	}
	s.index()
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	s.pass(longKept)
	storetest.Same(t, "before the due time", s.sweep(1000), 0)
	storetest.Same(t, "items of the kept source", s.sourceNow(src.ID).Items, int64(20))
	s.pass(49 * time.Hour)
	storetest.Same(t, "removed", s.sweep(1000), 21)
	_, err = s.Store.Source(s.Ctx, src.ID)
	storetest.WantFault(t, err, fault.NotFound)
	checks, err := s.Checks(s.Ctx, src.ID)
	storetest.Same(t, "checks", []any{len(checks), err}, []any{0, error(nil)})
	storetest.Same(t, "the other", s.sourceNow(other.ID).Items, int64(20))
	again := s.followFeed("ann", feedURL(1))
	storetest.Same(t, "again", []any{again.Items, again.About, again.State.ReadAt}, []any{int64(0), river.About{}, time.Time{}})
}

func sweepStarredSource(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	yes := true
	s.markItems("ann", ids(put)[:1], nil, &yes)
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	s.pass(3 * longKept)
	storetest.Same(t, "removed", s.sweep(1000), 0)
	storetest.Same(t, "starred", s.titles(river.ItemQuery{Reader: "ann", Starred: true}), []string{"Title 0"})
}

func sweepSteps(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 20)...)
	s.readFeed(src.ID)
	n, err := s.SweepRiver(s.Ctx, 10, s.In(-longKept), 4)
	storetest.Same(t, "some", []any{n, err, s.sourceNow(src.ID).Items}, []any{4, error(nil), int64(16)})
}

func sweepSearch(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 20)...)
	s.readFeed(src.ID)
	s.index()
	s.sweep(10)
	storetest.Same(t, "found", len(s.ask(river.ItemQuery{Reader: "ann", Match: "title"})), 10)
	storetest.Same(t, "search for a removed item", s.titles(river.ItemQuery{Reader: "ann", Match: "15"}), []string{})
	s.readFeed(src.ID, s.items(src.ID, 20, 40)...)
	s.readFeed(src.ID)
	s.sweep(5) // including items that are not indexed yet
	s.index()
	storetest.Same(t, "found", len(s.ask(river.ItemQuery{Reader: "ann", Match: "title"})), 5)
}

func sweepForwarding(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.readFeed(src.ID, s.items(src.ID, 0, 10)...)
	s.readFeed(src.ID)
	s.sweep(3)
	storetest.Same(t, "sent", s.due(), map[int64][]string{n.ID: {"Title 2", "Title 1", "Title 0"}})
}
