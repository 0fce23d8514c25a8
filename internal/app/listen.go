package app

import (
	"context"
	"net"
	"net/http"
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

	all, ended    chan struct{} // closed: all that was accepted is counted; the listener is closed
	accepted, end func()

	mu     sync.Mutex
	paused bool
	open   int
	from   map[netip.Addr]int
	idle   map[net.Conn]struct{} // those between two requests
}

// drainTick is between two looks at what is still open while the program ends.
const drainTick = 5 * time.Millisecond

const busyAnswer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 44\r\nConnection: close\r\n\r\nToo many connections; please try again soon\n"

func newCapped(l net.Listener, total, perAddr int, exempt func(netip.Addr) bool) *capped {
	c := &capped{Listener: l, total: total, perAddr: perAddr, exempt: exempt, all: make(chan struct{}), ended: make(chan struct{}), from: map[netip.Addr]int{}, idle: map[net.Conn]struct{}{}}
	c.accepted = sync.OnceFunc(func() { close(c.all) })
	c.end = sync.OnceFunc(func() { close(c.ended) })
	return c
}

// Accept waits for a connection that fits; the others are told to come back.
func (c *capped) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			if c.isPaused() {
				c.accepted()
				<-c.ended
			}
			return nil, err
		}
		addr := addrOf(conn)
		if c.admit(addr) {
			return &cappedConn{Conn: conn, end: sync.OnceFunc(func() { c.release(addr) })}, nil
		}
		go refuse(conn)
	}
}

func (c *capped) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
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

// pause takes no more connections; whoever knocks waits for the next one who listens.
func (c *capped) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		c.paused = true
		_ = c.Listener.Close() // nobody accepts from it any more
	}
}

// Close ends a waiting Accept too.
func (c *capped) Close() error {
	c.pause()
	c.end()
	return nil
}

// drained waits until no connection has a request under way or to come, or ctx ends. A
// server that shuts down would drop what it is just reading.
func (c *capped) drained(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-c.all:
	}
	tick := time.NewTicker(drainTick)
	defer tick.Stop()
	for c.busy() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// busy are the connections that are not between two requests.
func (c *capped) busy() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open - len(c.idle)
}

// state hears from the server what a connection does.
func (c *capped) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == http.StateIdle {
		c.idle[conn] = struct{}{}
	} else {
		delete(c.idle, conn)
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
