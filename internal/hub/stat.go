package hub

import (
	"math"
	"sync/atomic"
	"time"
)

// histogram counts durations in buckets that grow by a twelfth, from 10 µs to
// some 100 s. It is safe for many writers and never allocates.
type histogram struct {
	buckets [histBuckets]atomic.Int64
}

const (
	histBuckets = 208
	histFloor   = 10e-6               // seconds
	histStep    = 0.08004270767353636 // ln(13/12)
)

func (h *histogram) add(d time.Duration) {
	i := 0
	if s := d.Seconds(); s > histFloor {
		i = min(int(math.Log(s/histFloor)/histStep)+1, histBuckets-1)
	}
	h.buckets[i].Add(1)
}

// drain empties the histogram into a plain copy.
func (h *histogram) drain() (counts [histBuckets]int64, n int64) {
	for i := range h.buckets {
		counts[i] = h.buckets[i].Swap(0)
		n += counts[i]
	}
	return counts, n
}

// copied is the histogram as it is.
func (h *histogram) copied() (counts [histBuckets]int64, n int64) {
	for i := range h.buckets {
		counts[i] = h.buckets[i].Load()
		n += counts[i]
	}
	return counts, n
}

// quantile is the upper edge of the bucket that holds the q-th, in milliseconds.
func quantile(counts [histBuckets]int64, n int64, q float64) float64 {
	if n == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(n)))
	for i, c := range counts {
		if rank -= c; rank <= 0 {
			return 1000 * histFloor * math.Exp(float64(i)*histStep)
		}
	}
	return 0
}

// counters are totals since the start; a Minute is the difference of two readings.
type counters struct {
	pings, checks, changes, notified, failed, registers, writes atomic.Int64
	queue                                                       atomic.Int64 // high-water mark of the minute
	latency                                                     histogram    // of the minute
	latencies                                                   histogram    // of all
}

// told keeps the time from the news to a delivery.
func (c *counters) told(d time.Duration) {
	c.notified.Add(1)
	c.latency.add(d)
	c.latencies.add(d)
}

func (c *counters) totals() Minute {
	counts, n := c.latencies.copied()
	return Minute{
		P50: quantile(counts, n, 0.50), P99: quantile(counts, n, 0.99),
		Pings: c.pings.Load(), Checks: c.checks.Load(), Changes: c.changes.Load(),
		Notified: c.notified.Load(), Failed: c.failed.Load(), Registers: c.registers.Load(),
		Writes: c.writes.Load(),
	}
}

func (m Minute) minus(o Minute) Minute {
	m.Pings -= o.Pings
	m.Checks -= o.Checks
	m.Changes -= o.Changes
	m.Notified -= o.Notified
	m.Failed -= o.Failed
	m.Registers -= o.Registers
	m.Writes -= o.Writes
	return m
}

func (c *counters) sawQueue(n int64) {
	for {
		old := c.queue.Load()
		if n <= old || c.queue.CompareAndSwap(old, n) {
			return
		}
	}
}
