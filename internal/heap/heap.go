// Package heap makes the garbage collector run less often in a process with a small heap.
//
// By default the collector runs when the heap has doubled. With 8 MiB in use, it runs after each
// 8 MiB of garbage, and takes 15 to 30 per cent of the CPU time of pings and of polling. This
// package makes it wait for [Room]. Larger heaps behave as before.
package heap

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// Room is the size of the garbage in bytes that may always accumulate before the collector runs.
const Room = 12 << 20

// least is the size of the smallest heap to which the percentage applies: the collector also has a
// minimum, which grows with the percentage and would exceed the room.
const least = 4 << 20

// standard is the percentage that the collector starts with.
const standard = 100

var delayed atomic.Bool

// DelayCollector makes the collector wait for Room from now on, once for each process. It does
// nothing if the operator tunes the collector by GOGC or GOMEMLIMIT.
func DelayCollector() {
	if os.Getenv("GOGC") != "" || debug.SetMemoryLimit(-1) != math.MaxInt64 || delayed.Swap(true) {
		return
	}
	adjust(standard)
}

// sentinel is an object that is garbage at once, so that the next run of the collector finds it. It
// has a pointer, because the collector would keep a small object without one together with others.
type sentinel struct{ _ *byte }

// adjust sets the percentage for the current heap, now and after each run of the collector. before
// is the current percentage.
func adjust(before int) {
	now := percent(scanned())
	if now != before {
		debug.SetGCPercent(now)
	}
	runtime.AddCleanup(new(sentinel), adjust, now)
}

// percent returns the garbage that may accumulate, in per cent of what the collector scans.
func percent(scanned uint64) int { return int(max(standard, Room*100/max(scanned, least))) }

// scanned returns what the last run of the collector scanned and kept, in bytes.
func scanned() (n uint64) {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(s)
	for _, v := range s {
		n += v.Value.Uint64()
	}
	return n
}
