package rivertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/fulltest"
	"cloudburst/internal/river"
	"cloudburst/internal/river/rail"
	"cloudburst/internal/store/storetest"
)

func riverCountTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"SidebarListsFeedsByTitle":                  riverTest(railOfFeeds),
		"SidebarOfManyFeedsListsOnlyThoseOfThePage": riverTest(railOfManyFeeds),
		"CountersMatchPagesAfterRandomOperations":   riverTest(countersMatchPages),
		"CountersMatchPagesAfterParallelOperations": riverTest(countersAtOnce),
	}
}

func railOfFeeds(t *testing.T, s *stream) {
	first := s.followFeed("ann", feedURL(1), "Zebra", "Ähre", "ast")
	src := s.take(first.ID)
	src.About = river.About{Title: "Beta", Icon: "http://feeds.example/icon.png", Description: `says "icon": nothing`}
	s.save(river.Saved{Source: src, Put: s.items(first.ID, 0, 3)})
	second := s.followFeed("ann", feedURL(2))
	_, err := s.ChangeSubscription(s.Ctx, "ann", second.ID, func(f *river.Subscription) error {
		f.Title = "Älter"
		return nil
	})
	storetest.Must(t, err)
	never := s.followFeed("ann", feedURL(3))
	s.followFeed("bob", feedURL(4))
	got, err := s.RiverRail(s.Ctx, rail.Query{User: "ann"})
	storetest.Same(t, "rail", []any{got, err}, []any{rail.List{Feeds: []rail.Feed{
		{ID: second.ID, Title: "Älter"},
		{ID: first.ID, Title: "Beta", Icon: "http://feeds.example/icon.png", Categories: []string{"Zebra", "ast", "Ähre"}, Unread: 3},
		{ID: never.ID, Title: feedURL(3)},
	}}, error(nil)})
	categories, err := s.Categories(s.Ctx, "ann", false)
	storetest.Same(t, "categories", []any{categories, err}, []any{[]river.Category{{Name: "Ähre", Sources: 1}, {Name: "ast", Sources: 1}, {Name: "Zebra", Sources: 1}}, error(nil)})
	got, err = s.RiverRail(s.Ctx, rail.Query{User: "nobody"})
	storetest.Same(t, "a user without feeds", []any{len(got.Feeds), err}, []any{0, error(nil)})
}

func railOfManyFeeds(t *testing.T, s *stream) {
	const most = 2
	ask := func(q rail.Query) rail.List {
		t.Helper()
		q.User, q.Most = "ann", most
		list, err := s.RiverRail(s.Ctx, q)
		storetest.Must(t, err)
		slices.SortFunc(list.Unread, func(a, b rail.Sum) int { return slices.Compare(a.Categories, b.Categories) })
		return list
	}
	add := func(n, items int, categories ...string) rail.Feed {
		src := s.take(s.followFeed("ann", feedURL(n), categories...).ID)
		s.save(river.Saved{Source: src, Put: s.items(src.ID, 0, items)})
		return rail.Feed{ID: src.ID, Title: feedURL(n), Categories: categories, Unread: int64(items)}
	}
	plain, both := add(1, 2), add(2, 3, "a", "b")
	storetest.Same(t, "few feeds", ask(rail.Query{Total: true, ByCategory: true}), rail.List{Feeds: []rail.Feed{plain, both}})
	one, other := add(3, 1, "b"), add(4, 4)
	s.followFeed("bob", feedURL(1), "a")

	storetest.Same(t, "no counts", ask(rail.Query{}), rail.List{Many: true})
	storetest.Same(t, "the total", ask(rail.Query{Total: true}), rail.List{Many: true, Unread: []rail.Sum{{Unread: 10}}})
	sums := rail.List{Many: true, Unread: []rail.Sum{{Unread: 6}, {Categories: []string{"a", "b"}, Unread: 3}, {Categories: []string{"b"}, Unread: 1}}}
	storetest.Same(t, "counts by category", ask(rail.Query{Total: true, ByCategory: true}), sums)
	storetest.Same(t, "the same again", ask(rail.Query{ByCategory: true}), sums)
	storetest.Same(t, "a category", ask(rail.Query{Category: "b"}).Feeds, []rail.Feed{both, one})
	storetest.Same(t, "a feed", ask(rail.Query{Source: other.ID}).Feeds, []rail.Feed{other})
	storetest.Same(t, "a feed and a category", ask(rail.Query{Category: "a", Source: one.ID}).Feeds, []rail.Feed{both, one})
	storetest.Same(t, "unknown", ask(rail.Query{Category: "c", Source: one.ID + 1}).Feeds, []rail.Feed(nil))
}

// countedRiver applies random operations to a few feeds and users.
type countedRiver struct {
	*stream
	rnd     *rand.Rand
	readers []string
	sources []int64
	known   []river.Item
	marked  map[string]time.Time // key: reader, value: time of the last MarkAllRead
}

func newCountedRiver(s *stream, seed uint64) *countedRiver {
	w := &countedRiver{stream: s, rnd: rand.New(rand.NewPCG(seed, 23)), readers: []string{"", "ann", "bob"}, marked: map[string]time.Time{}}
	for n := range 8 {
		for _, reader := range w.readers {
			s.followFeed(reader, feedURL(n), []string{"a", "b", "c"}[:w.rnd.IntN(4)]...)
		}
		w.sources = append(w.sources, river.SourceID(feedURL(n)))
	}
	for range 8 {
		s.must(w.arrive())
	}
	return w
}

func (w *countedRiver) reader() string { return w.readers[w.rnd.IntN(len(w.readers))] }
func (w *countedRiver) source() int64  { return w.sources[w.rnd.IntN(len(w.sources))] }

// moment returns a time within the last hour, often the time of an item.
func (w *countedRiver) moment() time.Time {
	if len(w.known) > 0 && w.rnd.IntN(2) == 0 {
		return w.known[w.rnd.IntN(len(w.known))].At
	}
	return w.In(-time.Duration(w.rnd.IntN(3600)) * time.Second)
}

// arrive stores new items of one source. Some may be older than the existing items.
func (w *countedRiver) arrive() error {
	src := w.take(w.source())
	var put []river.Item
	for range 1 + w.rnd.IntN(4) {
		put = append(put, w.newItem(src.ID, int(w.seq), w.moment()))
	}
	src.Last = nil
	if w.rnd.IntN(2) == 0 { // the current document contains the first item, so that a sweep keeps it
		src.Last = []river.Known{{ID: put[0].ID, Hash: put[0].Hash}}
	}
	w.known = append(w.known, put...)
	w.save(river.Saved{Source: src, Put: put})
	return nil
}

func (w *countedRiver) mark() error {
	yes, no := true, false
	var ids []int64
	for range 1 + w.rnd.IntN(20) {
		ids = append(ids, w.known[w.rnd.IntN(len(w.known))].ID)
	}
	set := [][2]*bool{{&yes, nil}, {&yes, nil}, {&no, nil}, {nil, &yes}, {nil, &no}, {&yes, &no}}[w.rnd.IntN(6)]
	_, err := w.MarkItems(w.Ctx, w.reader(), ids, set[0], set[1], w.Now)
	return err
}

func (w *countedRiver) markAll() error {
	reader, to, source, category := w.reader(), w.moment(), int64(0), ""
	switch w.rnd.IntN(4) {
	case 0:
		source = w.source()
	case 1:
		category = "b"
	}
	w.marked[reader] = to
	return w.MarkAllRead(w.Ctx, reader, source, category, to, w.Now)
}

func (w *countedRiver) undo() error {
	reader := w.reader()
	_, err := w.UndoAllRead(w.Ctx, reader, w.marked[reader], w.In(-time.Minute))
	return err
}

func (w *countedRiver) unfollow() error {
	reader, source := w.reader(), w.source()
	if err := w.KeepUnfollowed(w.Ctx, reader, []int64{source}, w.Now, w.In(-time.Hour)); err != nil {
		return err
	}
	_, err := w.RiverUnsubscribe(w.Ctx, reader, []int64{source})
	return err
}

func (w *countedRiver) follow() error {
	reader, n := w.reader(), w.rnd.IntN(len(w.sources))
	if w.rnd.IntN(2) == 0 {
		err := w.RiverResubscribe(w.Ctx, reader, w.sources[n], w.In(-time.Minute), w.Now)
		if code := fault.CodeOf(err); code == fault.NotFound || code == fault.Conflict {
			err = nil
		}
		return err
	}
	a := w.addition(reader, feedURL(n), "b")
	if w.rnd.IntN(2) == 0 {
		a.ReadTo = w.moment()
	}
	_, err := w.RiverSubscribe(w.Ctx, []river.Addition{a}, w.Now, 1000)
	return err
}

func (w *countedRiver) change() error {
	to := time.Time{}
	if w.rnd.IntN(2) == 0 {
		to = w.moment()
	}
	_, err := w.ChangeSubscription(w.Ctx, w.reader(), w.source(), func(f *river.Subscription) error {
		f.ReadTo, f.Interval = to, time.Hour
		return nil
	})
	if fault.CodeOf(err) == fault.NotFound {
		err = nil
	}
	return err
}

func (w *countedRiver) sweep() error {
	_, err := w.SweepRiver(w.Ctx, 5+w.rnd.IntN(20), w.In(-time.Duration(30+w.rnd.IntN(60))*time.Minute), 1+w.rnd.IntN(30))
	return err
}

// step runs one random operation and returns its name.
func (w *countedRiver) step() (string, error) {
	type operation struct {
		name string
		do   func() error
	}
	list := []operation{{"arrive", w.arrive}, {"arrive", w.arrive}, {"mark", w.mark}, {"mark", w.mark}, {"mark", w.mark}, {"mark all", w.markAll},
		{"undo", w.undo}, {"unfollow", w.unfollow}, {"follow", w.follow}, {"follow", w.follow}, {"change", w.change}, {"sweep", w.sweep}}
	o := list[w.rnd.IntN(len(list))]
	return o.name, o.do()
}

// check compares the unread counts of all users with the unread items that pages show.
func (w *countedRiver) check(t *testing.T, what string) {
	t.Helper()
	for _, reader := range w.readers {
		want := map[int64]int64{}
		for _, e := range w.ask(river.ItemQuery{Reader: reader, Unread: true, Bare: true, Limit: 10_000}) {
			want[e.SourceID]++
		}
		counts, err := w.CountUnread(w.Ctx, reader)
		w.must(err)
		got := map[int64]int64{}
		for id, n := range counts {
			got[id] = n.Items
		}
		storetest.Same(t, what+": counts of "+reader, got, want)
		list, err := w.RiverRail(w.Ctx, rail.Query{User: reader})
		w.must(err)
		clear(got)
		sums := map[string]int64{}
		for _, f := range list.Feeds {
			if f.Unread != 0 {
				got[f.ID] = f.Unread
			}
			for _, name := range f.Categories {
				sums[name] += f.Unread
			}
		}
		w.checkSums(t, what, reader, list)
		storetest.Same(t, what+": rail of "+reader, got, want)
		subscriptions, err := w.RiverSubscriptions(w.Ctx, river.SubscriptionQuery{Reader: reader, Unread: true})
		w.must(err)
		for _, f := range subscriptions {
			storetest.Same(t, what+": feed of "+reader, f.Unread, want[f.SourceID])
		}
		categories, err := w.Categories(w.Ctx, reader, true)
		w.must(err)
		for _, c := range categories {
			storetest.Same(t, what+": category of "+reader, c.Unread, sums[c.Name])
		}
	}
}

// checkSums compares the sums of a reader with the list of all feeds.
func (w *countedRiver) checkSums(t *testing.T, what, reader string, all rail.List) {
	t.Helper()
	if len(all.Feeds) < 2 {
		return
	}
	sums := func(list []rail.Sum) map[string]int64 {
		by := map[string]int64{"": 0}
		for _, n := range list {
			by[strings.Join(n.Categories, ",")] += n.Unread
		}
		return by
	}
	few, err := w.RiverRail(w.Ctx, rail.Query{User: reader, Most: 1, ByCategory: true})
	w.must(err)
	storetest.Same(t, what+": sums of "+reader, sums(few.Unread), sums(all.Sums()))
	total := int64(0)
	for _, n := range few.Unread {
		total += n.Unread
	}
	few, err = w.RiverRail(w.Ctx, rail.Query{User: reader, Most: 1, Total: true})
	w.must(err)
	storetest.Same(t, what+": total of "+reader, few, rail.List{Many: true, Unread: []rail.Sum{{Unread: total}}})
}

func countersMatchPages(t *testing.T, s *stream) {
	w := newCountedRiver(s, 1)
	w.check(t, "at first")
	for n := range fulltest.Size(600, 200) {
		s.pass(time.Duration(w.rnd.IntN(20)) * time.Second)
		name, err := w.step()
		storetest.Must(t, err)
		w.check(t, fmt.Sprintf("step %d, %s", n, name))
	}
}

// countersAtOnce runs the operations in parallel. Each goroutine has its own random numbers.
func countersAtOnce(t *testing.T, s *stream) {
	base := newCountedRiver(s, 2)
	for round := range fulltest.Size(8, 3) {
		var group sync.WaitGroup
		errs := make(chan error, 8)
		for worker := range 8 {
			w := *base
			w.marked = map[string]time.Time{}
			w.rnd = rand.New(rand.NewPCG(uint64(round), uint64(worker)))
			own := *s
			w.stream = &own
			group.Go(func() {
				for range 25 {
					do := []func() error{w.arriveAt(int64(worker)), w.mark, w.mark, w.markAll, w.undo, w.unfollow, w.follow, w.change, w.sweep}[w.rnd.IntN(9)]
					if err := do(); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		group.Wait()
		close(errs)
		storetest.Must(t, <-errs)
		base.check(t, fmt.Sprintf("round %d", round))
	}
}

// arriveAt stores new items in a source that only this worker reads.
func (w *countedRiver) arriveAt(worker int64) func() error {
	return func() error {
		id := w.sources[worker]
		src, err := w.ClaimSource(w.Ctx, id, w.Now, w.In(time.Minute), 1000+w.rnd.Int64N(1<<40))
		if err != nil {
			return err
		}
		it := w.newItem(id, w.rnd.Int(), w.moment())
		src.State.CheckedAt, src.State.ReadAt, src.NextAt, src.Last = w.Now, w.Now, w.In(time.Hour), nil
		_, err = w.SaveCheck(w.Ctx, river.Saved{Source: src, Put: []river.Item{it}, Check: river.Check{At: w.Now}, Now: w.Now})
		return err
	}
}
