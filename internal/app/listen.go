package app

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// capped bounds the connections of a listener, in all and from one address, so
// that no stranger can take every socket. Addresses that exempt reports count
// only for the total: a trusted proxy speaks for many.
type capped struct {
	net.Listener
	total, perAddr int
	exempt         func(netip.Addr) bool

	mu   sync.Mutex
	open int
	from map[netip.Addr]int
}

const busyAnswer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 44\r\nConnection: close\r\n\r\nToo many connections; please try again soon\n"

func newCapped(l net.Listener, total, perAddr int, exempt func(netip.Addr) bool) *capped {
	return &capped{Listener: l, total: total, perAddr: perAddr, exempt: exempt, from: map[netip.Addr]int{}}
}

// Accept waits for a connection that fits; the others are told to come back.
func (c *capped) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		addr := addrOf(conn)
		if c.admit(addr) {
			return &cappedConn{Conn: conn, end: sync.OnceFunc(func() { c.release(addr) })}, nil
		}
		go refuse(conn)
	}
}

func refuse(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = conn.Write([]byte(busyAnswer)) // a courtesy; the connection is closed anyway
	}
}

func addrOf(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

func (c *capped) admit(a netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.total {
		return false
	}
	if c.from[a] >= c.perAddr && !c.exempt(a) {
		return false
	}
	c.open++
	c.from[a]++
	return true
}

func (c *capped) release(a netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.from[a]--; c.from[a] == 0 {
		delete(c.from, a)
	}
}

type cappedConn struct {
	net.Conn
	end func()
}

func (c *cappedConn) Close() error {
	c.end()
	return c.Conn.Close()
}
