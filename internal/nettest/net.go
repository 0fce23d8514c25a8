// Package nettest simulates an internet in memory: hosts with names and addresses, listeners and
// connections, without sockets.
//
// It is for tests inside a testing/synctest bubble, where a goroutine that waits for a real socket
// stops the clock. Here all goroutines wait for conditions and timers of the bubble. Start with
// [Internet], its Listen and its Dialer. Create an Internet inside the bubble that uses it.
package nettest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Internet is a set of hosts. The zero value has no hosts and no latency.
type Internet struct {
	// Latency is the one-way delay; connecting takes twice as long.
	Latency time.Duration

	mu        sync.Mutex
	names     map[string][]netip.Addr
	listeners map[netip.AddrPort]*listener
	hosts     int
	port      uint16
	dials     int
}

// Control is called before each connection, like net.Dialer.Control, with a nil c.
type Control func(network, address string, c syscall.RawConn) error

// Host assigns addresses to name and returns the first address. Lookups return the addresses in
// this order. If addrs is empty, Host assigns the next free address of 50.0.0.1, 50.0.0.2 …. These
// addresses count as public. Tests never connect to them on the real network.
func (n *Internet) Host(name string, addrs ...netip.Addr) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.host(name, addrs)
}

func (n *Internet) host(name string, addrs []netip.Addr) netip.Addr {
	if len(addrs) == 0 {
		n.hosts++
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{50, byte(n.hosts >> 16), byte(n.hosts >> 8), byte(n.hosts)})}
	}
	if n.names == nil {
		n.names = map[string][]netip.Addr{}
	}
	n.names[name] = addrs
	return addrs[0]
}

// Lookup returns the addresses of a name, nil if it is unknown.
func (n *Internet) Lookup(name string) []netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names[name]
}

// Dials returns the number of connection attempts, including refused ones.
func (n *Internet) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Listen listens on "name:port" or "address:port". An unknown name becomes a host. Port 0 means the
// next free port from 40000 on.
func (n *Internet) Listen(address string) (net.Listener, error) {
	name, p, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("nettest: listen %s: %w", address, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	ip, err := netip.ParseAddr(name)
	if err != nil {
		if a := n.names[name]; len(a) > 0 {
			ip = a[0]
		} else {
			ip = n.host(name, nil)
		}
	}
	if port == 0 {
		port = uint64(40000 + n.port)
		n.port++
	}
	at := netip.AddrPortFrom(ip, uint16(port))
	if n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: syscall.EADDRINUSE}
	}
	if n.listeners == nil {
		n.listeners = map[netip.AddrPort]*listener{}
	}
	l := &listener{n: n, at: at}
	l.cond.L = &l.mu
	n.listeners[at] = l
	return l, nil
}

// Dial connects from 50.255.0.1, which belongs to no host.
func (n *Internet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return n.Dialer(netip.AddrFrom4([4]byte{50, 255, 0, 1}), nil)(ctx, network, address)
}

// Dialer returns a dial function for the host from. It calls control, unless nil, for each address
// before connecting. It tries the addresses of a name in order.
func (n *Internet) Dialer(from netip.Addr, control Control) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		name, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		p, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, err
		}
		addrs := n.Lookup(name)
		if ip, err := netip.ParseAddr(name); err == nil {
			addrs = []netip.Addr{ip}
		}
		if len(addrs) == 0 {
			err = &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		for _, ip := range addrs {
			var c net.Conn
			if c, err = n.connect(ctx, from, netip.AddrPortFrom(ip, uint16(p)), control); err == nil {
				return c, nil
			}
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
}

func (n *Internet) connect(ctx context.Context, from netip.Addr, to netip.AddrPort, control Control) (net.Conn, error) {
	if control != nil {
		network := "tcp6"
		if to.Addr().Unmap().Is4() {
			network = "tcp4"
		}
		if err := control(network, to.String(), nil); err != nil {
			return nil, err
		}
	}
	if err := sleep(ctx, 2*n.Latency); err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[to]
	n.dials++
	local := netip.AddrPortFrom(from, uint16(10000+n.dials%50000))
	n.mu.Unlock()
	if l == nil {
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	ours, theirs := pair(n.Latency, local, to)
	if err := l.offer(theirs); err != nil {
		return nil, err
	}
	return ours, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// backlog is the maximum number of connections that wait for Accept. Further connections are
// refused.
const backlog = 1024

type listener struct {
	n      *Internet
	at     netip.AddrPort
	mu     sync.Mutex
	cond   sync.Cond
	queue  []*conn
	closed bool
}

func (l *listener) offer(c *conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.queue) >= backlog {
		return os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	l.queue = append(l.queue, c)
	l.cond.Signal()
	return nil
}

func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.closed {
		l.cond.Wait()
	}
	if l.closed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
	}
	c := l.queue[0]
	l.queue = l.queue[1:]
	return c, nil
}

// Close closes waiting connections and frees the address.
func (l *listener) Close() error {
	l.mu.Lock()
	waiting, was := l.queue, l.closed
	l.queue, l.closed = nil, true
	l.cond.Broadcast()
	l.mu.Unlock()
	for _, c := range waiting {
		c.Close()
	}
	l.n.mu.Lock()
	if l.n.listeners[l.at] == l {
		delete(l.n.listeners, l.at)
	}
	l.n.mu.Unlock()
	if was {
		return errors.New("nettest: listener closed twice")
	}
	return nil
}

func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.at) }
