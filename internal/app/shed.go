package app

import (
	"net/netip"
	"time"
)

const (
	shedLooks   = 256                    // connections that are looked at to find one to end
	stalledFor  = 2 * time.Second        // a piece of an answer that nobody took for so long
	readingFor  = time.Second            // a body that is not here after so long
	endingFor   = 100 * time.Millisecond // after the last answer; the server keeps the connection for 500 ms
	connsMost   = 16 << 10               // of a listener, whatever the limit of open files is: each takes memory
	perAddrPart = 8                      // one address gets this part of all connections,
	// or so many, if that is not more than half: a household has many pages open, and a
	// machine that serves a thousand at once has few places.
	perAddrLeast = 128
)

// shed finds a connection to end so that one from addr has a place, and takes it out of
// the count; nil: there is none. It is one that nothing acknowledged depends on: between two
// requests, before the end of a head or a body, with an answer that nobody takes, or after
// the last answer. Of some that are looked at it is one from the address that has most, and
// of those the oldest; an address that has most itself gets no place. Bodies and last
// answers have a moment, unless there is nothing else to end.
func (c *capped) shed(addr netip.Addr, now time.Time) *cappedConn {
	var out, early *cappedConn
	looks := 0
	for one := range c.conns { // in any order
		if looks++; looks > shedLooks {
			break
		}
		if c.from[one.addr] <= c.from[addr] || c.exempt(one.peer) {
			continue
		}
		switch one.sheddable(now) {
		case atOnce:
			out = c.rather(one, out)
		case ifMust:
			early = c.rather(one, early)
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

// rather is which of two connections is ended first; b may be nil.
func (c *capped) rather(a, b *cappedConn) *cappedConn {
	if b == nil || c.from[a.addr] > c.from[b.addr] || c.from[a.addr] == c.from[b.addr] && a.since.Before(b.since) {
		return a
	}
	return b
}

// Whether a connection may be ended to make room.
const (
	never = iota
	ifMust
	atOnce
)

func (c *cappedConn) sheddable(now time.Time) int {
	if c.waits {
		return atOnce
	}
	if c.coming.Load() > 0 {
		return after(now.Sub(c.since), readingFor)
	}
	if at := c.writing.Load(); at > 0 {
		if now.Sub(time.UnixMilli(at)) > stalledFor {
			return atOnce
		}
		return never
	}
	if at := c.ending.Load(); at > 0 && c.answers.Load() == 0 {
		return after(now.Sub(time.UnixMilli(at)), endingFor)
	}
	return never
}

func after(d, moment time.Duration) int {
	if d > moment {
		return atOnce
	}
	return ifMust
}
