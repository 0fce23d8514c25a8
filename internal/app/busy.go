package app

import (
	"runtime"
	"runtime/metrics"
)

// maxWaiting is the number of waiting goroutines per processor above which the process is busy.
const maxWaiting = 8

// busy reports whether more than maxWaiting goroutines per processor wait for a processor.
func busy() bool {
	s := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return false // this version of the Go runtime does not have the metric
	}
	return s[0].Value.Uint64() > uint64(maxWaiting*runtime.GOMAXPROCS(0))
}
