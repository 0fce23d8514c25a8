package feed

import "unsafe"

// slab makes many small slices out of few allocations. A slice grows in place as long
// as it is the last one that was begun.
type slab[T any] struct {
	free   []T
	budget *budget // nil: there is none
}

const slabSize = 32

// add is append for a slice that began in the slab, or is nil.
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
