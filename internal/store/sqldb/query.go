package sqldb

import (
	"context"
	"database/sql"

	"cloudburst/internal/fault"
)

// Collect runs a query and returns the values that scan makes of its rows.
func Collect[T any](ctx context.Context, c Conn, scan func(*sql.Rows, *T) error, text string, args ...any) ([]T, error) {
	var all []T
	err := c.Query(ctx, text, func(rows *sql.Rows) error {
		var v T
		if err := scan(rows, &v); err != nil {
			return err
		}
		all = append(all, v)
		return nil
	}, args...)
	return all, err
}

// First returns the first element of found. If found is empty, it returns a fault.NotFound with
// this message.
func First[T any](found []T, err error, format string, args ...any) (first T, _ error) {
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, format, args...)
	}
	if err != nil {
		return first, err
	}
	return found[0], nil
}

// Rows returns the rows of a bulk statement with one column.
func Rows(ids []int64) [][]any {
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id}
	}
	return rows
}

// ScanID scans a row that consists of one number.
func ScanID(rows *sql.Rows, id *int64) error { return rows.Scan(id) }

// Count runs a query that returns one number.
func Count(ctx context.Context, c Conn, text string, args ...any) (n int64, err error) {
	err = c.Query(ctx, text, func(rows *sql.Rows) error { return rows.Scan(&n) }, args...)
	return n, err
}

// Strings returns the texts that a query selects.
func (db *DB) Strings(ctx context.Context, text string, args ...any) ([]string, error) {
	return Read(ctx, db, func(ctx context.Context, c Conn) ([]string, error) {
		return Collect(ctx, c, func(rows *sql.Rows, t *string) error { return rows.Scan(t) }, text, args...)
	})
}
