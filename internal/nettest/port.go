package nettest

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// RefusingAddr returns a local "ip:port" that refuses connections until the test ends. ip is an
// IPv4 address. Until then, no other program can listen on this address.
func RefusingAddr(t testing.TB, ip string) string {
	t.Helper()
	addr, end, err := ReserveRefusingAddr(ip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return addr
}

// ReserveRefusingAddr is like [RefusingAddr], but the address refuses connections until the caller
// calls end.
func ReserveRefusingAddr(ip string) (addr string, end func(), err error) {
	syscall.ForkLock.RLock()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return "", nil, err
	}
	end = func() { _ = syscall.Close(socket) } // ignore errors: the socket was never connected
	if err = syscall.Bind(socket, &syscall.SockaddrInet4{Addr: netip.MustParseAddr(ip).As4()}); err == nil {
		var name syscall.Sockaddr
		if name, err = syscall.Getsockname(socket); err == nil {
			return net.JoinHostPort(ip, strconv.Itoa(name.(*syscall.SockaddrInet4).Port)), end, nil
		}
	}
	end()
	return "", nil, err
}

// handedOut holds the ports that FreePort returned.
var handedOut sync.Map

// FreePort returns a port of 127.0.0.1 without a listener, outside the ephemeral range, so that a
// program can listen on it repeatedly. It returns each port once per process.
func FreePort() (int, error) {
	last := errors.New("no port from 20000 to 29999 is free")
	for range 200 {
		port := 20_000 + rand.IntN(10_000)
		if _, used := handedOut.LoadOrStore(port, true); used {
			continue
		}
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return port, l.Close()
		}
		last = err
	}
	return 0, last
}
