package riversql

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"cloudburst/internal/store/sqldb"
)

// markAllSet moves the read marker of subscriptions f to a new place. The statement counts the items
// above the new marker, which are few, instead of those below it.
func markAllSet(now, place string) string {
	return `UPDATE river_subscription AS f SET read_before = read_place, read_before_at = ` + now + `, before_items = read_items,
		read_place = ` + place + `, read_items = (SELECT s.items FROM source AS s WHERE s.id = f.source_id) - (SELECT COUNT(*) FROM item AS i
			WHERE i.source_id = f.source_id AND i.place >= ` + place + ` AND NOT EXISTS (SELECT 1 FROM item_mark AS k
				WHERE k.reader = f.reader AND k.place = i.place AND k.read))`
}

// MarkAllRead implements river.Store. For UndoAllRead it keeps the previous read markers with their
// counts, and the marks above these markers.
//
// spec:cloudburst#mark-all-seen
func (s *itemStore) MarkAllRead(ctx context.Context, reader string, source int64, category string, to, now time.Time) error {
	reader = sqldb.Clean(reader)
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		var of sqldb.Where
		of.Add("f.reader = ?", reader)
		of.Add("f.read_place < ?", readPlace(to))
		// A marker above a source without items would mark the items of its first check.
		of.Add("(SELECT s.items FROM source AS s WHERE s.id = f.source_id) > ?", 0)
		if source != 0 {
			of.Add("f.source_id = ?", source)
		}
		if category != "" {
			of.Add(`f.source_id IN (SELECT m.source_id FROM river_category_source AS m WHERE m.reader = ? AND m.category = ?)`, reader, sqldb.Clean(category))
		}
		unseen := int64(0)
		if to.Before(now) {
			var err error
			if unseen, err = unseenSince(ctx, c, reader, to); err != nil {
				return err
			}
			of.Add("f.added_at < ?", unseen/1000)
		}
		where, args, err := heldCounts(ctx, c, s.db.Shared, of.String(), of.Args)
		if err != nil {
			return err
		}
		late, err := lateItems(ctx, c, reader, unseen, readPlace(to))
		if err != nil {
			return err
		}
		if len(late) > 0 {
			args = append(args, idList(slices.Collect(maps.Keys(late))))
			list := sqldb.Placeholder(len(args)) + ` {END ALL}`
			if err := markEarlier(ctx, c, reader, where+` AND f.source_id {ALL} `+list, args, late, now); err != nil {
				return err
			}
			where += ` AND NOT f.source_id {ALL} ` + list
		}
		args = append(args, sqldb.Millis(now), readPlace(to))
		_, err = c.Exec(ctx, markAllSet(sqldb.Placeholder(len(args)-1), sqldb.Placeholder(len(args)))+where, args...)
		return err
	})
	if err != nil {
		return err
	}
	return s.dropMarks(ctx, reader)
}

// unseenSince returns the arrival time, in Unix microseconds, from which items are unseen for a
// reader who states the time to. Some apps state the position of their newest item instead of a
// time. Then the items of the same check are seen, too.
func unseenSince(ctx context.Context, c sqldb.Conn, reader string, to time.Time) (int64, error) {
	unseen := (to.UnixMilli() + 1) * 1000
	err := c.Query(ctx, `SELECT MAX(j.came), MAX(f.added_at) FROM item AS i CROSS JOIN river_subscription AS f CROSS JOIN item AS j
		WHERE i.place >= $2 AND i.place < $3 AND f.reader = $1 AND f.source_id = i.source_id AND j.source_id = i.source_id AND j.read_at = i.read_at`, func(rows *sql.Rows) error {
		var came, added sql.NullInt64
		err := rows.Scan(&came, &added)
		unseen = max(unseen, came.Int64+1, (added.Int64+1)*1000)
		return err
	}, reader, placeAt(to), readPlace(to))
	return unseen, err
}

// lateItems returns, by source, the lowest place of the items that arrived at unseen or later and
// that a read marker at place would mark. Such items are those of first checks, which have their
// own dates as position. 0: there are no unseen items.
func lateItems(ctx context.Context, c sqldb.Conn, reader string, unseen, place int64) (map[int64]int64, error) {
	late := map[int64]int64{}
	if unseen == 0 {
		return late, nil
	}
	// Each + makes SQLite search the items by arrival, which are few, and the subscription by its key.
	err := c.Query(ctx, `SELECT +i.source_id, MIN(i.place) FROM item AS i WHERE i.came >= $1 AND +i.place < $2 AND EXISTS (SELECT 1 FROM river_subscription AS f
		WHERE f.reader = $3 AND f.source_id = i.source_id AND +f.read_place <= i.place) GROUP BY +i.source_id`, func(rows *sql.Rows) error {
		var source, lowest int64
		err := rows.Scan(&source, &lowest)
		late[source] = lowest
		return err
	}, unseen, place, reader)
	return late, err
}

// markEarlier marks the items below the places in late as read. Items above these places stay
// unread even if they were seen, because a marker cannot leave out an item below it.
func markEarlier(ctx context.Context, c sqldb.Conn, reader, where string, args []any, late map[int64]int64, now time.Time) error {
	sources, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT f.source_id FROM river_subscription AS f`+where+` ORDER BY f.source_id`, args...)
	if err != nil {
		return err
	}
	var rows [][]any
	for _, id := range sources {
		rows = append(rows, []any{reader, id, late[id], sqldb.Millis(now)})
	}
	_, err = c.Bulk(ctx, `rows(reader t, source i, place i, now i) `+markAllSet(":now", ":place")+` {FROM ROWS}
		WHERE f.reader = :reader AND f.source_id = :source AND f.read_place < :place`, rows)
	return err
}

// UndoAllRead implements river.Store.
func (s *itemStore) UndoAllRead(ctx context.Context, reader string, to, since time.Time) (feeds int64, err error) {
	// The marker of a source with unseen items is at the lowest of them.
	const where = ` WHERE f.reader = $1 AND f.read_before IS NOT NULL AND f.read_before_at >= $3 AND (f.read_place = $2 OR f.read_place < $2 AND
		EXISTS (SELECT 1 FROM item AS i WHERE i.place = f.read_place AND i.source_id = f.source_id AND i.came > $4))`
	args := []any{sqldb.Clean(reader), readPlace(to), sqldb.Millis(since), to.UnixMicro()}
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		where, args, err := heldCounts(ctx, c, s.db.Shared, where, args)
		if err != nil {
			return 0, err
		}
		return c.Exec(ctx, `UPDATE river_subscription AS f SET read_place = read_before, read_items = before_items, read_before = NULL`+where, args...)
	})
}
