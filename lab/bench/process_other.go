//go:build !linux

package bench

import (
	"syscall"
	"time"
)

// dieWithParent has no effect on systems without this feature: helpers end with their input,
// and the parent ends the server.
func dieWithParent() *syscall.SysProcAttr { return nil }

// processCPU is unknown on this system.
func processCPU() time.Duration { return 0 }

// openLimit is unknown on this system. Setting a limit that is too high fails.
func openLimit() int { return 1 << 20 }
