package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// capped bounds the connections of a listener, in all and from one address (one /64),
// so that no stranger can take every socket. Addresses that exempt reports count
// only for the total: a trusted proxy speaks for many. When the total is reached,
// those who only wait make room; see [capped.shed].
type capped struct {
	net.Listener
	total, perAddr int
	exempt         func(netip.Addr) bool

	wantRefused chan struct{} // one for each that is being refused

	all, ended    chan struct{} // closed: all that was accepted is counted; the listener is closed
	accepted, end func()

	mu     sync.Mutex
	paused bool
	open   int
	from   map[netip.Addr]int
	idle   map[net.Conn]struct{} // those between two requests
	conns  map[*cappedConn]struct{}
}

// drainTick is between two looks at what is still open while the program ends.
const drainTick = 5 * time.Millisecond

const (
	refusingFor   = 5 * time.Second // what a connection that is refused may take
	refusedAtOnce = 64              // of those whose request is waited for; others are told at once
	tlsHandshake  = 22              // first byte of a connection that is not plain HTTP
)

const busyAnswer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 44\r\nConnection: close\r\n\r\nToo many connections; please try again soon\n"

func newCapped(l net.Listener, total, perAddr int, exempt func(netip.Addr) bool) *capped {
	c := &capped{Listener: l, total: total, perAddr: perAddr, exempt: exempt, wantRefused: make(chan struct{}, refusedAtOnce), all: make(chan struct{}), ended: make(chan struct{}), from: map[netip.Addr]int{}, idle: map[net.Conn]struct{}{}, conns: map[*cappedConn]struct{}{}}
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
		if one := c.admit(conn); one != nil {
			return one, nil
		}
		go c.refuse(conn)
	}
}

func (c *capped) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// refuse says that there is no room, as the answer to what was asked: some clients take
// an answer that comes before their request for an error, and closing a connection with
// something unread resets it, which may take the answer with it.
func (c *capped) refuse(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(refusingFor)) != nil {
		return
	}
	select {
	case c.wantRefused <- struct{}{}:
		defer func() { <-c.wantRefused }()
	default: // a flood: nobody there is listened to
		_, _ = conn.Write([]byte(busyAnswer))
		return
	}
	var begin [1]byte
	if _, err := conn.Read(begin[:]); err != nil || begin[0] == tlsHandshake {
		return
	}
	if _, err := conn.Write([]byte(busyAnswer)); err != nil {
		return
	}
	if way, ok := conn.(interface{ CloseWrite() error }); ok && way.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, conn) // until the client has read it, or the deadline
	}
}

func peerOf(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// customer is the address that a connection counts for: of IPv6 the network that one
// customer has, who may have any number of addresses in it.
func clientPrefix(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	p, err := a.Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr()
}

// admit counts a connection; nil: there is no room for it.
func (c *capped) admit(conn net.Conn) *cappedConn {
	peer := peerOf(conn)
	one := &cappedConn{Conn: conn, peer: peer, addr: clientPrefix(peer), waits: true, since: time.Now()}
	c.mu.Lock()
	free := c.from[one.addr] < c.perAddr || c.exempt(peer)
	var out *cappedConn
	if free && c.open >= c.total {
		out = c.shed(one.addr, one.since)
		free = out != nil
	}
	if free {
		one.end = sync.OnceFunc(func() { c.release(one) })
		c.open++
		c.from[one.addr]++
		c.conns[one] = struct{}{}
	}
	c.mu.Unlock()
	if out != nil {
		_ = out.Conn.Close() // the server finds it closed
	}
	if !free {
		return nil
	}
	return one
}

func (c *capped) release(one *cappedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.shed {
		return // counted already
	}
	c.forget(one)
}

func (c *capped) forget(one *cappedConn) {
	delete(c.conns, one)
	c.open--
	if c.from[one.addr]--; c.from[one.addr] == 0 {
		delete(c.from, one.addr)
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
	if one := cappedOf(conn); one != nil {
		one.waits, one.since = s == http.StateNew || s == http.StateIdle, time.Now()
		one.ending.Store(0)
	}
}

// cappedConn is a connection that is counted.
type cappedConn struct {
	net.Conn
	peer, addr netip.Addr // addr is what it counts for
	end        func()

	coming  atomic.Int32 // requests whose body is not here yet
	writing atomic.Int64 // since when a piece of an answer waits to be taken, Unix milliseconds; 0: none does
	answers atomic.Int32 // handlers at work
	ending  atomic.Int64 // since when none is, although a request came, Unix milliseconds; 0: does not apply

	// Guarded by capped.mu.
	waits bool // between two requests, or before the end of a head
	since time.Time
	shed  bool
}

// answered notes that a handler is done. A connection that has no next request stays open
// for a moment after its last answer: the server gives the client time to read it.
func (c *cappedConn) answered() {
	if c.answers.Add(-1) == 0 {
		c.ending.Store(time.Now().UnixMilli())
	}
}

// Write notes for how long nobody takes it.
func (c *cappedConn) Write(b []byte) (int, error) {
	c.writing.Store(time.Now().UnixMilli())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

func (c *cappedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// cappedOf is what is beneath a connection of the server; nil: nothing that is counted.
func cappedOf(conn net.Conn) *cappedConn {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = over.NetConn()
	}
	one, _ := conn.(*cappedConn)
	return one
}
