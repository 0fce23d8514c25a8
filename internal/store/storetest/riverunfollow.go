package storetest

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

func resubscribe(t *testing.T, s *stream) {
	url := feedURL(1)
	a := s.addition("ann", url, "c", "d")
	a.Title, a.Interval, a.ReadTo, a.ListID = "Mine ☂", time.Hour, s.in(-time.Minute), 9
	_, err := s.RiverSubscribe(s.ctx, []river.Addition{a}, s.now, 10)
	must(t, err)
	must(t, s.AddReadingList(s.ctx, river.ReadingList{ID: 9, Reader: "ann", URL: "http://lists/9"}))
	id := river.SourceID(url)
	get := func() []river.Followed {
		t.Helper()
		list, err := s.RiverSubscriptions(s.ctx, river.SubscriptionQuery{Reader: "ann"})
		must(t, err)
		return list
	}
	end := func(at time.Time) {
		t.Helper()
		must(t, s.KeepUnfollowed(s.ctx, "ann", []int64{id, 77}, at, s.in(-time.Minute)))
		_, err := s.RiverUnsubscribe(s.ctx, "ann", []int64{id})
		must(t, err)
	}
	before := get()
	faulty(t, s.RiverResubscribe(s.ctx, "ann", id, s.now, s.now), fault.NotFound)
	end(s.now)
	faulty(t, s.RiverResubscribe(s.ctx, "ann", id, s.in(time.Millisecond), s.now), fault.NotFound)
	faulty(t, s.RiverResubscribe(s.ctx, "bob", id, s.now, s.now), fault.NotFound)
	faulty(t, s.RiverResubscribe(s.ctx, "ann", 77, s.now, s.now), fault.NotFound)
	at, err := s.Unfollowed(s.ctx, "ann", id, s.now)
	same(t, "ended", []any{at, err}, []any{s.now, error(nil)})
	must(t, s.RiverResubscribe(s.ctx, "ann", id, s.now, s.now))
	same(t, "as it was", get(), before)
	categories, err := s.Categories(s.ctx, "ann", false)
	same(t, "categories", []any{len(categories), categories[0].Name, categories[0].Sources, err}, []any{2, "c", int64(1), error(nil)})
	faulty(t, s.RiverResubscribe(s.ctx, "ann", id, s.now, s.now), fault.NotFound)

	end(s.now)
	s.followFeed("ann", url)
	faulty(t, s.RiverResubscribe(s.ctx, "ann", id, s.now, s.now), fault.Conflict)
	same(t, "followed again", get()[0].Title, "")
	same(t, "readers", s.sourceNow(id).Readers, int64(1))

	end(s.in(-2 * time.Minute))
	_, err = s.Unfollowed(s.ctx, "ann", id, s.in(-time.Hour))
	must(t, err)
	must(t, s.KeepUnfollowed(s.ctx, "bob", []int64{id}, s.now, s.in(-time.Minute)))
	_, err = s.Unfollowed(s.ctx, "ann", id, s.in(-time.Hour))
	faulty(t, err, fault.NotFound)
}
