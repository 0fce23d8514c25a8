//go:build !linux || !(amd64 || arm64)

package sqlite

import "os"

// uncache does nothing, because this system cannot drop a file from its cache. The next read may
// come from memory.
func uncache(*os.File) {}
