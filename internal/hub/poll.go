package hub

import (
	"context"
	"time"
)

const (
	pollEvery     = time.Second // maximum delay after a lost hint, if nodes share the store
	pollIdleEvery = time.Minute // maximum time between polls, if no other node writes to the store
	minPoll       = 20 * time.Millisecond
)

// pollDelay returns the time until the next poll of the store without a wake-up. If other nodes
// write to the store it is often; otherwise it ends when the next row is due.
func (h delivering) pollDelay(ctx context.Context, often time.Duration) time.Duration {
	if h.Hint != nil {
		return often
	}
	next, err := h.Store.NextDue(ctx)
	if err != nil {
		return often
	}
	if next.IsZero() {
		return pollIdleEvery
	}
	return min(max(next.Sub(h.now()), minPoll), pollIdleEvery)
}

// nextDue returns when the next row is due. If other nodes write rows too, it returns the zero
// time, and the loops poll at intervals of [delivering.maxPollDelay].
func (h delivering) nextDue(ctx context.Context) (time.Time, error) {
	if h.Hint != nil {
		return time.Time{}, nil
	}
	return h.Store.NextDue(ctx)
}

// maxPollDelay returns the maximum time between two polls of the store.
func (h delivering) maxPollDelay() time.Duration {
	if h.Hint != nil {
		return pollEvery
	}
	return pollIdleEvery
}
