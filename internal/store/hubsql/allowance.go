package hubsql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Spend implements hub.Allowances.
func (s *allowanceStore) Spend(ctx context.Context, list []hub.Spent, now time.Time) ([]time.Time, error) {
	// Lock in a fixed order, so that no two nodes wait for each other.
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a].Kind, list[b].Kind), cmp.Compare(list[a].Key, list[b].Key))
	})
	type place struct{ kind, key string }
	at, rows := map[place]int{}, make([][]any, len(list))
	for n, i := range order {
		v := list[i]
		at[place{v.Kind, v.Key}] = i
		rows[n] = []any{v.Kind, []byte(v.Key), sqldb.Millis(now), sqldb.Millis(now) + v.Used.Milliseconds()}
	}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]time.Time, error) {
		full := make([]time.Time, len(list))
		return full, c.BulkQuery(ctx, `rows(kind t, key b, now i, until i)
			INSERT INTO allowance (kind, key, spent_at, full_at) SELECT :kind, :key, :now, :until {FROM ROWS} WHERE true
			ON CONFLICT (kind, key) DO UPDATE SET spent_at = excluded.spent_at, full_at = excluded.full_at +
				CASE WHEN allowance.full_at > excluded.spent_at THEN allowance.full_at - excluded.spent_at ELSE 0 END
			RETURNING kind, key, full_at`, func(rows *sql.Rows) error {
			var p place
			var key []byte
			var when sqldb.Time
			if err := rows.Scan(&p.kind, &key, &when); err != nil {
				return err
			}
			p.key = string(key)
			full[at[p]] = time.Time(when)
			return nil
		}, rows)
	})
}

// SweepAllowances implements hub.Allowances.
func (s *allowanceStore) SweepAllowances(ctx context.Context, now time.Time, keep, limit int) (int64, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		var all int64
		if err := c.Query(ctx, `SELECT COUNT(*) FROM allowance`, func(rows *sql.Rows) error { return rows.Scan(&all) }); err != nil {
			return 0, err
		}
		over, err := c.Exec(ctx, `DELETE FROM allowance WHERE (kind, key) IN
			(SELECT a.kind, a.key FROM allowance AS a WHERE a.full_at <= $1 ORDER BY a.full_at LIMIT $2 {TAKE})`, sqldb.Millis(now), int64(max(limit, 0)))
		if err != nil {
			return 0, err
		}
		beyond := min(all-over-int64(keep), int64(limit)-over)
		if beyond <= 0 {
			return over, nil
		}
		more, err := c.Exec(ctx, `DELETE FROM allowance WHERE (kind, key) IN
			(SELECT a.kind, a.key FROM allowance AS a ORDER BY a.full_at LIMIT $1 {TAKE})`, beyond)
		return over + more, err
	})
}
