package rivertest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

func riverPropertyTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"QueriesMatchModel":               riverTest(naiveQueries),
		"PagesContainEachItemOfTheRiver":  riverTest(naivePages),
		"SourcesWithoutNewItemsAreFound":  riverTest(manySilent),
		"UnreadCountsMatchModel":          riverTest(naiveUnread),
		"ItemsOfSameMillisecondKeepOrder": riverTest(oneMillisecond),
		"ItemsWithSamePlaceAreAllStored":  riverTest(onePlace),
	}
}

// model is a river as plain data.
type model struct {
	*stream
	rnd     *rand.Rand
	sources []int64
	items   []river.Item
	subs    map[string]map[int64]*river.Subscription
	marks   map[string]map[int64]*river.Mark
}

var vocabulary = []string{"alpha", "alphabet", "beta", "gamma", "delta", "Élan", "ÜBER", "日本", "x2", "common", "common", "common"}

// newModel fills a store and records its content. It has three readers: one of all sources, one of
// a few silent sources, and one of some sources.
func newModel(s *stream, seed uint64, sources, items int) *model {
	s.t.Helper()
	w := &model{stream: s, rnd: rand.New(rand.NewPCG(seed, 6)), subs: map[string]map[int64]*river.Subscription{}, marks: map[string]map[int64]*river.Mark{}}
	var list []river.Addition
	for n := range sources {
		for i, reader := range []string{"", "few", "some"} {
			if i == 1 && n%13 != 3 || i == 2 && n%3 != 0 {
				continue
			}
			a := s.addition(reader, feedURL(n))
			for _, c := range []string{"A", "B", "silent"} {
				if c == "silent" && n%13 == 3 || c != "silent" && w.rnd.IntN(4) == 0 {
					a.Categories = append(a.Categories, c)
				}
			}
			if w.rnd.IntN(3) == 0 {
				a.ReadTo = s.In(-time.Duration(w.rnd.IntN(2000)) * time.Second)
			}
			list = append(list, a)
			if w.subs[reader] == nil {
				w.subs[reader], w.marks[reader] = map[int64]*river.Subscription{}, map[int64]*river.Mark{}
			}
			w.subs[reader][a.Source.ID] = &a.Subscription
		}
		w.sources = append(w.sources, river.SourceID(feedURL(n)))
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, 1000)
	s.must(err)
	for n, id := range w.sources {
		var put []river.Item
		for i := range items / sources {
			at := s.In(-time.Duration(w.rnd.IntN(2000)) * time.Second)
			if n%13 == 3 { // this source has had no items for a long time
				at = at.Add(-24 * time.Hour)
			}
			it := s.newItem(id, i, at)
			it.Title, it.Text = w.words(3), w.words(12)
			put = append(put, it)
		}
		s.readFeed(id, put...)
		w.items = append(w.items, put...)
	}
	s.index()
	w.mark(items / 4)
	return w
}

func (w *model) words(n int) string {
	var b strings.Builder
	for range 1 + w.rnd.IntN(n) {
		b.WriteString(vocabulary[w.rnd.IntN(len(vocabulary))] + []string{" ", "-", ", "}[w.rnd.IntN(3)])
	}
	return b.String()
}

// mark sets and clears marks at random.
func (w *model) mark(n int) {
	w.t.Helper()
	yes, no := true, false
	for range 12 {
		for _, reader := range []string{"", "few", "some"} {
			var some []int64
			var read, starred *bool
			switch w.rnd.IntN(8) {
			case 0, 1, 2:
				read = &yes
			case 3:
				read = &no
			case 4, 5, 6:
				starred = &yes
			case 7:
				starred = &no
			}
			for range n / 12 {
				it := &w.items[w.rnd.IntN(len(w.items))]
				sub := w.subs[reader][it.SourceID]
				if some = append(some, it.ID); sub == nil {
					continue
				}
				m := w.marks[reader][it.ID]
				if m == nil {
					m = &river.Mark{}
					w.marks[reader][it.ID] = m
				}
				if read != nil {
					w.markRead(reader, it, m, *read)
				}
				if starred != nil {
					m.Starred = *starred
				}
			}
			w.markItems(reader, some, read, starred)
		}
	}
}

// markRead sets or clears the read mark of an item. The read marker counts as a mark of each item
// at or before its time.
func (w *model) markRead(reader string, it *river.Item, m *river.Mark, read bool) {
	sub := w.subs[reader][it.SourceID]
	if !read && !it.At.After(sub.ReadTo) && !sub.ReadTo.IsZero() {
		for i := range w.items { // the read marker is removed: mark these items individually
			if other := &w.items[i]; other.SourceID == it.SourceID && !other.At.After(sub.ReadTo) {
				if w.marks[reader][other.ID] == nil {
					w.marks[reader][other.ID] = &river.Mark{}
				}
				w.marks[reader][other.ID].Read = true
			}
		}
		sub.ReadTo = time.Time{}
	}
	m.Read = read
}

// state returns what a reader sees of an item.
func (w *model) state(reader string, it *river.Item) (followed, read, starred bool) {
	m := w.marks[reader][it.ID]
	sub := w.subs[reader][it.SourceID]
	if m != nil {
		read, starred = m.Read, m.Starred
	}
	if sub != nil && !sub.ReadTo.IsZero() && !it.At.After(sub.ReadTo) {
		read = true
	}
	return sub != nil, read, starred
}

func (w *model) has(q river.ItemQuery, it *river.Item) bool {
	followed, read, starred := w.state(q.Reader, it)
	in := func(names ...string) bool {
		for _, c := range w.subs[q.Reader][it.SourceID].Categories {
			if slices.Contains(names, c) {
				return true
			}
		}
		return false
	}
	place := it.Place()
	after := func(a, b river.Place) bool { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) > 0 }
	switch {
	case !followed && !(starred && (q.Starred || q.IDs != nil || q.Firsts != nil)),
		q.SourceID != 0 && it.SourceID != q.SourceID, q.Sources != nil && !slices.Contains(q.Sources, it.SourceID),
		q.Category != "" && !in(q.Category), q.Categories != nil && !in(q.Categories...),
		q.Starred && !starred, q.Unread && read, q.Read && !read,
		!q.From.IsZero() && it.At.Before(q.From), !q.To.IsZero() && !it.At.Before(q.To),
		q.ChangedIn > 0 && it.Seq <= q.ChangedIn, q.FirstAfter > 0 && it.First <= q.FirstAfter, q.FirstBefore > 0 && it.First >= q.FirstBefore,
		q.IDs != nil && !slices.Contains(q.IDs, it.ID), q.Firsts != nil && !slices.Contains(q.Firsts, it.First):
		return false
	}
	if q.Before != (river.Place{}) && !q.BySeq && !q.ByFirst {
		if place == q.Before || after(place, q.Before) != q.Oldest {
			return false
		}
	}
	return q.Match == "" || matches(q.Match, it)
}

// matches implements the queries of this test: words, excluded words, and a final prefix.
func matches(match string, it *river.Item) bool {
	fold := strings.NewReplacer("É", "e", "Ü", "u", "-", " ", ",", " ")
	words := strings.Fields(strings.ToLower(fold.Replace(it.Title + " | " + it.Text)))
	terms := strings.Fields(match)
	for i, term := range terms {
		term, not := strings.CutPrefix(term, "-")
		term = strings.ToLower(fold.Replace(term))
		found := slices.ContainsFunc(words, func(word string) bool {
			return word == term || i == len(terms)-1 && !not && len(term) > 2 && term != "日本" && strings.HasPrefix(word, term)
		})
		if found == not {
			return false
		}
	}
	return true
}

// naive returns the result of a query by a scan of all items.
func (w *model) naive(q river.ItemQuery) []int64 {
	var found []*river.Item
	for i := range w.items {
		if w.has(q, &w.items[i]) {
			found = append(found, &w.items[i])
		}
	}
	slices.SortFunc(found, func(a, b *river.Item) int {
		c := cmp.Or(cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()), cmp.Compare(a.ID, b.ID))
		switch {
		case q.BySeq:
			c = cmp.Compare(a.Seq, b.Seq)
		case q.ByFirst:
			c = cmp.Compare(a.First, b.First)
		}
		if q.Oldest {
			return c
		}
		return -c
	})
	all := []int64{}
	for _, it := range found[:min(len(found), q.Limit)] {
		all = append(all, it.ID)
	}
	return all
}

// query returns a random query.
func (w *model) query() river.ItemQuery {
	r := w.rnd
	q := river.ItemQuery{Reader: []string{"", "few", "some", "nobody"}[min(r.IntN(10)/3, 3)], Limit: []int{1, 5, 50, 1000}[r.IntN(4)]}
	some := func(n int) bool { return r.IntN(n) == 0 }
	it := func() *river.Item { return &w.items[r.IntN(len(w.items))] }
	if some(6) {
		q.SourceID = w.sources[r.IntN(len(w.sources))]
	}
	if some(8) {
		for range 5 {
			q.Sources = append(q.Sources, w.sources[r.IntN(len(w.sources))])
		}
	}
	if some(4) {
		q.Category = []string{"A", "silent", "none"}[r.IntN(3)]
	}
	if some(8) {
		q.Categories = []string{"A", "B", "silent"}[:1+r.IntN(3)]
	}
	q.Starred, q.Unread, q.Read, q.Oldest = some(6), some(4), some(8), some(4)
	if some(6) {
		q.Match = []string{"alpha", "common alp", "common -alpha beta", "uber ela", "日本", "gamma delta common", "x2 bet", "beta al", "nothing"}[r.IntN(9)]
	}
	if some(6) {
		q.From = it().At
	}
	if some(6) {
		q.To = it().At
	}
	if some(8) {
		q.ChangedIn = it().Seq
	}
	if some(10) {
		q.FirstAfter = it().First
	}
	if some(10) {
		q.FirstBefore = it().First
	}
	if some(10) {
		for range 20 {
			q.IDs = append(q.IDs, it().ID)
		}
	}
	if some(15) {
		for range 20 {
			q.Firsts = append(q.Firsts, it().First)
		}
	}
	switch r.IntN(8) {
	case 0:
		q.BySeq = true
	case 1:
		q.ByFirst = true
	case 2, 3, 4:
		q.Before = it().Place()
	case 5:
		q.Before = river.Place{At: it().At.UnixMilli(), ID: r.Int64()}
	}
	return q
}

func naiveQueries(t *testing.T, s *stream) {
	w := newModel(s, 1, 40, 1200)
	for n := range 150 {
		if n%50 == 49 {
			w.mark(100)
		}
		q := w.query()
		got := []int64{}
		for _, e := range w.ask(q) {
			got = append(got, e.ID)
			_, read, starred := w.state(q.Reader, &e.Item)
			if e.Read != read || e.Starred != starred {
				t.Fatalf("query %d: %+v: item %d is read %v, starred %v", n, q, e.ID, e.Read, e.Starred)
			}
		}
		storetest.Same(t, fmt.Sprintf("query %d: %+v", n, q), got, w.naive(q))
	}
}

func naivePages(t *testing.T, s *stream) {
	w := newModel(s, 2, 40, 800)
	for _, q := range []river.ItemQuery{{}, {Reader: "few"}, {Reader: "some", Category: "silent"}, {Unread: true}, {Oldest: true}, {Reader: "few", Oldest: true},
		{Starred: true}, {Match: "common"}, {Reader: "few", Match: "common", Oldest: true}, {Reader: "some", Read: true}} {
		q.Limit = len(w.items)
		want := w.naive(q)
		q.Limit = 37
		got := []int64{}
		for {
			page := w.ask(q)
			for _, e := range page {
				got = append(got, e.ID)
			}
			if len(page) < q.Limit {
				break
			}
			q.Before = page[len(page)-1].Place()
		}
		storetest.Same(t, fmt.Sprintf("%+v", q), got, want)
	}
}

func naiveUnread(t *testing.T, s *stream) {
	w := newModel(s, 3, 20, 600)
	for reader, subs := range w.subs {
		got, err := s.CountUnread(s.Ctx, reader)
		storetest.Must(t, err)
		all, err := s.RiverSubscriptions(s.Ctx, river.SubscriptionQuery{Reader: reader, Unread: true})
		storetest.Must(t, err)
		storetest.Same(t, "subscriptions", len(all), len(subs))
		for _, f := range all {
			want, newest := int64(0), time.Time{}
			for i := range w.items {
				if it := &w.items[i]; it.SourceID == f.SourceID {
					if it.At.After(newest) {
						newest = it.At
					}
					if _, read, _ := w.state(reader, it); !read {
						want++
					}
				}
			}
			storetest.Same(t, "unread", []any{f.Unread, got[f.SourceID].Items}, []any{want, want})
			if want > 0 {
				storetest.Same(t, "newest", got[f.SourceID].Newest, newest)
			}
			storetest.Same(t, "of the source", []any{f.Source.NewestAt, f.Source.Items}, []any{newest, int64(30)})
		}
	}
}

// manySilent tests more silent sources than a merge queries individually. The newest items belong
// to other sources.
func manySilent(t *testing.T, s *stream) {
	busy := s.followFeed("other", "http://busy.example/")
	for range 5 {
		var put []river.Item
		for n := range 900 {
			put = append(put, s.newItem(busy.ID, int(s.seq)+n, s.Now))
		}
		s.readFeed(busy.ID, put...)
	}
	var list []river.Addition
	for n := range 1100 {
		list = append(list, s.addition("ann", feedURL(n)))
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, 2000)
	storetest.Must(t, err)
	var want []string
	for n := range 3 {
		it := s.newItem(list[n*400].Source.ID, n, s.In(-time.Duration(n+1)*time.Hour))
		s.readFeed(list[n*400].Source.ID, it)
		want = append(want, it.Title)
	}
	storetest.Same(t, "newest first", s.titles(river.ItemQuery{Reader: "ann"}), want)
	storetest.Same(t, "one", s.titles(river.ItemQuery{Reader: "ann", Limit: 1}), want[:1])
	slices.Reverse(want)
	storetest.Same(t, "oldest first", s.titles(river.ItemQuery{Reader: "ann", Oldest: true}), want)
	s.index()
	storetest.Same(t, "found", s.titles(river.ItemQuery{Reader: "ann", Match: "title", Oldest: true}), want)
}

func oneMillisecond(t *testing.T, s *stream) {
	src := s.followFeed("ann", feedURL(1))
	var put []river.Item
	for n := range 300 {
		put = append(put, s.newItem(src.ID, n, s.Now))
	}
	s.readFeed(src.ID, put...)
	slices.SortFunc(put, func(a, b river.Item) int { return cmp.Compare(b.ID, a.ID) })
	var got []int64
	q := river.ItemQuery{Reader: "ann", Limit: 7}
	for {
		page := s.ask(q)
		for _, e := range page {
			got = append(got, e.ID)
		}
		if len(page) < 7 {
			break
		}
		q.Before = page[6].Place()
	}
	storetest.Same(t, "in order of id", got, ids(put))
}

// onePlace tests items with the same time and the same first bits of the id, which would get the
// same place.
func onePlace(t *testing.T, s *stream) {
	a, b := s.followFeed("ann", feedURL(1)), s.followFeed("ann", feedURL(2))
	near := func(source int64, n int64) river.Item {
		it := s.newItem(source, int(n), s.Now)
		it.ID = 5<<43 + n
		return it
	}
	s.readFeed(a.ID, near(a.ID, 1), near(a.ID, 2), near(a.ID, 3))
	s.readFeed(b.ID, near(b.ID, 4), near(b.ID, 5))
	s.readFeed(b.ID, near(b.ID, 6), near(b.ID, 5), near(b.ID, 7))
	got := map[int64]bool{}
	q := river.ItemQuery{Reader: "ann", Limit: 1}
	for {
		page := s.ask(q)
		if len(page) == 0 {
			break
		}
		if got[page[0].ID] {
			t.Fatalf("item %d is listed twice", page[0].ID)
		}
		got[page[0].ID] = true
		q.Before = page[0].Place()
	}
	storetest.Same(t, "items", len(got), 7)
	storetest.Same(t, "counted", s.sourceNow(b.ID).Items, int64(4))
}
