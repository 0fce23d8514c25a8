package cli

import (
	"context"
	"time"
)

// backoff is the wait before the next of several attempts: twice as long each time.
type backoff struct {
	least, most time.Duration
	last        time.Duration
}

func (b *backoff) reset() { b.last = 0 }

func (b *backoff) begun() bool { return b.last > 0 }

func (b *backoff) next() time.Duration {
	b.last = min(max(b.last*2, b.least), b.most)
	return b.last
}

// wait ends early with the context.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
