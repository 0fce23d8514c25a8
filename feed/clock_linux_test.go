package feed_test

import (
	"syscall"
	"time"
)

// spent is the time that this thread was at work: others on the machine do not count.
func spent() time.Duration {
	var u syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	if err := syscall.Getrusage(thread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
