package riversql

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"

	"cloudburst/internal/store/sqldb"
)

// SweepRiver implements river.Store. It keeps the items of the last document of a source: otherwise
// these items would count as new at the next check.
func (s *sourceStore) SweepRiver(ctx context.Context, keep int, before time.Time, some int) (int, error) {
	some = min(max(some, 1), 10_000)
	total := 0
	for _, sweep := range []func(ctx context.Context, c sqldb.Conn, some int) (int64, error){
		func(ctx context.Context, c sqldb.Conn, some int) (int64, error) {
			return sweepOld(ctx, c, s.db.Shared, before, some)
		},
		func(ctx context.Context, c sqldb.Conn, some int) (int64, error) {
			return sweepMany(ctx, c, s.db.Shared, keep, some)
		},
		func(ctx context.Context, c sqldb.Conn, some int) (int64, error) {
			return sweepLeft(ctx, c, s.db.Shared, before, some)
		},
		func(ctx context.Context, c sqldb.Conn, some int) (int64, error) {
			return c.Exec(ctx, `DELETE FROM river_host WHERE until_at < $1`, sqldb.Millis(before))
		},
	} {
		if total >= some {
			break
		}
		n, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) { return sweep(ctx, c, some-total) })
		if err != nil {
			return total, err
		}
		total += int(n)
	}
	return total, nil
}

const notStarred = ` AND NOT EXISTS (SELECT 1 FROM item_mark AS k WHERE k.place = i.place AND k.starred)`

// sweepOld deletes items that are older than before.
func sweepOld(ctx context.Context, c sqldb.Conn, shared bool, before time.Time, some int) (int64, error) {
	return sweepItems(ctx, c, shared, `SELECT i.source_id, i.place FROM item AS i WHERE NOT i.held AND i.place < $1`+notStarred+` ORDER BY i.place LIMIT $2`,
		placeAt(before), some)
}

// sweepItems deletes the items that a query selects, and updates the counts of their sources and
// subscriptions.
func sweepItems(ctx context.Context, c sqldb.Conn, shared bool, text string, args ...any) (int64, error) {
	of := map[int64][]int64{}
	find := func() error {
		clear(of)
		return c.Query(ctx, text, func(rows *sql.Rows) error {
			var source, place int64
			err := rows.Scan(&source, &place)
			of[source] = append(of[source], place)
			return err
		}, args...)
	}
	if err := find(); err != nil || len(of) == 0 {
		return 0, err
	}
	if shared {
		held := slices.Sorted(maps.Keys(of))
		if err := holdSources(ctx, c, true, held); err != nil {
			return 0, err
		}
		if err := find(); err != nil { // read again under the locks, after other transactions have committed
			return 0, err
		}
		maps.DeleteFunc(of, func(source int64, _ []int64) bool { return !slices.Contains(held, source) })
	}
	if err := countDeleted(ctx, c, of); err != nil {
		return 0, err
	}
	n, err := deleteItems(ctx, c, slices.Concat(slices.Collect(maps.Values(of))...))
	if err != nil {
		return 0, err
	}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		_, err := c.Exec(ctx, `UPDATE source SET items = items - $1,
			newest = (SELECT i.place FROM item AS i WHERE i.source_id = $2 ORDER BY i.place DESC LIMIT 1) WHERE id = $2`, len(of[id]), id)
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// sweepMany deletes the items of a source beyond keep.
func sweepMany(ctx context.Context, c sqldb.Conn, shared bool, keep, some int) (int64, error) {
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT id FROM source WHERE items > $1`, keep)
	if err != nil {
		return 0, err
	}
	slices.Sort(ids) // lock sources in the same order as all other transactions
	total := int64(0)
	for _, id := range ids {
		if total >= int64(some) {
			break
		}
		n, err := sweepItems(ctx, c, shared, `SELECT i.source_id, i.place FROM item AS i WHERE i.source_id = $1 AND NOT i.held AND i.place <=
			(SELECT j.place FROM item AS j WHERE j.source_id = $1 ORDER BY j.place DESC LIMIT 1 OFFSET $2)`+notStarred+` ORDER BY i.place LIMIT $3`,
			id, keep, int64(some)-total)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// sweepLeft deletes sources that have had no followers since before. It deletes their items first.
func sweepLeft(ctx context.Context, c sqldb.Conn, shared bool, before time.Time, some int) (int64, error) {
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT s.id FROM source AS s WHERE s.left_at < $1 AND s.readers = 0
		AND NOT EXISTS (SELECT 1 FROM item_mark AS k WHERE k.source_id = s.id AND k.starred) ORDER BY s.left_at LIMIT $2 {TAKE S}`, sqldb.Millis(before), some)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, id := range ids {
		n, err := sweepItems(ctx, c, shared, `SELECT source_id, place FROM item WHERE source_id = $1 ORDER BY place LIMIT $2`, id, int64(some)-total)
		if total += n; err != nil || total >= int64(some) {
			return total, err
		}
		for _, text := range []string{`DELETE FROM source_document WHERE id = $1`, `DELETE FROM source_check WHERE source_id = $1 AND id >= $2 AND id < $3`,
			`DELETE FROM item_mark WHERE source_id = $1 AND starred`, `DELETE FROM source WHERE id = $1`} {
			args := []any{id}
			if text[len(text)-1] == '3' {
				args = append(args, checkBase(id), checkBase(id)+checkSlots)
			}
			n, err := c.Exec(ctx, text, args...)
			if err != nil {
				return total, err
			}
			if args = nil; text == `DELETE FROM source WHERE id = $1` {
				total += n
			}
		}
	}
	return total, nil
}
