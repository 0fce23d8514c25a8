package authorsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/conversation"
	"cloudburst/internal/store/sqldb"
)

func scanWork(rows *sql.Rows, w *conversation.Work) error {
	return rows.Scan(&w.Kind, &w.Name, (*sqldb.Int)(&w.Depth), (*sqldb.Time)(&w.DueAt), (*sqldb.Int)(&w.Tries), &w.Lease)
}

// QueueThreadWork implements conversation.WorkStore.
func (s *threadStore) QueueThreadWork(ctx context.Context, w conversation.Work, doneAfter time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO thread_work (kind, name, depth, due_at, done_at, tries, lease) VALUES ($1, $2, $3, $4, 0, 0, 0)
			ON CONFLICT (kind, name) DO UPDATE SET depth = excluded.depth, due_at = excluded.due_at, tries = 0, lease = 0
			WHERE thread_work.due_at IS NULL AND thread_work.done_at <= $5`,
			w.Kind, sqldb.Clean(w.Name), int64(w.Depth), sqldb.Millis(w.DueAt), sqldb.Millis(doneAfter))
		return err
	})
}

// ClaimThreadWork implements conversation.WorkStore.
func (s *threadStore) ClaimThreadWork(ctx context.Context, now, until time.Time, limit int, lease int64) ([]conversation.Work, error) {
	table := sqldb.DueTable{Name: "thread_work", Alias: "k", Columns: "k.kind, k.name, k.depth, k.due_at, k.tries, k.lease", Key: "kind t, name t", Due: "due_at", Claim: "lease"}
	return sqldb.ClaimDue(ctx, s.db, table, scanWork, now, until, limit, lease, func(w *conversation.Work, until time.Time) []any {
		w.Lease, w.DueAt = lease, until
		return []any{w.Kind, w.Name}
	})
}

// NextThreadWork implements conversation.WorkStore.
func (s *threadStore) NextThreadWork(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT due_at FROM thread_work WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`)
}

// SettleThreadWork implements conversation.WorkStore. The row of an item is deleted when it is done.
func (s *threadStore) SettleThreadWork(ctx context.Context, w conversation.Work, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if w.DueAt.IsZero() && w.Kind == conversation.WorkItem {
			_, err := c.Exec(ctx, `DELETE FROM thread_work WHERE kind = $1 AND name = $2 AND lease = $3`, w.Kind, sqldb.Clean(w.Name), w.Lease)
			return err
		}
		_, err := c.Exec(ctx, `UPDATE thread_work SET due_at = $1, done_at = $2, tries = $3, lease = 0 WHERE kind = $4 AND name = $5 AND lease = $6`,
			dueOrNull(w.DueAt), sqldb.Millis(now), int64(w.Tries), w.Kind, sqldb.Clean(w.Name), w.Lease)
		return err
	})
}
