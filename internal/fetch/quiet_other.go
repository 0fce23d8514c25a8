//go:build !unix

package fetch

// quiet cannot be found out here; a failing write tells.
func quiet(uintptr) bool { return true }
