package shell

import (
	"context"
	"time"
)

// Backoff is the wait before the next of several attempts: twice as long each time.
type Backoff struct {
	Min, Max time.Duration
	last     time.Duration
}

// Reset begins with the shortest wait.
func (b *Backoff) Reset() { b.last = 0 }

// Begun reports that an attempt has failed since the last Reset.
func (b *Backoff) Begun() bool { return b.last > 0 }

// Next is the wait before the next attempt.
func (b *Backoff) Next() time.Duration {
	b.last = min(max(b.last*2, b.Min), b.Max)
	return b.last
}

// Wait ends early with the context.
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
