package storetest

import "testing"

// Bounded compares counts with their bounds; the key is the name of the counted work. The test also
// fails if a bound is too large: then lower the bound.
func Bounded(t testing.TB, got, bounds map[string]int) {
	t.Helper()
	for name, n := range got {
		switch most, ok := bounds[name]; {
		case !ok:
			t.Errorf("%s: %d statements; it has no bound", name, n)
		case n > most:
			t.Errorf("%s: %d statements, want at most %d", name, n, most)
		case n < most:
			t.Errorf("%s: %d statements, the bound is %d: lower it", name, n, most)
		}
	}
}
