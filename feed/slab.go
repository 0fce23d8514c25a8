package feed

import "unsafe"

// slab allocates many small slices with few allocations. The slice that was started last can grow
// in place.
type slab[T any] struct {
	free   []T
	budget *budget // nil: there is no limit
}

const slabSize = 32

// add is like append. list must be a slice from the slab, or nil.
func (s *slab[T]) add(list []T, v T) []T {
	if s.budget != nil && !s.budget.take(int(unsafe.Sizeof(v))) {
		return list
	}
	n := len(list)
	if n < cap(list) {
		return append(list, v)
	}
	want := max(1, 2*n)
	if len(s.free) < want {
		s.free = make([]T, max(want, slabSize))
	}
	grown := s.free[: n+1 : want]
	s.free = s.free[want:]
	copy(grown, list)
	grown[n] = v
	return grown
}
