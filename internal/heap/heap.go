// Package heap makes the garbage collector run less often in a process with a small heap.
//
// The collector runs when the heap has doubled. With 10 MiB in use, it runs after each 10 MiB of
// garbage, and takes 15 to 30 per cent of the CPU time of pings and of polling. A reserve counts as
// in use but occupies no memory, because the program never writes to it. Large heaps behave as
// before.
package heap

import (
	"math"
	"os"
	"runtime/debug"
	"sync"
)

// Size is the size of the reserve in bytes: about this much more garbage may accumulate.
const Size = 12 << 20

var (
	once    sync.Once
	reserve []byte
)

// Reserve allocates the reserve, once for each process. It does nothing if the operator tunes the
// collector by GOGC or GOMEMLIMIT: a memory limit would count the reserve.
func Reserve() {
	if os.Getenv("GOGC") != "" || debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	once.Do(func() { reserve = make([]byte, Size) })
}
