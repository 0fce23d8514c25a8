package app

import (
	"net/netip"
	"time"
)

const (
	shedSample  = 256                    // size of the sample
	stalledFor  = 2 * time.Second        // a client that reads nothing of an answer for so long
	readingFor  = time.Second            // a body that is incomplete after so long
	endingFor   = 100 * time.Millisecond // after the last answer; the server keeps the connection for 500 ms
	maxConns    = 16 << 10               // of a listener, whatever the limit of open files is: each takes memory
	perAddrPart = 8                      // one address gets this part of all connections,
	// or so many, if that is not more than half: a household has many pages open, and a
	// machine that serves a thousand at once has few places.
	minPerAddr = 128
)

// shed chooses a connection to end so that a connection from addr has a place, and takes it
// out of the count; nil means that there is none to end. No acknowledged work depends on the
// connection: it waits for a request, for the rest of a head or a body, or for the client to
// read an answer, or its last answer is written. Of a sample, shed prefers connections of the
// address that has most, and of those the oldest; it ends none for an address that has most
// itself. A body and a last answer have a moment first, unless there is nothing else to end.
func (c *capped) shed(addr netip.Addr, now time.Time) *cappedConn {
	var out, early *cappedConn
	looks := 0
	for one := range c.conns { // in any order
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

// preferred is the one of two connections that is ended first; b may be nil.
func (c *capped) preferred(a, b *cappedConn) *cappedConn {
	if b == nil || c.from[a.addr] > c.from[b.addr] || c.from[a.addr] == c.from[b.addr] && a.since.Before(b.since) {
		return a
	}
	return b
}

// endable says whether a connection may be ended to make a place.
type endable int

const (
	notEndable endable = iota
	lastResort         // only if no connection is endableNow
	endableNow
)

// endable says whether the connection may be ended at now.
func (c *cappedConn) endable(now time.Time) endable {
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

// endableAfter is endableNow when d is over moment, and lastResort before.
func endableAfter(d, moment time.Duration) endable {
	if d > moment {
		return endableNow
	}
	return lastResort
}
