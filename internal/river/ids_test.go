package river

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestIDSetBehavesLikeAMap(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var s ids
	want := map[int64]bool{}
	for range 20_000 {
		id := r.Int64N(12_000) - 6_000
		if s.has(id) != want[id] {
			t.Fatalf("%d is in the set: %v", id, s.has(id))
		}
		s.add(id)
		want[id] = true
		if s.len() != len(want) {
			t.Fatalf("%d numbers after %d", s.len(), len(want))
		}
	}
	if !slices.Equal(s.all(), slices.Sorted(maps.Keys(want))) {
		t.Error("the numbers are not those that were added, in order")
	}
	for id := range want {
		if !s.has(id) {
			t.Errorf("%d is missing", id)
		}
	}
}

// The ID sets need most of the memory of a long import.
func TestLargeIDSetNeedsLittleMemory(t *testing.T) {
	t.Parallel()
	var s ids
	for range 200_000 {
		s.add(rand.Int64())
		if n := len(s.recent); n > recentIDs+len(s.sorted)/16 {
			t.Fatalf("%d numbers wait to be sorted", n)
		}
	}
	if used := cap(s.sorted); used > s.len() {
		t.Errorf("capacity for %d numbers, want %d", used, s.len())
	}
}
