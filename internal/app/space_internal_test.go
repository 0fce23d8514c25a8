package app

import "testing"

func TestLowDiskStateChangesWithHysteresis(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	var s space
	for i, tt := range []struct {
		free, size, wanted uint64
		low, changed       bool
	}{
		{100 * mib, 10_000 * mib, 64 * mib, false, false},
		{64 * mib, 10_000 * mib, 64 * mib, false, false},
		{63 * mib, 10_000 * mib, 64 * mib, true, true},
		{10 * mib, 10_000 * mib, 64 * mib, true, false},
		{70 * mib, 10_000 * mib, 64 * mib, true, false}, // the space exceeds the threshold, but by less than an eighth
		{72 * mib, 10_000 * mib, 64 * mib, false, true},
		{65 * mib, 10_000 * mib, 64 * mib, false, false},
		{9 * mib, 80 * mib, 64 * mib, true, true}, // on a small disk, the threshold is an eighth of its size, here 10 MiB
		{12 * mib, 80 * mib, 64 * mib, false, true},
		{0, 80 * mib, 0, false, false}, // without a threshold, the space is never low
		{0, 0, 64 * mib, false, false}, // the system does not report the free space
	} {
		now, changed := s.judge(tt.free, tt.size, tt.wanted)
		if now.low != tt.low || changed != tt.changed || now.known != (tt.size > 0) {
			t.Errorf("%d: %+v, changed %v", i, now, changed)
		}
	}
}
