// Package histogram counts durations and computes their quantiles.
package histogram

import (
	"math"
	"sync/atomic"
	"time"
)

// Histogram counts durations in buckets, from 10 µs to a few hundred seconds. Each bucket is a
// twelfth wider than the previous one. It is safe for many writers and never allocates.
type Histogram struct {
	counts [buckets]atomic.Int64
}

const (
	buckets = 208
	floor   = 10e-6               // lower end of the first bucket, in seconds
	step    = 0.08004270767353636 // ln(13/12), the logarithm of the ratio of two buckets
)

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	i := 0
	if s := d.Seconds(); s > floor {
		i = min(int(math.Log(s/floor)/step)+1, buckets-1)
	}
	h.counts[i].Add(1)
}

// Counts contains the number of durations in each bucket.
type Counts [buckets]int64

// Drain returns the counts and their sum n, and resets the histogram.
func (h *Histogram) Drain() (counts Counts, n int64) {
	for i := range h.counts {
		counts[i] = h.counts[i].Swap(0)
		n += counts[i]
	}
	return counts, n
}

// Copy returns the counts and their sum n.
func (h *Histogram) Copy() (counts Counts, n int64) {
	for i := range h.counts {
		counts[i] = h.counts[i].Load()
		n += counts[i]
	}
	return counts, n
}

// Quantile returns the upper edge of the bucket that contains the q-quantile, in milliseconds.
func Quantile(counts Counts, n int64, q float64) float64 {
	if n == 0 {
		return 0
	}
	rank := int64(math.Ceil(q * float64(n)))
	for i, c := range counts {
		if rank -= c; rank <= 0 {
			return 1000 * floor * math.Exp(float64(i)*step)
		}
	}
	return 0
}
