package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// One local port must serve connections to any number of hosts. Otherwise a machine that notifies
// many hosts at once runs out of ports.
func TestLocalPortsAreSharedBetweenHosts(t *testing.T) {
	const localPortRange, ports, hosts = 51, 4, 12 // IP_LOCAL_PORT_RANGE of Linux 6.3 and later
	d := newDialer(&Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, nil, nil)
	guard, supported := d.net.Control, true
	d.net.Control = func(network, address string, c syscall.RawConn) error {
		c.Control(func(fd uintptr) {
			first := 50_000
			supported = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, localPortRange, (first+ports-1)<<16|first) == nil
		})
		return guard(network, address, c)
	}
	for i := range hosts {
		host := fmt.Sprintf("127.0.7.%d", i+1)
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		at := netip.MustParseAddrPort(l.Addr().String())
		c, err := d.dialTarget(t.Context(), &target{host: host, ip: at.Addr(), port: at.Port()}, time.Now().Add(5*time.Second))
		if err != nil {
			t.Fatalf("host %d of %d, with %d ports to go out from: %v", i+1, hosts, ports, err)
		}
		defer c.Close()
	}
	if !supported {
		t.Log("this kernel does not support IP_LOCAL_PORT_RANGE: nothing was tested")
	}
}
