package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func resubscribe(t *testing.T, s *stream) {
	url := feedURL(1)
	a := s.addition("ann", url, "c", "d")
	a.Title, a.Interval, a.ReadTo, a.ListID = "Mine ☂", time.Hour, s.In(-time.Minute), 9
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Must(t, err)
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{ID: 9, Reader: "ann", URL: "http://lists/9"}))
	id := river.SourceID(url)
	get := func() []river.Followed {
		t.Helper()
		list, err := s.RiverSubscriptions(s.Ctx, river.SubscriptionQuery{Reader: "ann"})
		storetest.Must(t, err)
		return list
	}
	end := func(at time.Time) {
		t.Helper()
		storetest.Must(t, s.KeepUnfollowed(s.Ctx, "ann", []int64{id, 77}, at, s.In(-time.Minute)))
		_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{id})
		storetest.Must(t, err)
	}
	before := get()
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "ann", id, s.Now, s.Now), fault.NotFound)
	end(s.Now)
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "ann", id, s.In(time.Millisecond), s.Now), fault.NotFound)
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "bob", id, s.Now, s.Now), fault.NotFound)
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "ann", 77, s.Now, s.Now), fault.NotFound)
	at, err := s.Unfollowed(s.Ctx, "ann", id, s.Now)
	storetest.Same(t, "ended", []any{at, err}, []any{s.Now, error(nil)})
	storetest.Must(t, s.RiverResubscribe(s.Ctx, "ann", id, s.Now, s.Now))
	storetest.Same(t, "as it was", get(), before)
	categories, err := s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "categories", []any{len(categories), categories[0].Name, categories[0].Sources, err}, []any{2, "c", int64(1), error(nil)})
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "ann", id, s.Now, s.Now), fault.NotFound)

	end(s.Now)
	s.followFeed("ann", url)
	storetest.WantFault(t, s.RiverResubscribe(s.Ctx, "ann", id, s.Now, s.Now), fault.Conflict)
	storetest.Same(t, "followed again", get()[0].Title, "")
	storetest.Same(t, "readers", s.sourceNow(id).Readers, int64(1))

	end(s.In(-2 * time.Minute))
	_, err = s.Unfollowed(s.Ctx, "ann", id, s.In(-time.Hour))
	storetest.Must(t, err)
	storetest.Must(t, s.KeepUnfollowed(s.Ctx, "bob", []int64{id}, s.Now, s.In(-time.Minute)))
	_, err = s.Unfollowed(s.Ctx, "ann", id, s.In(-time.Hour))
	storetest.WantFault(t, err, fault.NotFound)
}
