package sqldb

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"
)

// due checks an index for due rows without a write transaction, so that polling for work does not
// disturb writers.
func (db *DB) due(ctx context.Context, table, column string, now time.Time) (some bool, err error) {
	err = db.Read(ctx, func(ctx context.Context, c Conn) error {
		return c.Query(ctx, `SELECT true FROM `+table+` WHERE `+column+` <= $1 LIMIT 1`, func(rows *sql.Rows) error { return rows.Scan(&some) }, Millis(now))
	})
	return some, err
}

// Due describes the rows that one transaction of [Claim] may claim.
type Due struct {
	From  string // "FROM … WHERE …" with the condition that a row is due; Args are its arguments
	Args  []any
	Limit int
}

// Oldest returns the end of a query that locks the oldest due rows, with its arguments.
func (d Due) Oldest(t DueTable, limit int) (text string, args []any) {
	args = append(slices.Clone(d.Args), int64(max(limit, 0)))
	return d.From + ` ORDER BY ` + t.Alias + `.` + t.Due + ` LIMIT ` + Placeholder(len(args)) + ` {CLAIM}`, args
}

// Claim claims up to limit due rows of a table. fn locks and changes them in one transaction. In a
// distributed database Claim reads the keys of due rows without a lock, because locks work within
// one key only, and runs one transaction for each key.
func Claim[T any](ctx context.Context, db *DB, t DueTable, now time.Time, limit int, fn func(ctx context.Context, c Conn, d Due) ([]T, error)) ([]T, error) {
	from := `FROM ` + t.Name + ` AS ` + t.Alias + ` WHERE ` + t.Alias + `.` + t.Due + ` <= $1`
	column := db.Key(t.Name)
	if column == "" {
		if some, err := db.due(ctx, t.Name, t.Due, now); err != nil || !some {
			return nil, err
		}
		return Write(ctx, db, func(ctx context.Context, c Conn) ([]T, error) {
			return fn(ctx, c, Due{From: from, Args: []any{Millis(now)}, Limit: limit})
		})
	}
	column = t.Alias + "." + column
	keys, err := Read(ctx, db, func(ctx context.Context, c Conn) ([]int64, error) {
		return Collect(ctx, c, ScanID, `SELECT `+column+` `+from+` ORDER BY `+t.Alias+`.`+t.Due+` LIMIT $2`, Millis(now), int64(max(limit, 0)))
	})
	if err != nil {
		return nil, err
	}
	rows := map[int64]int{}
	for _, k := range keys {
		rows[k]++
	}
	lists := make([][]T, len(keys))
	err = PerKey(ctx, db, keys, func(ctx context.Context, c Conn, n int, key int64) (err error) {
		lists[n], err = fn(ctx, c, Due{From: from + ` AND ` + column + ` = $2`, Args: []any{Millis(now), key}, Limit: rows[key]})
		return err
	})
	all := slices.Concat(lists...)
	if len(all) > 0 {
		err = nil // return the claimed rows without the error; a later claim reports the error again
	}
	return all, err
}

// maxParallel is the maximum number of transactions that one call runs in parallel.
const maxParallel = 4

// PerKey runs fn in one transaction for each distinct key, several in parallel. n is the index of
// the key among the distinct keys, in order of first appearance. After an error PerKey begins no
// further transaction.
func PerKey(ctx context.Context, db *DB, keys []int64, fn func(ctx context.Context, c Conn, n int, key int64) error) error {
	seen := map[int64]bool{}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k int64) bool {
		twice := seen[k]
		seen[k] = true
		return twice
	})
	var group sync.WaitGroup
	var mu sync.Mutex
	var failed error
	next := 0
	for range min(maxParallel, len(keys)) {
		group.Go(func() {
			for {
				mu.Lock()
				n, stop := next, failed != nil
				next++
				mu.Unlock()
				if stop || n >= len(keys) {
					return
				}
				err := db.Write(ctx, func(ctx context.Context, c Conn) error { return fn(ctx, c, n, keys[n]) })
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return failed
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
	Alias   string // alias of the table in Columns
	Columns string // columns to return of a claimed row
	Key     string // columns of the key with their kinds, as in rows(…): "owner t, id i"
	Due     string // column with the due time
	Claim   string // column with the number of the claim
}

// ClaimDue claims up to limit due rows of a table, oldest first, and makes them due at until. take
// stores the claim and until, in milliseconds, in the row that was read, and returns its key.
func ClaimDue[T any](ctx context.Context, db *DB, t DueTable, scan func(*sql.Rows, *T) error,
	now, until time.Time, limit int, claim int64, take func(row *T, until time.Time) (key []any)) ([]T, error) {
	var key []string
	for part := range strings.SplitSeq(t.Key, ", ") {
		name, _, _ := strings.Cut(part, " ")
		key = append(key, `t.`+name+` = :`+name)
	}
	mark := `rows(` + t.Key + `, claim_no i, until i) UPDATE ` + t.Name + ` AS t SET ` + t.Claim + ` = :claim_no, ` + t.Due + ` = :until {FROM ROWS} WHERE ` + strings.Join(key, " AND ")
	at := time.UnixMilli(Millis(until)).UTC()
	return Claim(ctx, db, t, now, limit, func(ctx context.Context, c Conn, d Due) ([]T, error) {
		text, args := d.Oldest(t, d.Limit)
		list, err := Collect(ctx, c, scan, `SELECT `+t.Columns+` `+text, args...)
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
