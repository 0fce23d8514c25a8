package cputime

import (
	"runtime"
	"testing"
	"time"
)

func TestOnlyWorkCounts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // threads have no clock of their own there
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
