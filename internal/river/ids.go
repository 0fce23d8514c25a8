package river

import "slices"

// ids is a set of IDs. A large set needs 9 to 12 bytes per ID; a map needs 20 to 40.
type ids struct {
	sorted []int64
	recent map[int64]struct{} // IDs that are not merged into sorted yet
}

// recentIDs is the number of IDs that a small set collects in recent before it merges them into
// sorted.
const recentIDs = 1024

func (s *ids) len() int { return len(s.sorted) + len(s.recent) }

func (s *ids) has(id int64) bool {
	if _, yes := s.recent[id]; yes {
		return true
	}
	_, yes := slices.BinarySearch(s.sorted, id)
	return yes
}

func (s *ids) add(id int64) {
	if s.has(id) {
		return
	}
	if s.recent == nil {
		s.recent = map[int64]struct{}{}
	}
	s.recent[id] = struct{}{}
	if len(s.recent) >= recentIDs+len(s.sorted)/16 {
		s.sorted, s.recent = s.all(), nil
	}
}

// all returns the IDs in ascending order.
func (s *ids) all() []int64 {
	out := append(make([]int64, 0, s.len()), s.sorted...)
	for id := range s.recent {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
