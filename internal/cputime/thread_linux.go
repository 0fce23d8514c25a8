package cputime

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Of returns the CPU time of this thread during do, which must not block. On systems without thread
// clocks it returns the elapsed time.
func Of(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := thread()
	do()
	return thread() - begin
}

// Process returns the CPU time of all threads of this process during do. Tests that use it must not
// run in parallel.
func Process(do func()) time.Duration {
	begin := process()
	do()
	return process() - begin
}

func process() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // every Linux supports this call
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// thread returns the CPU time of this thread. Getrusage would have a resolution of only one clock
// tick.
func thread() time.Duration {
	const clockThreadCPUTime = 3
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic(errno) // every Linux supports this clock
	}
	return time.Duration(t.Nano())
}
