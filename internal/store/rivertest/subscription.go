package rivertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func riverSubscriptionTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SubscriptionIsReadAsWritten":                    riverTest(wholeFollowed),
		"FollowingTwiceAddsCategoriesOnly":               riverTest(followTwice),
		"FollowingWakesUnfollowedSource":                 riverTest(followWakes),
		"FollowingDoesNotWakeGoneSource":                 riverTest(followGone),
		"TooManySubscriptionsAreRejectedAtomically":      riverTest(followTooMany),
		"SourcesAreKnownByAllURLs":                       riverTest(knownSources),
		"ReadersOfASourceAreCounted":                     riverTest(readersCounted),
		"OwnTitleOfFeedIsDroppedAtFirstCheck":            riverTest(ownTitleDropped),
		"UnfollowedSourceIsReturnedAndNotChecked":        riverTest(unfollow),
		"UnfollowingDiscardsRunningCheck":                riverTest(unfollowDuring),
		"ChangeOfSubscriptionIsAtomic":                   riverTest(changeSubscription),
		"ResubscribeRestoresSubscription":                riverTest(resubscribe),
		"ShortestIntervalOfUsersApplies":                 riverTest(shortestWish),
		"SubscriptionsAreListedByNameAndQuery":           riverTest(listSubscriptions),
		"SubscriptionsAreListedByNewestAndUnreadItems":   riverTest(sortSubscriptions),
		"EmptyCategoriesAreListed":                       riverTest(listCategories),
		"RenamedCategoryKeepsSourcesForwardingsAndLists": riverTest(renameCategory),
		"RenameToExistingCategoryMerges":                 riverTest(mergeCategory),
		"DroppedCategoryKeepsSubscriptions":              riverTest(dropCategory),
		"ReaderSeesOnlyOwnData":                          riverTest(ownOnly),
		"OwnTitleOverridesFeedTitle":                     riverTest(ownTitle),
		"ThousandsOfFeedsAreAddedInOneCall":              riverTest(followThousands),
		"TitleOfAdditionIsUsedUntilFirstCheck":           riverTest(additionTitle),
		"StateOfNewSourceIsStored":                       riverTest(additionState),
		"DuplicateFeedsInOneCallAreMerged":               riverTest(followDouble),
		"FeedFollowedAgainKeepsItems":                    riverTest(followAgain),
		"UnreadAndUncategorizedSubscriptionsAreFound":    riverTest(waitingAndNone),
	}
}

func (s *stream) following(q river.SubscriptionQuery) []river.Followed {
	s.t.Helper()
	list, err := s.RiverSubscriptions(s.Ctx, q)
	s.must(err)
	return list
}

func (s *stream) one(reader string, source int64) river.Followed {
	s.t.Helper()
	list := s.following(river.SubscriptionQuery{Reader: reader, SourceID: source})
	if len(list) != 1 {
		s.t.Fatalf("%d subscriptions of source %d, want one", len(list), source)
	}
	return list[0]
}

func wholeFollowed(t *testing.T, s *stream) {
	a := s.addition("ann", feedURL(1), "zebra", "apple ☂", "zebra", "")
	a.Title, a.Interval, a.ReadTo, a.ListID = "mine ☂'", 20*time.Minute, s.In(-time.Hour), 77
	isNew, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Same(t, "new", []any{isNew, err}, []any{[]bool{true}, error(nil)})
	a.Categories = []string{"apple ☂", "zebra"}
	f := s.one("ann", a.Source.ID)
	storetest.Same(t, "subscription", f.Subscription, a.Subscription)
	storetest.Same(t, "source", f.Source, s.sourceNow(a.Source.ID))
	set, err := s.RiverFollowing(s.Ctx, "ann")
	storetest.Same(t, "following", []any{set, err}, []any{map[int64]bool{a.Source.ID: true}, error(nil)})
	none, err := s.RiverSubscribe(s.Ctx, nil, s.Now, 10)
	storetest.Same(t, "nothing", []any{len(none), err}, []any{0, error(nil)})
}

func followTwice(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "b")
	a := s.addition("ann", feedURL(1), "c", "a")
	a.Title, a.ReadTo, a.Source.State.Failures, a.Source.About.Title = "another", s.Now, 7, "another"
	isNew, err := s.RiverSubscribe(s.Ctx, []river.Addition{a, s.addition("ann", feedURL(2))}, s.In(time.Hour), 10)
	storetest.Same(t, "new", []any{isNew, err}, []any{[]bool{false, true}, error(nil)})
	f := s.one("ann", src.ID)
	storetest.Same(t, "subscription", []any{f.Title, f.Categories, f.ReadTo}, []any{"", []string{"a", "b", "c"}, time.Time{}})
	storetest.Same(t, "source", s.sourceNow(src.ID), src)
	storetest.Same(t, "in the category", len(s.following(river.SubscriptionQuery{Reader: "ann", Category: "c"})), 1)
}

func followDouble(t *testing.T, s *stream) {
	isNew, err := s.RiverSubscribe(s.Ctx, []river.Addition{s.addition("ann", feedURL(1), "b"), s.addition("bob", feedURL(1)), s.addition("ann", feedURL(1), "a")}, s.Now, 10)
	storetest.Same(t, "new", []any{isNew, err}, []any{[]bool{true, true, false}, error(nil)})
	f := s.one("ann", river.SourceID(feedURL(1)))
	storetest.Same(t, "one", []any{f.Categories, f.Source.Readers}, []any{[]string{"a", "b"}, int64(2)})
}

func followWakes(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	storetest.Same(t, "asleep", s.sourceNow(src.ID).NextAt, time.Time{})
	s.pass(time.Minute)
	storetest.Same(t, "awake", s.followFeed("bob", feedURL(1)).NextAt, s.Now)
	s.readFeed(src.ID)
	s.pass(time.Minute)
	storetest.Same(t, "as it was", s.followFeed("ann", feedURL(1)).NextAt, s.In(59*time.Minute))
}

func followGone(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	_, err := s.ChangeSource(s.Ctx, src.ID, func(src *river.Source) error {
		src.State.Gone, src.NextAt = &polling.Gone{}, time.Time{}
		return nil
	})
	storetest.Must(t, err)
	storetest.Same(t, "next", s.followFeed("bob", feedURL(1)).NextAt, time.Time{})
}

func followTooMany(t *testing.T, s *stream) {
	s.followFeed("ann", feedURL(1))
	var list []river.Addition
	for n := range 5 {
		list = append(list, s.addition("ann", feedURL(n), "c"))
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, 4)
	storetest.WantFault(t, err, fault.TooMany)
	storetest.Same(t, "followed", len(s.following(river.SubscriptionQuery{Reader: "ann"})), 1)
	_, err = s.Store.Source(s.Ctx, river.SourceID(feedURL(3)))
	storetest.WantFault(t, err, fault.NotFound)
	cats, err := s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "categories", []any{len(cats), err}, []any{0, error(nil)})
	_, err = s.RiverSubscribe(s.Ctx, list[:2], s.Now, 0)
	storetest.Must(t, err)
	_, err = s.RiverSubscribe(s.Ctx, list, s.Now, 5)
	storetest.Must(t, err)
	// A lower limit keeps existing subscriptions and rejects only new ones.
	fresh, err := s.RiverSubscribe(s.Ctx, list[:2], s.Now, 3)
	storetest.Same(t, "again", []any{fresh, err}, []any{[]bool{false, false}, error(nil)})
	_, err = s.RiverSubscribe(s.Ctx, []river.Addition{s.addition("ann", feedURL(9))}, s.Now, 3)
	storetest.WantFault(t, err, fault.TooMany)
}

func knownSources(t *testing.T, s *stream) {
	one, two := s.followFeed("ann", feedURL(1)), s.followFeed("bob", feedURL(2))
	moved := s.followFeed("bob", feedURL(3))
	_, err := s.ChangeSource(s.Ctx, moved.ID, func(src *river.Source) error {
		src.State.URL = feedURL(4)
		return nil
	})
	storetest.Must(t, err)
	private := s.addition("ann", feedURL(2))
	private.Source.ID, private.SourceID, private.Source.Login = 77, 77, river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "x"}
	_, err = s.RiverSubscribe(s.Ctx, []river.Addition{private}, s.Now, 10)
	storetest.Must(t, err)
	hidden := s.addition("ann", feedURL(6))
	hidden.Source.ID, hidden.SourceID, hidden.Source.Login = 78, 78, river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "x"}
	_, err = s.RiverSubscribe(s.Ctx, []river.Addition{hidden}, s.Now, 10)
	storetest.Must(t, err)
	urls := []string{feedURL(1), feedURL(2), feedURL(3), feedURL(4), feedURL(5), feedURL(6)}
	got, err := s.KnownSources(s.Ctx, "ann", urls)
	storetest.Must(t, err)
	storetest.Same(t, "known to ann", got, map[string]river.KnownSource{
		feedURL(1): {ID: one.ID, Followed: true}, feedURL(2): {ID: 77, Followed: true}, feedURL(3): {ID: moved.ID}, feedURL(4): {ID: moved.ID}, feedURL(6): {ID: 78, Followed: true},
	})
	got, err = s.KnownSources(s.Ctx, "bob", urls)
	storetest.Must(t, err)
	storetest.Same(t, "known to bob", got, map[string]river.KnownSource{
		feedURL(1): {ID: one.ID}, feedURL(2): {ID: two.ID, Followed: true}, feedURL(3): {ID: moved.ID, Followed: true}, feedURL(4): {ID: moved.ID, Followed: true},
	})
	got, err = s.KnownSources(s.Ctx, "bob", nil)
	storetest.Same(t, "known without URLs", []any{len(got), err}, []any{0, error(nil)})
}

func readersCounted(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.followFeed("bob", feedURL(1))
	s.followFeed("bob", feedURL(1))
	s.followFeed("", feedURL(1))
	storetest.Same(t, "readers", s.sourceNow(src.ID).Readers, int64(3))
	for n, reader := range []string{"bob", "bob", "nobody", "ann"} {
		orphans, err := s.RiverUnsubscribe(s.Ctx, reader, []int64{src.ID, 99})
		storetest.Same(t, "orphans", []any{len(orphans), err}, []any{0, error(nil)})
		storetest.Same(t, "readers", s.sourceNow(src.ID).Readers, []int64{2, 2, 2, 1}[n])
	}
}

func unfollow(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1), "c"), s.followFeed("ann", feedURL(2))
	s.followFeed("bob", feedURL(2))
	put := s.items(src.ID, 0, 2)
	s.readFeed(src.ID, put...)
	yes := true
	s.markItems("ann", ids(put)[:1], nil, &yes)
	orphans, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID, other.ID, src.ID})
	storetest.Must(t, err)
	storetest.Same(t, "orphans", []any{len(orphans), orphans[0].ID, orphans[0].URL}, []any{1, src.ID, src.URL})
	got := s.sourceNow(src.ID)
	storetest.Same(t, "source", []any{got.NextAt, got.Readers, got.Items}, []any{time.Time{}, int64(0), int64(2)})
	list, err := s.ClaimSources(s.Ctx, s.In(1000*time.Hour), s.In(2000*time.Hour), 10, 5)
	storetest.Same(t, "checked", []any{len(list), err}, []any{1, error(nil)})
	storetest.Same(t, "river", s.titles(river.ItemQuery{Reader: "ann"}), []string{})
	storetest.Same(t, "starred", s.titles(river.ItemQuery{Reader: "ann", Starred: true}), []string{put[0].Title})
	storetest.Same(t, "category", len(s.following(river.SubscriptionQuery{Reader: "ann", Category: "c"})), 0)
}

func unfollowDuring(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1)).ID)
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: river.Check{At: s.Now}, Put: s.items(src.ID, 0, 1), Now: s.Now})
	storetest.Same(t, "saved", []any{ok, err}, []any{false, error(nil)})
	got := s.sourceNow(src.ID)
	storetest.Same(t, "source", []any{got.NextAt, got.Claim, got.Items}, []any{time.Time{}, int64(0), int64(0)})
}

func changeSubscription(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "b", "c")
	f, err := s.ChangeSubscription(s.Ctx, "ann", src.ID, func(f *river.Subscription) error {
		storetest.Same(t, "current value", *f, river.Subscription{Reader: "ann", SourceID: src.ID, AddedAt: s.Now, Categories: []string{"b", "c"}})
		f.Title, f.Categories, f.Interval, f.ReadTo, f.ListID = "mine", []string{"d", "b", ""}, time.Hour, s.Now, 5
		f.Reader, f.SourceID = "bob", 7 // a change cannot move a subscription to another reader
		return nil
	})
	storetest.Must(t, err)
	want := river.Subscription{Reader: "ann", SourceID: src.ID, Title: "mine", AddedAt: s.Now, Categories: []string{"b", "d"}, Interval: time.Hour, ReadTo: s.Now, ListID: 5}
	storetest.Same(t, "returned", f.Subscription, want)
	storetest.Same(t, "stored", s.one("ann", src.ID).Subscription, want)
	for _, name := range []string{"b", "c", "d"} {
		storetest.Same(t, name, len(s.following(river.SubscriptionQuery{Reader: "ann", Category: name})) == 1, name != "c")
	}
	wrong := errors.New("no")
	_, err = s.ChangeSubscription(s.Ctx, "ann", src.ID, func(f *river.Subscription) error {
		f.Title, f.Categories[0] = "x", "x"
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("got error %v", err)
	}
	storetest.Same(t, "unchanged", s.one("ann", src.ID).Subscription, want)
	_, err = s.ChangeSubscription(s.Ctx, "bob", src.ID, func(*river.Subscription) error { return nil })
	storetest.WantFault(t, err, fault.NotFound)
}

func shortestWish(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	a := s.addition("bob", feedURL(1))
	a.Interval = 30 * time.Minute
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Must(t, err)
	for _, step := range []struct {
		reader string
		wish   time.Duration
		want   time.Duration
	}{{"", 0, 30 * time.Minute}, {"ann", time.Hour, 30 * time.Minute}, {"ann", 10 * time.Minute, 10 * time.Minute}, {"ann", 0, 30 * time.Minute}} {
		if step.reader != "" {
			f, err := s.ChangeSubscription(s.Ctx, step.reader, src.ID, func(f *river.Subscription) error {
				f.Interval = step.wish
				return nil
			})
			storetest.Must(t, err)
			storetest.Same(t, "returned", f.Source.State.Interval, step.want)
		}
		storetest.Same(t, "interval", s.sourceNow(src.ID).State.Interval, step.want)
	}
	_, err = s.RiverUnsubscribe(s.Ctx, "bob", []int64{src.ID})
	storetest.Must(t, err)
	storetest.Same(t, "interval without readers", s.sourceNow(src.ID).State.Interval, time.Duration(0))
}

func listSubscriptions(t *testing.T, s *stream) {
	for n, title := range []string{"delta", "Alpha", "charlie", "", "bravo"} {
		a := s.addition("ann", feedURL(n), fmt.Sprint("c", n%2))
		a.Title = title
		a.ListID = int64(n % 3)
		_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
		storetest.Must(t, err)
		s.Now = s.Now.Add(time.Minute)
	}
	for n := range 2 {
		_, err := s.ChangeSource(s.Ctx, river.SourceID(feedURL(n)), func(src *river.Source) error {
			if n == 0 {
				src.State.Moves = []polling.Move{{}}
			} else {
				src.State.Failure = &polling.Failure{}
			}
			return nil
		})
		storetest.Must(t, err)
	}
	for name, one := range map[string]struct {
		q    river.SubscriptionQuery
		want []string
	}{
		"all":         {river.SubscriptionQuery{}, []string{"Alpha", "bravo", "charlie", "delta", feedURL(3)}},
		"category":    {river.SubscriptionQuery{Category: "c1"}, []string{"Alpha", feedURL(3)}},
		"none":        {river.SubscriptionQuery{Category: "c9"}, nil},
		"list":        {river.SubscriptionQuery{ListID: 2}, []string{"charlie"}},
		"match":       {river.SubscriptionQuery{Match: "RAV"}, []string{"bravo"}},
		"url":         {river.SubscriptionQuery{Match: "/003"}, []string{feedURL(3)}},
		"wildcard":    {river.SubscriptionQuery{Match: "%"}, nil},
		"broken":      {river.SubscriptionQuery{Broken: true}, []string{"Alpha", "delta"}},
		"page":        {river.SubscriptionQuery{Skip: 1, Limit: 2}, []string{"bravo", "charlie"}},
		"failure":     {river.SubscriptionQuery{Sort: river.SortFailure}, []string{"Alpha", "bravo", "charlie", "delta", feedURL(3)}},
		"added":       {river.SubscriptionQuery{Sort: river.SortAdded}, []string{"bravo", feedURL(3), "charlie", "Alpha", "delta"}},
		"sorted page": {river.SubscriptionQuery{Sort: river.SortAdded, Skip: 1, Limit: 2}, []string{feedURL(3), "charlie"}},
		"past":        {river.SubscriptionQuery{Skip: 9}, nil},
	} {
		one.q.Reader = "ann"
		var got []string
		for _, f := range s.following(one.q) {
			got = append(got, f.Name())
		}
		storetest.Same(t, name, got, one.want)
	}
}

func sortSubscriptions(t *testing.T, s *stream) {
	for n := range 4 {
		s.followFeed("ann", feedURL(n))
	}
	for _, n := range []int{1, 2} {
		id := river.SourceID(feedURL(n))
		s.readFeed(id, s.items(id, 0, n)...)
		s.pass(time.Minute)
	}
	for sort, want := range map[river.SubscriptionSort][]int{river.SortNewest: {2, 1, 0, 3}, river.SortUnread: {2, 1, 0, 3}} {
		var got []int64
		for _, f := range s.following(river.SubscriptionQuery{Reader: "ann", Sort: sort, Unread: true}) {
			got = append(got, f.SourceID)
		}
		var ids []int64
		for _, n := range want {
			ids = append(ids, river.SourceID(feedURL(n)))
		}
		storetest.Same(t, string(sort), got, ids)
	}
}

func waitingAndNone(t *testing.T, s *stream) {
	s.readFeed(s.followFeed("ann", feedURL(1), "c").ID)
	s.readFeed(s.followFeed("ann", feedURL(2)).ID)
	s.followFeed("ann", feedURL(3), "c")
	for name, one := range map[string]struct {
		q    river.SubscriptionQuery
		want []string
	}{
		"none": {river.SubscriptionQuery{None: true}, []string{feedURL(2)}}, "waiting": {river.SubscriptionQuery{Waiting: true}, []string{feedURL(3)}},
	} {
		one.q.Reader = "ann"
		var got []string
		for _, f := range s.following(one.q) {
			got = append(got, f.Source.URL)
		}
		storetest.Same(t, name, got, one.want)
	}
}

func listCategories(t *testing.T, s *stream) {
	s.readFeed(s.followFeed("ann", feedURL(1), "b", "a").ID, s.items(river.SourceID(feedURL(1)), 0, 3)...)
	s.followFeed("ann", feedURL(2), "b")
	storetest.Must(t, s.PutCategory(s.Ctx, "ann", "empty", true))
	storetest.Must(t, s.PutCategory(s.Ctx, "ann", "b", true))
	list, err := s.Categories(s.Ctx, "ann", true)
	storetest.Same(t, "all", []any{list, err}, []any{[]river.Category{{Name: "a", Sources: 1, Unread: 3}, {Name: "b", Public: true, Sources: 2, Unread: 3}, {Name: "empty", Public: true}}, error(nil)})
	_, err = s.RiverUnsubscribe(s.Ctx, "ann", []int64{river.SourceID(feedURL(1)), river.SourceID(feedURL(2))})
	storetest.Must(t, err)
	storetest.Must(t, s.PutCategory(s.Ctx, "ann", "empty", false))
	list, err = s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "created categories", []any{list, err}, []any{[]river.Category{{Name: "b", Public: true}, {Name: "empty"}}, error(nil)})
	list, err = s.Categories(s.Ctx, "bob", true)
	storetest.Same(t, "another's", []any{len(list), err}, []any{0, error(nil)})
}

func renameCategory(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "old", "z")
	storetest.Must(t, s.PutCategory(s.Ctx, "ann", "old", true))
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/", Category: "old"}))
	n, err := s.PutForwarding(s.Ctx, forward.Forwarding{Reader: "ann", Category: "old", Via: forward.ViaPost, Target: "http://t/"}, 5)
	storetest.Must(t, err)
	storetest.Must(t, s.RenameCategory(s.Ctx, "ann", "old", "a new ☂"))
	storetest.Same(t, "subscription", s.one("ann", src.ID).Categories, []string{"a new ☂", "z"})
	list, err := s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "categories", []any{list, err}, []any{[]river.Category{{Name: "a new ☂", Public: true, Sources: 1}, {Name: "z", Sources: 1}}, error(nil)})
	notices, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "notice", []any{notices[0].ID, notices[0].Category, err}, []any{n.ID, "a new ☂", error(nil)})
	lists, err := s.ReadingLists(s.Ctx, "ann")
	storetest.Same(t, "list", []any{lists[0].Category, err}, []any{"a new ☂", error(nil)})
	storetest.WantFault(t, s.RenameCategory(s.Ctx, "ann", "old", "x"), fault.NotFound)
	storetest.WantFault(t, s.RenameCategory(s.Ctx, "bob", "z", "x"), fault.NotFound)
	storetest.Must(t, s.RenameCategory(s.Ctx, "ann", "z", "z"))
	storetest.Same(t, "the same name", s.one("ann", src.ID).Categories, []string{"a new ☂", "z"})
}

func mergeCategory(t *testing.T, s *stream) {
	a, b, c := s.followFeed("ann", feedURL(1), "x"), s.followFeed("ann", feedURL(2), "x", "y"), s.followFeed("ann", feedURL(3), "y")
	storetest.Must(t, s.PutCategory(s.Ctx, "ann", "x", true))
	storetest.Must(t, s.RenameCategory(s.Ctx, "ann", "x", "y"))
	for _, src := range []river.Source{a, b, c} {
		storetest.Same(t, "categories", s.one("ann", src.ID).Categories, []string{"y"})
	}
	list, err := s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "visibility of the merged category", []any{list, err}, []any{[]river.Category{{Name: "y", Sources: 3}}, error(nil)})
}

func dropCategory(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "x", "y")
	storetest.Must(t, s.DropCategory(s.Ctx, "ann", "x"))
	storetest.Same(t, "categories", s.one("ann", src.ID).Categories, []string{"y"})
	storetest.Must(t, s.DropCategory(s.Ctx, "ann", "y"))
	storetest.Same(t, "none", s.one("ann", src.ID).Categories, []string(nil))
	storetest.WantFault(t, s.DropCategory(s.Ctx, "ann", "y"), fault.NotFound)
}

func ownOnly(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "x")
	s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	for _, reader := range []string{"", "bob", "an", "annn"} {
		storetest.Same(t, reader, []any{s.titles(river.ItemQuery{Reader: reader}), s.titles(river.ItemQuery{Reader: reader, SourceID: src.ID}),
			s.titles(river.ItemQuery{Reader: reader, Category: "x"}), len(s.following(river.SubscriptionQuery{Reader: reader}))},
			[]any{[]string{}, []string{}, []string{}, 0})
	}
}

func ownTitle(t *testing.T, s *stream) {
	src := s.take(s.followFeed("ann", feedURL(1), "x").ID)
	s.followFeed("bob", feedURL(1))
	src.About = river.About{Title: "the feed's", Home: "http://home/", Icon: "http://icon/"}
	s.save(river.Saved{Source: src, Put: s.items(src.ID, 0, 1)})
	_, err := s.ChangeSubscription(s.Ctx, "ann", src.ID, func(f *river.Subscription) error { f.Title = "my own"; return nil })
	storetest.Must(t, err)
	want := river.EntrySource{ID: src.ID, Title: "my own", URL: src.URL, Home: "http://home/", Icon: "http://icon/", Categories: []string{"x"}}
	storetest.Same(t, "ann's", s.ask(river.ItemQuery{Reader: "ann"})[0].Source, want)
	want.Title, want.Categories = "the feed's", nil
	storetest.Same(t, "bob's", s.ask(river.ItemQuery{Reader: "bob"})[0].Source, want)
}

func followThousands(t *testing.T, s *stream) {
	var list []river.Addition
	for n := range 5_200 {
		list = append(list, s.addition("ann", feedURL(n), fmt.Sprint("c", n%7)))
	}
	isNew, err := s.RiverSubscribe(s.Ctx, list, s.Now, 5_200)
	storetest.Must(t, err)
	for _, one := range isNew {
		if !one {
			t.Fatal("not all subscriptions are new")
		}
	}
	set, err := s.RiverFollowing(s.Ctx, "ann")
	storetest.Same(t, "followed", []any{len(set), err}, []any{5_200, error(nil)})
	all := make([]int64, 0, len(list))
	for _, a := range list {
		all = append(all, a.Source.ID)
	}
	orphans, err := s.RiverUnsubscribe(s.Ctx, "ann", all)
	storetest.Same(t, "orphans", []any{len(orphans), err}, []any{5_200, error(nil)})
}

func additionTitle(t *testing.T, s *stream) {
	a := s.addition("ann", feedURL(1))
	a.Source.About.Title = "as the list says ☂"
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Must(t, err)
	f := s.one("ann", a.Source.ID)
	storetest.Same(t, "name", f.Name(), "as the list says ☂")
	src := s.take(a.Source.ID)
	src.About = river.About{Title: "as the feed says"}
	s.save(river.Saved{Source: src})
	f = s.one("ann", a.Source.ID)
	storetest.Same(t, "name", f.Name(), "as the feed says")
}

func additionState(t *testing.T, s *stream) {
	a := s.addition("ann", feedURL(1))
	a.Source.State.Reason, a.Source.State.CheckedAt, a.Source.NextAt = "moved here", s.Now, s.In(time.Hour)
	a.Source.Login = river.Login{Kind: river.LoginHeader, Name: "X-Key", Secret: "sealed"}
	a.Source.ID, a.SourceID = 1<<62, 1<<62
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Must(t, err)
	src := s.sourceNow(1 << 62)
	storetest.Same(t, "source", []any{src.State, src.NextAt, src.Login}, []any{a.Source.State, s.In(time.Hour), a.Source.Login})
	storetest.Same(t, "waiting", len(s.following(river.SubscriptionQuery{Reader: "ann", Waiting: true})), 0)
}

func followAgain(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 3)...)
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	a := s.addition("ann", feedURL(1))
	a.ReadTo = s.Now
	isNew, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
	storetest.Same(t, "new", []any{isNew, err}, []any{[]bool{true}, error(nil)})
	storetest.Same(t, "items", len(s.ask(river.ItemQuery{Reader: "ann"})), 3)
	storetest.Same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{})
}
