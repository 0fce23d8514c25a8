package hubtest

import (
	"slices"
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func splitTests() map[string]func(*testing.T, *env) {
	return map[string]func(*testing.T, *env){
		"RangesAreEvenAndComplete": evenSplit,
		"BusyTopicIsNotSplit": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			p := e.change(t, feed, 1).Claimed[0]
			storetest.Must(t, e.Split(e.Ctx, p.TopicID, 4))
			_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true})
			storetest.Must(t, err)
			storetest.Same(t, "shards", len(e.change(t, feed, 10).Claimed), 1)
		},
		"WaitingTopicIsNotSplit": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			e.change(t, feed, 0)
			storetest.Must(t, e.Split(e.Ctx, hub.TopicID(feed), 4))
			storetest.Same(t, "shards", len(e.claim(t)), 1)
		},
		"SplitIntoFewerShardsChangesNothing": func(t *testing.T, e *env) {
			e.followers(t, feed, 1)
			for _, n := range []int{4, 2, 1, 0, -1} {
				storetest.Must(t, e.Split(e.Ctx, hub.TopicID(feed), n))
			}
			storetest.Same(t, "shards", len(e.change(t, feed, 10).Claimed), 4)
		},
		"UnknownTopicIsIgnored": func(t *testing.T, e *env) { storetest.Must(t, e.Split(e.Ctx, 99, 4)) },
	}
}

func evenSplit(t *testing.T, e *env) {
	e.followers(t, feed, 1)
	for _, n := range []int{2, 3, 10} {
		storetest.Must(t, e.Split(e.Ctx, hub.TopicID(feed), n))
		shards := e.change(t, feed, 1000).Claimed
		if len(shards) < n {
			t.Fatalf("%d shards, want at least %d", len(shards), n)
		}
		numbers := map[int]bool{}
		for _, p := range shards {
			numbers[p.N] = true
			_, err := e.Checkpoint(e.Ctx, hub.Checkpoint{Shard: p, Now: e.Now, Finish: true})
			storetest.Must(t, err)
			if width := int(p.Hi - p.Lo + 1); width > hub.Buckets/len(shards)+2 || width < hub.Buckets/len(shards)-2 {
				t.Errorf("a shard of %d has %d buckets of %d", len(shards), width, hub.Buckets)
			}
		}
		storetest.Same(t, "different numbers", len(numbers), len(shards))
		slices.SortFunc(shards, func(a, b hub.Shard) int { return int(a.Lo - b.Lo) })
		next := int32(0)
		for _, p := range shards {
			storetest.Same(t, "start of a shard", p.Lo, next)
			next = p.Hi + 1
		}
		storetest.Same(t, "end of the last", next, int32(hub.Buckets))
	}
}
