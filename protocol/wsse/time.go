package wsse

import "time"

// parseTime parses a date and time of ISO 8601, in extended or basic format, with optional seconds
// and fraction and any zone: Z, ±hh, ±hhmm, ±hh:mm, or none for UTC. It accepts nothing else.
// Otherwise bytes of the nonce, which is hashed together with the time, could be taken for part of
// the time.
//
// spec:datafeeds-2006#wsse-created
func parseTime(s string) (time.Time, bool) {
	c := clock{rest: s}
	year, long := c.digits(4), c.skip('-')
	month := c.digits(2)
	if long {
		c.want('-')
	}
	day := c.digits(2)
	if !c.skip('T') && !c.skip('t') {
		c.want(' ')
	}
	hour := c.digits(2)
	long = c.skip(':')
	minute, second := c.digits(2), 0
	if long && c.skip(':') || !long && c.digit() {
		second = c.digits(2)
	}
	nanos := c.fraction()
	offset := c.zone()
	if c.bad || c.rest != "" || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, min(second, 59), nanos, time.UTC)
	if t.Year() != year || int(t.Month()) != month || t.Day() != day {
		return time.Time{}, false // the date does not exist, for example 30 February
	}
	if second == 60 {
		t = t.Add(time.Second)
	}
	return t.Add(-offset), true
}

// clock is a parser for a date and time.
type clock struct {
	rest string
	bad  bool
}

func (c *clock) digit() bool { return c.rest != "" && '0' <= c.rest[0] && c.rest[0] <= '9' }

func (c *clock) digits(n int) (v int) {
	for range n {
		if !c.digit() {
			c.bad = true
			return 0
		}
		v = 10*v + int(c.rest[0]-'0')
		c.rest = c.rest[1:]
	}
	return v
}

func (c *clock) skip(b byte) bool {
	if c.rest != "" && c.rest[0] == b {
		c.rest = c.rest[1:]
		return true
	}
	return false
}

func (c *clock) want(b byte) { c.bad = !c.skip(b) || c.bad }

// fraction returns the fraction of a second, in nanoseconds.
func (c *clock) fraction() int {
	if !c.skip('.') && !c.skip(',') {
		return 0
	}
	if !c.digit() {
		c.bad = true
	}
	nanos, unit := 0, int(time.Second)
	for c.digit() {
		unit /= 10
		nanos += unit * int(c.rest[0]-'0')
		c.rest = c.rest[1:]
	}
	return nanos
}

// zone returns the offset of local time from UTC.
func (c *clock) zone() time.Duration {
	if c.rest == "" || c.skip('Z') || c.skip('z') {
		return 0
	}
	sign := time.Duration(1)
	switch {
	case c.skip('+'):
	case c.skip('-'):
		sign = -1
	default:
		c.bad = true
	}
	hours, minutes := c.digits(2), 0
	if c.skip(':') || c.rest != "" {
		minutes = c.digits(2)
	}
	c.bad = c.bad || hours > 23 || minutes > 59
	return sign * (time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute)
}
