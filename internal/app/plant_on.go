//go:build plantedbugs

package app

import (
	"context"
	"os"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// planted gives the store one of the bugs that the crash harness must find, as
// CLOUDBURSTBUG says. Such a build is never shipped.
func planted(st hub.Store) hub.Store {
	switch os.Getenv("CLOUDBURSTBUG") {
	case "ack-before-commit":
		return ackFirst{st}
	case "forget-failures":
		return forgetful{st}
	}
	return st
}

// ackFirst says that it is on disk and writes a moment later.
type ackFirst struct{ hub.Store }

const lateBy = 30 * time.Millisecond

func (s ackFirst) Subscribe(_ context.Context, topics []string, subs []hub.Subscription, events []event.Event) error {
	time.AfterFunc(lateBy, func() { _ = s.Store.Subscribe(context.Background(), topics, subs, events) })
	return nil
}

func (s ackFirst) Unsubscribe(_ context.Context, keys []hub.Key, events []event.Event) ([]hub.Subscription, error) {
	time.AfterFunc(lateBy, func() { _, _ = s.Store.Unsubscribe(context.Background(), keys, events) })
	return nil, nil
}

// forgetful loses what could not be delivered.
type forgetful struct{ hub.Store }

func (s forgetful) Checkpoint(ctx context.Context, c hub.Checkpoint) (bool, error) {
	c.Results = keep(c.Results)
	return s.Store.Checkpoint(ctx, c)
}

func (s forgetful) Settle(ctx context.Context, now time.Time, results []hub.Result, events []event.Event) error {
	return s.Store.Settle(ctx, now, keep(results), events)
}

func keep(results []hub.Result) []hub.Result {
	var out []hub.Result
	for _, r := range results {
		if r.Outcome == hub.Failed {
			r.Outcome = hub.Delivered
		}
		out = append(out, r)
	}
	return out
}
