//go:build !unix

package app

// openFiles returns a number of file descriptors that every system allows.
func openFiles() int { return 4096 }
