package fetch

import (
	"io"
	"net"
)

// turn is a request, and the first read of its response, on a connection without TLS. The sender makes
// the system calls itself: check an idle connection, write, wait, read. A [net.Conn] would also try
// to read before each wait. A turn without a request only checks the connection.
type turn struct {
	reused  bool   // check the connection first
	out, in []byte // the request, and the buffer for the response; they may overlap
	begun   bool

	unusable          bool // the idle connection was closed, or had unrequested data; nothing was sent
	sent, got         int
	writeErr, readErr error
}

// take runs a turn on c. It writes a long rest of the request in the usual way.
func (c *conn) take(out, in []byte) {
	c.turn = turn{reused: c.reused, out: out, in: in}
	t := &c.turn
	if err := c.raw.Read(c.step); err != nil {
		t.readErr = err
	}
	t.readErr, t.writeErr = c.opError("read", t.readErr), c.opError("write", t.writeErr)
	if !t.unusable && t.writeErr == nil && t.readErr == nil && t.sent < len(out) {
		_, t.writeErr = c.Write(out[t.sent:])
	}
	t.out, t.in = nil, nil
}

// opError returns err as an error of c, as a [net.Conn] would.
func (c *conn) opError(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if e, ok := err.(*net.OpError); ok {
		err = e.Err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// usable reports whether an idle connection is still open and has no unrequested data. The check
// costs one system call and prevents most writes to closed connections.
func (c *conn) usable() bool {
	if c.raw == nil {
		return true
	}
	c.turn = turn{reused: true}
	return c.raw.Read(c.step) == nil && !c.turn.unusable
}
