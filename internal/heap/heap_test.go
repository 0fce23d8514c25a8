package heap

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// goal returns the size of the heap at which the collector runs next, in bytes.
func goal() uint64 {
	debug.FreeOSMemory() // this call runs the collector
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestReserveDelaysCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	t.Setenv("GOGC", "")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 40))
	if Reserve(); reserve != nil {
		t.Fatal("a process with a memory limit has a reserve")
	}
	debug.SetMemoryLimit(1<<63 - 1)
	before := goal()
	Reserve()
	Reserve()
	if after := goal(); after < before+Size || after > before+3*Size {
		t.Errorf("the collector runs at %d bytes, without the reserve at %d", after, before)
	}
}
