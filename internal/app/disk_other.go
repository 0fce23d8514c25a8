//go:build !linux && !darwin

package app

// diskOf knows nothing here.
func diskOf(string) (free, size uint64, kind string) { return 0, 0, "" }
