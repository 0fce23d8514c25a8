package feed_test

import (
	"syscall"
	"time"
	"unsafe"
)

// spent is the time that this thread was at work: others on the machine do not count.
// Getrusage knows it to a tick of the clock only.
func spent() time.Duration {
	const clockThreadCPUTime = 3
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(t.Nano())
}
