package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"cloudburst/internal/announce"
	"cloudburst/internal/event"
	"cloudburst/internal/store/sqldb"
)

const targetColumns = `o.owner, o.sink, o.topic, o.version, o.told, o.due_at, o.tries, o.lease, o.data`

func scanTarget(rows *sql.Rows, o *announce.PendingTarget) error {
	var note string
	err := rows.Scan(&o.User, &o.Target, &o.Topic, &o.Version, &o.Notified, (*sqldb.Time)(&o.DueAt), (*sqldb.Int)(&o.Tries), &o.Lease, &note)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(note), &o.Note)
}

func cleanKey(k announce.Key) announce.Key {
	return announce.Key{User: sqldb.Clean(k.User), Target: sqldb.Clean(k.Target), Topic: sqldb.Clean(k.Topic)}
}

func compareKeys(a, b announce.Key) int {
	return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Topic, b.Topic))
}

// ChangeTargets implements announce.Store. It locks the rows in the order of their keys, so that
// concurrent callers do not wait for each other.
func (s *targetStore) ChangeTargets(ctx context.Context, keys []announce.Key, change func(*announce.PendingTarget, bool) (announce.Verdict, []event.Event)) error {
	sorted := make([]announce.Key, len(keys))
	for i, k := range keys {
		sorted[i] = cleanKey(k)
	}
	slices.SortFunc(sorted, compareKeys)
	sorted = slices.Compact(sorted)
	if len(sorted) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		var events []event.Event
		for _, k := range sorted {
			more, err := changeTarget(ctx, c, k, change)
			if err != nil {
				return err
			}
			events = append(events, more...)
		}
		return sqldb.AppendEvents(ctx, c, events)
	})
}

func changeTarget(ctx context.Context, c sqldb.Conn, k announce.Key, change func(*announce.PendingTarget, bool) (announce.Verdict, []event.Event)) ([]event.Event, error) {
	rows, err := lockTarget(ctx, c, k)
	if err == nil && len(rows) == 0 {
		// Insert an empty row first, so that concurrent creators wait for each other.
		_, err = c.Exec(ctx, `INSERT INTO outping (owner, sink, topic, version, told, due_at, tries, lease, data)
			VALUES ($1, $2, $3, 0, 0, NULL, 0, 0, '{}') ON CONFLICT (owner, sink, topic) DO NOTHING`, k.User, k.Target, k.Topic)
		if err == nil {
			rows, err = lockTarget(ctx, c, k)
		}
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	o := rows[0]
	found := o.Version > 0
	verdict, events := change(&o, found)
	switch {
	case verdict == announce.Delete, verdict == announce.Leave && !found:
		_, err = c.Exec(ctx, `DELETE FROM outping WHERE owner = $1 AND sink = $2 AND topic = $3`, k.User, k.Target, k.Topic)
	case verdict == announce.Keep:
		err = saveTarget(ctx, c, k, &o)
	}
	return events, err
}

func lockTarget(ctx context.Context, c sqldb.Conn, k announce.Key) ([]announce.PendingTarget, error) {
	return sqldb.Collect(ctx, c, scanTarget, `SELECT `+targetColumns+` FROM outping AS o
		WHERE o.owner = $1 AND o.sink = $2 AND o.topic = $3 {LOCK}`, k.User, k.Target, k.Topic)
}

func saveTarget(ctx context.Context, c sqldb.Conn, k announce.Key, o *announce.PendingTarget) error {
	note, err := json.Marshal(o.Note)
	if err != nil {
		return err
	}
	var due any
	if !o.DueAt.IsZero() {
		due = sqldb.Millis(o.DueAt)
	}
	_, err = c.Exec(ctx, `UPDATE outping SET version = $1, told = $2, due_at = $3, tries = $4, lease = $5, data = $6
		WHERE owner = $7 AND sink = $8 AND topic = $9`, o.Version, o.Notified, due, int64(o.Tries), o.Lease, string(note), k.User, k.Target, k.Topic)
	return err
}

// ClaimTargets implements announce.Store.
func (s *targetStore) ClaimTargets(ctx context.Context, now, until time.Time, limit int, lease int64) ([]announce.PendingTarget, error) {
	table := sqldb.DueTable{Name: "outping", Alias: "o", Columns: targetColumns, Key: "owner t, sink t, topic t", Due: "due_at", Claim: "lease"}
	return sqldb.ClaimDue(ctx, s.db, table, scanTarget, now, until, limit, lease, func(o *announce.PendingTarget, until time.Time) []any {
		o.Lease, o.DueAt = lease, until
		return []any{o.User, o.Target, o.Topic}
	})
}

// Targets implements announce.Store.
func (s *targetStore) Targets(ctx context.Context, q announce.Query) ([]announce.PendingTarget, error) {
	var w sqldb.Where
	if q.User != "" {
		w.Add("o.owner = ?", sqldb.Clean(q.User))
	}
	if q.Pending {
		w.Add("o.told < o.version")
	}
	if after := cleanKey(q.After); after != (announce.Key{}) {
		w.Add("(o.owner, o.sink, o.topic) > (?, ?, ?)", after.User, after.Target, after.Topic)
	}
	text := `SELECT ` + targetColumns + ` FROM outping AS o` + w.String() + ` ORDER BY o.owner, o.sink, o.topic LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]announce.PendingTarget, error) {
		return sqldb.Collect(ctx, c, scanTarget, text, w.Args...)
	})
}

// NextTarget implements announce.Store.
func (s *targetStore) NextTarget(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT due_at FROM outping WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`)
}
