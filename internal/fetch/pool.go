package fetch

import (
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// origin identifies the server of a connection.
type origin struct {
	host  string
	port  uint16
	https bool
}

// conn is a connection of the sender.
type conn struct {
	net.Conn
	at      origin
	raw     syscall.RawConn // nil if the connection has no file descriptor
	step    func(fd uintptr) bool
	turn    turn
	direct  bool      // without TLS: the sender makes the system calls
	reused  bool      // was idle
	expires time.Time // if idle: the connection must not be used after this time

	older, newer *conn  // neighbours in the list of all idle connections
	next, prev   *conn  // neighbours in the list of idle connections of the same origin, newest first; in use: in watch
	watch        *watch // of the send in progress
}

func newConn(c net.Conn, at origin) *conn {
	// Clone the host, because it is a substring of the URL and would keep the whole URL in memory.
	at.host = strings.Clone(at.host)
	k := &conn{Conn: c, at: at}
	secure, ok := c.(*tls.Conn)
	if ok {
		c = secure.NetConn()
	}
	if sc, isSocket := c.(syscall.Conn); isSocket && ownCalls {
		if raw, err := sc.SyscallConn(); err == nil {
			k.raw, k.direct, k.step = raw, !ok, k.turn.step
		}
	}
	return k
}

// end closes the connection. After an error it does not send TLS's closing alert, because a peer
// that does not read would delay it.
func (c *conn) end(err error) {
	if secure, ok := c.Conn.(*tls.Conn); ok && err != nil {
		secure.NetConn().Close()
		return
	}
	c.Close()
}

// link puts c before first, the beginning of a list; nil: the list is empty.
func (c *conn) link(first *conn) {
	c.next, c.prev = first, nil
	if first != nil {
		first.prev = c
	}
}

// unlink removes c from the list that begins with first, and returns the new beginning.
func (c *conn) unlink(first *conn) *conn {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	}
	c.next, c.prev = nil, nil
	return first
}

// pool contains idle connections, limited per origin and in total. When the total is exceeded, it
// closes the oldest first.
type pool struct {
	perOrigin, total int
	timeout          time.Duration

	mu      sync.Mutex
	origins map[origin]idle
	oldest  *conn
	newest  *conn
	n       int
	closed  bool
	sweeper *time.Timer
}

type idle struct {
	first *conn
	n     int
}

// get removes and returns the newest idle connection to the origin at, or nil if there is none.
func (p *pool) get(at origin, now time.Time) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.origins[at].first
	if c == nil {
		return nil
	}
	p.remove(c)
	if now.After(c.expires) {
		// If the newest connection has expired, all others have too; sweep closes them.
		go c.Close()
		return nil
	}
	return c
}

// put stores c for at most keep. If the origin has too many idle connections, put closes c.
func (p *pool) put(c *conn, now time.Time, keep time.Duration) {
	if keep <= 0 || keep > p.timeout {
		keep = p.timeout
	}
	var drop *conn
	p.mu.Lock()
	o := p.origins[c.at]
	switch {
	case p.closed || p.total <= 0 || p.perOrigin <= 0 || o.n >= p.perOrigin:
		drop = c
	default:
		if p.n >= p.total {
			drop = p.oldest
			p.remove(drop)
			o = p.origins[c.at]
		}
		c.expires = now.Add(keep)
		p.insert(c, o)
		if p.sweeper == nil {
			p.sweeper = time.AfterFunc(p.timeout, p.sweep)
		}
	}
	p.mu.Unlock()
	if drop != nil {
		drop.Close()
	}
}

// insert adds c to the idle connections o of its origin.
func (p *pool) insert(c *conn, o idle) {
	if p.origins == nil {
		p.origins = map[origin]idle{}
	}
	c.link(o.first)
	p.origins[c.at] = idle{first: c, n: o.n + 1}
	c.older, c.newer = p.newest, nil
	if p.newest != nil {
		p.newest.newer = c
	} else {
		p.oldest = c
	}
	p.newest = c
	p.n++
}

func (p *pool) remove(c *conn) {
	o := p.origins[c.at]
	if first := c.unlink(o.first); first != nil {
		p.origins[c.at] = idle{first: first, n: o.n - 1}
	} else {
		delete(p.origins, c.at)
	}
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		p.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		p.newest = c.older
	}
	c.older, c.newer = nil, nil
	p.n--
}

// sweep closes all expired connections.
func (p *pool) sweep() {
	now := time.Now()
	var drop []*conn
	p.mu.Lock()
	for c := p.oldest; c != nil; {
		next := c.newer
		if !now.Before(c.expires) {
			p.remove(c)
			drop = append(drop, c)
		}
		c = next
	}
	p.sweeper = nil
	if p.n > 0 {
		p.sweeper = time.AfterFunc(max(p.timeout/4, time.Millisecond), p.sweep)
	}
	p.mu.Unlock()
	for _, c := range drop {
		c.Close()
	}
}

// shed closes up to n idle connections, oldest first.
func (p *pool) shed(n int) {
	var drop []*conn
	p.mu.Lock()
	for p.oldest != nil && len(drop) < n {
		c := p.oldest
		p.remove(c)
		drop = append(drop, c)
	}
	p.mu.Unlock()
	for _, c := range drop {
		c.Close()
	}
}

// close closes all idle connections. A later put closes its connection.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.sweeper != nil {
		p.sweeper.Stop()
		p.sweeper = nil
	}
	p.mu.Unlock()
	p.shed(1 << 30)
}
