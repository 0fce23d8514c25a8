package hub

import (
	"sync/atomic"
	"time"

	"cloudburst/internal/hub/histogram"
)

// counters are totals since the start. A Minute is the difference of two snapshots.
type counters struct {
	pings, checks, changes, notified, failed, registers, writes atomic.Int64
	queue                                                       atomic.Int64        // maximum of the queue in this minute
	latency                                                     histogram.Histogram // latencies of this minute
	latencies                                                   histogram.Histogram // latencies since the start
}

// delivered counts a delivery; d is the time since the ping.
func (c *counters) delivered(d time.Duration) {
	c.notified.Add(1)
	c.latency.Add(d)
	c.latencies.Add(d)
}

func (c *counters) totals() Minute {
	counts, n := c.latencies.Copy()
	return Minute{
		P50: histogram.Quantile(counts, n, 0.50), P99: histogram.Quantile(counts, n, 0.99),
		Pings: c.pings.Load(), Checks: c.checks.Load(), Changes: c.changes.Load(),
		Notified: c.notified.Load(), Failed: c.failed.Load(), Registers: c.registers.Load(),
		Writes: c.writes.Load(),
	}
}

// minus returns the counts of m without those of o.
func minus(m, o Minute) Minute {
	m.Pings -= o.Pings
	m.Checks -= o.Checks
	m.Changes -= o.Changes
	m.Notified -= o.Notified
	m.Failed -= o.Failed
	m.Registers -= o.Registers
	m.Writes -= o.Writes
	return m
}

func (c *counters) noteQueue(n int64) {
	for {
		old := c.queue.Load()
		if n <= old || c.queue.CompareAndSwap(old, n) {
			return
		}
	}
}
