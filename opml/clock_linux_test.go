package opml_test

import (
	"syscall"
	"time"
)

// clock is the time that this thread has worked: what others do on the machine
// meanwhile is not in it.
func clock() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if syscall.Getrusage(thread, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
