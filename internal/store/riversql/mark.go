package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/store/sqldb"
)

// marked is an item that a reader may mark.
type marked struct {
	place, source int64
	floor         sql.NullInt64 // place up to which the source is read; NULL: the reader does not follow the source
	before        sql.NullInt64 // the floor before MarkAllRead; NULL: nothing to undo
	read          bool          // the item has a read mark
}

// counted returns how the counters change if the item is marked as read or unread.
func (m *marked) counted(read bool) (n counted) {
	by := int64(-1)
	if read {
		by = 1
	}
	if m.floor.Valid && (m.read || m.place < m.floor.Int64) != read {
		n.items = by
	}
	if m.before.Valid && (m.read || m.place < m.before.Int64) != read {
		n.before = by
	}
	return n
}

// MarkItems implements river.Store. It ignores items whose source the reader does not follow and
// that have no mark, because clients can guess ids.
func (s *itemStore) MarkItems(ctx context.Context, reader string, ids []int64, read, starred *bool, now time.Time) (int, error) {
	if len(ids) == 0 || read == nil && starred == nil {
		return 0, nil
	}
	reader = sqldb.Clean(reader)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		list, err := s.markable(ctx, c, reader, ids)
		if err != nil || len(list) == 0 {
			return 0, err
		}
		if read != nil {
			if err := countMarks(ctx, c, reader, list, *read); err != nil {
				return 0, err
			}
		}
		if read != nil && !*read {
			if err := unread(ctx, c, reader, list); err != nil {
				return 0, err
			}
		}
		rows := make([][]any, len(list))
		for i, m := range list {
			rows[i] = []any{reader, m.place, m.source, read != nil && *read, starred != nil && *starred, sqldb.Millis(now)}
		}
		set := ""
		if read != nil {
			set = "read = excluded.read"
		}
		if starred != nil {
			if set != "" {
				set += ", "
			}
			set += `starred = excluded.starred, starred_at = CASE WHEN NOT excluded.starred THEN 0
				WHEN item_mark.starred THEN item_mark.starred_at ELSE excluded.starred_at END`
		}
		_, err = c.Bulk(ctx, `rows(reader t, place i, source i, read o, starred o, now i)
			INSERT INTO item_mark (reader, place, source_id, read, starred, starred_at)
			SELECT :reader, :place, :source, :read, :starred, CASE WHEN :starred THEN :now ELSE 0 END
			{FROM ROWS} WHERE true ON CONFLICT (reader, place) DO UPDATE SET `+set, rows)
		if err != nil {
			return 0, err
		}
		for i := range rows {
			rows[i] = rows[i][:2]
		}
		_, err = c.Bulk(ctx, `rows(reader t, place i) DELETE FROM item_mark AS k {USING ROWS}
			WHERE k.reader = :reader AND k.place = :place AND NOT k.read AND NOT k.starred`, rows)
		return len(list), err
	})
}

// markable returns the items that the reader may mark, in order of place: items of followed sources
// and items with a mark. It locks their counters.
func (s *itemStore) markable(ctx context.Context, c sqldb.Conn, reader string, ids []int64) ([]marked, error) {
	list, err := markableNow(ctx, c, reader, ids)
	if err != nil || len(list) == 0 || !s.db.Shared {
		return list, err
	}
	var sources []int64
	for _, m := range list {
		sources = append(sources, m.source)
	}
	sources = slices.Compact(slices.Sorted(slices.Values(sources)))
	if err := holdMarks(ctx, c, reader, sources); err != nil {
		return nil, err
	}
	list, err = markableNow(ctx, c, reader, ids) // read again under the lock, after other transactions have committed
	return slices.DeleteFunc(list, func(m marked) bool { return !slices.Contains(sources, m.source) }), err
}

func markableNow(ctx context.Context, c sqldb.Conn, reader string, ids []int64) ([]marked, error) {
	args := make([][]any, len(ids))
	for i, id := range ids {
		args[i] = []any{reader, id}
	}
	var list []marked
	err := c.BulkQuery(ctx, `rows(reader t, id i) SELECT x.place, x.source_id, x.read_place, x.read_before, x.read FROM {EACH ROWS}
		(SELECT i.place, i.source_id, f.read_place, f.read_before, COALESCE(k.read, FALSE) AS read FROM item AS i
			LEFT JOIN river_subscription AS f ON f.reader = :reader AND f.source_id = i.source_id
			LEFT JOIN item_mark AS k ON k.reader = :reader AND k.place = i.place
			WHERE i.id = :id AND (f.read_place IS NOT NULL OR k.place IS NOT NULL) AND COALESCE(k.hidden_by, 0) = 0) AS x`, func(rows *sql.Rows) error {
		var m marked
		err := rows.Scan(&m.place, &m.source, &m.floor, &m.before, &m.read)
		list = append(list, m)
		return err
	}, args)
	slices.SortFunc(list, func(a, b marked) int { return cmp.Compare(a.place, b.place) })
	return list, err
}

// countMarks updates the counters for items that are about to be marked as read or unread.
func countMarks(ctx context.Context, c sqldb.Conn, reader string, list []marked, read bool) error {
	changes := map[follower]counted{}
	for i := range list {
		f, n := follower{reader, list[i].source}, list[i].counted(read)
		changes[f] = counted{changes[f].items + n.items, changes[f].before + n.before}
	}
	return addCounts(ctx, c, changes)
}

// unread lowers the read marker of sources that have items to mark as unread below it. The items
// between the two places get a read mark each; the retention of a source limits their number.
func unread(ctx context.Context, c sqldb.Conn, reader string, list []marked) error {
	floors := map[int64]marked{}
	for _, m := range list {
		if was, ok := floors[m.source]; m.floor.Valid && m.place < m.floor.Int64 && (!ok || m.place < was.place) {
			floors[m.source] = m
		}
	}
	for _, m := range floors {
		_, err := c.Exec(ctx, `INSERT INTO item_mark (reader, place, source_id, read, starred, starred_at)
			SELECT $1, i.place, i.source_id, TRUE, FALSE, 0 FROM item AS i WHERE i.source_id = $2 AND i.place > $3 AND i.place < $4
			ON CONFLICT (reader, place) DO UPDATE SET read = TRUE`, reader, m.source, m.place, m.floor.Int64)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE river_subscription SET read_place = $1, read_before = NULL WHERE reader = $2 AND source_id = $3`, m.place, reader, m.source)
		if err != nil {
			return err
		}
	}
	return nil
}

// Maximum numbers of marks that dropMarks deletes: per call (deadMarks) and per transaction
// (deadMarksOnce).
const (
	deadMarks     = 5000
	deadMarksOnce = 250
)

// deadMark is the condition that a mark has no effect: its item lies below the read markers of a
// followed source. If the reader does not follow the source, the marks are the only record.
const deadMark = `NOT k.starred AND k.hidden_by = 0 AND k.place < (SELECT COALESCE(f.read_before, f.read_place) FROM river_subscription AS f
	WHERE f.reader = k.reader AND f.source_id = k.source_id)`

// dropMarks deletes marks without effect, in short transactions. Marks that one call leaves are
// deleted by the next.
func (s *itemStore) dropMarks(ctx context.Context, reader string) error {
	type mark struct{ place, source int64 }
	dead, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]mark, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, m *mark) error { return rows.Scan(&m.place, &m.source) },
			`SELECT k.place, k.source_id FROM item_mark AS k WHERE k.reader = $1 AND `+deadMark+` ORDER BY k.place LIMIT $2`, reader, deadMarks)
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(dead, deadMarksOnce) {
		rows, sources := make([][]any, len(some)), make([]int64, len(some))
		for i, m := range some {
			rows[i], sources[i] = []any{reader, m.place}, m.source
		}
		err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
			if s.db.Shared {
				if err := holdMarks(ctx, c, reader, sources); err != nil {
					return err
				}
			}
			_, err := c.Bulk(ctx, `rows(reader t, place i) DELETE FROM item_mark AS k {USING ROWS} WHERE k.reader = :reader AND k.place = :place AND `+deadMark, rows)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
