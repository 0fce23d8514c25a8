package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialer makes guarded connections.
type dialer struct {
	net  net.Dialer
	hook Dial
}

func newDialer(g *Guard, r *net.Resolver, hook Dial) *dialer {
	if r == nil {
		// Use Go's resolver: the C library's accepts 127.1 and 2130706433 as addresses.
		r = &net.Resolver{PreferGo: true}
	}
	d := &dialer{hook: hook, net: net.Dialer{Resolver: r, Control: g.Control}}
	// Connections are open for seconds only, and every wait has a time limit. Keep-alive probes
	// would cost four system calls per connection without any benefit.
	d.net.KeepAlive = -1
	return d
}

// dial connects to address, "host:port", within the limits of d and ctx.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if d.hook != nil {
		return d.hook(ctx, network, address)
	}
	return d.net.DialContext(ctx, network, address)
}

// dialTarget connects to t before deadline. For an IP address it does not use the resolver.
func (d *dialer) dialTarget(ctx context.Context, t *target, deadline time.Time) (net.Conn, error) {
	switch {
	case d.hook != nil:
		ctx, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		return d.hook(ctx, "tcp", t.address())
	case t.ip.IsValid():
		// DialTCP is not used: until Go 1.26.8 it binds before it connects. Then all connections of
		// a machine share its 28,000 ports, and the kernel takes long to find a free one.
		return d.net.DialContext(deadlineContext{ctx, deadline}, "tcp", t.address())
	}
	return d.dialName(ctx, t.address(), deadline)
}

// dialName connects to a host whose name must be resolved. It is a function of its own, because the
// copy of the dialer would enlarge the stack of each dial.
//
//go:noinline
func (d *dialer) dialName(ctx context.Context, address string, deadline time.Time) (net.Conn, error) {
	n := d.net
	n.Deadline = deadline
	return n.DialContext(ctx, "tcp", address)
}

// deadlineContext reports a deadline but does not enforce it. To connect to an IP address that is
// sufficient, because the dialer enforces it, and it saves a timer.
type deadlineContext struct {
	context.Context
	t time.Time
}

func (u deadlineContext) Deadline() (time.Time, bool) {
	if t, ok := u.Context.Deadline(); ok && t.Before(u.t) {
		return t, true
	}
	return u.t, true
}

// tlsConfig returns a copy of c with a session cache of the given number of sessions, which halves
// the cost of later handshakes with a host.
func tlsConfig(c *tls.Config, sessions int) *tls.Config {
	if c == nil {
		c = &tls.Config{}
	}
	c = c.Clone()
	if c.ClientSessionCache == nil {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(max(64, 4*sessions))
	}
	if c.MinVersion == 0 {
		c.MinVersion = tls.VersionTLS12
	}
	return c
}
