package nettest

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestRefusingAddrReturnsReservedPortThatRefusesConnections(t *testing.T) {
	t.Parallel()
	addr := RefusingAddr(t, "127.0.3.1")
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialling the address: %v", err)
	}
	for _, other := range []string{addr, "0.0.0.0" + addr[strings.LastIndex(addr, ":"):]} {
		if l, err := net.Listen("tcp4", other); err == nil {
			l.Close()
			t.Errorf("another listener is possible at %s", other)
		}
	}
}

func TestFreePortReturnsNoPortTwice(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 1000 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatalf("port %d was returned twice", port)
		}
		seen[port] = true
	}
}
