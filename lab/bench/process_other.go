//go:build !linux

package bench

import (
	"syscall"
	"time"
)

// dieWithParent is for systems that know no such thing: helpers end with their
// input, a server is ended by whoever sees it.
func dieWithParent() *syscall.SysProcAttr { return nil }

// processCPU is not known here.
func processCPU() time.Duration { return 0 }

// openLimit is not known here: whoever sets a limit is told when it is too high.
func openLimit() int { return 1 << 20 }
