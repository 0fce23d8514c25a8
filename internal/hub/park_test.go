package hub_test

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
)

// lostClaimStore is a store in which another node has claimed every shard before the first
// checkpoint.
type lostClaimStore struct{ hub.Store }

func (lostClaimStore) Checkpoint(context.Context, hub.Checkpoint) (bool, error) {
	return false, record.ErrLost
}

func TestNodeThatLostItsClaimStartsNoMoreDeliveries(t *testing.T) {
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
		h.settle(6 * time.Second) // the lease is renewed after five seconds, but another node holds it
		early := notified()
		h.settle(8 * time.Second) // the lease of the other node ends, and this node claims the shard again
		if now := notified(); early < 4 || now != early {
			t.Errorf("%d deliveries were started before the loss, and %d after it", early, now-early)
		}
	})
}
