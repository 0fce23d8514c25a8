//go:build !linux || !(amd64 || arm64)

package sqlite

import "os"

// uncache does nothing: this system has no such request, so a file that is read back may
// come from memory.
func uncache(*os.File) {}
