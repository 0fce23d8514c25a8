package sqldb

import (
	"context"
	"database/sql"
	"time"
)

// Due checks an index for due rows without a write transaction, so that polling for work does not
// disturb writers.
func (db *DB) Due(ctx context.Context, text string, now time.Time) (bool, error) {
	return Read(ctx, db, func(ctx context.Context, c Conn) (some bool, err error) {
		err = c.Query(ctx, text, func(rows *sql.Rows) error { return rows.Scan(&some) }, Millis(now))
		return some, err
	})
}

// Earliest returns the time that a query selects, or the zero time if there is none.
func (db *DB) Earliest(ctx context.Context, text string) (time.Time, error) {
	return Read(ctx, db, func(ctx context.Context, c Conn) (next time.Time, err error) {
		err = c.Query(ctx, text, func(rows *sql.Rows) error { return rows.Scan((*Time)(&next)) })
		return next, err
	})
}

// ClaimDue claims up to limit rows of a table whose next_at has passed, oldest first, and sets
// next_at to until. take stores the claim in the row that was read, and returns its id and the
// claim.
func ClaimDue[T any](ctx context.Context, db *DB, table, columns, alias string, scan func(*sql.Rows, *T) error,
	now, until time.Time, limit int, take func(*T) (id, claim int64)) ([]T, error) {
	if some, err := db.Due(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+` WHERE next_at <= $1)`, now); err != nil || !some {
		return nil, err
	}
	return Write(ctx, db, func(ctx context.Context, c Conn) ([]T, error) {
		due, err := Collect(ctx, c, scan, `SELECT `+columns+` FROM `+table+` AS `+alias+`
			WHERE `+alias+`.next_at <= $1 ORDER BY `+alias+`.next_at LIMIT $2 {CLAIM}`, Millis(now), max(limit, 0))
		if err != nil {
			return nil, err
		}
		rows := make([][]any, len(due))
		for i := range due {
			id, claim := take(&due[i])
			rows[i] = []any{id, claim, Millis(until)}
		}
		_, err = c.Bulk(ctx, `rows(id i, claim i, until i) UPDATE `+table+` AS t SET claim = :claim, next_at = :until {FROM ROWS} WHERE t.id = :id`, rows)
		return due, err
	})
}
