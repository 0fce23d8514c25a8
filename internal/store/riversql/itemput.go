package riversql

import (
	"context"
	"database/sql"
	"fmt"

	"cloudburst/internal/store/sqldb"
)

// putItems writes v.Put and returns the places of the new items. If the source had no items (had is
// false), it does not look for existing ones.
func (v *saving) putItems(ctx context.Context, c sqldb.Conn, held map[int64]bool, had bool) ([]int64, error) {
	if len(v.Put) == 0 {
		return nil, nil
	}
	known := map[int64]int64{}
	if had {
		var err error
		if known, err = v.known(ctx, c); err != nil {
			return nil, err
		}
	}
	var fresh, changed []int
	for i := range v.Put {
		if _, ok := known[v.Put[i].ID]; ok {
			changed = append(changed, i)
		} else {
			fresh = append(fresh, i)
		}
	}
	v.filters.fresh = fresh
	places, err := v.insert(ctx, c, fresh, held)
	if err != nil {
		return nil, err
	}
	if err := v.update(ctx, c, changed, held); err != nil {
		return nil, err
	}
	contents, unindexed := make([][]any, 0, len(v.Put)), make([][]any, 0, len(v.Put))
	put := func(i int, place int64) {
		contents = append(contents, []any{place, v.contents[i]})
		unindexed = append(unindexed, []any{place, v.Put[i].Seq})
	}
	for n, i := range fresh {
		put(i, places[n])
	}
	for _, i := range changed {
		put(i, known[v.Put[i].ID])
	}
	_, err = c.Bulk(ctx, `rows(place i, content t) INSERT INTO item_content (place, content) SELECT :place, :content {FROM ROWS} WHERE true
		ON CONFLICT (place) DO UPDATE SET content = excluded.content`, contents)
	if err == nil {
		err = v.queueReplies(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	_, err = c.Bulk(ctx, `rows(place i, seq i) INSERT INTO item_unindexed (place, seq) SELECT :place, :seq {FROM ROWS} WHERE true
		ON CONFLICT (place) DO UPDATE SET seq = excluded.seq`, unindexed)
	return places, err
}

// known returns the places of existing items by id.
func (v *saving) known(ctx context.Context, c sqldb.Conn) (map[int64]int64, error) {
	rows := make([][]any, len(v.Put))
	for i := range v.Put {
		rows[i] = []any{v.Put[i].ID}
	}
	return itemPlaces(ctx, c, rows)
}

// itemPlaces returns the places of the items whose ids are in rows.
func itemPlaces(ctx context.Context, c sqldb.Conn, rows [][]any) (map[int64]int64, error) {
	known := map[int64]int64{}
	err := c.BulkQuery(ctx, `rows(id i) SELECT i.id, i.place FROM item AS i {AND ROWS} WHERE i.id = :id`, func(rows *sql.Rows) error {
		var id, place int64
		err := rows.Scan(&id, &place)
		known[id] = place
		return err
	}, rows)
	return known, err
}

const insertItems = `rows(place i, id i, source i, seq i, came i, read_at i, edited_at i, withdrawn_at i, hash i, held o, guid b, title t, link t)
	INSERT INTO item (place, id, source_id, seq, came, read_at, edited_at, withdrawn_at, hash, held, guid, title, link)
	SELECT :place, :id, :source, :seq, :came, :read_at, :edited_at, :withdrawn_at, :hash, :held, :guid, :title, :link
	{FROM ROWS} WHERE true ON CONFLICT (place) DO NOTHING`

// insert writes the new items, which are at the indexes in which of v.Put, and returns their places
// in the same order.
func (v *saving) insert(ctx context.Context, c sqldb.Conn, which []int, held map[int64]bool) ([]int64, error) {
	places, rows := make([]int64, len(which)), make([][]any, len(which))
	taken := make(map[int64]bool, len(which))
	for n, i := range which {
		it := &v.Put[i]
		place := placeOf(it.Place())
		for taken[place] {
			place++
		}
		taken[place] = true
		first := it.First
		if first == 0 {
			first = it.Seq
		}
		places[n] = place
		rows[n] = []any{place, it.ID, it.SourceID, it.Seq, first, sqldb.Millis(it.ReadAt), sqldb.Millis(it.EditedAt), sqldb.Millis(it.WithdrawnAt), it.Hash, held[it.ID],
			[]byte(it.GUID), sqldb.Clean(it.Title), sqldb.Clean(it.Link)}
	}
	done, err := c.Bulk(ctx, insertItems, rows)
	if err != nil || int(done) == len(rows) {
		return places, err
	}
	// Some places were already taken, which is very rare: insert those items separately.
	known, err := v.known(ctx, c)
	if err != nil {
		return nil, err
	}
	for n, i := range which {
		if _, ok := known[v.Put[i].ID]; ok {
			continue
		}
		if places[n], err = insertNextTo(ctx, c, rows[n]); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// insertNextTo writes an item at the next free place.
func insertNextTo(ctx context.Context, c sqldb.Conn, row []any) (int64, error) {
	place := row[0].(int64)
	for range 1000 {
		place++
		row[0] = place
		if n, err := c.Bulk(ctx, insertItems, [][]any{row}); err != nil || n == 1 {
			return place, err
		}
	}
	return 0, fmt.Errorf("riversql: no free place next to item %d", row[1])
}

// update writes existing items. Their place, arrival time and arrival number do not change.
func (v *saving) update(ctx context.Context, c sqldb.Conn, which []int, held map[int64]bool) error {
	rows := make([][]any, len(which))
	for n, i := range which {
		it := &v.Put[i]
		rows[n] = []any{it.ID, it.SourceID, it.Seq, sqldb.Millis(it.EditedAt), sqldb.Millis(it.WithdrawnAt), it.Hash, held[it.ID], sqldb.Clean(it.Title), sqldb.Clean(it.Link)}
	}
	_, err := c.Bulk(ctx, `rows(id i, source i, seq i, edited_at i, withdrawn_at i, hash i, held o, title t, link t)
		UPDATE item AS i SET seq = :seq, edited_at = :edited_at, withdrawn_at = :withdrawn_at, hash = :hash, held = :held,
			title = :title, link = :link {FROM ROWS} WHERE i.id = :id AND i.source_id = :source`, rows)
	return err
}

// deleteItems deletes items with all dependent rows and returns how many existed.
func deleteItems(ctx context.Context, c sqldb.Conn, places []int64) (int64, error) {
	rows := sqldb.Rows(places)
	if err := deleteWords(ctx, c, places); err != nil {
		return 0, err
	}
	for _, text := range []string{
		// Delete item_full first, because SaveFullText locks its row before it inserts into
		// item_unindexed.
		`rows(place i) DELETE FROM item_full AS x {USING ROWS} WHERE x.place = :place`,
		`rows(place i) DELETE FROM item_unindexed AS u {USING ROWS} WHERE u.place = :place`,
		`rows(place i) DELETE FROM item_content AS t {USING ROWS} WHERE t.place = :place`,
		`rows(place i) DELETE FROM item_mark AS k {USING ROWS} WHERE k.place = :place`,
		`rows(place i) DELETE FROM notice_queue AS q {USING ROWS} WHERE q.place = :place`,
	} {
		if _, err := c.Bulk(ctx, text, rows); err != nil {
			return 0, err
		}
	}
	return c.Bulk(ctx, `rows(place i) DELETE FROM item AS i {USING ROWS} WHERE i.place = :place`, rows)
}
