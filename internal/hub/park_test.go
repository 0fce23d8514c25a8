package hub_test

import (
	"context"
	"testing"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/hub/record"
)

// robbed is a store where somebody else has taken every part by the time of its first checkpoint.
type robbed struct{ hub.Store }

func (robbed) Checkpoint(context.Context, hub.Checkpoint) (bool, error) { return false, record.ErrLost }

func TestWhatALostPassHasNotBegunIsNotSent(t *testing.T) {
	t.Parallel()
	inWorld(t, hub.Options{MaxInFlight: 4}, func(t *testing.T, w *world) {
		w.stop()
		w.wrapStore = func(s hub.Store) hub.Store { return robbed{s} }
		w.start(hub.Options{MaxInFlight: 4})
		names := w.subscribers(40)
		for _, cb := range names {
			w.hold[cb] = 2 * time.Second
		}
		w.change("two")
		told := func() (n int) {
			for _, cb := range names {
				n += w.count(cb)
			}
			return n
		}
		w.settle(6 * time.Second) // the lease is renewed after five, and is somebody else's
		early := told()
		w.settle(8 * time.Second) // before it is over, and ours again
		if now := told(); early < 4 || now != early {
			t.Errorf("%d deliveries were begun by the loss, and %d more after it", early, now-early)
		}
	})
}
