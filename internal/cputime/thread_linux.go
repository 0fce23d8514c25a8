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

// Process is the CPU time of all threads of this process during do. Nothing else may run in the
// process meanwhile, so a test that uses it is not parallel.
func Process(do func()) time.Duration {
	begin := process()
	do()
	return process() - begin
}

func process() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // every Linux has it
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
