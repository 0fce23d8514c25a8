//go:build amd64 || arm64

package sqlite

import (
	"os"
	"syscall"
)

// uncache has the system forget what it keeps in memory of a file that was synced, so that
// the next reading comes from the disk. It is a request: an error changes nothing.
func uncache(f *os.File) {
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	_, _, _ = syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
}
