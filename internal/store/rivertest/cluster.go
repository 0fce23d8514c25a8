package rivertest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/river"
	"cloudburst/internal/store/storetest"
)

// SourceClaims checks that two stores on one database never claim the same source concurrently, and
// that only the owner of a claim writes.
func SourceClaims(t *testing.T, a, b hub.Store) {
	const sources, rounds = 300, 20
	s := newEnv(t, a).stream(t)
	var list []river.Addition
	for n := range sources {
		list = append(list, s.addition("ann", feedURL(n)))
	}
	_, err := s.RiverSubscribe(s.Ctx, list, s.Now, sources)
	storetest.Must(t, err)
	stores := []river.Store{s.Store, newEnv(t, b).river(t)}
	held, mu := map[int64]int64{}, sync.Mutex{}
	var group sync.WaitGroup
	for worker := range 6 {
		group.Go(func() {
			st := stores[worker%2]
			for round := range rounds {
				claim := int64(1000*(worker+1) + round)
				got, err := st.ClaimSources(s.Ctx, s.Now, s.In(time.Minute), 20, claim)
				if err != nil {
					t.Error(err)
					return
				}
				for _, src := range got {
					mu.Lock()
					if other := held[src.ID]; other != 0 {
						t.Errorf("source %d is claimed by %d and by %d", src.ID, other, claim)
					}
					held[src.ID] = claim
					mu.Unlock()
				}
				for _, src := range got {
					mu.Lock()
					delete(held, src.ID)
					mu.Unlock()
					src.NextAt = s.Now // due again
					it := river.Item{ID: river.ItemID(src.ID, fmt.Sprint(claim)), GUID: "g", Seq: claim, At: s.Now, ReadAt: s.Now}
					if ok, err := st.SaveCheck(s.Ctx, river.Saved{Source: src, Check: river.Check{At: s.Now}, Put: []river.Item{it}, Now: s.Now}); err != nil || !ok {
						t.Errorf("saved: %v, %v", ok, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	items := int64(0)
	for n := range sources {
		items += s.sourceNow(river.SourceID(feedURL(n))).Items
	}
	all, err := s.Changed(s.Ctx, 0, 1000)
	storetest.Must(t, err)
	n, err := s.CountSources(s.Ctx, s.Now)
	storetest.Same(t, "items", []any{n.Items, err, len(all) > 0}, []any{items, error(nil), true})
}

// SameSubscriptions checks the number of readers when two of them follow and unfollow concurrently.
func SameSubscriptions(t *testing.T, a, b hub.Store) {
	s := newEnv(t, a).stream(t)
	stores := []river.Store{s.Store, newEnv(t, b).river(t)}
	var group sync.WaitGroup
	for worker := range 6 {
		group.Go(func() {
			reader := fmt.Sprint("reader", worker/2) // two workers use the same reader
			for round := range 6 {
				var list []river.Addition
				for n := range 20 {
					list = append(list, s.addition(reader, feedURL(n), "c"))
				}
				if round%2 == 1 {
					slices.Reverse(list)
				}
				if _, err := stores[worker%2].RiverSubscribe(s.Ctx, list, s.Now, 100); err != nil {
					t.Error(err)
				}
				var some []int64
				for n := 5 * (round % 3); n < 10; n++ {
					some = append(some, river.SourceID(feedURL(n)))
				}
				if _, err := stores[worker%2].RiverUnsubscribe(s.Ctx, reader, some); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for n := range 20 {
		id := river.SourceID(feedURL(n))
		want := int64(0)
		for reader := range 3 {
			want += int64(len(s.following(river.SubscriptionQuery{Reader: fmt.Sprint("reader", reader), SourceID: id})))
		}
		storetest.Same(t, "readers", s.sourceNow(id).Readers, want)
	}
}
