package sqlstore

import (
	"context"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
)

// Announce is hub.Store.Announce.
func (s *Store) Announce(ctx context.Context, list []hub.Change, pings []string, now, due time.Time, events []event.Event) error {
	return errNotYet
}

// Changes is hub.Store.Changes.
func (s *Store) Changes(ctx context.Context, q hub.ChangeQuery) ([]hub.Change, error) {
	return nil, nil
}

// CountChanges is hub.Store.CountChanges.
func (s *Store) CountChanges(ctx context.Context) (int64, error) { return 0, nil }

// TrimChanges is hub.Store.TrimChanges.
func (s *Store) TrimChanges(ctx context.Context, before time.Time, limit int) (int, error) {
	return 0, nil
}
