package cputime

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestProcessorTimeExcludesSleep(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // on other systems, Of returns the elapsed time
	}
	if slept := Of(func() { time.Sleep(200 * time.Millisecond) }); slept >= 100*time.Millisecond {
		t.Errorf("200 ms of sleep were %v of work", slept)
	}
	end := time.Now().Add(time.Minute)
	n := 0
	if worked := Of(func() {
		for n < 1_000_000 && time.Now().Before(end) {
			n++
		}
	}); worked <= 0 {
		t.Errorf("counting to %d was %v of work", n, worked)
	}
}

func TestProcessorTimeIncludesAllThreads(t *testing.T) { // not parallel, because it measures the whole process
	if runtime.GOOS != "linux" {
		return
	}
	if slept := Process(func() { time.Sleep(200 * time.Millisecond) }); slept >= 100*time.Millisecond {
		t.Errorf("200 ms of sleep were %v of work", slept)
	}
	work := func() {
		for begin := thread(); thread()-begin < 20*time.Millisecond; {
		}
	}
	worked := Process(func() {
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { runtime.LockOSThread(); work() })
		}
		group.Wait()
	})
	if worked < 60*time.Millisecond {
		t.Errorf("three threads worked for 20 ms each, and %v were counted", worked)
	}
}
