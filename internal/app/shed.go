package app

import (
	"net/netip"
	"time"
)

const (
	shedSample = 256                    // maximum number of connections that shed examines
	stalledFor = 2 * time.Second        // a client is stalled if it accepts no response data for this time
	readingFor = time.Second            // a body is slow if it is incomplete after this time
	endingFor  = 100 * time.Millisecond // grace period after the last response; the server keeps the connection for 500 ms
)

// shed selects a connection to close, so that a new connection from addr fits, and removes it
// from the count. It returns nil if no connection qualifies. Only connections without
// acknowledged work qualify. They wait for a request, for the rest of a request head or body, or
// for the client to read a response. shed examines a random sample. It prefers connections of the
// address that has the most connections, and then the oldest connection. It never selects a
// connection of an address that has as few connections as addr or fewer. Bodies and last
// responses have a short grace period, unless no other connection qualifies.
func (c *connLimiter) shed(addr netip.Addr, now time.Time) *limitedConn {
	var out, early *limitedConn
	looks := 0
	for one := range c.conns { // a map is iterated in random order
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

// preferred returns the connection to close first. b may be nil.
func (c *connLimiter) preferred(a, b *limitedConn) *limitedConn {
	if b == nil || c.from[a.addr] > c.from[b.addr] || c.from[a.addr] == c.from[b.addr] && a.since.Before(b.since) {
		return a
	}
	return b
}

// endable states whether a connection may be closed to make room for another one.
type endable int

const (
	notEndable endable = iota
	lastResort         // may be closed only if no connection is endableNow
	endableNow
)

// endable returns whether the connection may be closed at the time now.
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

// endableAfter returns endableNow if d is longer than moment, otherwise lastResort.
func endableAfter(d, moment time.Duration) endable {
	if d > moment {
		return endableNow
	}
	return lastResort
}
