package rivertest

import (
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

// Statements checks that frequent work runs no more statements than the given bounds. Lower a bound
// when the code needs fewer statements; never raise it. count returns the number of statements that
// the store ran while do ran; each row of a bulk statement counts.
func Statements(t *testing.T, st hub.Store, bounds map[string]int, count func(do func()) int) {
	e := &env{&storetest.Case{Store: st, Ctx: t.Context(), Now: time.UnixMilli(1_790_000_000_123).UTC()}}
	s := e.stream(t)
	const feeds = 50
	for n := range feeds {
		src := s.followFeed("ann", feedURL(n))
		s.readFeed(src.ID, s.items(src.ID, 0, 20)...)
	}
	s.pass(2 * time.Hour)
	var due []river.Source
	got := map[string]int{}
	got["claim of 50 feeds"] = count(func() {
		s.claim++
		var err error
		due, err = s.ClaimSources(s.Ctx, s.Now, s.In(time.Minute), 2*feeds, s.claim)
		s.must(err)
	})
	if len(due) != feeds {
		t.Fatalf("%d of %d feeds are due", len(due), feeds)
	}
	got["unchanged feed"] = count(func() { s.save(river.Saved{Source: due[0]}) })
	news := s.newItem(due[1].ID, 20, s.Now)
	due[1].Last = append([]river.Known{{ID: news.ID, Hash: news.Hash}}, due[1].Last[:19]...)
	got["feed with one new item"] = count(func() { s.save(river.Saved{Source: due[1], Put: []river.Item{news}}) })
	got["page of a river"] = count(func() {
		if n := len(s.ask(river.ItemQuery{Reader: "ann", Limit: 50})); n != 50 {
			t.Errorf("%d items", n)
		}
	})
	storetest.Bounded(t, got, bounds)
}
