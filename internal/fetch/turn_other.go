//go:build !unix

package fetch

// ownCalls: this system offers no way to read and write a socket with system calls, or to check an
// idle one. If the peer has closed an idle connection, a later write fails.
const ownCalls = false

func quiet(uintptr) bool { return true }

func (t *turn) step(uintptr) bool { return true }
