package rivertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func riverItemTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"ItemIsReadAsWritten":                          riverTest(wholeItem),
		"PublicQueryOmitsFeedsWithLogin":               riverTest(publicItems),
		"NewestItemsComeFirst":                         riverTest(newestFirst),
		"EditedItemKeepsPlaceAndFirstNumber":           riverTest(editedItem),
		"WithdrawnItemKeepsContent":                    riverTest(withdrawnItem),
		"KnownItemsBelongToSource":                     riverTest(knownItems),
		"CheckWithoutNewItemsKeepsItems":               riverTest(nothingNew),
		"LastOfDuplicateItemsIsStored":                 riverTest(twiceInOne),
		"ItemWithoutTimeGetsTimeOfCheck":               riverTest(timeless),
		"ExtremeTimesKeepOrder":                        riverTest(oddTimes),
		"BareEntriesHaveTitleAndLinkOnly":              riverTest(bareEntries),
		"ChangedItemsAreListedInOrder":                 riverTest(changedItems),
		"TooManyKeysAreRejected":                       riverTest(tooManyKeys),
		"ItemsOfUnfollowedSourceAreFoundOnlyIfStarred": riverTest(starredOnly),
		"MarksArePerReader":                            riverTest(marksByReader),
		"StarKeepsTimeUntilRemoved":                    riverTest(starTime),
		"UnrelatedItemsCannotBeMarked":                 riverTest(marksOfOthers),
		"MarkAllReadAffectsExistingItems":              riverTest(markAllRead),
		"MarkAllReadOfSourceOrCategoryKeepsRest":       riverTest(markSomeRead),
		"MarkAllReadKeepsUnseenItems":                  riverTest(markSeenRead),
		"MarkAllReadUpToAnItemMarksItsCheck":           riverTest(markToItem),
		"UndoAllReadKeepsLaterMarks":                   riverTest(undoAllRead),
		"SingleItemCanBeMarkedUnreadAfterAllRead":      riverTest(unreadAgain),
		"NewestSeqIsReturned":                          riverTest(newestSeq),
		"SourceCountsItemsAndNewest":                   riverTest(itemsCounted),
		"SourcesCanShareGUIDs":                         riverTest(sameGUID),
	}
}

func wholeItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c")
	it := s.newItem(src.ID, 1, s.In(-time.Hour))
	it.GUID = "urn:☂:\xff\x00"
	it.Content = river.Content{Title: "☂ <b>'\"", Link: "http://l/?a=b&c", HTML: "<p>☂</p>", Text: "☂", Language: "de", Published: s.In(-2 * time.Hour), Updated: s.Now,
		Authors: []string{"A", "B"}, Categories: []string{"x"}, Enclosures: []river.Enclosure{{URL: "http://e/", Type: "audio/mpeg", Length: 5, Duration: 1.5, Title: "t"}},
		Image: "http://i/", Comments: "http://c/", InReplyTo: "http://r/", Via: "v", Nested: []river.Content{{Title: "n", Nested: []river.Content{{Text: "nn"}}}}, More: true}
	it.EditedAt, it.WithdrawnAt, it.Hash = s.In(time.Second), s.In(2*time.Second), -1<<63
	s.readFeed(src.ID, it)
	want := river.Entry{Item: it, Source: river.EntrySource{ID: src.ID, Title: src.URL, URL: src.URL, Categories: []string{"c"}}}
	storetest.Same(t, "entry", s.ask(river.ItemQuery{Reader: "ann"}), []river.Entry{want})
	storetest.Same(t, "place", it.Place(), river.Place{At: s.In(-time.Hour).UnixMilli(), ID: it.ID})
}

func publicItems(t *testing.T, s *stream) {
	open := s.followFeed("ann", feedURL(1))
	private := s.addition("ann", feedURL(1))
	private.Source.ID, private.SourceID, private.Source.Login = 77, 77, river.Login{Kind: river.LoginBasic, Name: "ann", Secret: "x"}
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{private}, s.Now, 10)
	storetest.Must(t, err)
	s.save(river.Saved{Source: s.take(open.ID), Put: s.items(open.ID, 0, 2)})
	s.save(river.Saved{Source: s.take(77), Put: s.items(77, 0, 5)}) // all newer than those of the other feed
	_, err = s.IndexItems(s.Ctx, 100)
	storetest.Must(t, err)
	key := "sanmgs4wpliu." + strings.Repeat("K_-9", 8)
	for url, private := range map[string]bool{
		"http://f.test/alice/private/" + key + "/rss.xml": true, "http://f.test/alice/private/family/" + key + "/feed.atom": true,
		"http://f.test/private/topic/sanmgs4wpliu-x/rss.xml": true, "http://f.test/" + key + "/private/x.xml": true, "http://f.test/" + key + "/x.xml": false,
		"http://f.test/private/equity.and.a.long.name/of.a.feed/rss.xml": false, "http://f.test/PRIVATE/topic/x/rss.xml": false,
		"http://h/private/customer-feeds.example/2026/archive/of/the/blog/feed.xml": false,
	} {
		feed := s.followFeed("bob", url)
		s.readFeed(feed.ID, s.items(feed.ID, 0, 1)...)
		entries := s.ask(river.ItemQuery{Reader: "bob", SourceID: feed.ID})
		public := len(s.ask(river.ItemQuery{Reader: "bob", Public: true, SourceID: feed.ID})) == 1
		storetest.Same(t, "private: "+url, []any{len(entries), entries[0].Source.Private, feed.Hidden(), public}, []any{1, private, private, !private})
	}
	for public, want := range map[bool]int{false: 3, true: 2} {
		list, err := s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Public: public, Limit: 3})
		storetest.Same(t, fmt.Sprint("public: ", public), []any{len(list), err}, []any{want, error(nil)})
		list, err = s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Public: public, Match: "title", Limit: 10})
		storetest.Same(t, fmt.Sprint("search, public: ", public), []any{len(list), err}, []any{map[bool]int{false: 7, true: 2}[public], error(nil)})
		list, err = s.Items(s.Ctx, river.ItemQuery{Reader: "ann", Public: public, IDs: []int64{river.ItemID(77, "guid-1")}})
		storetest.Same(t, fmt.Sprint("one item, public: ", public), []any{len(list), err}, []any{map[bool]int{false: 1, true: 0}[public], error(nil)})
	}
}

func newestFirst(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 5)...)
	storetest.Same(t, "newest", s.titles(river.ItemQuery{Reader: "ann", Limit: 2}), []string{"Title 0", "Title 1"})
	storetest.Same(t, "oldest", s.titles(river.ItemQuery{Reader: "ann", Limit: 2, Oldest: true}), []string{"Title 4", "Title 3"})
	list := s.ask(river.ItemQuery{Reader: "ann"})
	storetest.Same(t, "before", s.titles(river.ItemQuery{Reader: "ann", Before: list[2].Place()}), []string{"Title 3", "Title 4"})
	storetest.Same(t, "newer", s.titles(river.ItemQuery{Reader: "ann", Before: list[2].Place(), Oldest: true}), []string{"Title 1", "Title 0"})
	storetest.Same(t, "from to", s.titles(river.ItemQuery{Reader: "ann", From: list[3].At, To: list[1].At}), []string{"Title 2", "Title 3"})
}

func editedItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	yes := true
	s.markItems("ann", ids(put)[1:2], &yes, &yes)
	was := s.ask(river.ItemQuery{Reader: "ann"})[1]
	s.pass(time.Hour)
	now := s.newItem(src.ID, 1, s.Now) // the time changes, but the place must not
	now.Title, now.HTML, now.EditedAt, now.Hash = "edited", "<p>edited</p>", s.Now, 99
	s.readFeed(src.ID, now)
	got := s.ask(river.ItemQuery{Reader: "ann"})[1]
	was.Item.Seq, was.EditedAt, was.Hash, was.Title, was.HTML = now.Seq, s.Now, 99, "edited", "<p>edited</p>"
	storetest.Same(t, "edited", got, was)
	storetest.Same(t, "counted once", s.sourceNow(src.ID).Items, int64(3))
	storetest.Same(t, "changed", s.titles(river.ItemQuery{Reader: "ann", ChangedIn: 3}), []string{"edited"})
	storetest.Same(t, "by seq", s.titles(river.ItemQuery{Reader: "ann", BySeq: true, Limit: 2}), []string{"edited", "Title 2"})
	storetest.Same(t, "by first", s.titles(river.ItemQuery{Reader: "ann", ByFirst: true, Limit: 2}), []string{"Title 2", "edited"})
}

func withdrawnItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 2)
	s.readFeed(src.ID, put...)
	got := s.take(src.ID)
	s.save(river.Saved{Source: got, Withdrawn: []river.Item{{ID: put[0].ID, Seq: 50, WithdrawnAt: s.Now}, {ID: 7, Seq: 51, WithdrawnAt: s.Now}}})
	want := put[0]
	want.Seq, want.WithdrawnAt = 50, s.Now
	list := s.ask(river.ItemQuery{Reader: "ann"})
	storetest.Same(t, "withdrawn", list[0].Item, want)
	storetest.Same(t, "the other", list[1].Item, put[1])
	storetest.Same(t, "number", len(list), 2)
}

func knownItems(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	put, others := s.items(src.ID, 0, 2), s.items(other.ID, 0, 1)
	s.readFeed(src.ID, put...)
	s.readFeed(other.ID, others...)
	got, err := s.KnownItems(s.Ctx, src.ID, append(append(ids(put), ids(others)...), 1, put[0].ID))
	storetest.Must(t, err)
	storetest.Same(t, "known", len(got), 2)
	for _, it := range put {
		k := got[it.ID]
		storetest.Same(t, "item", []any{k.Hash, k.At, k.ReadAt, k.EditedAt, k.WithdrawnAt, k.Title}, []any{it.Hash, it.At, it.ReadAt, it.EditedAt, it.WithdrawnAt, it.Title})
	}
	got, err = s.KnownItems(s.Ctx, src.ID, nil)
	storetest.Same(t, "none", []any{len(got), err}, []any{0, error(nil)})
}

func nothingNew(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	before := s.ask(river.ItemQuery{Reader: "ann"})
	got := s.take(src.ID)
	s.save(river.Saved{Source: got})
	storetest.Same(t, "items", s.ask(river.ItemQuery{Reader: "ann"}), before)
	storetest.Same(t, "source", s.sourceNow(src.ID).Items, int64(2))
}

func twiceInOne(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	a, b := s.newItem(src.ID, 1, s.Now), s.newItem(src.ID, 1, s.Now)
	b.Title = "the last"
	s.readFeed(src.ID, a, b)
	storetest.Same(t, "items", s.titles(river.ItemQuery{Reader: "ann"}), []string{"the last"})
	storetest.Same(t, "counted", s.sourceNow(src.ID).Items, int64(1))
}

func timeless(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.newItem(src.ID, 1, time.Time{}))
	storetest.Same(t, "at", s.ask(river.ItemQuery{Reader: "ann"})[0].At, s.Now)
}

func oddTimes(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	var put []river.Item
	for n, year := range []int{9999, 2300, 2040, 1970, 1969, 1800, 2} {
		put = append(put, s.newItem(src.ID, n, time.Date(year, 1, 1, 0, 0, 0, n, time.UTC)))
	}
	s.readFeed(src.ID, put...)
	list := s.ask(river.ItemQuery{Reader: "ann"})
	storetest.Same(t, "number", len(list), 7)
	for i := 1; i < len(list); i++ {
		if list[i].At.After(list[i-1].At) {
			t.Errorf("%v follows %v", list[i].At, list[i-1].At)
		}
	}
	storetest.Same(t, "1970", list[3].At, time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))
	var all []string
	q := river.ItemQuery{Reader: "ann", Limit: 1}
	for page := s.ask(q); len(page) > 0; page = s.ask(q) {
		all = append(all, page[0].Title)
		q.Before = page[0].Place()
	}
	storetest.Same(t, "by page", len(all), 7)
}

func bareEntries(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	it := s.newItem(src.ID, 1, s.Now)
	s.readFeed(src.ID, it)
	it.Content = river.Content{Title: it.Title, Link: it.Link}
	storetest.Same(t, "bare", s.ask(river.ItemQuery{Reader: "ann", Bare: true})[0].Item, it)
}

func changedItems(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 5)...)
	edited := s.newItem(src.ID, 2, s.Now)
	s.readFeed(src.ID, edited)
	list, err := s.Changed(s.Ctx, 3, 2)
	storetest.Must(t, err)
	var got [][]int64
	for _, it := range list {
		got = append(got, []int64{it.Seq, it.First, it.SourceID})
	}
	storetest.Same(t, "changed", got, [][]int64{{4, 4, src.ID}, {5, 5, src.ID}})
	list, err = s.Changed(s.Ctx, 5, 100)
	storetest.Same(t, "edited item", []any{len(list), list[0].ID, list[0].Seq, list[0].First, err}, []any{1, edited.ID, int64(6), int64(3), error(nil)})
}

func tooManyKeys(t *testing.T, s *stream) {
	many := make([]int64, 1001)
	for _, q := range []river.ItemQuery{{IDs: many}, {Firsts: many}, {Sources: many}, {Categories: slices.Repeat([]string{"c"}, 1001)}} {
		_, err := s.Items(s.Ctx, q)
		storetest.WantFault(t, err, fault.Invalid)
	}
}

func starredOnly(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	s.followFeed("bob", feedURL(1))
	yes := true
	s.markItems("ann", ids(put)[:1], nil, &yes)
	_, err := s.RiverUnsubscribe(s.Ctx, "ann", []int64{src.ID})
	storetest.Must(t, err)
	for name, one := range map[string]struct {
		q river.ItemQuery
		n int
	}{
		"all": {river.ItemQuery{}, 0}, "source": {river.ItemQuery{SourceID: src.ID}, 0}, "starred": {river.ItemQuery{Starred: true}, 1},
		"ids": {river.ItemQuery{IDs: ids(put)}, 1}, "firsts": {river.ItemQuery{Firsts: []int64{1, 2, 3}}, 1},
		"starred of it": {river.ItemQuery{Starred: true, SourceID: src.ID}, 1}, "starred unread": {river.ItemQuery{Starred: true, Unread: true}, 1},
	} {
		one.q.Reader = "ann"
		storetest.Same(t, name, len(s.ask(one.q)), one.n)
	}
	e := s.ask(river.ItemQuery{Reader: "ann", Starred: true})[0]
	storetest.Same(t, "current value", []any{e.Read, e.Starred, e.Source.Title, e.Source.Categories}, []any{false, true, src.URL, []string(nil)})
	no := false
	s.markItems("ann", ids(put)[:1], nil, &no)
	storetest.Same(t, "after removing the star", len(s.ask(river.ItemQuery{Reader: "ann", IDs: ids(put)})), 0)
}

func marksByReader(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.followFeed("bob", feedURL(1))
	put := s.items(src.ID, 0, 2)
	s.readFeed(src.ID, put...)
	yes, no := true, false
	s.markItems("ann", ids(put), &yes, nil)
	s.markItems("ann", ids(put)[:1], nil, &yes)
	s.markItems("ann", ids(put)[1:], &no, nil)
	s.markItems("ann", append(ids(put), 1, 2, 3), nil, nil)
	s.markItems("ann", nil, &yes, &yes)
	list := s.ask(river.ItemQuery{Reader: "ann"})
	storetest.Same(t, "ann's", []river.Mark{list[0].Mark, list[1].Mark}, []river.Mark{{Read: true, Starred: true, StarredAt: s.Now}, {}})
	list = s.ask(river.ItemQuery{Reader: "bob"})
	storetest.Same(t, "bob's", []river.Mark{list[0].Mark, list[1].Mark}, []river.Mark{{}, {}})
}

func starTime(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 1)
	s.readFeed(src.ID, put...)
	yes, no := true, false
	star := func() time.Time { return s.ask(river.ItemQuery{Reader: "ann"})[0].StarredAt }
	for _, step := range []struct {
		set  *bool
		want time.Time
	}{{&yes, s.In(time.Minute)}, {&yes, s.In(time.Minute)}, {nil, s.In(time.Minute)}, {&no, time.Time{}}, {&yes, s.In(5 * time.Minute)}} {
		s.pass(time.Minute)
		s.markItems("ann", ids(put), &yes, step.set)
		storetest.Same(t, "starred at", star(), step.want)
	}
}

func marksOfOthers(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 1)
	s.readFeed(src.ID, put...)
	yes := true
	storetest.Same(t, "marked for a reader who does not follow the feed", s.markItems("bob", ids(put), &yes, &yes), 0)
	storetest.Same(t, "marked unknown items", s.markItems("ann", []int64{1, 2, 3}, nil, &yes), 0)
	storetest.Same(t, "marked known items among unknown ones", s.markItems("ann", append(ids(put), 1, 2, put[0].ID), nil, &yes), 1)
	storetest.Same(t, "starred", s.titles(river.ItemQuery{Reader: "bob", Starred: true}), []string{})
	storetest.Same(t, "by id", s.titles(river.ItemQuery{Reader: "bob", IDs: ids(put)}), []string{})
}

func markAllRead(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 4)
	s.readFeed(src.ID, put...)
	no, yes := false, true
	s.markItems("ann", ids(put), &no, nil)
	s.markItems("ann", ids(put)[3:], &yes, &yes)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", put[1].At, s.Now))
	storetest.Same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0"})
	storetest.Same(t, "read", s.titles(river.ItemQuery{Reader: "ann", Read: true}), []string{"Title 1", "Title 2", "Title 3"})
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", put[2].At, s.Now))
	storetest.Same(t, "an earlier time changes nothing", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0"})
	storetest.Same(t, "to", s.one("ann", src.ID).ReadTo, put[1].At)
	storetest.Same(t, "stars stay", s.titles(river.ItemQuery{Reader: "ann", Starred: true}), []string{"Title 3"})
	s.pass(time.Minute)
	s.readFeed(src.ID, s.newItem(src.ID, 9, s.Now))
	storetest.Same(t, "new ones are unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 9", "Title 0"})
}

func markSomeRead(t *testing.T, s *stream) {
	for n := range 3 {
		src := s.followFeed("ann", feedURL(n), []string{"c", "c", "d"}[n])
		s.followFeed("bob", feedURL(n))
		s.readFeed(src.ID, s.newItem(src.ID, n, s.In(-time.Duration(n)*time.Minute)))
	}
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", river.SourceID(feedURL(1)), "", s.Now, s.Now))
	storetest.Same(t, "source", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0", "Title 2"})
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "c", s.Now, s.Now))
	storetest.Same(t, "category", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2"})
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "none", s.Now, s.Now))
	storetest.Same(t, "none", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2"})
	storetest.Same(t, "bob's", len(s.ask(river.ItemQuery{Reader: "bob", Unread: true})), 3)
}

// arriveNow sets the sequence numbers of items to the time at which they are stored.
func (s *stream) arriveNow(put []river.Item) []river.Item {
	for i := range put {
		put[i].Seq = s.Now.UnixMicro() + int64(i)
		put[i].First = put[i].Seq
	}
	return put
}

func markSeenRead(t *testing.T, s *stream) {
	seen, empty, busy := s.followFeed("ann", feedURL(1), "c"), s.followFeed("ann", feedURL(2), "c"), s.followFeed("ann", feedURL(3), "c")
	known := s.followFeed("bob", feedURL(4))
	for _, src := range []river.Source{seen, busy, known} {
		s.readFeed(src.ID, s.arriveNow(s.items(src.ID, 0, 2))...)
	}
	unread := func(what string, want ...int64) {
		t.Helper()
		counts, err := s.CountUnread(s.Ctx, "ann")
		storetest.Must(t, err)
		for n := range want {
			id := river.SourceID(feedURL(n + 1))
			items := int64(len(s.ask(river.ItemQuery{Reader: "ann", SourceID: id, Unread: true})))
			storetest.Same(t, fmt.Sprintf("%s: feed %d: count, items", what, n+1), []int64{counts[id].Items, items}, []int64{want[n], want[n]})
		}
	}
	s.pass(time.Minute)
	to := s.Now // ann opens a page
	s.pass(time.Minute)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", empty.ID, "", s.Now, s.Now)) // nothing to mark yet
	s.followFeed("ann", feedURL(4))
	fresh := s.followFeed("ann", feedURL(5), "c")
	s.readFeed(fresh.ID, s.arriveNow(s.items(fresh.ID, 3, 5))...)
	s.readFeed(empty.ID, s.arriveNow(s.items(empty.ID, 3, 6))...)
	s.readFeed(busy.ID, s.arriveNow([]river.Item{s.newItem(busy.ID, 9, to.Add(-time.Second))})...) // the check began before the page
	unread("before", 2, 3, 3, 2, 2)
	for _, category := range []string{"c", ""} {
		storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, category, to, s.Now))
		unread("marked", 0, 3, 1, 2, 2)
	}
	n, err := s.UndoAllRead(s.Ctx, "ann", to, s.Now)
	storetest.Same(t, "undone", []any{n > 0, err}, []any{true, error(nil)})
	unread("undone", 2, 3, 3, 2, 2)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", busy.ID, "", to, s.Now))
	unread("one feed", 2, 3, 1, 2, 2)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", s.Now, s.Now))
	unread("all", 0, 0, 0, 0, 0)
}

// Some apps state the position of the newest item that they know.
func markToItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.arriveNow(s.items(src.ID, 3, 6))
	s.readFeed(src.ID, put...)
	s.pass(time.Minute)
	late := s.arriveNow([]river.Item{s.newItem(src.ID, 9, s.Now)})
	s.readFeed(src.ID, late...)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", put[0].At, s.Now))
	storetest.Same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 9"})
}

func undoAllRead(t *testing.T, s *stream) {
	var put []river.Item
	for n := range 3 {
		src := s.followFeed("ann", feedURL(n), []string{"c", "c", "d"}[n])
		s.followFeed("bob", feedURL(n))
		put = append(put, s.newItem(src.ID, n, s.In(-time.Duration(n)*time.Minute)))
		s.readFeed(src.ID, put[n])
	}
	yes, no := true, false
	unread := func(what string, want ...string) {
		t.Helper()
		storetest.Same(t, what, s.titles(river.ItemQuery{Reader: "ann", Unread: true}), append([]string{}, want...))
	}
	undo := func(to time.Time) int64 {
		t.Helper()
		n, err := s.UndoAllRead(s.Ctx, "ann", to, s.Now)
		storetest.Must(t, err)
		return n
	}
	storetest.Same(t, "undo without a mark", undo(s.Now), int64(0))
	s.markItems("ann", ids(put)[1:2], &yes, nil)
	unread("before", "Title 0", "Title 2")
	to := s.Now
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", to, s.Now))
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", to, s.Now)) // the button was pressed twice
	unread("marked")
	storetest.Same(t, "undo with another time", undo(to.Add(-time.Minute)), int64(0))
	storetest.Same(t, "undone", undo(to), int64(3))
	unread("after undo, marks of single items are as they were", "Title 0", "Title 2")
	storetest.Same(t, "second undo", undo(to), int64(0))
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", to, s.In(-time.Millisecond)))
	storetest.Same(t, "too late", undo(to), int64(0))
	n, err := s.UndoAllRead(s.Ctx, "ann", to, s.In(-time.Millisecond))
	storetest.Same(t, "undo at the last moment", []any{n, err}, []any{int64(3), error(nil)})

	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "c", to, s.Now))
	later := to.Add(time.Second)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", later, s.Now))
	storetest.Same(t, "undo of the earlier mark", undo(to), int64(0))
	s.markItems("ann", ids(put)[:1], &no, nil)
	storetest.Same(t, "undo after later marks", undo(later), int64(2))
	unread("what the category had read stays read", "Title 0", "Title 2")
	storetest.Same(t, "bob's", len(s.ask(river.ItemQuery{Reader: "bob", Unread: true})), 3)
}

func unreadAgain(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 5)
	s.readFeed(src.ID, put...)
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", s.Now, s.Now))
	no := false
	s.markItems("ann", []int64{put[2].ID, put[3].ID}, &no, nil)
	storetest.Same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2", "Title 3"})
	n, err := s.CountUnread(s.Ctx, "ann")
	storetest.Same(t, "counted", []any{n[src.ID].Items, err}, []any{int64(2), error(nil)})
	storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", s.Now, s.Now))
	storetest.Same(t, "all read", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{})
}

func newestSeq(t *testing.T, s *stream) {
	n, err := s.NewestSeq(s.Ctx)
	storetest.Same(t, "none", []any{n, err}, []any{int64(0), error(nil)})
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 4)...)
	s.readFeed(src.ID, s.newItem(src.ID, 0, s.Now))
	n, err = s.NewestSeq(s.Ctx)
	storetest.Same(t, "newest", []any{n, err}, []any{int64(5), error(nil)})
}

func itemsCounted(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 3, 5)...)
	got := s.sourceNow(src.ID)
	storetest.Same(t, "source", []any{got.Items, got.NewestAt}, []any{int64(2), s.In(-3 * time.Minute)})
	s.readFeed(src.ID, s.items(src.ID, 4, 7)...)
	got = s.sourceNow(src.ID)
	storetest.Same(t, "source", []any{got.Items, got.NewestAt}, []any{int64(4), s.In(-3 * time.Minute)})
}

func sameGUID(t *testing.T, s *stream) {
	for n := range 2 {
		src := s.followFeed("ann", feedURL(n))
		s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	}
	storetest.Same(t, "items", len(s.ask(river.ItemQuery{Reader: "ann"})), 4)
}
