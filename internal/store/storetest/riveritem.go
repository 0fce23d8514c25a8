package storetest

import (
	"slices"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
)

func riverItemTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"AnItemComesBackWhole":                                   riverTest(wholeItem),
		"TheNewestComeFirst":                                     riverTest(newestFirst),
		"AnEditedItemKeepsItsPlaceAndItsFirstNumber":             riverTest(editedItem),
		"AWithdrawnItemKeepsWhatItSaid":                          riverTest(withdrawnItem),
		"KnownItemsAreThoseOfTheSource":                          riverTest(knownItems),
		"ACheckOfNothingNewLeavesItemsAlone":                     riverTest(nothingNew),
		"OfAnItemThatComesTwiceInOneCheckTheLastCounts":          riverTest(twiceInOne),
		"AnItemWithoutATimeIsPutWhereTheCheckIs":                 riverTest(timeless),
		"TimesBeforeAndBeyondAllReasonAreKeptInOrder":            riverTest(oddTimes),
		"BareEntriesHaveTitleAndLinkOnly":                        riverTest(bareEntries),
		"WhatChangedIsListedInItsOrder":                          riverTest(changedItems),
		"TooManyKeysAreRefused":                                  riverTest(tooManyKeys),
		"ItemsOfASourceThatIsNotFollowedAreFoundOnlyWhenStarred": riverTest(starredOnly),
		"MarksAreKeptByReader":                                   riverTest(marksByReader),
		"AStarKeepsItsTimeUntilItIsTakenAway":                    riverTest(starTime),
		"WhatOneNeitherFollowsNorMarkedCannotBeMarked":           riverTest(strangersMarks),
		"MarkingAllReadCountsOfWhatIsThere":                      riverTest(markAllRead),
		"MarkingAllReadOfASourceOrACategoryLeavesTheRest":        riverTest(markSomeRead),
		"MarkingAllReadIsUndoneUnlessItemsWereMarkedSince":       riverTest(undoAllRead),
		"OneItemCanBeUnreadAgainAfterAllWereRead":                riverTest(unreadAgain),
		"TheGreatestNumberIsKnown":                               riverTest(newestSeq),
		"ASourceCountsItsItemsAndItsNewest":                      riverTest(itemsCounted),
		"TwoSourcesMayHaveItemsOfOneGUID":                        riverTest(sameGUID),
	}
}

func wholeItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c")
	it := s.anItem(src.ID, 1, s.in(-time.Hour))
	it.GUID = "urn:☂:\xff\x00"
	it.Content = river.Content{Title: "☂ <b>'\"", Link: "http://l/?a=b&c", HTML: "<p>☂</p>", Text: "☂", Language: "de", Published: s.in(-2 * time.Hour), Updated: s.now,
		Authors: []string{"A", "B"}, Categories: []string{"x"}, Enclosures: []river.Enclosure{{URL: "http://e/", Type: "audio/mpeg", Length: 5, Duration: 1.5, Title: "t"}},
		Image: "http://i/", Comments: "http://c/", InReplyTo: "http://r/", Via: "v", Nested: []river.Content{{Title: "n", Nested: []river.Content{{Text: "nn"}}}}, More: true}
	it.EditedAt, it.WithdrawnAt, it.Hash = s.in(time.Second), s.in(2*time.Second), -1<<63
	s.readFeed(src.ID, it)
	want := river.Entry{Item: it, Source: river.EntrySource{ID: src.ID, Title: src.URL, URL: src.URL, Categories: []string{"c"}}}
	same(t, "entry", s.ask(river.ItemQuery{Reader: "ann"}), []river.Entry{want})
	same(t, "place", it.Place(), river.Place{At: s.in(-time.Hour).UnixMilli(), ID: it.ID})
}

func newestFirst(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 5)...)
	same(t, "newest", s.titles(river.ItemQuery{Reader: "ann", Limit: 2}), []string{"Title 0", "Title 1"})
	same(t, "oldest", s.titles(river.ItemQuery{Reader: "ann", Limit: 2, Oldest: true}), []string{"Title 4", "Title 3"})
	list := s.ask(river.ItemQuery{Reader: "ann"})
	same(t, "before", s.titles(river.ItemQuery{Reader: "ann", Before: list[2].Place()}), []string{"Title 3", "Title 4"})
	same(t, "newer", s.titles(river.ItemQuery{Reader: "ann", Before: list[2].Place(), Oldest: true}), []string{"Title 1", "Title 0"})
	same(t, "from to", s.titles(river.ItemQuery{Reader: "ann", From: list[3].At, To: list[1].At}), []string{"Title 2", "Title 3"})
}

func editedItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	yes := true
	s.markItems("ann", ids(put)[1:2], &yes, &yes)
	was := s.ask(river.ItemQuery{Reader: "ann"})[1]
	s.pass(time.Hour)
	now := s.anItem(src.ID, 1, s.now) // its place is asked for elsewhere, in vain
	now.Title, now.HTML, now.EditedAt, now.Hash = "edited", "<p>edited</p>", s.now, 99
	s.readFeed(src.ID, now)
	got := s.ask(river.ItemQuery{Reader: "ann"})[1]
	was.Item.Seq, was.EditedAt, was.Hash, was.Title, was.HTML = now.Seq, s.now, 99, "edited", "<p>edited</p>"
	same(t, "edited", got, was)
	same(t, "counted once", s.sourceNow(src.ID).Items, int64(3))
	same(t, "changed", s.titles(river.ItemQuery{Reader: "ann", ChangedIn: 3}), []string{"edited"})
	same(t, "by seq", s.titles(river.ItemQuery{Reader: "ann", BySeq: true, Limit: 2}), []string{"edited", "Title 2"})
	same(t, "by first", s.titles(river.ItemQuery{Reader: "ann", ByFirst: true, Limit: 2}), []string{"Title 2", "edited"})
}

func withdrawnItem(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 2)
	s.readFeed(src.ID, put...)
	got := s.take(src.ID)
	s.save(river.Saved{Source: got, Withdrawn: []river.Item{{ID: put[0].ID, Seq: 50, WithdrawnAt: s.now}, {ID: 7, Seq: 51, WithdrawnAt: s.now}}})
	want := put[0]
	want.Seq, want.WithdrawnAt = 50, s.now
	list := s.ask(river.ItemQuery{Reader: "ann"})
	same(t, "withdrawn", list[0].Item, want)
	same(t, "the other", list[1].Item, put[1])
	same(t, "number", len(list), 2)
}

func knownItems(t *testing.T, s *stream) {
	src, other := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	put, others := s.items(src.ID, 0, 2), s.items(other.ID, 0, 1)
	s.readFeed(src.ID, put...)
	s.readFeed(other.ID, others...)
	got, err := s.KnownItems(s.ctx, src.ID, append(append(ids(put), ids(others)...), 1, put[0].ID))
	must(t, err)
	same(t, "known", len(got), 2)
	for _, it := range put {
		k := got[it.ID]
		same(t, "item", []any{k.Hash, k.At, k.ReadAt, k.EditedAt, k.WithdrawnAt, k.Title}, []any{it.Hash, it.At, it.ReadAt, it.EditedAt, it.WithdrawnAt, it.Title})
	}
	got, err = s.KnownItems(s.ctx, src.ID, nil)
	same(t, "none", []any{len(got), err}, []any{0, error(nil)})
}

func nothingNew(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	before := s.ask(river.ItemQuery{Reader: "ann"})
	got := s.take(src.ID)
	s.save(river.Saved{Source: got})
	same(t, "items", s.ask(river.ItemQuery{Reader: "ann"}), before)
	same(t, "source", s.sourceNow(src.ID).Items, int64(2))
}

func twiceInOne(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	a, b := s.anItem(src.ID, 1, s.now), s.anItem(src.ID, 1, s.now)
	b.Title = "the last"
	s.readFeed(src.ID, a, b)
	same(t, "items", s.titles(river.ItemQuery{Reader: "ann"}), []string{"the last"})
	same(t, "counted", s.sourceNow(src.ID).Items, int64(1))
}

func timeless(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.anItem(src.ID, 1, time.Time{}))
	same(t, "at", s.ask(river.ItemQuery{Reader: "ann"})[0].At, s.now)
}

func oddTimes(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	var put []river.Item
	for n, year := range []int{9999, 2300, 2040, 1970, 1969, 1800, 2} {
		put = append(put, s.anItem(src.ID, n, time.Date(year, 1, 1, 0, 0, 0, n, time.UTC)))
	}
	s.readFeed(src.ID, put...)
	list := s.ask(river.ItemQuery{Reader: "ann"})
	same(t, "number", len(list), 7)
	for i := 1; i < len(list); i++ {
		if list[i].At.After(list[i-1].At) {
			t.Errorf("%v comes after %v", list[i].At, list[i-1].At)
		}
	}
	same(t, "1970", list[3].At, time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC))
	var all []string
	q := river.ItemQuery{Reader: "ann", Limit: 1}
	for page := s.ask(q); len(page) > 0; page = s.ask(q) {
		all = append(all, page[0].Title)
		q.Before = page[0].Place()
	}
	same(t, "by page", len(all), 7)
}

func bareEntries(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	it := s.anItem(src.ID, 1, s.now)
	s.readFeed(src.ID, it)
	it.Content = river.Content{Title: it.Title, Link: it.Link}
	same(t, "bare", s.ask(river.ItemQuery{Reader: "ann", Bare: true})[0].Item, it)
}

func changedItems(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 5)...)
	edited := s.anItem(src.ID, 2, s.now)
	s.readFeed(src.ID, edited)
	list, err := s.Changed(s.ctx, 3, 2)
	must(t, err)
	var got [][]int64
	for _, it := range list {
		got = append(got, []int64{it.Seq, it.First, it.SourceID})
	}
	same(t, "changed", got, [][]int64{{4, 4, src.ID}, {5, 5, src.ID}})
	list, err = s.Changed(s.ctx, 5, 100)
	same(t, "the edited one", []any{len(list), list[0].ID, list[0].Seq, list[0].First, err}, []any{1, edited.ID, int64(6), int64(3), error(nil)})
}

func tooManyKeys(t *testing.T, s *stream) {
	many := make([]int64, 1001)
	for _, q := range []river.ItemQuery{{IDs: many}, {Firsts: many}, {Sources: many}, {Categories: slices.Repeat([]string{"c"}, 1001)}} {
		_, err := s.Items(s.ctx, q)
		faulty(t, err, fault.Invalid)
	}
}

func starredOnly(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 3)
	s.readFeed(src.ID, put...)
	s.followFeed("bob", feedURL(1))
	yes := true
	s.markItems("ann", ids(put)[:1], nil, &yes)
	_, err := s.RiverUnsubscribe(s.ctx, "ann", []int64{src.ID})
	must(t, err)
	for name, one := range map[string]struct {
		q river.ItemQuery
		n int
	}{
		"all": {river.ItemQuery{}, 0}, "source": {river.ItemQuery{SourceID: src.ID}, 0}, "starred": {river.ItemQuery{Starred: true}, 1},
		"ids": {river.ItemQuery{IDs: ids(put)}, 1}, "firsts": {river.ItemQuery{Firsts: []int64{1, 2, 3}}, 1},
		"starred of it": {river.ItemQuery{Starred: true, SourceID: src.ID}, 1}, "starred unread": {river.ItemQuery{Starred: true, Unread: true}, 1},
	} {
		one.q.Reader = "ann"
		same(t, name, len(s.ask(one.q)), one.n)
	}
	e := s.ask(river.ItemQuery{Reader: "ann", Starred: true})[0]
	same(t, "as it is", []any{e.Read, e.Starred, e.Source.Title, e.Source.Categories}, []any{false, true, src.URL, []string(nil)})
	no := false
	s.markItems("ann", ids(put)[:1], nil, &no)
	same(t, "not starred any more", len(s.ask(river.ItemQuery{Reader: "ann", IDs: ids(put)})), 0)
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
	same(t, "ann's", []river.Mark{list[0].Mark, list[1].Mark}, []river.Mark{{Read: true, Starred: true, StarredAt: s.now}, {}})
	list = s.ask(river.ItemQuery{Reader: "bob"})
	same(t, "bob's", []river.Mark{list[0].Mark, list[1].Mark}, []river.Mark{{}, {}})
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
	}{{&yes, s.in(time.Minute)}, {&yes, s.in(time.Minute)}, {nil, s.in(time.Minute)}, {&no, time.Time{}}, {&yes, s.in(5 * time.Minute)}} {
		s.pass(time.Minute)
		s.markItems("ann", ids(put), &yes, step.set)
		same(t, "starred at", star(), step.want)
	}
}

func strangersMarks(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 1)
	s.readFeed(src.ID, put...)
	yes := true
	same(t, "marked for a reader who does not follow the feed", s.markItems("bob", ids(put), &yes, &yes), 0)
	same(t, "marked unknown items", s.markItems("ann", []int64{1, 2, 3}, nil, &yes), 0)
	same(t, "marked known items among unknown ones", s.markItems("ann", append(ids(put), 1, 2, put[0].ID), nil, &yes), 1)
	same(t, "starred", s.titles(river.ItemQuery{Reader: "bob", Starred: true}), []string{})
	same(t, "by id", s.titles(river.ItemQuery{Reader: "bob", IDs: ids(put)}), []string{})
}

func markAllRead(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 4)
	s.readFeed(src.ID, put...)
	no, yes := false, true
	s.markItems("ann", ids(put), &no, nil)
	s.markItems("ann", ids(put)[3:], &yes, &yes)
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", put[1].At, s.now))
	same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0"})
	same(t, "read", s.titles(river.ItemQuery{Reader: "ann", Read: true}), []string{"Title 1", "Title 2", "Title 3"})
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", put[2].At, s.now))
	same(t, "an earlier time changes nothing", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0"})
	same(t, "to", s.one("ann", src.ID).ReadTo, put[1].At)
	same(t, "stars stay", s.titles(river.ItemQuery{Reader: "ann", Starred: true}), []string{"Title 3"})
	s.pass(time.Minute)
	s.readFeed(src.ID, s.anItem(src.ID, 9, s.now))
	same(t, "new ones are unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 9", "Title 0"})
}

func markSomeRead(t *testing.T, s *stream) {
	for n := range 3 {
		src := s.followFeed("ann", feedURL(n), []string{"c", "c", "d"}[n])
		s.followFeed("bob", feedURL(n))
		s.readFeed(src.ID, s.anItem(src.ID, n, s.in(-time.Duration(n)*time.Minute)))
	}
	must(t, s.MarkAllRead(s.ctx, "ann", river.SourceID(feedURL(1)), "", s.now, s.now))
	same(t, "source", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 0", "Title 2"})
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "c", s.now, s.now))
	same(t, "category", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2"})
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "none", s.now, s.now))
	same(t, "none", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2"})
	same(t, "bob's", len(s.ask(river.ItemQuery{Reader: "bob", Unread: true})), 3)
}

func undoAllRead(t *testing.T, s *stream) {
	var put []river.Item
	for n := range 3 {
		src := s.followFeed("ann", feedURL(n), []string{"c", "c", "d"}[n])
		s.followFeed("bob", feedURL(n))
		put = append(put, s.anItem(src.ID, n, s.in(-time.Duration(n)*time.Minute)))
		s.readFeed(src.ID, put[n])
	}
	yes, no := true, false
	unread := func(what string, want ...string) {
		t.Helper()
		same(t, what, s.titles(river.ItemQuery{Reader: "ann", Unread: true}), append([]string{}, want...))
	}
	undo := func(to time.Time) int64 {
		t.Helper()
		n, err := s.UndoAllRead(s.ctx, "ann", to, s.now)
		must(t, err)
		return n
	}
	same(t, "nothing was done", undo(s.now), int64(0))
	s.markItems("ann", ids(put)[1:2], &yes, nil)
	unread("before", "Title 0", "Title 2")
	to := s.now
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", to, s.now))
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", to, s.now)) // the button was pressed twice
	unread("marked")
	same(t, "another moment", undo(to.Add(-time.Minute)), int64(0))
	same(t, "undone", undo(to), int64(3))
	unread("after undo, marks of single items are as they were", "Title 0", "Title 2")
	same(t, "undone twice", undo(to), int64(0))
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", to, s.in(-time.Millisecond)))
	same(t, "too late", undo(to), int64(0))
	n, err := s.UndoAllRead(s.ctx, "ann", to, s.in(-time.Millisecond))
	same(t, "undone in the last moment", []any{n, err}, []any{int64(3), error(nil)})

	must(t, s.MarkAllRead(s.ctx, "ann", 0, "c", to, s.now))
	later := to.Add(time.Second)
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", later, s.now))
	same(t, "the one before is not undone", undo(to), int64(0))
	s.markItems("ann", ids(put)[:1], &no, nil)
	same(t, "what was marked since is left", undo(later), int64(2))
	unread("what the category had read stays read", "Title 0", "Title 2")
	same(t, "bob's", len(s.ask(river.ItemQuery{Reader: "bob", Unread: true})), 3)
}

func unreadAgain(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	put := s.items(src.ID, 0, 5)
	s.readFeed(src.ID, put...)
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", s.now, s.now))
	no := false
	s.markItems("ann", []int64{put[2].ID, put[3].ID}, &no, nil)
	same(t, "unread", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2", "Title 3"})
	n, err := s.CountUnread(s.ctx, "ann")
	same(t, "counted", []any{n[src.ID].Items, err}, []any{int64(2), error(nil)})
	must(t, s.MarkAllRead(s.ctx, "ann", 0, "", s.now, s.now))
	same(t, "all read", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{})
}

func newestSeq(t *testing.T, s *stream) {
	n, err := s.NewestSeq(s.ctx)
	same(t, "none", []any{n, err}, []any{int64(0), error(nil)})
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 0, 4)...)
	s.readFeed(src.ID, s.anItem(src.ID, 0, s.now))
	n, err = s.NewestSeq(s.ctx)
	same(t, "newest", []any{n, err}, []any{int64(5), error(nil)})
}

func itemsCounted(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 3, 5)...)
	got := s.sourceNow(src.ID)
	same(t, "source", []any{got.Items, got.NewestAt}, []any{int64(2), s.in(-3 * time.Minute)})
	s.readFeed(src.ID, s.items(src.ID, 4, 7)...)
	got = s.sourceNow(src.ID)
	same(t, "source", []any{got.Items, got.NewestAt}, []any{int64(4), s.in(-3 * time.Minute)})
}

func sameGUID(t *testing.T, s *stream) {
	for n := range 2 {
		src := s.followFeed("ann", feedURL(n))
		s.readFeed(src.ID, s.items(src.ID, 0, 2)...)
	}
	same(t, "items", len(s.ask(river.ItemQuery{Reader: "ann"})), 4)
}
