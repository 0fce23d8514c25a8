//go:build unix

package fetch

import (
	"io"
	"os"
	"syscall"
)

// ownCalls: the sender reads and writes sockets with its own system calls.
const ownCalls = true

// quiet reports whether an idle socket is open and has no data to read. It reads one byte without
// blocking. If there is a byte, the connection is unusable anyway, because nobody requested the
// data.
func quiet(fd uintptr) bool {
	var b [1]byte
	_, err := syscall.Read(int(fd), b[:])
	return err == syscall.EAGAIN
}

// step makes the next system calls of a turn. It returns false to wait until the socket is readable.
func (t *turn) step(fd uintptr) (done bool) {
	if !t.begun {
		t.begun = true
		if t.reused && !quiet(fd) {
			t.unusable = true
			return true
		}
		if len(t.out) == 0 {
			return true
		}
		n, err := retry(syscall.Write, fd, t.out)
		t.sent = max(n, 0)
		if err != nil && err != syscall.EAGAIN {
			t.writeErr = os.NewSyscallError("write", err)
		}
		return t.sent < len(t.out)
	}
	n, err := retry(syscall.Read, fd, t.in)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil:
		t.readErr = os.NewSyscallError("read", err)
	case n == 0:
		t.readErr = io.EOF
	}
	t.got = max(n, 0)
	return true
}

// retry repeats a system call that a signal interrupted.
func retry(call func(int, []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
