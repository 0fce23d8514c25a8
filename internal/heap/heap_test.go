package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// goal returns the size of the heap at which the collector runs next, in bytes.
func goal() uint64 {
	debug.FreeOSMemory() // this call runs the collector
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// awaitGoal runs the collector until its goal is between least and most: the adjustment follows a
// run of the collector.
func awaitGoal(t *testing.T, least, most uint64) {
	t.Helper()
	var last uint64
	for range 5000 {
		if last = goal(); last >= least && last <= most {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("the collector runs at %d bytes, not between %d and %d", last, least, most)
}

func TestCollectorIsDelayed(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	before := delayed.Load()
	if DelayCollector(); delayed.Load() != before {
		t.Fatal("the collector of a process with a memory limit is delayed")
	}
	debug.SetMemoryLimit(1<<63 - 1)
	DelayCollector()
	DelayCollector()
	awaitGoal(t, Room, Room+Room/2)
	ballast := make([]byte, 5*Room)
	awaitGoal(t, 10*Room, 10*Room+Room/2)
	runtime.KeepAlive(ballast)
	awaitGoal(t, Room, Room+Room/2)
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		scanned uint64
		want    int
	}{{0, 300}, {1 << 20, 300}, {4 << 20, 300}, {8 << 20, 150}, {10 << 20, 120}, {Room, 100}, {1 << 40, 100}} {
		if got := percent(c.scanned); got != c.want {
			t.Errorf("with %d bytes, the percentage is %d, not %d", c.scanned, got, c.want)
		}
	}
}
