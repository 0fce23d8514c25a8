package sqlstore

import (
	"context"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
)

var errNotYet = fault.New(fault.Unsupported, "This store cannot do that yet.")

// Request is hub.Store.Request.
func (s *Store) Request(ctx context.Context, list []hub.Intent, events []event.Event) error {
	return errNotYet
}

// ClaimIntents is hub.Store.ClaimIntents.
func (s *Store) ClaimIntents(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Intent, error) {
	return nil, nil
}

// Decide is hub.Store.Decide.
func (s *Store) Decide(ctx context.Context, d hub.Decision) (bool, error) { return false, errNotYet }

// Intents is hub.Store.Intents.
func (s *Store) Intents(ctx context.Context) (int64, error) { return 0, nil }
