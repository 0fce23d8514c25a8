package app

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// ignoreNew drops the first packet of each new connection. If the system has no socket filters,
// ignoreNew has no effect.
func (s ownSocket) ignoreNew() {
	const (
		flags = 13 // offset of the flags in a TCP header
		syn   = 0x02
		ack   = 0x10
	)
	drop := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: syn | ack},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 16}, // the maximum number of bytes to keep
	}
	s.control(func(fd int) {
		_ = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(drop)), Filter: &drop[0]})
	})
}

// pending reports whether the socket has established connections that are not accepted.
func (s ownSocket) pending() bool {
	ready := 0
	s.control(func(fd int) {
		ready, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) // after an error, ready is not positive
	})
	return ready > 0
}

// control calls f with the descriptor of the socket, unless the socket is closed.
func (s ownSocket) control(f func(fd int)) {
	if raw, err := s.Listener.(syscall.Conn).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { f(int(fd)) }) // the error means that the socket is closed
	}
}
