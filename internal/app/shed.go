package app

import (
	"net/netip"
	"time"
)

const (
	shedSample  = 256                    // sample size
	stalledFor  = 2 * time.Second        // a client that accepts no response data for this long
	readingFor  = time.Second            // a body that is incomplete after this time
	endingFor   = 100 * time.Millisecond // after the last response; the server keeps the connection for 500 ms
	maxConns    = 16 << 10               // limit per listener, regardless of the limit of open files: each connection takes memory
	perAddrPart = 8                      // one address gets this fraction of all connections,
	// but at least minPerAddr if that is at most half of them: one household has many open pages,
	// and a machine with a thousand clients may have few connections.
	minPerAddr = 128
)

// shed selects a connection to close so that a new one from addr fits, and removes it from the
// count; nil: none. Only connections without acknowledged work qualify: they wait for a request,
// for the rest of a head or body, or for the client to read a response. In a sample, shed prefers
// connections of the address that has most, then the oldest. It closes none for the address that
// has most itself. Bodies and last responses get a short grace period unless nothing else
// qualifies.
func (c *connLimiter) shed(addr netip.Addr, now time.Time) *limitedConn {
	var out, early *limitedConn
	looks := 0
	for one := range c.conns { // random order
		if looks++; looks > shedSample {
			break
		}
		if c.from[one.addr] <= c.from[addr] || c.exempt(one.peer) {
			continue
		}
		switch one.endable(now) {
		case endableNow:
			out = c.preferred(one, out)
		case lastResort:
			early = c.preferred(one, early)
		}
	}
	if out == nil {
		out = early
	}
	if out != nil {
		out.shed = true
		c.forget(out)
	}
	return out
}

// preferred returns which of two connections to close first; b may be nil.
func (c *connLimiter) preferred(a, b *limitedConn) *limitedConn {
	if b == nil || c.from[a.addr] > c.from[b.addr] || c.from[a.addr] == c.from[b.addr] && a.since.Before(b.since) {
		return a
	}
	return b
}

// endable states whether a connection may be closed for another one.
type endable int

const (
	notEndable endable = iota
	lastResort         // only if no connection is endableNow
	endableNow
)

// endable returns whether the connection may be closed at now.
func (c *limitedConn) endable(now time.Time) endable {
	if c.waits {
		return endableNow
	}
	if c.coming.Load() > 0 {
		return endableAfter(now.Sub(c.since), readingFor)
	}
	if at := c.writing.Load(); at > 0 {
		if now.Sub(time.UnixMilli(at)) > stalledFor {
			return endableNow
		}
		return notEndable
	}
	if at := c.ending.Load(); at > 0 && c.answers.Load() == 0 {
		return endableAfter(now.Sub(time.UnixMilli(at)), endingFor)
	}
	return notEndable
}

// endableAfter returns endableNow when d exceeds moment, otherwise lastResort.
func endableAfter(d, moment time.Duration) endable {
	if d > moment {
		return endableNow
	}
	return lastResort
}
