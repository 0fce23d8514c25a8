package cputime

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Of is the time that this thread was at work in do, which waits for nothing and nobody:
// others on the machine do not count. Where threads have no clock it is the time on the wall.
func Of(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := thread()
	do()
	return thread() - begin
}

// thread is the clock of this thread. Getrusage knows it to a tick only.
func thread() time.Duration {
	const clockThreadCPUTime = 3
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno) // every Linux has it
	}
	return time.Duration(t.Nano())
}
