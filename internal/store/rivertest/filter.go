package rivertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/filter"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/storetest"
)

func riverFilterTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"FilterIsReadAsWritten":                      riverTest(wholeFilter),
		"FilterHasLimitAndOwner":                     riverTest(filterLimits),
		"FiltersMarkNewItems":                        riverTest(filterMarks),
		"FirstCheckIsFilteredAndForwardsNothing":     riverTest(filterFirst),
		"HiddenItemIsInNoListAndNotCounted":          riverTest(filterHidden),
		"MarkAllReadKeepsItemsHidden":                riverTest(filterHiddenReadAll),
		"FilterForwardsToConfirmedForwardingOfOwner": riverTest(filterForward),
		"FilterIsAppliedToExistingItemsInSteps":      riverTest(filterExisting),
		"RemovedFilterIsRestoredOrShowsItsItems":     riverTest(filterDropped),
		"FiltersRunInTheirOrder":                     riverTest(filterOrder),
		"FilterFollowsRenamedCategory":               riverTest(filterCategory),
		"FiltersMatchModel":                          riverTest(filterModel),
	}
}

func words(field string, values ...string) []filter.Condition {
	return []filter.Condition{{Field: field, Op: filter.Word, Values: values}}
}

func (s *stream) putFilter(r filter.Rule) filter.Rule {
	s.t.Helper()
	if r.CreatedAt.IsZero() && r.ID == 0 {
		r.CreatedAt = s.Now
	}
	got, err := s.PutFilter(s.Ctx, r, 10)
	s.must(err)
	return got
}

// applyAll does all pending work and returns the number of steps.
func (s *stream) applyAll(limit int) (steps int) {
	s.t.Helper()
	for {
		did, err := s.ApplyFilters(s.Ctx, s.Now, s.In(-time.Minute), limit)
		s.must(err)
		if !did {
			return steps
		}
		steps++
	}
}

func (s *stream) unread(reader string) (n int64) {
	s.t.Helper()
	counts, err := s.CountUnread(s.Ctx, reader)
	s.must(err)
	for _, c := range counts {
		n += c.Items
	}
	return n
}

func wholeFilter(t *testing.T, s *stream) {
	r := filter.Rule{Reader: "ann", Name: "☂", SourceID: 5, Conditions: []filter.Condition{{Field: filter.Title, Op: filter.Contains, Not: true, Values: []string{"a", "b c"}}},
		Actions: filter.Actions{Hide: true, Forward: 7}, CreatedAt: s.Now}
	got := s.putFilter(r)
	if got.ID == 0 || got.Position == 0 {
		t.Fatalf("the filter has no ID or position: %+v", got)
	}
	list, err := s.Filters(s.Ctx, "ann")
	storetest.Same(t, "listed", []any{list, err}, []any{[]filter.Rule{got}, error(nil)})
	r.ID, r.Position, r.Version = got.ID, got.Position, got.Version
	storetest.Same(t, "made", got, r)
	r.SourceID, r.Category, r.Off = 0, "c", true
	changed := s.putFilter(r)
	if changed.Version == got.Version {
		t.Error("a change keeps the version")
	}
	r.Version = changed.Version
	storetest.Same(t, "changed", changed, r)
	list, err = s.Filters(s.Ctx, "bob")
	storetest.Same(t, "another's", []any{len(list), err}, []any{0, error(nil)})
}

func filterLimits(t *testing.T, s *stream) {
	a := s.putFilter(filter.Rule{Reader: "ann"})
	_, err := s.PutFilter(s.Ctx, filter.Rule{Reader: "ann"}, 1)
	storetest.WantFault(t, err, fault.TooMany)
	_, err = s.PutFilter(s.Ctx, filter.Rule{Reader: "bob", ID: a.ID}, 5)
	storetest.WantFault(t, err, fault.NotFound)
	storetest.WantFault(t, s.DropFilter(s.Ctx, "bob", a.ID, s.Now), fault.NotFound)
	storetest.WantFault(t, s.MoveFilter(s.Ctx, "bob", a.ID, true), fault.NotFound)
	storetest.WantFault(t, s.RestoreFilter(s.Ctx, "ann", a.ID, s.In(-time.Minute)), fault.NotFound)
	storetest.Must(t, s.DropFilter(s.Ctx, "ann", a.ID, s.Now))
	_, err = s.PutFilter(s.Ctx, filter.Rule{Reader: "ann"}, 1)
	storetest.Must(t, err)
}

func filterMarks(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.followFeed("bob", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 50, 51)...)
	read := s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Read: true}})
	star := s.putFilter(filter.Rule{Reader: "ann", SourceID: src.ID, Conditions: words(filter.Text, "2"), Actions: filter.Actions{Star: true}})
	s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Any, "3"), Actions: filter.Actions{Read: true}, Off: true})
	s.putFilter(filter.Rule{Reader: "ann", SourceID: 9, Conditions: words(filter.Any, "3"), Actions: filter.Actions{Read: true}})
	s.pass(time.Second)
	s.readFeed(src.ID, s.items(src.ID, 1, 4)...)
	storetest.Same(t, "unread of ann", s.titles(river.ItemQuery{Reader: "ann", Unread: true}), []string{"Title 2", "Title 3", "Title 50"})
	storetest.Same(t, "starred of ann", s.titles(river.ItemQuery{Reader: "ann", Starred: true}), []string{"Title 2"})
	storetest.Same(t, "unread of bob", len(s.titles(river.ItemQuery{Reader: "bob", Unread: true})), 4)
	storetest.Same(t, "counts", []int64{s.unread("ann"), s.unread("bob")}, []int64{3, 4})
	list, err := s.Filters(s.Ctx, "ann")
	storetest.Must(t, err)
	for _, r := range list {
		want := filter.Progress{Version: r.Version}
		if r.ID == read.ID || r.ID == star.ID {
			want.Matched, want.LastAt = 1, s.Now
		}
		storetest.Same(t, fmt.Sprintf("progress of %d", r.ID), r.Progress, want)
	}
	starred := s.ask(river.ItemQuery{Reader: "ann", Starred: true})
	storetest.Same(t, "starred at", starred[0].StarredAt, s.Now)
}

func filterFirst(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	to := s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: 9})
	s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Hide: true, Forward: to.ID}})
	s.readFeed(src.ID, s.items(src.ID, 0, 3)...)
	storetest.Same(t, "shown", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 0", "Title 2"})
	storetest.Same(t, "forwarded", s.due(), map[int64][]string{})
}

func filterHidden(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c")
	s.followFeed("bob", feedURL(1))
	all := s.newForwarding(forward.Forwarding{Reader: "ann"})
	bobs := s.newForwarding(forward.Forwarding{Reader: "bob"})
	s.readFeed(src.ID, s.items(src.ID, 50, 51)...)
	r := s.putFilter(filter.Rule{Reader: "ann", Category: "c", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Hide: true}})
	s.pass(time.Second)
	list := s.items(src.ID, 1, 3)
	s.readFeed(src.ID, list...)
	s.index()
	hidden := list[0].ID
	for name, q := range map[string]river.ItemQuery{
		"river": {}, "feed": {SourceID: src.ID}, "category": {Category: "c"}, "unread": {Unread: true}, "read": {Read: true}, "starred": {Starred: true},
		"search": {Match: "title"}, "search by number": {Match: "title", BySeq: true}, "IDs": {IDs: []int64{hidden, list[1].ID}}, "First": {Firsts: []int64{list[0].First}},
		"changed": {ChangedIn: list[0].Seq - 1}, "by Seq": {BySeq: true}, "by First": {ByFirst: true}, "oldest": {Oldest: true}, "bare": {Bare: true},
		"after": {FirstAfter: list[0].First - 1}, "several feeds": {Sources: []int64{src.ID}}, "starred search": {Starred: true, Match: "title"},
	} {
		q.Reader = "ann"
		if slices.Contains(s.titles(q), "Title 1") {
			t.Errorf("%s: the hidden item is listed", name)
		}
	}
	storetest.Same(t, "unread", []int64{s.unread("ann"), s.unread("bob")}, []int64{2, 3})
	yes, no := true, false
	storetest.Same(t, "marked", []int{s.markItems("ann", []int64{hidden}, &no, nil), s.markItems("ann", []int64{hidden}, nil, &yes)}, []int{0, 0})
	storetest.Same(t, "unread again", s.unread("ann"), int64(2))
	storetest.Same(t, "forwarded", s.due(), map[int64][]string{all.ID: {"Title 2"}, bobs.ID: {"Title 2", "Title 1"}})
	storetest.Same(t, "view of the filter", s.titles(river.ItemQuery{Reader: "ann", HiddenBy: r.ID}), []string{"Title 1"})
	storetest.Same(t, "view of another user", s.titles(river.ItemQuery{Reader: "bob", HiddenBy: r.ID}), []string{})
	storetest.Same(t, "with hidden", len(s.titles(river.ItemQuery{Reader: "ann", Hidden: true})), 3)
	storetest.Must(t, s.ShowHidden(s.Ctx, "bob", []int64{hidden}))
	storetest.Same(t, "shown by another user", len(s.titles(river.ItemQuery{Reader: "ann"})), 2)
	storetest.Must(t, s.ShowHidden(s.Ctx, "ann", []int64{hidden, 12345}))
	storetest.Same(t, "shown again", len(s.titles(river.ItemQuery{Reader: "ann"})), 3)
	storetest.Same(t, "unread after showing", s.unread("ann"), int64(2))
}

func filterHiddenReadAll(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Hide: true}})
	list := s.items(src.ID, 1, 5)
	s.readFeed(src.ID, list...)
	for range 2 {
		s.pass(time.Minute)
		storetest.Must(t, s.MarkAllRead(s.Ctx, "ann", 0, "", s.Now, s.Now))
	}
	storetest.Same(t, "shown", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 2", "Title 3", "Title 4"})
	no := false
	s.markItems("ann", []int64{list[3].ID}, &no, nil) // marking as unread lowers the read marker
	storetest.Same(t, "unread", []any{s.titles(river.ItemQuery{Reader: "ann", Unread: true}), s.unread("ann")}, []any{[]string{"Title 4"}, int64(1)})
	storetest.Same(t, "shown after unread", len(s.titles(river.ItemQuery{Reader: "ann"})), 3)
}

func filterForward(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	s.readFeed(src.ID, s.items(src.ID, 50, 51)...)
	to := s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: 9})
	paused := s.newForwarding(forward.Forwarding{Reader: "ann", SourceID: 9, Paused: true})
	bobs := s.newForwarding(forward.Forwarding{Reader: "bob", SourceID: 9})
	for _, id := range []int64{to.ID, paused.ID, bobs.ID, to.ID, 777} {
		s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Forward: id}})
	}
	s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1"), Actions: filter.Actions{Hide: true}})
	s.pass(time.Second)
	s.readFeed(src.ID, s.items(src.ID, 1, 3)...)
	storetest.Same(t, "forwarded", s.due(), map[int64][]string{to.ID: {"Title 1"}})
	storetest.Same(t, "shown", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 2", "Title 50"})
}

func filterExisting(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	list := s.items(src.ID, 1, 24)
	s.readFeed(src.ID, list...)
	yes := true
	s.markItems("ann", []int64{list[0].ID}, nil, &yes)
	c := []filter.Condition{{Field: filter.Title, Op: filter.Regexp, Values: []string{"[12]$"}}}
	r := s.putFilter(filter.Rule{Reader: "ann", Conditions: c, Actions: filter.Actions{Hide: true}, Progress: filter.Progress{Applying: true}})
	if !r.Applying {
		t.Fatal("the filter is not applied")
	}
	did, err := s.ApplyFilters(s.Ctx, s.Now, s.In(-time.Minute), 5)
	storetest.Same(t, "first step", []any{did, err}, []any{true, error(nil)})
	filters, err := s.Filters(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "progress", []any{filters[0].Applying, filters[0].Applied, filters[0].Matched}, []any{true, int64(5), int64(2)})
	s.applyAll(5)
	filters, err = s.Filters(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "done", []any{filters[0].Applying, filters[0].Applied, filters[0].Matched}, []any{false, int64(23), int64(6)})
	storetest.Same(t, "hidden", s.titles(river.ItemQuery{Reader: "ann", HiddenBy: r.ID}), []string{"Title 2", "Title 11", "Title 12", "Title 21", "Title 22"})
	storetest.Same(t, "shown", len(s.titles(river.ItemQuery{Reader: "ann"})), 18)
	storetest.Same(t, "unread", s.unread("ann"), int64(18))
	r.Conditions = words(filter.Title, "3")
	r.Applying = true
	s.putFilter(r)
	s.applyAll(10)
	storetest.Same(t, "hidden by the changed filter", s.titles(river.ItemQuery{Reader: "ann", HiddenBy: r.ID}), []string{"Title 3"})
}

func filterDropped(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	r := s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Title, "1", "2", "3"), Actions: filter.Actions{Hide: true}})
	s.readFeed(src.ID, s.items(src.ID, 1, 5)...)
	storetest.Must(t, s.DropFilter(s.Ctx, "ann", r.ID, s.Now))
	list, err := s.Filters(s.Ctx, "ann")
	storetest.Same(t, "listed", []any{len(list), err}, []any{0, error(nil)})
	s.pass(30 * time.Second)
	storetest.Same(t, "steps before a minute", s.applyAll(2), 0)
	storetest.Must(t, s.RestoreFilter(s.Ctx, "ann", r.ID, s.In(-time.Minute)))
	s.pass(time.Hour)
	storetest.Same(t, "steps after the restore", s.applyAll(2), 0)
	storetest.Same(t, "shown after the restore", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 4"})
	storetest.Must(t, s.DropFilter(s.Ctx, "ann", r.ID, s.Now))
	s.pass(2 * time.Minute)
	storetest.WantFault(t, s.RestoreFilter(s.Ctx, "ann", r.ID, s.In(-time.Minute)), fault.NotFound)
	storetest.Same(t, "steps", s.applyAll(2), 2)
	storetest.Same(t, "shown", len(s.titles(river.ItemQuery{Reader: "ann"})), 4)
	storetest.Same(t, "unread", s.unread("ann"), int64(1))
}

func filterOrder(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	hide := s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Any, "title"), Actions: filter.Actions{Hide: true}})
	star := s.putFilter(filter.Rule{Reader: "ann", Conditions: words(filter.Any, "title"), Actions: filter.Actions{Star: true}})
	s.readFeed(src.ID, s.items(src.ID, 5, 6)...)
	storetest.Same(t, "hidden first", s.titles(river.ItemQuery{Reader: "ann"}), []string{})
	storetest.Must(t, s.MoveFilter(s.Ctx, "ann", star.ID, false))
	storetest.Must(t, s.MoveFilter(s.Ctx, "ann", star.ID, false))
	list, err := s.Filters(s.Ctx, "ann")
	storetest.Must(t, err)
	storetest.Same(t, "order", []int64{list[0].ID, list[1].ID}, []int64{star.ID, hide.ID})
	s.pass(time.Second)
	s.readFeed(src.ID, s.items(src.ID, 1, 2)...)
	storetest.Same(t, "starred first", s.titles(river.ItemQuery{Reader: "ann"}), []string{"Title 1"})
}

func filterCategory(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1), "c")
	s.putFilter(filter.Rule{Reader: "ann", Category: "c", Conditions: words(filter.Any, "title"), Actions: filter.Actions{Hide: true}})
	storetest.Must(t, s.RenameCategory(s.Ctx, "ann", "c", "d"))
	s.readFeed(src.ID, s.items(src.ID, 1, 2)...)
	storetest.Same(t, "shown", s.titles(river.ItemQuery{Reader: "ann"}), []string{})
}

// filterModel compares the effects of random rules and checks with those of a simple model.
func filterModel(t *testing.T, s *stream) {
	rnd := rand.New(rand.NewPCG(7, uint64(len(t.Name()))))
	readers := []string{"ann", "bob"}
	var sources []river.Source
	for n := range 3 {
		for i, reader := range readers {
			if n != 2 || i == 0 {
				src := s.followFeed(reader, feedURL(n), fmt.Sprintf("c%d", n%2))
				if i == 0 {
					sources = append(sources, src)
				}
			}
		}
	}
	model := map[string]map[string]filterState{"ann": {}, "bob": {}}
	for round := range 12 {
		r := randomRule(rnd, readers, sources)
		if list, _ := s.Filters(s.Ctx, r.Reader); len(list) < 8 {
			s.putFilter(r)
		}
		s.pass(time.Hour)
		n := rnd.IntN(3)
		put := s.randomItems(rnd, sources[n].ID, n, round)
		s.readFeed(sources[n].ID, put...)
		for i, reader := range readers {
			if n == 2 && i == 1 {
				continue
			}
			rules, err := s.Filters(s.Ctx, reader)
			storetest.Must(t, err)
			for _, it := range put {
				model[reader][it.Title] = decideSimply(rules, it, sources[n].ID, fmt.Sprintf("c%d", n%2))
			}
		}
		for _, reader := range readers {
			s.compareFiltered(t, fmt.Sprintf("round %d: %s", round, reader), reader, model[reader])
		}
	}
}

// filterState is the effect of filters on an item.
type filterState struct{ Read, Starred, Hidden bool }

func weatherWords() []string { return strings.Fields("rain wind snow sun fog hail") }

// randomRule returns a rule of one of the readers, for all feeds, one feed or one category.
func randomRule(rnd *rand.Rand, readers []string, sources []river.Source) filter.Rule {
	reader := readers[rnd.IntN(2)]
	r := filter.Rule{Reader: reader, Conditions: words(filter.Text, weatherWords()[rnd.IntN(6)]), Off: rnd.IntN(5) == 0,
		Actions: [...]filter.Actions{{Read: true}, {Star: true}, {Hide: true}, {Read: true, Star: true}}[rnd.IntN(4)]}
	switch rnd.IntN(3) {
	case 0:
		r.SourceID = sources[rnd.IntN(3)].ID
	case 1:
		r.Category = fmt.Sprintf("c%d", rnd.IntN(2))
	}
	return r
}

// randomItems returns four items of source n with two random words each.
func (s *stream) randomItems(rnd *rand.Rand, source int64, n, round int) (put []river.Item) {
	for i := range 4 {
		it := s.newItem(source, round*10+i, s.In(-time.Duration(i)*time.Minute))
		it.Title = fmt.Sprintf("Item %d %d", n, round*10+i)
		it.Text = weatherWords()[rnd.IntN(6)] + " " + weatherWords()[rnd.IntN(6)]
		it.HTML = "<p>" + it.Text + "</p>"
		put = append(put, it)
	}
	return put
}

// decideSimply is the model: it runs the rules in their order on one item.
func decideSimply(rules []filter.Rule, it river.Item, source int64, category string) (m filterState) {
	for _, r := range rules {
		inScope := r.SourceID == 0 && r.Category == "" || r.SourceID == source || r.Category == category
		if r.Off || !inScope || !slices.Contains(strings.Fields(it.Text), r.Conditions[0].Values[0]) || m.Hidden {
			continue
		}
		m.Read, m.Starred = m.Read || r.Read, m.Starred || r.Star
		m.Hidden = r.Hide && !m.Starred
	}
	return m
}

// compareFiltered compares the items and the unread count of a reader with a model.
func (s *stream) compareFiltered(t *testing.T, name, reader string, model map[string]filterState) {
	t.Helper()
	got := map[string]filterState{}
	for _, e := range s.ask(river.ItemQuery{Reader: reader, Limit: 500}) {
		got[e.Title] = filterState{Read: e.Read, Starred: e.Starred}
	}
	want, unread := map[string]filterState{}, int64(0)
	for title, m := range model {
		if m.Hidden {
			continue
		}
		want[title] = m
		if !m.Read {
			unread++
		}
	}
	storetest.Same(t, name+": items", got, want)
	storetest.Same(t, name+": unread", s.unread(reader), unread)
}
