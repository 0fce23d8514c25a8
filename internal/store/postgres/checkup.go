package postgres

import (
	"context"
	"time"

	"cloudburst/internal/checkup"
)

// Checkup reports the state of the database, including its settings and its clock.
func (s *Store) Checkup(ctx context.Context, now time.Time) (checkup.Database, error) {
	d, err := s.CheckupOn(ctx, s.db, s.Ping, now)
	if err != nil {
		return d, err
	}
	d.Engine, d.Knobs = "PostgreSQL", map[string]string{}
	rows, err := s.db.QueryContext(ctx, `SELECT name, COALESCE(reset_val, setting) FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')`)
	if err != nil {
		return d, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return d, err
		}
		d.Knobs[name] = value // the value of the server; the connections of this program set their own
	}
	if err := rows.Err(); err != nil {
		return d, err
	}
	d.Clock, err = s.ahead(ctx)
	return d, err
}

// ahead returns how far the server's clock is ahead of this machine's. No other statement reads the
// time of the database server.
func (s *Store) ahead(ctx context.Context) (time.Duration, error) {
	var there int64
	asked := time.Now()
	err := s.db.QueryRowContext(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).Scan(&there)
	half := time.Since(asked) / 2
	return time.UnixMicro(there).Sub(asked.Add(half)), err
}
