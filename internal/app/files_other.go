//go:build !unix

package app

// openFiles returns a number that is safe on every system.
func openFiles() int { return 4096 }
