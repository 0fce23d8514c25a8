package shell

import (
	"context"
	"time"
)

// Backoff computes the delays between attempts. Each delay is twice the previous delay, from Min up
// to Max.
type Backoff struct {
	Min, Max time.Duration
	last     time.Duration
}

// Reset makes Min the next delay.
func (b *Backoff) Reset() { b.last = 0 }

// Begun reports whether Next was called since the last Reset.
func (b *Backoff) Begun() bool { return b.last > 0 }

// Next returns the delay before the next attempt.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(b.last*2, b.Min), b.Max)
	return b.last
}

// Wait waits for d. If ctx ends first, it returns the error of ctx.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
