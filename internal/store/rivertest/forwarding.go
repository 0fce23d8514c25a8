package rivertest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func riverForwardingTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ForwardingIsReadAsWritten":                   riverTest(wholeForwarding),
		"ForwardingHasLimitAndOwner":                  riverTest(forwardingLimits),
		"NewItemsWaitForMatchingForwardings":          riverTest(forwardingQueued),
		"FirstCheckForwardsNothing":                   riverTest(forwardingFirst),
		"EditForwardsNothing":                         riverTest(forwardingEdit),
		"ForwardingIsClaimedOnce":                     riverTest(forwardingClaim),
		"SentItemsLeaveQueueAndRestIsDueAtNextAt":     riverTest(forwardingSent),
		"PausedForwardingIsNotDue":                    riverTest(forwardingPaused),
		"RemovedForwardingLeavesNoQueuedItems":        riverTest(forwardingDropped),
		"AtMostThousandItemsWaitForForwarding":        riverTest(forwardingBound),
		"NextListAndForwardingAreKnown":               riverTest(nextWork),
		"ReadingListIsReadAsWritten":                  riverTest(wholeList),
		"ReadingListIsClaimedOnceAndWrittenByOwner":   riverTest(listClaim),
		"DroppedReadingListKeepsSubscriptions":        riverTest(listDropped),
		"ReleasedListsAndForwardingsAreDue":           riverTest(releaseWork),
		"ForwardingUsesViewOfReader":                  riverTest(forwardingEntries),
		"ReadingListIsFollowedOncePerReader":          riverTest(listTwice),
		"ListWithoutNextAtIsNeverDue":                 riverTest(listNever),
		"ChangedForwardingKeepsCountersAndLosesClaim": riverTest(forwardingChanged),
		"UnfollowedFeedIsNotForwarded":                riverTest(forwardingUnfollowed),
		"ForwardingsAndFiltersMoveToReplacingSource":  riverTest(forwardingReplaced),
		"AllForwardingsOfReaderAreDelivered":          riverTest(forwardingMany),
		"CategoryForwardingCoversItsSourcesOnly":      riverTest(forwardingCategory),
		"NothingIsQueuedBeforeConsent":                riverTest(forwardingWaiting),
		"RecipientDecidesOnAllForwardingsOfReader":    riverTest(forwardingDecided),
		"RefusedRecipientIsNotAskedAgain":             riverTest(forwardingRefused),
		"MessageCountsAreAtomic":                      riverTest(messagesCounted),
		"ReaderCanClaimUnclaimedForwarding":           riverTest(forwardingClaimedAlone),
		"DigestIsDueAtItsHour":                        riverTest(digestDue),
		"DigestHasNewestItemsAndCountsTheOthers":      riverTest(digestQueue),
		"RecipientChoosesDigestOfTheirMailbox":        riverTest(digestChosen),
		"DigestChosenDuringClaimDecidesNextMail":      riverTest(digestChosenDuringClaim),
	}
}

func (s *stream) newForwarding(n forward.Forwarding) forward.Forwarding {
	s.t.Helper()
	if n.Via == "" {
		n.Via, n.Target = forward.ViaWebhook, "http://hook/"
	}
	if n.State == "" {
		n.State = forward.ForwardingConfirmed
	}
	got, err := s.PutForwarding(s.Ctx, n, 10)
	s.must(err)
	return got
}

// news saves a second check of a source, with one new item.
func (s *stream) news(id int64, n int) river.Item {
	s.t.Helper()
	it := s.newItem(id, n, s.Now)
	s.readFeed(id, it)
	return it
}

// due claims the due forwardings and returns the titles of their waiting items.
func (s *stream) due() map[int64][]string {
	s.t.Helper()
	s.claim++
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 100, s.claim)
	s.must(err)
	all := map[int64][]string{}
	for _, n := range list {
		entries, err := s.ForwardingItems(s.Ctx, n.ID, 100)
		s.must(err)
		for _, e := range entries {
			all[n.ID] = append(all[n.ID], e.Title)
		}
	}
	return all
}

func wholeForwarding(t *testing.T, s *stream) {
	n := forward.Forwarding{Reader: "ann", SourceID: 5, Category: "☂", Via: forward.ViaEmail, Target: "a@b", Secret: "\xff\x00", CreatedAt: s.Now, Failures: 3, Problem: "p",
		State: forward.ForwardingConfirmed, Asked: 2, AskedAt: s.In(-time.Hour), DecidedAt: s.In(-time.Minute), Digest: forward.DigestWeekly}
	got := s.newForwarding(n)
	if got.ID == 0 {
		t.Fatal("the forwarding has no ID")
	}
	n.ID = got.ID
	storetest.Same(t, "made", got, n)
	list, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "listed", []any{list, err}, []any{[]forward.Forwarding{n}, error(nil)})
	list, err = s.Forwardings(s.Ctx, "bob")
	storetest.Same(t, "another's", []any{len(list), err}, []any{0, error(nil)})
}

func forwardingLimits(t *testing.T, s *stream) {
	a := s.newForwarding(forward.Forwarding{Reader: "ann"})
	_, err := s.PutForwarding(s.Ctx, forward.Forwarding{Reader: "ann", Via: forward.ViaPost}, 1)
	storetest.WantFault(t, err, fault.TooMany)
	_, err = s.PutForwarding(s.Ctx, forward.Forwarding{Reader: "bob", Via: forward.ViaPost}, 1)
	storetest.Must(t, err)
	_, err = s.PutForwarding(s.Ctx, forward.Forwarding{Reader: "bob", ID: a.ID, Via: forward.ViaPost}, 5)
	storetest.WantFault(t, err, fault.NotFound)
	_, err = s.PutForwarding(s.Ctx, forward.Forwarding{Reader: "ann", ID: a.ID, Via: forward.ViaPost}, 1)
	storetest.Must(t, err)
	storetest.WantFault(t, s.DropForwarding(s.Ctx, "bob", a.ID), fault.NotFound)
}

func forwardingQueued(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1), "c"), s.followFeed("ann", feedURL(2))
	s.followFeed("bob", feedURL(2))
	for _, src := range []river.Source{src, other} {
		s.readFeed(src.ID, s.items(src.ID, 50, 52)...)
	}
	any, one, cat := s.newForwarding(forward.Forwarding{Reader: "ann"}), s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: src.ID}), s.newForwarding(forward.Forwarding{Reader: "ann", Category: "c"})
	bob := s.newForwarding(forward.Forwarding{Reader: "bob"})
	s.newForwarding(forward.Forwarding{Reader: "nobody"})
	storetest.Same(t, "due before any item", s.due(), map[int64][]string{})
	s.news(src.ID, 1)
	s.pass(time.Second)
	s.news(other.ID, 2)
	storetest.Same(t, "sent", s.due(), map[int64][]string{any.ID: {"Title 1", "Title 2"}, one.ID: {"Title 1"}, cat.ID: {"Title 1"}, bob.ID: {"Title 2"}})
	storetest.Same(t, "claimed", s.due(), map[int64][]string{})
}

func forwardingCategory(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c", "d")
	s.followFeed("bob", feedURL(1), "c")
	s.readFeed(src.ID, s.items(src.ID, 50, 51)...)
	s.newForwarding(forward.Forwarding{Reader: "bob", Category: "d"})
	a := s.newForwarding(forward.Forwarding{Reader: "ann", Category: "d", SourceID: src.ID})
	s.newForwarding(forward.Forwarding{Reader: "ann", Category: "d", SourceID: 9})
	s.news(src.ID, 1)
	storetest.Same(t, "sent", s.due(), map[int64][]string{a.ID: {"Title 1"}})
}

func forwardingFirst(t *testing.T, s *stream) {
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	src := s.followFeed("ann", feedURL(1))
	got := s.take(src.ID) // the first check fails
	got.State.Failures = 1
	got.NextAt = s.Now
	ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: got, Check: river.Check{At: s.Now}, Now: s.Now})
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	s.readFeed(src.ID, s.items(src.ID, 0, 3)...)
	storetest.Same(t, "due after the first check", s.due(), map[int64][]string{})
	empty := s.followFeed("ann", feedURL(2))
	s.readFeed(empty.ID) // an empty document counts as a first check
	s.news(empty.ID, 7)
	storetest.Same(t, "due after the second check", s.due(), map[int64][]string{n.ID: {"Title 7"}})
}

func forwardingEdit(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 2)
	s.readFeed(src.ID, put...)
	s.newForwarding(forward.Forwarding{Reader: "ann"})
	it := s.newItem(src.ID, 0, s.Now)
	it.Title, it.EditedAt = "edited", s.Now
	got := s.take(src.ID)
	s.save(river.Saved{Source: got, Put: []river.Item{it}, Withdrawn: []river.Item{{ID: put[1].ID, Seq: 9, WithdrawnAt: s.Now}}})
	storetest.Same(t, "sent", s.due(), map[int64][]string{})
}

func forwardingClaim(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.news(src.ID, 1)
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 500)
	storetest.Must(t, err)
	storetest.Same(t, "claimed", []any{len(list), list[0].ID, list[0].Claim, list[0].NextAt}, []any{1, n.ID, int64(500), s.In(time.Minute)})
	s.pass(time.Second)
	s.news(src.ID, 2) // during the claim
	storetest.Same(t, "held", s.due(), map[int64][]string{})
	s.pass(time.Hour)
	storetest.Same(t, "due after the lease", s.due(), map[int64][]string{n.ID: {"Title 1", "Title 2"}})
	ok, err := s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "write with an expired claim", []any{ok, err}, []any{false, error(nil)})
	list[0].Claim = 0
	ok, err = s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "write without a claim", []any{ok, err}, []any{false, error(nil)})
}

func forwardingSent(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	s.newForwarding(forward.Forwarding{Reader: "ann", Secret: "s"})
	var all []river.Item
	for n := range 3 {
		all = append(all, s.news(src.ID, n))
		s.pass(time.Second)
	}
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	n := list[0]
	n.Sent, n.LastAt, n.Failures, n.Problem, n.NextAt = 2, s.Now, 1, "slow ☂", s.In(10*time.Minute)
	ok, err := s.SaveForwarding(s.Ctx, n, ids(all)[:2])
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	n.Claim = 0
	got, err := s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "stored", []any{got, err}, []any{[]forward.Forwarding{n}, error(nil)})
	storetest.Same(t, "before the due time", s.due(), map[int64][]string{})
	s.pass(10 * time.Minute)
	storetest.Same(t, "remaining items", s.due(), map[int64][]string{n.ID: {"Title 2"}})
	n.Claim = s.claim
	ok, err = s.SaveForwarding(s.Ctx, n, append(ids(all), 12345))
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	got, err = s.Forwardings(s.Ctx, "ann")
	storetest.Same(t, "nothing waits", []any{got[0].NextAt, err}, []any{time.Time{}, error(nil)})
}

func forwardingPaused(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.news(src.ID, 1)
	n.Paused = true
	n = s.newForwarding(n)
	storetest.Same(t, "paused", []any{n.Paused, n.NextAt}, []any{true, time.Time{}})
	s.news(src.ID, 2)
	storetest.Same(t, "due", s.due(), map[int64][]string{})
	n.Paused = false
	s.newForwarding(n)
	storetest.Same(t, "due after the pause", s.due(), map[int64][]string{n.ID: {"Title 1"}})
}

func forwardingChanged(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann", CreatedAt: s.Now})
	s.news(src.ID, 1)
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	list[0].Sent, list[0].LastAt = 7, s.Now
	ok, err := s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	list, err = s.ClaimForwardings(s.Ctx, s.In(time.Hour), s.In(2*time.Hour), 10, 6)
	storetest.Same(t, "claimed", []any{len(list), err}, []any{1, error(nil)})
	n.Target, n.CreatedAt, n.Sent = "http://other/", time.Time{}, 0
	got := s.newForwarding(n)
	storetest.Same(t, "changed", []any{got.Target, got.CreatedAt, got.Sent, got.LastAt, got.Claim}, []any{"http://other/", s.Now, int64(7), s.Now, int64(0)})
	ok, err = s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "write with a lost claim", []any{ok, err}, []any{false, error(nil)})
	storetest.Same(t, "due at once", s.due(), map[int64][]string{n.ID: {"Title 1"}})
}

func forwardingUnfollowed(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.followFeed("bob", feedURL(1))
	s.readFeed(src.ID)
	s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: src.ID})
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	s.news(src.ID, 1)
	storetest.Same(t, "sent", s.due(), map[int64][]string{})
}

func forwardingReplaced(t *testing.T, s *stream) {
	old, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	s.followFeed("bob", old.URL)
	sources := func() (got []int64) {
		t.Helper()
		for _, reader := range []string{"ann", "bob"} {
			forwardings, err := s.Forwardings(s.Ctx, reader)
			storetest.Must(t, err)
			for _, n := range forwardings {
				got = append(got, n.SourceID)
			}
			filters, err := s.Filters(s.Ctx, reader)
			storetest.Must(t, err)
			for _, r := range filters {
				got = append(got, r.SourceID)
			}
		}
		return got
	}
	for _, id := range []int64{old.ID, other.ID, 0} {
		s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: id})
		s.putFilter(filter.Rule{Reader: "ann", SourceID: id})
	}
	s.newForwarding(forward.Forwarding{Reader: "bob", SourceID: old.ID})
	s.putFilter(filter.Rule{Reader: "bob", SourceID: old.ID})
	a := s.addition("ann", old.URL)
	a.Source.ID, a.SourceID, a.Replaces = 77, 77, old.ID
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 0)
	storetest.Must(t, err)
	storetest.Same(t, "sources", sources(), []int64{77, other.ID, 0, 77, other.ID, 0, old.ID, old.ID})

	a = s.addition("ann", old.URL) // the reader still follows the source
	a.Replaces = 77
	_, err = s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 0)
	storetest.Must(t, err)
	storetest.Same(t, "sources again", sources(), []int64{old.ID, other.ID, 0, old.ID, other.ID, 0, old.ID, old.ID})
}

func forwardingMany(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	want := map[int64][]string{}
	for range 10 {
		want[s.newForwarding(forward.Forwarding{Reader: "ann"}).ID] = []string{"Title 2", "Title 1"}
	}
	s.readFeed(src.ID, s.items(src.ID, 1, 3)...)
	storetest.Same(t, "sent", s.due(), want)
}

func forwardingDropped(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.news(src.ID, 1)
	storetest.Must(t, s.DropForwarding(s.Ctx, "ann", n.ID))
	storetest.WantFault(t, s.DropForwarding(s.Ctx, "ann", n.ID), fault.NotFound)
	storetest.Same(t, "due", s.due(), map[int64][]string{})
	list, err := s.ForwardingItems(s.Ctx, n.ID, 10)
	storetest.Same(t, "items", []any{len(list), err}, []any{0, error(nil)})
}

func forwardingBound(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.readFeed(src.ID, s.items(src.ID, 0, 1100)...)
	list, err := s.ClaimForwardings(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	ok, err := s.SaveForwarding(s.Ctx, list[0], nil)
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	entries, err := s.ForwardingItems(s.Ctx, n.ID, 2000)
	storetest.Same(t, "the newest stay", []any{len(entries), entries[0].Title, err}, []any{1000, "Title 999", error(nil)})
}

func forwardingEntries(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c")
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	it := s.news(src.ID, 1)
	list, err := s.ForwardingItems(s.Ctx, n.ID, 10)
	storetest.Must(t, err)
	storetest.Same(t, "entries", list, []river.Entry{{Item: it, Source: river.EntrySource{ID: src.ID, Title: src.URL, URL: src.URL, Categories: []string{"c"}}}})
}

func nextWork(t *testing.T, s *stream) {
	next := func(list, forwarding time.Time) {
		t.Helper()
		at, err := s.NextReadingList(s.Ctx)
		storetest.Must(t, err)
		then, err := s.NextForwarding(s.Ctx)
		storetest.Must(t, err)
		storetest.Same(t, "next list and forwarding", []time.Time{at, then}, []time.Time{list, forwarding})
	}
	next(time.Time{}, time.Time{})
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/", NextAt: s.In(time.Hour)}))
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	s.newForwarding(forward.Forwarding{Reader: "ann"})
	next(s.In(time.Hour), time.Time{})
	s.news(src.ID, 1)
	next(s.In(time.Hour), s.Now)
}

func (s *stream) lists(reader string) []river.ReadingList {
	s.t.Helper()
	list, err := s.ReadingLists(s.Ctx, reader)
	s.must(err)
	return list
}

func wholeList(t *testing.T, s *stream) {
	l := river.ReadingList{ID: 7, Reader: "ann", URL: "http://l/☂", Title: "t", Category: "c", State: polling.New("http://l/☂", s.Now), Feeds: 3, ReadAt: s.Now,
		NextAt: s.In(time.Hour), Problem: "p", Memory: river.ListMemory{Parent: 5, Last: []int64{1, 2}, DoubtAt: s.Now}}
	storetest.Must(t, s.AddReadingList(s.Ctx, l))
	storetest.Same(t, "listed", s.lists("ann"), []river.ReadingList{l})
	storetest.Same(t, "another's", len(s.lists("bob")), 0)
}

func listTwice(t *testing.T, s *stream) {
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/"}))
	storetest.WantFault(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/", Title: "again"}), fault.Conflict)
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "bob", URL: "http://l/"}))
	list, err := s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Same(t, "due at once", []any{len(list), err}, []any{2, error(nil)})
}

func listClaim(t *testing.T, s *stream) {
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/"}))
	list, err := s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	l := list[0]
	storetest.Same(t, "claimed", []any{len(list), l.Claim, l.NextAt}, []any{1, int64(5), s.In(time.Minute)})
	list, err = s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 6)
	storetest.Same(t, "held", []any{len(list), err}, []any{0, error(nil)})
	late := l
	l.Title, l.Feeds, l.ReadAt, l.NextAt, l.State, l.Memory.Last = "read", 9, s.Now, s.In(time.Hour), polling.New("http://l/", s.Now), []int64{4}
	ok, err := s.SaveReadingList(s.Ctx, l)
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	l.Claim = 0
	storetest.Same(t, "stored", s.lists("ann"), []river.ReadingList{l})
	ok, err = s.SaveReadingList(s.Ctx, late)
	storetest.Same(t, "write with an expired claim", []any{ok, err, s.lists("ann")}, []any{false, error(nil), []river.ReadingList{l}})
}

func listNever(t *testing.T, s *stream) {
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/"}))
	list, err := s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	list[0].NextAt = time.Time{}
	ok, err := s.SaveReadingList(s.Ctx, list[0])
	storetest.Same(t, "saved", []any{ok, err}, []any{true, error(nil)})
	next, err := s.NextReadingList(s.Ctx)
	storetest.Same(t, "never", []any{next, err}, []any{time.Time{}, error(nil)})
}

func listDropped(t *testing.T, s *stream) {
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{ID: 7, Reader: "ann", URL: "http://l/"}))
	for n, id := range []int64{7, 8} {
		a := s.addition("ann", feedURL(n))
		a.ListID = id
		_, err := s.RiverSubscribe(s.Ctx, []river.Addition{a}, s.Now, 10)
		storetest.Must(t, err)
	}
	storetest.WantFault(t, s.DropReadingList(s.Ctx, "bob", 7), fault.NotFound)
	storetest.Must(t, s.DropReadingList(s.Ctx, "ann", 7))
	storetest.WantFault(t, s.DropReadingList(s.Ctx, "ann", 7), fault.NotFound)
	for n, want := range []int64{0, 8} {
		storetest.Same(t, fmt.Sprint(n), s.one("ann", river.SourceID(feedURL(n))).ListID, want)
	}
}

func releaseWork(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID)
	n := s.newForwarding(forward.Forwarding{Reader: "ann"})
	s.news(src.ID, 1)
	storetest.Must(t, s.AddReadingList(s.Ctx, river.ReadingList{Reader: "ann", URL: "http://l/"}))
	storetest.Same(t, "sent", s.due(), map[int64][]string{n.ID: {"Title 1"}})
	_, err := s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Must(t, err)
	s.pass(time.Second)
	storetest.Must(t, s.ReleaseClaims(s.Ctx, s.Now))
	storetest.Same(t, "due", s.due(), map[int64][]string{n.ID: {"Title 1"}})
	list, err := s.ClaimReadingLists(s.Ctx, s.Now, s.In(time.Minute), 10, 5)
	storetest.Same(t, "list", []any{len(list), err}, []any{1, error(nil)})
}
