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

// connLimiter limits the connections of a listener, in total and per client address (see
// clientPrefix), so that one client cannot use all sockets. Exempt addresses, such as trusted
// proxies, count only toward the total, because they serve many clients. When the total is
// reached, connLimiter closes idle connections; see [connLimiter.shed].
type connLimiter struct {
	net.Listener
	total, perAddr int
	exempt         func(netip.Addr) bool

	refusing chan struct{} // contains one element for each connection that is being refused

	all, ended    chan struct{} // all: closed when all accepted connections are counted; ended: closed when the listener is closed
	accepted, end func()

	mu     sync.Mutex
	paused bool
	open   int
	from   map[netip.Addr]int
	idle   map[net.Conn]struct{} // connections that wait between two requests
	conns  map[*limitedConn]struct{}
}

const (
	maxConns    = 16 << 10 // maximum number of connections per listener, even if more files may be open, because each connection needs memory
	perAddrPart = 8        // one address may use total/perAddrPart connections, or more; see minPerAddr
	// minPerAddr is the limit per address if it exceeds total/perAddrPart, but at most half of
	// the total. One household can have many open pages, so the limit must not be low. On a
	// machine with few file descriptors, half of the total remains for other addresses.
	minPerAddr = 128
)

// drainTick is the interval at which drained checks for open connections.
const drainTick = 5 * time.Millisecond

const (
	refusingFor   = 5 * time.Second // maximum duration of a refused connection
	refusedAtOnce = 64              // maximum number of refused connections whose request is read before the answer; further ones get the answer at once
	tlsHandshake  = 22              // first byte that a TLS client sends
)

const busyAnswer = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 44\r\nConnection: close\r\n\r\nToo many connections; please try again soon\n"

func newConnLimiter(l net.Listener, total, perAddr int, exempt func(netip.Addr) bool) *connLimiter {
	c := &connLimiter{Listener: l, total: total, perAddr: perAddr, exempt: exempt, refusing: make(chan struct{}, refusedAtOnce), all: make(chan struct{}), ended: make(chan struct{}), from: map[netip.Addr]int{}, idle: map[net.Conn]struct{}{}, conns: map[*limitedConn]struct{}{}}
	c.accepted = sync.OnceFunc(func() { close(c.all) })
	c.end = sync.OnceFunc(func() { close(c.ended) })
	return c
}

// Accept waits for a connection within the limits. It answers other connections with 503.
func (c *connLimiter) Accept() (net.Conn, error) {
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

func (c *connLimiter) isPaused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// refuse reads the request before it answers 503, because some clients treat an earlier answer as
// an error. It also reads the remaining data before it closes the connection. Otherwise the
// system resets the connection and may discard the answer.
func (c *connLimiter) refuse(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(refusingFor)) != nil {
		return
	}
	select {
	case c.refusing <- struct{}{}:
		defer func() { <-c.refusing }()
	default: // too many refused connections: answer without reading the request
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
		_, _ = io.Copy(io.Discard, conn) // wait until the client closes the connection, or until the deadline
	}
}

func peerOf(conn net.Conn) netip.Addr {
	if a, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// clientPrefix returns the address under which a connection is counted. For IPv6 this is the /64
// prefix, because one client may use any address in it.
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

// admit counts a connection and returns it. It returns nil if a limit is reached.
func (c *connLimiter) admit(conn net.Conn) *limitedConn {
	peer := peerOf(conn)
	one := &limitedConn{Conn: conn, peer: peer, addr: clientPrefix(peer), waits: true, since: time.Now()}
	c.mu.Lock()
	free := c.from[one.addr] < c.perAddr || c.exempt(peer)
	var out *limitedConn
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
		_ = out.Conn.Close() // the HTTP server notices that the connection is closed
	}
	if !free {
		return nil
	}
	return one
}

func (c *connLimiter) release(one *limitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if one.shed {
		return // shed has already removed the connection from the count
	}
	c.forget(one)
}

func (c *connLimiter) forget(one *limitedConn) {
	delete(c.conns, one)
	c.open--
	if c.from[one.addr]--; c.from[one.addr] == 0 {
		delete(c.from, one.addr)
	}
}

// pause closes the listener. If the socket belongs to the service manager, new connections wait in
// its queue for the next process. For other sockets, see ownSocket.
func (c *connLimiter) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		c.paused = true
		_ = c.Listener.Close() // the error does not matter, because the limiter no longer accepts connections
	}
}

// Close closes the listener and ends an Accept that waits.
func (c *connLimiter) Close() error {
	c.pause()
	c.end()
	return nil
}

// drained waits until no connection has a request in progress or an unread request, or until ctx
// ends. Server.Shutdown is not sufficient, because it drops a request that is being read.
func (c *connLimiter) drained(ctx context.Context) {
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

// busy returns the number of connections with a request in progress or without a first request.
func (c *connLimiter) busy() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open - len(c.idle)
}

// state records the new state of a connection, which the HTTP server reports.
func (c *connLimiter) state(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == http.StateIdle {
		c.idle[conn] = struct{}{}
	} else {
		delete(c.idle, conn)
	}
	if one := limitedConnOf(conn); one != nil {
		one.waits, one.since = s == http.StateNew || s == http.StateIdle, time.Now()
		one.ending.Store(0)
	}
}

// limitedConn is a connection that counts toward the limits.
type limitedConn struct {
	net.Conn
	peer, addr netip.Addr // addr is the clientPrefix of peer, under which the connection is counted
	end        func()

	coming  atomic.Int32 // number of requests whose bodies have not completely arrived
	writing atomic.Int64 // when the current write began, in Unix milliseconds; 0: no write is in progress
	answers atomic.Int32 // number of handlers that are running
	ending  atomic.Int64 // when the last handler ended, in Unix milliseconds; 0: no handler has ended since the last state change

	// The field connLimiter.mu guards the following fields.
	waits bool // true between two requests, and until the head of the next request has arrived
	since time.Time
	shed  bool
}

// answered records the end of a handler. If no further request follows, the server keeps the
// connection open for a short time, so that the client can read the answer.
func (c *limitedConn) answered() {
	if c.answers.Add(-1) == 0 {
		c.ending.Store(time.Now().UnixMilli())
	}
}

// Write writes to the connection and records how long the write takes.
func (c *limitedConn) Write(b []byte) (int, error) {
	c.writing.Store(time.Now().UnixMilli())
	defer c.writing.Store(0)
	return c.Conn.Write(b)
}

func (c *limitedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// limitedConnOf returns the limitedConn below a connection of the HTTP server; nil: the
// connection does not count.
func limitedConnOf(conn net.Conn) *limitedConn {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok { // for TLS, the connection wraps another one
		conn = over.NetConn()
	}
	one, _ := conn.(*limitedConn)
	return one
}

func (a process) limitConns(l net.Listener) *connLimiter {
	n := openFiles()
	// Connections get the file descriptors that notifications and feed reads do not need. Each
	// open page needs a connection too.
	total := min(max(n/4, n-a.inFlight()*7/4-512, 64), maxConns)
	return newConnLimiter(l, total, max(total/perAddrPart, min(total/2, minPerAddr)), a.isProxy)
}

// isProxy reports whether an address belongs to a trusted proxy, which serves many clients.
func (a *App) isProxy(ip netip.Addr) bool {
	for _, p := range a.cfg.TrustedProxies {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
