//go:build amd64 || arm64

package sqlite

import (
	"os"
	"syscall"
)

// uncache asks the system to drop a synced file from its cache, so that the next read comes from
// disk. It ignores errors: then the read may come from memory.
func uncache(f *os.File) {
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	_, _, _ = syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
}
