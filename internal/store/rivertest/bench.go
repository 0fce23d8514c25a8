package rivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

// benched returns a stream on a store for benchmarks.
func benched(b *testing.B, s hub.Store) *stream {
	b.Helper()
	e := &env{&storetest.Case{Store: s, Ctx: b.Context(), Now: time.UnixMilli(1_790_000_000_123).UTC()}}
	return e.stream(b)
}

// many makes a reader follow n sources and returns their ids.
func (s *stream) many(reader string, n int) (all []int64) {
	s.t.Helper()
	var list []river.Addition
	for i := range n {
		list = append(list, s.addition(reader, fmt.Sprintf("http://host%d.example/feed/%d.xml", i%1000, i)))
		all = append(all, list[i].Source.ID)
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, n)
	s.must(err)
	return all
}

// together runs do once for each number below n, in the given number of concurrent callers.
func together(n, callers int, do func(n int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make(chan error, callers)
	for range callers {
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) {
					return
				}
				if err := do(int(i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(errs)
	return <-errs
}

// prose generates texts with a natural distribution of word frequencies.
type prose struct {
	rnd   *rand.Rand
	words *rand.Zipf
}

func newProse(seed uint64) *prose {
	rnd := rand.New(rand.NewPCG(seed, 1))
	return &prose{rnd, rand.NewZipf(rnd, 1.1, 5, 20_000)}
}

func (p *prose) text(words int) string {
	var b strings.Builder
	for range words {
		n := p.words.Uint64()
		// Write the number in letters, so that words share prefixes.
		for n += 26; n > 0; n /= 26 {
			b.WriteByte(byte('a' + n%26))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// UnchangedChecks measures checks without news, including claims, with the given number of sources
// and concurrent callers.
func UnchangedChecks(b *testing.B, st hub.Store, sources, callers int) {
	s := benched(b, st)
	all := s.many("", sources)
	s.must(together(sources, callers, func(n int) error {
		src, err := s.ClaimSource(s.Ctx, all[n], s.Now, s.In(time.Minute), 1)
		if err != nil {
			return err
		}
		src.State.ReadAt, src.NextAt = s.Now, s.Now
		src.About = river.About{Title: "A feed", Home: "http://host.example/", Description: "of some length, as most have one", Format: "RSS 2.0"}
		for i := range 20 {
			src.Last = append(src.Last, river.Known{ID: int64(i), Hash: int64(i)})
		}
		_, err = s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: s.check(), Now: s.Now})
		return err
	}))
	s.claim = 1
	b.ResetTimer()
	s.busy(callers, b.N, func(_ int, src river.Source) error {
		src.NextAt, src.State.CheckedAt = s.Now, s.Now
		ok, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: s.check(), Now: s.Now})
		if err == nil && !ok {
			err = errors.New("the check was not saved")
		}
		return err
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
}

// busy claims sources in groups of 200 and distributes n of them to the callers.
func (s *stream) busy(callers, n int, do func(n int, src river.Source) error) {
	due := make(chan river.Source, 200)
	go func() {
		defer close(due)
		for sent := 0; sent < n; {
			s.claim++
			list, err := s.ClaimSources(s.Ctx, s.In(time.Minute), s.In(time.Hour), min(200, n-sent), s.claim)
			if err != nil {
				s.t.Error(err)
				return
			}
			for _, src := range list {
				due <- src
			}
			sent += len(list)
		}
	}()
	var count atomic.Int64
	s.must(together(callers, callers, func(int) error {
		for src := range due {
			if err := do(int(count.Add(1)), src); err != nil {
				return err
			}
		}
		return nil
	}))
}

// check returns the result of a typical check of a feed.
func (s *stream) check() river.Check {
	return river.Check{At: s.Now, URL: "http://host.example/feed.xml", Status: 304, Outcome: "unchanged", Text: "It has not changed since 12:00.",
		Next: s.In(time.Hour), Why: "max-age 1 h seen 12:00; ttl 60 considered",
		Sent: strings.Repeat("Header: value\n", 8), Received: strings.Repeat("Header: value\n", 12)}
}

// FirstReadings measures checks that add twenty items each, with the given number of callers.
func FirstReadings(b *testing.B, st hub.Store, callers int) {
	s := benched(b, st)
	s.many("", b.N)
	text := newProse(1).text(300)
	b.ResetTimer()
	s.busy(callers, b.N, func(n int, src river.Source) error {
		src.State.ReadAt, src.NextAt = s.Now, s.In(time.Hour)
		var put []river.Item
		for i := range 20 {
			it := river.Item{ID: river.ItemID(src.ID, fmt.Sprint(i)), GUID: fmt.Sprint("http://host.example/item/", i), Seq: int64(20*n + i + 1),
				At: s.In(-time.Duration(20*n+i) * time.Second), ReadAt: s.Now, Hash: 1,
				Content: river.Content{Title: "The title of an item", Link: fmt.Sprint("http://host.example/item/", i), HTML: "<p>" + text + "</p>", Text: text}}
			put = append(put, it)
			src.Last = append(src.Last, river.Known{ID: it.ID, Hash: 1})
		}
		_, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: s.check(), Put: put, Now: s.Now})
		return err
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
	b.ReportMetric(float64(20*b.N)/b.Elapsed().Seconds(), "items/s")
}

// ClaimsOf measures claims of 200 out of many sources.
func ClaimsOf(b *testing.B, st hub.Store, sources int) {
	s := benched(b, st)
	for left := sources; left > 0; left -= 100_000 {
		var list []river.Addition
		for i := range min(left, 100_000) {
			a := s.addition("", fmt.Sprintf("http://host%d.example/feed/%d.xml", i%1000, left-i))
			a.Source.NextAt = s.In(time.Duration(i) * time.Second)
			list = append(list, a)
		}
		at := time.Now()
		_, err := s.RiverSubscribe(s.Ctx, list, s.Now, sources)
		s.must(err)
		b.Logf("%d followed in %v", len(list), time.Since(at))
	}
	b.ResetTimer()
	for b.Loop() {
		s.claim++
		s.pass(time.Minute)
		list, err := s.ClaimSources(s.Ctx, s.Now, s.In(100*24*time.Hour), 200, s.claim)
		s.must(err)
		if len(list) < 60 {
			b.Fatalf("%d claimed", len(list))
		}
	}
}

// benchRiver creates a river of 100,000 items of 500 sources. The reader "" follows all, "silent"
// follows three silent sources. The category "old" of "" has 50 sources without recent items.
func benchRiver(b *testing.B, st hub.Store) *stream {
	s := benched(b, st)
	const sources, each = 500, 200
	var list []river.Addition
	old := func(n int) bool { return n >= 200 && n < 250 }
	for n := range sources {
		a := s.addition("", feedURL(n), "all")
		if old(n) {
			a.Categories = append(a.Categories, "old")
		}
		if n%10 == 0 {
			a.Categories = append(a.Categories, "tenth")
		}
		if list = append(list, a); n%100 == 1 {
			a := s.addition("five", feedURL(n))
			list = append(list, a)
		}
		if old(n) && n%20 == 7 {
			list = append(list, s.addition("silent", feedURL(n)))
		}
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, 1000)
	s.must(err)
	var seq atomic.Int64
	s.must(together(sources, 8, func(n int) error {
		p := newProse(uint64(n))
		id := river.SourceID(feedURL(n))
		src, err := s.ClaimSource(s.Ctx, id, s.Now, s.In(time.Minute), 1)
		if err != nil {
			return err
		}
		src.State.ReadAt, src.NextAt = s.Now, s.In(time.Hour)
		var put []river.Item
		for i := range each {
			at := s.In(-time.Duration(i*500+n) * time.Minute)
			if old(n) {
				at = at.Add(-2 * 365 * 24 * time.Hour)
			}
			text := p.text(200)
			number := seq.Add(1)
			put = append(put, river.Item{ID: river.ItemID(id, fmt.Sprint(i)), GUID: fmt.Sprint(i), Seq: number, First: number, At: at, ReadAt: s.Now, Hash: 1,
				Content: river.Content{Title: p.text(6), Link: fmt.Sprint("http://host.example/item/", i), HTML: "<p>" + text + "</p>", Text: text}})
		}
		_, err = s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: s.check(), Put: put, Now: s.Now})
		return err
	}))
	at := time.Now()
	s.index()
	b.Logf("%d items indexed at %.0f a second", sources*each, sources*each/time.Since(at).Seconds())
	return s
}

// readOneByOne marks each of the newest n items as read.
func (s *stream) readOneByOne(n int) {
	s.t.Helper()
	yes := true
	q := river.ItemQuery{Bare: true, Limit: 1000}
	for range n / 1000 {
		var some []int64
		page := s.ask(q)
		for _, e := range page {
			some = append(some, e.ID)
		}
		s.markItems("", some, &yes, nil)
		q.Before = page[len(page)-1].Place()
	}
}

// Rivers measures pages of 50 out of 100,000 items.
func Rivers(b *testing.B, st hub.Store) {
	s := benchRiver(b, st)
	deep := s.ask(river.ItemQuery{From: s.In(-60 * 24 * time.Hour), Oldest: true, Limit: 1})[0].Place()
	yes := true
	var some []int64
	for _, e := range s.ask(river.ItemQuery{Limit: 1000}) {
		if some = append(some, e.ID); len(some)%10 == 0 {
			s.markItems("", []int64{e.ID}, nil, &yes)
		}
	}
	s.markItems("", some, &yes, nil)
	id := river.SourceID(feedURL(7))
	word := "ab" // the most frequent word
	for _, one := range []struct {
		name string
		q    river.ItemQuery
	}{
		{"all", river.ItemQuery{}}, {"all, deep", river.ItemQuery{Before: deep}}, {"all, oldest first", river.ItemQuery{Oldest: true}},
		{"five of 500", river.ItemQuery{Reader: "five"}}, {"five of 500, deep", river.ItemQuery{Reader: "five", Before: deep}},
		{"three silent of 500", river.ItemQuery{Reader: "silent"}},
		{"category of all", river.ItemQuery{Category: "all"}}, {"category of a tenth", river.ItemQuery{Category: "tenth"}},
		{"category of a tenth, deep", river.ItemQuery{Category: "tenth", Before: deep}},
		{"category without recent items", river.ItemQuery{Category: "old"}},
		{"one source", river.ItemQuery{SourceID: id}}, {"unread", river.ItemQuery{Unread: true}}, {"unread of one", river.ItemQuery{SourceID: id, Unread: true}},
		{"unread of a category", river.ItemQuery{Category: "old", Unread: true}}, {"read", river.ItemQuery{Read: true}},
		{"starred", river.ItemQuery{Starred: true}}, {"by first", river.ItemQuery{ByFirst: true}}, {"by first, silent", river.ItemQuery{Reader: "silent", ByFirst: true}},
		{"recent changes", river.ItemQuery{ChangedIn: 99_900}}, {"bare, 1,000", river.ItemQuery{Bare: true, Limit: 1000}},
		{"search, common", river.ItemQuery{Match: word}}, {"search, common, deep", river.ItemQuery{Match: word, Before: deep}},
		{"search, common, three silent", river.ItemQuery{Match: word, Reader: "silent"}},
		{"search, common, old category", river.ItemQuery{Match: word, Category: "old"}}, {"search, two common", river.ItemQuery{Match: "bb cb"}},
		{"search, phrase", river.ItemQuery{Match: `"ab bb"`}}, {"search, beginning", river.ItemQuery{Match: "ab bc"}}, {"search, rare", river.ItemQuery{Match: "xyz"}},
		{"search, without", river.ItemQuery{Match: "eb -ab"}}, {"search, nothing", river.ItemQuery{Match: "ab nosuchword"}},
		{"search, starred", river.ItemQuery{Match: word, Starred: true}}, {"search, unread", river.ItemQuery{Match: word, Unread: true}},
	} {
		b.Run(one.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				list, err := s.Items(b.Context(), one.q)
				if err != nil {
					b.Fatal(err)
				}
				n = len(list)
			}
			b.ReportMetric(float64(n), "items")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/page")
		})
	}
	s.readOneByOne(50_000)
	for name, q := range map[string]river.ItemQuery{"unread behind 50,000 individual marks": {Unread: true}, "unread of a tenth behind individual marks": {Unread: true, Category: "tenth"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if list, err := s.Items(b.Context(), q); err != nil || len(list) != 50 {
					b.Fatal(len(list), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/page")
		})
	}
	b.Run("unread counts", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.CountUnread(b.Context(), ""); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/page")
	})
}

// Indexing measures indexing items for search.
func Indexing(b *testing.B, st hub.Store) {
	s := benched(b, st)
	s.many("", 500)
	p := newProse(1)
	for n := 0; n < b.N; {
		s.busy(1, min(500, b.N/20+1), func(_ int, src river.Source) error {
			src.State.ReadAt, src.NextAt = s.Now, s.Now
			var put []river.Item
			for range 20 {
				n++
				text := p.text(200)
				put = append(put, river.Item{ID: river.ItemID(src.ID, fmt.Sprint(n)), GUID: fmt.Sprint(n), Seq: int64(n), At: s.In(time.Duration(n) * time.Second), Hash: 1,
					Content: river.Content{Title: p.text(6), HTML: text, Text: text}})
			}
			_, err := s.SaveCheck(s.Ctx, river.Saved{Source: src, Check: s.check(), Put: put, Now: s.Now})
			return err
		})
	}
	b.ResetTimer()
	s.index()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
