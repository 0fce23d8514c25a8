package app

import (
	"net/netip"
	"time"
)

const (
	shedLooks   = 256             // connections that are looked at to find one to end
	stalledFor  = 2 * time.Second // a piece of an answer that nobody took for so long
	readingFor  = time.Second     // a body that is not here after so long
	connsMost   = 16 << 10        // of a listener, whatever the limit of open files is: each takes memory
	perAddrPart = 8               // one address gets this part of all connections,
	// or so many, if that is not more than half: a household has many pages open, and a
	// machine that serves a thousand at once has few places.
	perAddrLeast = 128
)

// shed finds a connection to end so that one from addr has a place, and takes it out of
// the count; nil: there is none. It is one that nothing acknowledged depends on: between two
// requests, before the end of a head or a body, or with an answer that nobody takes.
// Of some that are looked at it is one from the address that has most, and of those the
// oldest; an address that has most itself gets no place.
func (c *capped) shed(addr netip.Addr, now time.Time) *cappedConn {
	var out *cappedConn
	looks, most := 0, 0
	for one := range c.conns { // in any order
		if looks++; looks > shedLooks {
			break
		}
		n := c.from[one.addr]
		if n <= c.from[addr] || !one.sheddable(now) || c.exempt(one.peer) {
			continue
		}
		if out == nil || n > most || n == most && one.since.Before(out.since) {
			out, most = one, n
		}
	}
	if out != nil {
		out.shed = true
		c.forget(out)
	}
	return out
}

func (c *cappedConn) sheddable(now time.Time) bool {
	if c.waits {
		return true
	}
	if c.coming.Load() > 0 && now.Sub(c.since) > readingFor {
		return true
	}
	at := c.writing.Load()
	return at > 0 && now.Sub(time.UnixMilli(at)) > stalledFor
}
