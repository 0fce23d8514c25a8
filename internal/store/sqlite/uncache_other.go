//go:build !linux || !(amd64 || arm64)

package sqlite

import "os"

// uncache does nothing: this system has no such request, so a read may come from memory.
func uncache(*os.File) {}
