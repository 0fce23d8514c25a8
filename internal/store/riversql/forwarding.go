package riversql

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/river/forward"
	"cloudburst/internal/store/sqldb"
)

const forwardingColumns = `n.id, n.reader, n.source_id, n.category, n.via, n.target, n.secret, n.created_at, n.paused, n.sent, n.last_at,
	n.failures, n.problem, n.next_at, n.claim, n.state, n.asked, n.asked_at, n.decided_at, n.digest`

func scanForwarding(rows *sql.Rows, n *forward.Forwarding) error {
	return rows.Scan(&n.ID, &n.Reader, &n.SourceID, &n.Category, &n.Via, &n.Target, (*sqldb.ByteString)(&n.Secret), (*sqldb.Time)(&n.CreatedAt), &n.Paused,
		&n.Sent, (*sqldb.Time)(&n.LastAt), (*sqldb.Int)(&n.Failures), &n.Problem, (*sqldb.Time)(&n.NextAt), &n.Claim, &n.State, (*sqldb.Int)(&n.Asked), (*sqldb.Time)(&n.AskedAt), (*sqldb.Time)(&n.DecidedAt), &n.Digest)
}

// Maximum numbers of items that wait for one forwarding. The oldest are dropped.
const (
	maxWaiting = 1000
	maxDigest  = 10_000 // higher, because a digest counts more items than it lists
)

func maxWaitingOf(digest string) int {
	if digest != forward.DigestNone {
		return maxDigest
	}
	return maxWaiting
}

// queueForwardings queues new items for the forwardings that include their source or category.
func queueForwardings(ctx context.Context, c sqldb.Conn, source int64, places []int64, now time.Time) error {
	// Read the forwardings of this source first, then forwardings of several sources.
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT n.id FROM notice AS n WHERE n.source_id IN (0, $1) AND NOT n.paused AND n.state = 'confirmed'
			AND EXISTS (SELECT 1 FROM river_subscription AS f WHERE f.reader = n.reader AND f.source_id = $1)
			AND (n.category = '' OR EXISTS (SELECT 1 FROM river_category_source AS m
				WHERE m.reader = n.reader AND m.category = n.category AND m.source_id = $1)) ORDER BY n.id`, source)
	if err != nil || len(ids) == 0 {
		return err
	}
	return enqueue(ctx, c, ids, places, now)
}

// enqueue queues items for forwardings. A forwarding is due now, or at the time of its next digest.
func enqueue(ctx context.Context, c sqldb.Conn, ids, places []int64, now time.Time) error {
	var rows, due [][]any
	for _, id := range ids {
		for _, place := range places {
			rows = append(rows, []any{id, place})
		}
		due = append(due, []any{id, sqldb.Millis(now), sqldb.Millis(forward.DueAt(forward.DigestDaily, id, now)), sqldb.Millis(forward.DueAt(forward.DigestWeekly, id, now))})
	}
	_, err := c.Bulk(ctx, `rows(id i, place i) INSERT INTO notice_queue (notice_id, place) SELECT :id, :place {FROM ROWS} WHERE true
		ON CONFLICT (notice_id, place) DO NOTHING`, rows)
	if err != nil {
		return err
	}
	_, err = c.Bulk(ctx, `rows(id i, now i, daily i, weekly i) UPDATE notice AS n SET next_at = CASE n.digest WHEN 'daily' THEN :daily WHEN 'weekly' THEN :weekly ELSE :now END
		{FROM ROWS} WHERE n.id = :id AND n.next_at IS NULL`, due)
	return err
}

// PutForwarding implements river.Store. An update keeps the creation time and the number of sent
// items and ends an existing claim. A forwarding with waiting items is due at n.NextAt, or at once,
// unless it is paused.
func (s *forwardingStore) PutForwarding(ctx context.Context, n forward.Forwarding, limit int) (forward.Forwarding, error) {
	n.Reader, n.Category = sqldb.Clean(n.Reader), sqldb.Clean(n.Category)
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (forward.Forwarding, error) {
		id := n.ID
		if id == 0 {
			have, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM notice WHERE reader = $1`, n.Reader)
			if err != nil {
				return n, err
			}
			if have >= int64(limit) {
				return n, fault.New(fault.TooMany, "You already have %d forwardings, which is the limit: remove one first.", have)
			}
			if id, err = sqldb.Count(ctx, c, `SELECT COALESCE(MAX(id), 0) + 1 FROM notice`); err != nil {
				return n, err
			}
			_, err = c.Exec(ctx, `INSERT INTO notice (id, reader, source_id, category, via, target, secret, created_at, paused, sent, last_at,
					failures, problem, next_at, claim) VALUES ($1, $2, 0, '', '', '', NULL, $3, FALSE, 0, 0, 0, '', NULL, 0)`, id, n.Reader, sqldb.Millis(n.CreatedAt))
			if err != nil {
				return n, err
			}
		}
		if n.State == forward.ForwardingWaiting {
			var err error
			if n, err = consentOf(ctx, c, n); err != nil {
				return n, err
			}
		}
		found, err := sqldb.Collect(ctx, c, scanForwarding, `UPDATE notice AS n SET source_id = $1, category = $2, via = $3, target = $4, secret = $5,
				paused = $6, failures = $7, problem = $8, claim = 0, state = $11, asked = $12, asked_at = $13, decided_at = $14, digest = $15,
				next_at = CASE WHEN CAST($6 AS BOOLEAN) OR $11 = 'ended' THEN NULL
					WHEN $11 = 'waiting' THEN CASE WHEN CAST($12 AS BIGINT) = 0 THEN 1 ELSE n.next_at END
					WHEN EXISTS (SELECT 1 FROM notice_queue AS q WHERE q.notice_id = n.id) THEN CAST($16 AS BIGINT) END
			WHERE n.id = $9 AND n.reader = $10 RETURNING `+returnedColumns,
			n.SourceID, n.Category, sqldb.Clean(n.Via), sqldb.Clean(n.Target), []byte(n.Secret), n.Paused, int64(n.Failures), sqldb.Clean(n.Problem), id, n.Reader,
			n.State, int64(n.Asked), sqldb.Millis(n.AskedAt), sqldb.Millis(n.DecidedAt), sqldb.Clean(n.Digest), dueOrOnce(n.NextAt))
		return oneForwarding(found, err)
	})
}

func oneForwarding(found []forward.Forwarding, err error) (forward.Forwarding, error) {
	return sqldb.First(found, err, "There is no such forwarding.")
}

// returnedColumns is forwardingColumns without the table name, which SQLite does not accept in
// RETURNING.
const returnedColumns = `id, reader, source_id, category, via, target, secret, created_at, paused, sent, last_at, failures, problem, next_at, claim, state, asked, asked_at, decided_at, digest`

// Forwardings implements river.Store.
func (s *forwardingStore) Forwardings(ctx context.Context, reader string) ([]forward.Forwarding, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]forward.Forwarding, error) {
		return sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.reader = $1 ORDER BY n.id`, sqldb.Clean(reader))
	})
}

// DropForwarding implements river.Store.
func (s *forwardingStore) DropForwarding(ctx context.Context, reader string, id int64) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM notice WHERE id = $1 AND reader = $2`, id, sqldb.Clean(reader))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "There is no such forwarding.")
		}
		_, err = c.Exec(ctx, `DELETE FROM notice_queue WHERE notice_id = $1`, id)
		return err
	})
}

// ClaimForwardings implements river.Store.
func (s *forwardingStore) ClaimForwardings(ctx context.Context, now, until time.Time, limit int, claim int64) ([]forward.Forwarding, error) {
	table := sqldb.DueTable{Name: "notice", Alias: "n", Columns: forwardingColumns, Key: "id i", Due: "next_at", Claim: "claim"}
	return sqldb.ClaimDue(ctx, s.db, table, scanForwarding, now, until, limit, claim, func(n *forward.Forwarding, until time.Time) []any {
		n.Claim, n.NextAt = claim, until
		return []any{n.ID}
	})
}

// NextForwarding implements river.Store.
func (s *forwardingStore) NextForwarding(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT MIN(next_at) FROM notice WHERE next_at IS NOT NULL`)
}

// ForwardingItems implements river.Store.
func (s *forwardingStore) ForwardingItems(ctx context.Context, id int64, n int) ([]river.Entry, error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]entryRow, error) {
		found, err := sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.id = $1`, id)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		places, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT place FROM notice_queue WHERE notice_id = $1 ORDER BY place LIMIT $2`, id, sqldb.Limit(n))
		if err != nil {
			return nil, err
		}
		return loadEntries(ctx, c, found[0].Reader, places, false)
	})
	return unpackEntries(rows, err)
}

// QueuedDigest implements river.Store.
func (s *forwardingStore) QueuedDigest(ctx context.Context, id int64, limit int) (q forward.Queue, err error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]entryRow, error) {
		found, err := sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.id = $1`, id)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		q = forward.Queue{}
		var places []int64
		err = c.Query(ctx, `SELECT q.place, i.id, i.withdrawn_at FROM notice_queue AS q JOIN item AS i ON i.place = q.place
			WHERE q.notice_id = $1 ORDER BY q.place DESC LIMIT $2`, func(rows *sql.Rows) error {
			var place, item, withdrawn int64
			err := rows.Scan(&place, &item, &withdrawn)
			q.IDs = append(q.IDs, item)
			if withdrawn != 0 {
				return err
			}
			if q.Count++; q.Count <= limit {
				places = append(places, place)
			}
			return err
		}, id, maxDigest)
		if err != nil {
			return nil, err
		}
		return loadEntries(ctx, c, found[0].Reader, places, false)
	})
	if err == nil {
		q.List, err = unpackEntries(rows, nil)
	}
	return q, err
}

// SaveForwarding implements river.Store.
func (s *forwardingStore) SaveForwarding(ctx context.Context, n forward.Forwarding, sent []int64) (bool, error) {
	if n.Claim == 0 {
		return false, nil
	}
	sent = slices.Compact(slices.Sorted(slices.Values(sent)))
	rows := sqldb.Rows(sent)
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (bool, error) {
		mine, err := sqldb.Collect(ctx, c, scanForwarding, `SELECT `+forwardingColumns+` FROM notice AS n WHERE n.id = $1 AND n.claim = $2 {LOCK}`, n.ID, n.Claim)
		if err != nil || len(mine) == 0 {
			return false, err
		}
		if digest := mine[0].Digest; digest != n.Digest {
			n.Digest, n.NextAt = digest, forward.DueAt(digest, n.ID, n.LastAt)
		}
		places, err := itemPlaces(ctx, c, rows)
		if err != nil {
			return false, err
		}
		var gone [][]any
		for _, place := range places {
			gone = append(gone, []any{n.ID, place})
		}
		_, err = c.Bulk(ctx, `rows(id i, place i) DELETE FROM notice_queue AS q {USING ROWS} WHERE q.notice_id = :id AND q.place = :place`, gone)
		if err != nil {
			return false, err
		}
		_, err = c.Exec(ctx, `DELETE FROM notice_queue WHERE notice_id = $1 AND place <= (SELECT q.place FROM notice_queue AS q
			WHERE q.notice_id = $1 ORDER BY q.place DESC LIMIT 1 OFFSET $2)`, n.ID, maxWaitingOf(n.Digest))
		if err != nil {
			return false, err
		}
		_, err = c.Exec(ctx, `UPDATE notice SET sent = $1, last_at = $2, failures = $3, problem = $4, paused = $5, claim = 0, state = $8, asked = $9,
				asked_at = $10, decided_at = $11, next_at = CASE WHEN CAST($5 AS BOOLEAN) OR $8 = 'ended' THEN NULL
					WHEN $8 = 'waiting' THEN NULLIF(CAST($12 AS BIGINT), 0)
					WHEN EXISTS (SELECT 1 FROM notice_queue AS q WHERE q.notice_id = $6) THEN CAST($7 AS BIGINT) END WHERE id = $6`,
			n.Sent, sqldb.Millis(n.LastAt), int64(n.Failures), sqldb.Clean(n.Problem), n.Paused, n.ID, dueOrOnce(n.NextAt), n.State, int64(n.Asked),
			sqldb.Millis(n.AskedAt), sqldb.Millis(n.DecidedAt), sqldb.Millis(n.NextAt))
		return true, err
	})
}
