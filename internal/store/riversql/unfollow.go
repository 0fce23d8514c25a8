package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// RiverUnsubscribe implements river.Store. It omits Last in its result.
func (s *subscriptionStore) RiverUnsubscribe(ctx context.Context, reader string, sources []int64) ([]river.Source, error) {
	reader = sqldb.Clean(reader)
	sources = slices.Compact(slices.Sorted(slices.Values(sources)))
	rows := make([][]any, len(sources))
	for i, id := range sources {
		rows[i] = []any{reader, id}
	}
	return unpackSources(sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]sourceRow, error) {
		if err := holdSources(ctx, c, s.db.Shared, sources); err != nil {
			return nil, err
		}
		var left, wished [][]any
		err := c.BulkQuery(ctx, `rows(reader t, source i) DELETE FROM river_subscription AS f {USING ROWS}
			WHERE f.reader = :reader AND f.source_id = :source RETURNING source_id, wish`, func(rows *sql.Rows) error {
			var id, wish int64
			err := rows.Scan(&id, &wish)
			if left = append(left, []any{id}); wish > 0 {
				wished = append(wished, []any{id})
			}
			return err
		}, rows)
		if err != nil {
			return nil, err
		}
		_, err = c.Bulk(ctx, `rows(reader t, source i) DELETE FROM river_category_source AS m {USING ROWS}
			WHERE m.reader = :reader AND m.source_id = :source`, rows)
		if err != nil {
			return nil, err
		}
		if err := leaveSources(ctx, c, left); err != nil {
			return nil, err
		}
		if err := saveWishes(ctx, c, wished); err != nil {
			return nil, err
		}
		return orphans(ctx, c, left)
	}))
}

// leaveSources decrements the number of readers of sources. It sets left_at, when the last reader
// left, to an approximate time: the time of the next check, or of the last check if none is
// scheduled.
func leaveSources(ctx context.Context, c sqldb.Conn, rows [][]any) error {
	slices.SortFunc(rows, func(a, b []any) int { return cmp.Compare(a[0].(int64), b[0].(int64)) })
	_, err := c.Bulk(ctx, `rows(id i) UPDATE source AS s SET readers = s.readers - 1,
			next_at = CASE WHEN s.readers > 1 THEN s.next_at END,
			claim = CASE WHEN s.readers > 1 THEN s.claim ELSE 0 END,
			heard_at = CASE WHEN s.readers > 1 THEN s.heard_at ELSE 0 END,
			left_at = CASE WHEN s.readers > 1 THEN NULL WHEN s.next_at IS NOT NULL THEN s.next_at
				WHEN s.checked_at > s.created_at THEN s.checked_at ELSE s.created_at END
		{FROM ROWS} WHERE s.id = :id`, rows)
	return err
}

// saveWishes stores for each source the shortest interval that any reader wants.
func saveWishes(ctx context.Context, c sqldb.Conn, rows [][]any) error {
	_, err := c.Bulk(ctx, `rows(id i) UPDATE source AS s SET wish = COALESCE((SELECT MIN(f.wish) FROM river_subscription AS f
		WHERE f.source_id = s.id AND f.wish > 0), 0) {FROM ROWS} WHERE s.id = :id`, rows)
	return err
}

// orphans returns those of the sources that have no readers. It compares with expressions so that
// PostgreSQL looks up each id, instead of reading all sources without readers.
func orphans(ctx context.Context, c sqldb.Conn, rows [][]any) (all []sourceRow, err error) {
	err = c.BulkQuery(ctx, `rows(id i) SELECT `+sourceHead+` FROM source AS s LEFT JOIN source_document AS d ON d.id = s.id + 0
		{AND ROWS} WHERE s.id = :id AND s.readers + 0 = 0`, func(rows *sql.Rows) error {
		var r sourceRow
		err := scanSourceHead(rows, &r)
		all = append(all, r)
		return err
	}, rows)
	return all, err
}
