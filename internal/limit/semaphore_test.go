package limit

import "testing"

func TestSemaphoreAdmitsAtMostItsLimitForEachKey(t *testing.T) {
	t.Parallel()
	s := NewSemaphore(3)
	want := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: admitted is %t, want %t", what, got, want)
		}
	}
	many, ok := s.AcquireN("a", 5)
	want("more than the limit, alone", ok, true)
	_, ok = s.Acquire("a")
	want("another one", ok, false)
	_, ok = s.Acquire("b")
	want("another key", ok, true)
	s.Release("b")
	many()
	for range 3 {
		_, ok = s.Acquire("a")
		want("up to the limit", ok, true)
	}
	_, ok = s.Acquire("a")
	want("beyond the limit", ok, false)
	for range 3 {
		s.Release("a")
	}
	if len(s.now) != 0 {
		t.Errorf("released keys are kept: %v", s.now)
	}
}
