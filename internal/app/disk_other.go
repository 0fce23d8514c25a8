//go:build !linux && !darwin

package app

// diskOf is unsupported on this system.
func diskOf(string) (free, size uint64, kind string) { return 0, 0, "" }
