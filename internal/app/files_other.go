//go:build !unix

package app

// openFiles is a figure that every system can bear.
func openFiles() int { return 4096 }
