package accountsql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/store/sqldb"
)

const tallyColumns = `t.kind, t.key, t.change_no, t.failures, t.waits, t.since_at, t.last_at, t.until_at`

func scanTally(rows *sql.Rows, t *account.Tally) error {
	var kind string
	var key []byte
	err := rows.Scan(&kind, &key, &t.Change, (*sqldb.Int)(&t.Failures), (*sqldb.Int)(&t.Waits),
		(*sqldb.Time)(&t.Since), (*sqldb.Time)(&t.Last), (*sqldb.Time)(&t.Until))
	copy(t.Key[copy(t.Key[:], kind):], key)
	return err
}

// tallyKey splits a key into the columns of the table: the kind is a separate column, so that rows
// can be counted by kind.
func tallyKey(k account.TallyKey) (kind string, key []byte) { return string(k[:1]), k[1:] }

// Tallies implements account.Store.
func (s *tallyStore) Tallies(ctx context.Context, keys []account.TallyKey) ([]account.Tally, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.Tally, error) {
		list := make([]account.Tally, len(keys))
		for i, k := range keys {
			list[i].Key = k
		}
		rows := make([][]any, len(keys))
		for i, k := range keys {
			kind, key := tallyKey(k)
			rows[i] = []any{kind, key}
		}
		err := c.BulkQuery(ctx, `rows(kind t, key b) SELECT `+tallyColumns+` FROM tally AS t {AND ROWS}
			WHERE t.kind = :kind AND t.key = :key`, tallied(list), rows)
		return list, err
	})
}

// tallied stores each row at the index of its key.
func tallied(list []account.Tally) func(*sql.Rows) error {
	return func(rows *sql.Rows) error {
		var t account.Tally
		if err := scanTally(rows, &t); err != nil {
			return err
		}
		if i := slices.IndexFunc(list, func(have account.Tally) bool { return have.Key == t.Key }); i >= 0 {
			list[i] = t
		}
		return nil
	}
}

// ChangeTallies implements account.Store.
func (s *tallyStore) ChangeTallies(ctx context.Context, keys []account.TallyKey, change func([]account.Tally) bool) ([]account.Tally, error) {
	var list []account.Tally
	nothing := errors.New("nothing changed")
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) (err error) {
		if list, err = holdTallies(ctx, c, keys); err != nil {
			return err
		}
		if !change(list) {
			return nothing // roll back, so that rows that were only created for the lock disappear
		}
		for _, t := range list {
			kind, key := tallyKey(t.Key)
			_, err := c.Exec(ctx, `UPDATE tally SET change_no = $1, failures = $2, waits = $3, since_at = $4, last_at = $5, until_at = $6, kept_at = $7
				WHERE kind = $8 AND key = $9`, t.Change, int64(t.Failures), int64(t.Waits), sqldb.Millis(t.Since), sqldb.Millis(t.Last), sqldb.Millis(t.Until),
				max(sqldb.Millis(t.Last), sqldb.Millis(t.Until)), kind, key)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, nothing) {
		return nil, err
	}
	return list, nil
}

// holdTallies creates missing rows and locks all rows in a fixed order, so that concurrent callers
// do not wait for each other. The result is in the order of keys.
func holdTallies(ctx context.Context, c sqldb.Conn, keys []account.TallyKey) ([]account.Tally, error) {
	list := make([]account.Tally, len(keys))
	for i, k := range keys {
		list[i].Key = k
	}
	sorted := slices.SortedFunc(slices.Values(keys), func(a, b account.TallyKey) int { return bytes.Compare(a[:], b[:]) })
	for _, k := range sorted {
		kind, key := tallyKey(k)
		_, err := c.Exec(ctx, `INSERT INTO tally (kind, key, change_no, failures, waits, since_at, last_at, until_at, kept_at)
			VALUES ($1, $2, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT (kind, key) DO NOTHING`, kind, key)
		if err != nil {
			return nil, err
		}
		err = c.Query(ctx, `SELECT `+tallyColumns+` FROM tally AS t WHERE t.kind = $1 AND t.key = $2 {LOCK}`, tallied(list), kind, key)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// TrimTallies implements account.Store.
func (s *tallyStore) TrimTallies(ctx context.Context, kind byte, before time.Time, keep, limit int) (int64, error) {
	var beyond int64
	n, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		beyond = 0
		err := c.Query(ctx, `SELECT COUNT(*) FROM tally WHERE kind = $1`, func(rows *sql.Rows) error { return rows.Scan(&beyond) }, string(kind))
		if err != nil {
			return 0, err
		}
		over, err := c.Exec(ctx, `DELETE FROM tally WHERE (kind, key) IN
			(SELECT t.kind, t.key FROM tally AS t WHERE t.kind = $1 AND t.kept_at <= $2 ORDER BY t.kept_at LIMIT $3 {TAKE})`,
			string(kind), sqldb.Millis(before), int64(max(limit, 0)))
		if err != nil {
			return 0, err
		}
		beyond = min(beyond-over-int64(keep), int64(limit)-over)
		if beyond <= 0 {
			return over, nil
		}
		// Keep the rows with the longest waiting times.
		more, err := c.Exec(ctx, `DELETE FROM tally WHERE (kind, key) IN
			(SELECT t.kind, t.key FROM tally AS t WHERE t.kind = $1 ORDER BY t.kept_at LIMIT $2 {TAKE})`, string(kind), beyond)
		return over + more, err
	})
	return n, err
}
