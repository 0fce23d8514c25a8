package app

import (
	"runtime"
	"runtime/metrics"
)

// crowd is how many goroutines for each processor may wait before it is busy.
const maxWaiting = 8

// busy reports that goroutines queue for a processor.
func busy() bool {
	s := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return false // a runtime that does not tell
	}
	return s[0].Value.Uint64() > uint64(maxWaiting*runtime.GOMAXPROCS(0))
}
