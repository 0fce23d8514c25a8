package sqlite

import (
	"context"
	"time"

	"cloudburst/internal/checkup"
)

// Checkup reports the state of the database.
func (s *Store) Checkup(ctx context.Context, now time.Time) (checkup.Database, error) {
	d, err := s.CheckupOn(ctx, s.rdb, s.Ping, now)
	if err != nil {
		return d, err
	}
	d.Engine = "SQLite"
	return d, nil
}
