package hub_test

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
)

// robbed is a store where somebody else has taken every part by the time of its first checkpoint.
type lostClaimStore struct{ hub.Store }

func (lostClaimStore) Checkpoint(context.Context, hub.Checkpoint) (bool, error) {
	return false, record.ErrLost
}

func TestLostRunStartsNoMoreDeliveries(t *testing.T) {
	t.Parallel()
	withHarness(t, hub.Options{MaxInFlight: 4}, func(t *testing.T, h *harness) {
		h.stop()
		h.wrapStore = func(s hub.Store) hub.Store { return lostClaimStore{s} }
		h.start(hub.Options{MaxInFlight: 4})
		names := h.subscribers(40)
		for _, cb := range names {
			h.hold[cb] = 2 * time.Second
		}
		h.change("two")
		notified := func() (n int) {
			for _, cb := range names {
				n += h.count(cb)
			}
			return n
		}
		h.settle(6 * time.Second) // the lease is renewed after five, and is somebody else's
		early := notified()
		h.settle(8 * time.Second) // before it is over, and ours again
		if now := notified(); early < 4 || now != early {
			t.Errorf("%d deliveries were begun by the loss, and %d more after it", early, now-early)
		}
	})
}
