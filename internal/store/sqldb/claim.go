package sqldb

import (
	"context"
	"database/sql"
	"strings"
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

// DueTable is a table whose rows are claimed when they are due.
type DueTable struct {
	Name    string
	Alias   string // in Columns
	Columns string // columns to return of a claimed row
	Key     string // columns of the key with their kinds, as in rows(…): "owner t, id i"
	Due     string // column with the due time
	Claim   string // column with the number of the claim
}

// ClaimDue claims up to limit due rows of a table, oldest first, and makes them due at until. take
// stores the claim and until, in milliseconds, in the row that was read, and returns its key.
func ClaimDue[T any](ctx context.Context, db *DB, t DueTable, scan func(*sql.Rows, *T) error,
	now, until time.Time, limit int, claim int64, take func(row *T, until time.Time) (key []any)) ([]T, error) {
	if some, err := db.Due(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.Name+` WHERE `+t.Due+` <= $1)`, now); err != nil || !some {
		return nil, err
	}
	due := t.Alias + "." + t.Due
	read := `SELECT ` + t.Columns + ` FROM ` + t.Name + ` AS ` + t.Alias + ` WHERE ` + due + ` <= $1 ORDER BY ` + due + ` LIMIT $2 {CLAIM}`
	var key []string
	for part := range strings.SplitSeq(t.Key, ", ") {
		name, _, _ := strings.Cut(part, " ")
		key = append(key, `t.`+name+` = :`+name)
	}
	mark := `rows(` + t.Key + `, claim_no i, until i) UPDATE ` + t.Name + ` AS t SET ` + t.Claim + ` = :claim_no, ` + t.Due + ` = :until {FROM ROWS} WHERE ` + strings.Join(key, " AND ")
	at := time.UnixMilli(Millis(until)).UTC()
	return Write(ctx, db, func(ctx context.Context, c Conn) ([]T, error) {
		list, err := Collect(ctx, c, scan, read, Millis(now), max(limit, 0))
		if err != nil {
			return nil, err
		}
		rows := make([][]any, len(list))
		for i := range list {
			rows[i] = append(take(&list[i], at), claim, Millis(until))
		}
		_, err = c.Bulk(ctx, mark, rows)
		return list, err
	})
}
