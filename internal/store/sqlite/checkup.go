package sqlite

import (
	"context"
	"time"

	"cloudburst/internal/checkup"
)

// Checkup says how the database is.
func (s *Store) Checkup(ctx context.Context, now time.Time) (checkup.Database, error) {
	d, err := s.CheckupOn(ctx, s.rdb, s.Ping, now)
	if err != nil {
		return d, err
	}
	d.Engine = "SQLite"
	return d, nil
}
