package hubsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Counts implements hub.Store.
func (s *upkeepStore) Counts(ctx context.Context, now time.Time) (hub.Counts, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (n hub.Counts, err error) {
		err = c.Query(ctx, `SELECT (SELECT COUNT(*) FROM topic),
			(SELECT COUNT(*) FROM subscription WHERE expires_at > $1),
			(SELECT COUNT(*) FROM subscription WHERE failures > 0 AND expires_at > $1),
			(SELECT COUNT(*) FROM subscription WHERE next_at IS NOT NULL AND expires_at > $1),
			(SELECT COUNT(*) FROM part WHERE due_at IS NOT NULL),
			(SELECT COUNT(*) FROM topic WHERE due_at IS NOT NULL AND pinged_at > 0),
			(SELECT COUNT(*) FROM intent),
			(SELECT COUNT(*) FROM event)`, func(rows *sql.Rows) error {
			return rows.Scan(&n.Topics, &n.Subscriptions, &n.Failing, &n.Pending, &n.ShardsDue, &n.ChecksDue, &n.Requests, &n.Events)
		}, sqldb.Millis(now))
		return n, err
	})
}

// keepMinutes is how long the statistics per minute are kept.
const keepMinutes = 366 * 24 * time.Hour

// SaveMinute implements hub.Store. It replaces the row of the same minute and node, and deletes
// rows older than keepMinutes.
func (s *upkeepStore) SaveMinute(ctx context.Context, m hub.Minute) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO minute (at, node, pings, checks, changes, notified, failed, registers, p50, p99, queue, writes)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
			ON CONFLICT (at, node) DO UPDATE SET pings = excluded.pings, checks = excluded.checks, changes = excluded.changes,
				notified = excluded.notified, failed = excluded.failed, registers = excluded.registers,
				p50 = excluded.p50, p99 = excluded.p99, queue = excluded.queue, writes = excluded.writes`,
			sqldb.Millis(m.At), m.Node, m.Pings, m.Checks, m.Changes, m.Notified, m.Failed, m.Registers, m.P50, m.P99, m.Queue, m.Writes)
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM minute WHERE at < $1`, sqldb.Millis(m.At.Add(-keepMinutes)))
		}
		return err
	})
}

// Minutes implements hub.Store.
func (s *upkeepStore) Minutes(ctx context.Context, since time.Time) ([]hub.Minute, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.Minute, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, m *hub.Minute) error {
			return rows.Scan((*sqldb.Time)(&m.At), &m.Node, &m.Pings, &m.Checks, &m.Changes, &m.Notified, &m.Failed, &m.Registers,
				&m.P50, &m.P99, &m.Queue, &m.Writes)
		}, `SELECT at, node, pings, checks, changes, notified, failed, registers, p50, p99, queue, writes
			FROM minute WHERE at >= $1 ORDER BY at, node`, sqldb.Millis(since))
	})
}

// ClaimTask implements hub.Store.
func (s *upkeepStore) ClaimTask(ctx context.Context, name string, now, first, next time.Time) (bool, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) {
		text := `UPDATE task SET due_at = $1, epoch = epoch + 1 WHERE name = $2 AND due_at <= $3`
		if sqldb.Millis(first) <= sqldb.Millis(now) { // a task that has never run may run
			text = `INSERT INTO task (name, due_at) VALUES ($2, $1)
				ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at, epoch = task.epoch + 1 WHERE task.due_at <= $3`
		}
		n, err := c.Exec(ctx, text, sqldb.Millis(next), name, sqldb.Millis(now))
		return n == 1, err
	})
}

// NextDue implements hub.Store.
func (s *upkeepStore) NextDue(ctx context.Context) (time.Time, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (next time.Time, err error) {
		for _, text := range []string{
			`SELECT due_at FROM part WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
			`SELECT next_at FROM subscription WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1`,
			`SELECT due_at FROM topic WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
			`SELECT due_at FROM intent ORDER BY due_at LIMIT 1`,
		} {
			err = c.Query(ctx, text, func(rows *sql.Rows) error {
				var at time.Time
				err := rows.Scan((*sqldb.Time)(&at))
				if next.IsZero() || at.Before(next) {
					next = at
				}
				return err
			})
			if err != nil {
				return time.Time{}, err
			}
		}
		return next, nil
	})
}

// Recover implements hub.Store. If one process owns the store, it releases all claims.
func (s *upkeepStore) Recover(ctx context.Context, now time.Time) error {
	if s.db.Shared {
		return nil
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		for _, text := range []string{
			`UPDATE part SET owner = NULL, due_at = $1 WHERE due_at IS NOT NULL AND owner IS NOT NULL`,
			`UPDATE subscription SET next_at = $1, claim = 0 WHERE next_at IS NOT NULL AND claim <> 0`,
			`UPDATE intent SET due_at = $1, claim = 0 WHERE due_at >= 0 AND claim <> 0`,
			// A ping that arrived during a check waits for that check. Topics whose last check
			// failed and topics with a scheduled full read keep their due time.
			`UPDATE topic SET held = 0, due_at = $1 WHERE due_at > $1 AND (held <> 0 OR failures = 0 AND pinged_at > 0)`,
		} {
			if _, err := c.Exec(ctx, text, sqldb.Millis(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Ping implements hub.Store. It writes a row, because a read from a read-only database would
// succeed although the server could not store requests.
func (s *upkeepStore) Ping(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO probe (id, n) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET n = probe.n + 1`)
		return err
	})
}
