package rivertest

import (
	"fmt"
	"testing"
	"time"

	"cloudburst/feed/polling"
	"cloudburst/internal/river"
)

// river returns the store as a river.Store.
func (e *env) river(t testing.TB) river.Store {
	t.Helper()
	s, ok := e.Store.(river.Store)
	if !ok {
		t.Fatalf("%T is not a river.Store", e.Store)
	}
	return s
}

// stream is a river under test: a store with a clock that the test moves.
type stream struct {
	river.Store
	*env
	t     testing.TB
	seq   int64
	claim int64
}

func (e *env) stream(t testing.TB) *stream { return &stream{Store: e.river(t), env: e, t: t} }

// riverTest converts a test of a stream to a test case.
func riverTest(test func(t *testing.T, s *stream)) func(*testing.T, *env) {
	return func(t *testing.T, e *env) { test(t, e.stream(t)) }
}

// pass moves the clock.
func (s *stream) pass(d time.Duration) { s.Now = s.In(d) }

func feedURL(n int) string { return fmt.Sprintf("http://feeds.example/%03d.xml", n) }

// newSource returns a source without followers.
func (s *stream) newSource(url string) river.Source {
	return river.Source{ID: river.SourceID(url), URL: url, State: polling.New(url, s.Now), NextAt: s.Now}
}

// addition returns the request of a reader to follow a feed.
func (s *stream) addition(reader, url string, categories ...string) river.Addition {
	src := s.newSource(url)
	return river.Addition{Subscription: river.Subscription{Reader: reader, SourceID: src.ID, AddedAt: s.Now, Categories: categories}, Source: src}
}

// followFeed makes a reader follow a feed and returns its source.
func (s *stream) followFeed(reader, url string, categories ...string) river.Source {
	s.t.Helper()
	_, err := s.RiverSubscribe(s.Ctx, []river.Addition{s.addition(reader, url, categories...)}, s.Now, 1_000_000)
	s.must(err)
	return s.sourceNow(river.SourceID(url))
}

func (s *stream) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stream) sourceNow(id int64) river.Source {
	s.t.Helper()
	src, err := s.Store.Source(s.Ctx, id)
	s.must(err)
	return src
}

// take claims a source, whether due or not.
func (s *stream) take(id int64) river.Source {
	s.t.Helper()
	s.claim++
	src, err := s.ClaimSource(s.Ctx, id, s.Now, s.In(time.Minute), s.claim)
	s.must(err)
	return src
}

// newItem returns the nth item of a source.
func (s *stream) newItem(source int64, n int, at time.Time) river.Item {
	s.seq++
	guid := fmt.Sprintf("guid-%d", n)
	return river.Item{ID: river.ItemID(source, guid), SourceID: source, GUID: guid, Seq: s.seq, First: s.seq, At: at, ReadAt: s.Now, Hash: int64(n),
		Content: river.Content{Title: fmt.Sprintf("Title %d", n), Link: fmt.Sprintf("http://feeds.example/item/%d", n),
			HTML: fmt.Sprintf("<p>Text %d</p>", n), Text: fmt.Sprintf("Text %d", n)}}
}

// items returns the items from from to to-1, newest first, at intervals of one minute.
func (s *stream) items(source int64, from, to int) (list []river.Item) {
	for n := from; n < to; n++ {
		list = append(list, s.newItem(source, n, s.In(-time.Duration(n)*time.Minute)))
	}
	return list
}

// readFeed saves a check whose document consists of put.
func (s *stream) readFeed(id int64, put ...river.Item) river.Source {
	s.t.Helper()
	src := s.take(id)
	src.Last = nil
	for _, it := range put {
		src.Last = append(src.Last, river.Known{ID: it.ID, Hash: it.Hash})
	}
	s.save(river.Saved{Source: src, Put: put})
	return s.sourceNow(id)
}

// save saves a check of a claimed source, with the next check in an hour.
func (s *stream) save(v river.Saved) {
	s.t.Helper()
	v.Source.State.CheckedAt, v.Source.State.ReadAt = s.Now, s.Now
	v.Source.NextAt, v.Now = s.In(time.Hour), s.Now
	if v.Check.At.IsZero() {
		v.Check.At = s.Now
	}
	ok, err := s.SaveCheck(s.Ctx, v)
	s.must(err)
	if !ok {
		s.t.Fatal("the check was not saved")
	}
}

// ask returns the result of a query.
func (s *stream) ask(q river.ItemQuery) []river.Entry {
	s.t.Helper()
	list, err := s.Items(s.Ctx, q)
	s.must(err)
	return list
}

// markItems sets marks and returns the number of marked items.
func (s *stream) markItems(reader string, ids []int64, read, starred *bool) int {
	s.t.Helper()
	n, err := s.MarkItems(s.Ctx, reader, ids, read, starred, s.Now)
	s.must(err)
	return n
}

// titles returns the titles that a query finds.
func (s *stream) titles(q river.ItemQuery) []string {
	s.t.Helper()
	list := []string{}
	for _, e := range s.ask(q) {
		list = append(list, e.Title)
	}
	return list
}

// index indexes all items for search.
func (s *stream) index() {
	s.t.Helper()
	for {
		n, err := s.IndexItems(s.Ctx, 100)
		s.must(err)
		if n == 0 {
			return
		}
	}
}

func ids(list []river.Item) (all []int64) {
	for _, it := range list {
		all = append(all, it.ID)
	}
	return all
}
