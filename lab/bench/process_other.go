//go:build !linux

package bench

import (
	"syscall"
	"time"
)

// dieWithParent returns nil, because this system cannot end a child with its parent. Helpers end
// when their input ends, and the parent stops the server.
func dieWithParent() *syscall.SysProcAttr { return nil }

// processCPU returns 0, because the CPU time is unknown on this system.
func processCPU() time.Duration { return 0 }

// openLimit returns a high value, because the maximum is unknown on this system.
func openLimit() int { return 1 << 20 }
