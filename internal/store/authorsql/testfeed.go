package authorsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/store/sqldb"
)

// TickTestFeed implements store.TestFeed.
func (s *testFeedStore) TickTestFeed(ctx context.Context, now time.Time, keep int) (time.Time, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (time.Time, error) {
		newest, err := sqldb.Count(ctx, c, `SELECT COALESCE(MAX(at), 0) FROM testfeed`)
		if err != nil {
			return time.Time{}, err
		}
		at := max(sqldb.Millis(now), newest+1)
		for { // another process may have recorded the same time
			n, err := c.Exec(ctx, `INSERT INTO testfeed (at) VALUES ($1) ON CONFLICT (at) DO NOTHING`, at)
			if err != nil {
				return time.Time{}, err
			}
			if n > 0 {
				break
			}
			at++
		}
		_, err = c.Exec(ctx, `DELETE FROM testfeed WHERE at <= (SELECT o.at FROM testfeed AS o ORDER BY o.at DESC LIMIT 1 OFFSET $1)`, max(keep, 1))
		return time.UnixMilli(at).UTC(), err
	})
}

// TestFeedTicks implements store.TestFeed.
func (s *testFeedStore) TestFeedTicks(ctx context.Context, since time.Time) ([]time.Time, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]time.Time, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, t *time.Time) error { return rows.Scan((*sqldb.Time)(t)) },
			`SELECT at FROM testfeed WHERE at >= $1 ORDER BY at DESC LIMIT 100`, sqldb.Millis(since))
	})
}
