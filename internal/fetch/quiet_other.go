//go:build !unix

package fetch

// quiet cannot check the socket on this system; a later write fails instead.
func quiet(uintptr) bool { return true }
