package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// marked is an item that a reader may mark.
type marked struct {
	place, source int64
	floor         sql.NullInt64 // place up to which the source is read; NULL: not followed
}

// MarkItems implements river.Store. It ignores items that the reader neither follows nor has
// marked, because ids can be guessed.
func (s *itemStore) MarkItems(ctx context.Context, reader string, ids []int64, read, starred *bool, now time.Time) (int, error) {
	if len(ids) == 0 || read == nil && starred == nil {
		return 0, nil
	}
	reader = sqldb.Clean(reader)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		list, err := markable(ctx, c, reader, ids)
		if err != nil || len(list) == 0 {
			return 0, err
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

// markable returns the items that the reader follows or has marked, by place.
func markable(ctx context.Context, c sqldb.Conn, reader string, ids []int64) ([]marked, error) {
	args := make([][]any, len(ids))
	for i, id := range ids {
		args[i] = []any{reader, id}
	}
	var list []marked
	err := c.BulkQuery(ctx, `rows(reader t, id i) SELECT x.place, x.source_id, x.floor FROM {EACH ROWS} (SELECT i.place, i.source_id,
			(SELECT f.read_place FROM river_subscription AS f WHERE f.reader = :reader AND f.source_id = i.source_id) AS floor,
			(SELECT 1 FROM item_mark AS k WHERE k.reader = :reader AND k.place = i.place) AS marked
		FROM item AS i WHERE i.id = :id) AS x WHERE x.floor IS NOT NULL OR x.marked = 1`, func(rows *sql.Rows) error {
		var m marked
		err := rows.Scan(&m.place, &m.source, &m.floor)
		list = append(list, m)
		return err
	}, args)
	slices.SortFunc(list, func(a, b marked) int { return cmp.Compare(a.place, b.place) })
	return list, err
}

// unread lowers the read marker of sources with items to mark as unread. It marks the items in
// between individually; their number is limited by the retention of a source.
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
		_, err = c.Exec(ctx, `UPDATE river_subscription SET read_place = $1 WHERE reader = $2 AND source_id = $3`, m.place, reader, m.source)
		if err != nil {
			return err
		}
	}
	return nil
}

// MarkAllRead implements river.Store. It keeps the previous read markers and the marks above them
// for UndoAllRead. Marks below a read marker have no effect and are deleted.
func (s *itemStore) MarkAllRead(ctx context.Context, reader string, source int64, category string, to, now time.Time) error {
	var of sqldb.Where
	place := of.Arg(readPlace(to))
	of.Add("reader = ?", sqldb.Clean(reader))
	of.Add("read_place < ?", readPlace(to))
	if source != 0 {
		of.Add("source_id = ?", source)
	}
	if category != "" {
		of.Add(`source_id IN (SELECT m.source_id FROM river_category_source AS m WHERE m.reader = ? AND m.category = ?)`, sqldb.Clean(reader), sqldb.Clean(category))
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		// Only for followed sources: for other items the marks are the only record.
		_, err := c.Exec(ctx, `DELETE FROM item_mark WHERE place < `+place+` AND NOT starred AND item_mark.reader = `+sqldb.Placeholder(2)+
			` AND place < (SELECT f.read_place FROM river_subscription AS f`+of.String()+` AND f.source_id = item_mark.source_id)`, of.Args...)
		if err != nil {
			return err
		}
		at := of.Arg(sqldb.Millis(now))
		_, err = c.Exec(ctx, `UPDATE river_subscription SET read_before = read_place, read_before_at = `+at+`, read_place = `+place+of.String(), of.Args...)
		return err
	})
}

// UndoAllRead implements river.Store.
func (s *itemStore) UndoAllRead(ctx context.Context, reader string, to, since time.Time) (feeds int64, err error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return c.Exec(ctx, `UPDATE river_subscription SET read_place = read_before, read_before = NULL
			WHERE reader = $1 AND read_place = $2 AND read_before IS NOT NULL AND read_before_at >= $3`, sqldb.Clean(reader), readPlace(to), sqldb.Millis(since))
	})
}

// CountUnread implements river.Store.
func (s *itemStore) CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[int64]river.Unread, error) {
		return countUnread(ctx, c, sqldb.Clean(reader))
	})
}

// countUnread counts the unread items of each source, minus those marked individually. It omits
// sources without unread items.
func countUnread(ctx context.Context, c sqldb.Conn, reader string) (map[int64]river.Unread, error) {
	counts, floors := map[int64]river.Unread{}, map[int64]int64{}
	err := c.Query(ctx, `SELECT f.source_id, f.read_place, s.newest, CASE WHEN f.read_place = $1 THEN s.items
			ELSE (SELECT COUNT(*) FROM item AS i WHERE i.source_id = f.source_id AND i.place >= f.read_place) END
		FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id WHERE f.reader = $2 AND s.newest >= f.read_place`, func(rows *sql.Rows) error {
		var id, floor int64
		var n river.Unread
		err := rows.Scan(&id, &floor, (*placed)(&n.Newest), &n.Items)
		counts[id], floors[id] = n, floor
		return err
	}, int64(math.MinInt64), reader)
	if err != nil {
		return nil, err
	}
	err = c.Query(ctx, `SELECT source_id, place FROM item_mark WHERE reader = $1 AND read`, func(rows *sql.Rows) error {
		var id, place int64
		err := rows.Scan(&id, &place)
		if n, ok := counts[id]; ok && place >= floors[id] {
			n.Items--
			counts[id] = n
		}
		return err
	}, reader)
	for id, n := range counts {
		if n.Items <= 0 {
			delete(counts, id)
		}
	}
	return counts, err
}
