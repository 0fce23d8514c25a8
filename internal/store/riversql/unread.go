package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// The unread count of a subscription is source.items minus river_subscription.read_items: a new
// item counts as unread for all followers at once, and only the row of its source is written.
// read_items changes in the transaction that changes the read marker, the marks, or the items below
// a read marker. Such a transaction first locks the sources, in the order of their ids, so that it
// sees all items of a check in progress or none.

// UnreadText reads the unread counts of a reader.
const UnreadText = `SELECT f.source_id, s.items - f.read_items, s.newest FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id
	WHERE f.reader = $1 AND s.items > f.read_items`

// CountUnread implements river.Store.
func (s *itemStore) CountUnread(ctx context.Context, reader string) (map[int64]river.Unread, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[int64]river.Unread, error) {
		return countUnread(ctx, c, sqldb.Clean(reader))
	})
}

func countUnread(ctx context.Context, c sqldb.Conn, reader string) (map[int64]river.Unread, error) {
	counts := map[int64]river.Unread{}
	err := c.Query(ctx, UnreadText, func(rows *sql.Rows) error {
		var id int64
		var n river.Unread
		err := rows.Scan(&id, &n.Items, (*placed)(&n.Newest))
		counts[id] = n
		return err
	}, reader)
	return counts, err
}

// holdSources locks sources against checks, sweeps and marks until the transaction ends.
func holdSources(ctx context.Context, c sqldb.Conn, shared bool, ids []int64) error {
	if !shared || len(ids) == 0 {
		return nil
	}
	_, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s WHERE s.id {ALL} $1 {END ALL} ORDER BY s.id {HOLD S}`, idList(ids))
	return err
}

// holdMarks locks the subscriptions of a reader to sources, and the sources against checks and
// sweeps. No subscription to these sources can begin or end until the transaction ends, because its
// count must include either all of the marks or none. Other readers can set marks meanwhile.
func holdMarks(ctx context.Context, c sqldb.Conn, reader string, sources []int64) error {
	list := idList(sources)
	_, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s WHERE s.id {ALL} $1 {END ALL} ORDER BY s.id {KEEP S}`, list)
	if err == nil {
		_, err = holdCounts(ctx, c, ` WHERE f.reader = $1 AND f.source_id {ALL} $2 {END ALL}`, reader, list)
	}
	return err
}

// holdCounts locks the subscriptions that meet conditions on f, and their sources against checks
// and sweeps, and returns the sources. Other readers can set marks meanwhile. A subscription that
// begins meanwhile is not locked, even if it meets the conditions.
func holdCounts(ctx context.Context, c sqldb.Conn, where string, args ...any) ([]int64, error) {
	return sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s JOIN river_subscription AS f ON f.source_id = s.id`+where+
		` ORDER BY s.id {HOLD S F}`, args...)
}

// heldCounts is like holdCounts, for a statement that follows. It returns the conditions for this
// statement, limited to the locked sources. A store with one writer needs neither the locks nor the
// limit.
func heldCounts(ctx context.Context, c sqldb.Conn, shared bool, where string, args []any) (string, []any, error) {
	if !shared {
		return where, args, nil
	}
	ids, err := holdCounts(ctx, c, where, args...)
	args = append(slices.Clip(args), idList(ids))
	return where + ` AND f.source_id {ALL} ` + sqldb.Placeholder(len(args)) + ` {END ALL}`, args, err
}

// counted is a change of the counters of one subscription: read_items and before_items.
type counted struct{ items, before int64 }

// addCounts changes counters.
func addCounts(ctx context.Context, c sqldb.Conn, changes map[follower]counted) error {
	keys := slices.SortedFunc(maps.Keys(changes), func(a, b follower) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.reader, b.reader))
	})
	var rows [][]any
	for _, f := range keys {
		if n := changes[f]; n != (counted{}) {
			rows = append(rows, []any{f.reader, f.source, n.items, n.before})
		}
	}
	_, err := c.Bulk(ctx, `rows(reader t, source i, items i, before i) UPDATE river_subscription AS f
		SET read_items = f.read_items + :items, before_items = f.before_items + :before {FROM ROWS}
		WHERE f.reader = :reader AND f.source_id = :source`, rows)
	return err
}

// countPassed adds sign to the counters of the subscriptions that have read past a place, for each
// of places. places are items of one source that are new (1) or about to be deleted (-1), in any
// order. New items are usually above all read markers; then countPassed reads an index and writes
// nothing.
func countPassed(ctx context.Context, c sqldb.Conn, source int64, places []int64, sign int64) error {
	if len(places) == 0 {
		return nil
	}
	places = slices.Sorted(slices.Values(places))
	first, last := places[0], places[len(places)-1]
	below := func(marker int64) int64 {
		n, _ := slices.BinarySearch(places, marker)
		return sign * int64(n)
	}
	some := map[follower]counted{}
	err := c.Query(ctx, `SELECT reader, read_place, read_before FROM river_subscription
		WHERE source_id = $1 AND read_place > $2 AND (read_place <= $3 OR read_before <= $3)`, func(rows *sql.Rows) error {
		f := follower{source: source}
		var place int64
		var before sql.NullInt64
		err := rows.Scan(&f.reader, &place, &before)
		n := counted{items: below(place)}
		if before.Valid {
			n.before = below(before.Int64)
		}
		some[f] = n
		return err
	}, source, first, last)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `UPDATE river_subscription SET read_items = read_items + $1, before_items = before_items + $1
		WHERE source_id = $2 AND read_place > $3 AND (read_before IS NULL OR read_before > $3)`, sign*int64(len(places)), source, last)
	if err != nil {
		return err
	}
	return addCounts(ctx, c, some)
}

// countDeleted updates the counters before items are deleted.
func countDeleted(ctx context.Context, c sqldb.Conn, of map[int64][]int64) error {
	var rows [][]any
	for _, source := range slices.Sorted(maps.Keys(of)) {
		if err := countPassed(ctx, c, source, of[source], -1); err != nil {
			return err
		}
		for _, place := range of[source] {
			rows = append(rows, []any{place})
		}
	}
	marked := map[follower]counted{}
	// With expressions, PostgreSQL looks up each place, instead of reading all subscriptions.
	err := c.BulkQuery(ctx, `rows(place i) SELECT f.reader, f.source_id, k.place >= f.read_place, COALESCE(k.place >= f.read_before, FALSE)
		FROM item_mark AS k JOIN river_subscription AS f ON f.reader = k.reader || '' AND f.source_id = k.source_id + 0
		{AND ROWS} WHERE k.place = :place AND k.read`, func(rows *sql.Rows) error {
		var f follower
		var now, before bool
		err := rows.Scan(&f.reader, &f.source, &now, &before)
		n := marked[f]
		if now {
			n.items--
		}
		if before {
			n.before--
		}
		marked[f] = n
		return err
	}, rows)
	if err != nil {
		return err
	}
	return addCounts(ctx, c, marked)
}

// recount computes the counters of subscriptions again from the items and marks. Afterwards
// MarkAllRead cannot be undone.
func recount(ctx context.Context, c sqldb.Conn, list []follower) error {
	rows := make([][]any, len(list))
	for i, f := range list {
		rows[i] = []any{f.reader, f.source}
	}
	_, err := c.Bulk(ctx, `rows(reader t, source i) UPDATE river_subscription AS f SET read_before = NULL,
			read_items = (SELECT COUNT(*) FROM item AS i WHERE i.source_id = f.source_id AND i.place < f.read_place)
				+ CASE WHEN EXISTS (SELECT 1 FROM item_mark AS a WHERE a.reader = f.reader) THEN
					(SELECT COUNT(*) FROM item AS i JOIN item_mark AS k ON k.reader = f.reader AND k.place = i.place
						WHERE i.source_id = f.source_id AND i.place >= f.read_place AND k.read) ELSE 0 END
		{FROM ROWS} WHERE f.reader = :reader AND f.source_id = :source`, rows)
	return err
}
