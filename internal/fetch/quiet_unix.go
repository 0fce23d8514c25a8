//go:build unix

package fetch

import "syscall"

// quiet reports whether an idle socket is open and has no data to read. It reads one byte without
// blocking. If there is a byte, the connection is unusable anyway, because nobody requested the
// data.
func quiet(fd uintptr) bool {
	var b [1]byte
	_, err := syscall.Read(int(fd), b[:])
	return err == syscall.EAGAIN
}
