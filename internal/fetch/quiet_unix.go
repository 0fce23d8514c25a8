//go:build unix

package fetch

import "syscall"

// quiet reports that an idle socket is open and has nothing to say. It reads
// without waiting: a byte that comes unasked makes the connection worthless
// anyway.
func quiet(fd uintptr) bool {
	var b [1]byte
	_, err := syscall.Read(int(fd), b[:])
	return err == syscall.EAGAIN
}
