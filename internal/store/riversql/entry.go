package riversql

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"cloudburst/internal/event"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// entryRow is an entry as stored.
type entryRow struct {
	itemRow
	source *entrySource
	full   river.Full
}

// entrySource is an entry's source as stored, shared by all entries of a page.
type entrySource struct {
	river.EntrySource
	title, name, categories sql.NullString
	read                    sql.NullInt64
	full                    sql.NullBool // the reader wants the full text
}

// loadEntries reads the items at places, in the same order. It omits deleted items.
func loadEntries(ctx context.Context, c sqldb.Conn, reader string, places []int64, bare bool) ([]entryRow, error) {
	if len(places) == 0 {
		return nil, nil
	}
	at := make(map[int64]int, len(places))
	for i, p := range places {
		at[p] = i
	}
	content, join := `t.content`, ` LEFT JOIN item_content AS t ON t.place = i.place`
	if bare {
		content, join = `'' AS content`, ``
	}
	all, sources := make([]entryRow, len(places)), map[int64]*entrySource{}
	err := c.Query(ctx, `SELECT `+itemColumns+`, `+content+`, k.read, k.starred, k.starred_at
		FROM item AS i`+join+` LEFT JOIN item_mark AS k ON k.reader = $1 AND k.place = i.place WHERE i.place {ALL} $2 {END ALL}`,
		func(rows *sql.Rows) error {
			var r entryRow
			var read, starred sql.NullBool
			err := rows.Scan(append(r.fields(), &r.content, &read, &starred, (*sqldb.Time)(&r.mark.StarredAt))...)
			r.At, r.mark.Read, r.mark.Starred = atOf(r.place), read.Bool, starred.Bool
			if r.source = sources[r.SourceID]; r.source == nil {
				r.source = &entrySource{EntrySource: river.EntrySource{ID: r.SourceID}}
				sources[r.SourceID] = r.source
			}
			all[at[r.place]] = r
			return err
		}, reader, idList(places))
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r entryRow) bool { return r.source == nil })
	if err := loadEntrySources(ctx, c, reader, sources); err != nil || bare {
		return all, err
	}
	return all, loadFullTexts(ctx, c, all)
}

func loadEntrySources(ctx context.Context, c sqldb.Conn, reader string, sources map[int64]*entrySource) error {
	return c.Query(ctx, `SELECT s.id, s.url, s.login <> '' AS private, s.title, s.icon, s.home, f.title AS name, f.categories, f.read_place, f.full_text
		FROM source AS s LEFT JOIN river_subscription AS f ON f.reader = $1 AND f.source_id = s.id WHERE s.id {ALL} $2 {END ALL}`, func(rows *sql.Rows) error {
		var r entrySource
		if err := rows.Scan(&r.ID, &r.URL, &r.Private, &r.title, &r.Icon, &r.Home, &r.name, &r.categories, &r.read, &r.full); err != nil {
			return err
		}
		r.Private = r.Private || event.IsPrivate(r.URL)
		*sources[r.ID] = r
		return nil
	}, reader, idList(slices.Sorted(maps.Keys(sources))))
}

// unpackEntries converts rows to entries, outside of the transaction to keep it short.
func unpackEntries(rows []entryRow, err error) ([]river.Entry, error) {
	if err != nil {
		return nil, err
	}
	list := make([]river.Entry, 0, len(rows))
	done := map[int64]bool{}
	for i := range rows {
		r := &rows[i]
		if err := r.unpack(); err != nil {
			return nil, err
		}
		if !done[r.SourceID] {
			r.source.unpack()
			done[r.SourceID] = true
		}
		e := river.Entry{Item: r.Item, Mark: r.mark, Source: r.source.EntrySource, Full: r.full}
		e.Read = e.Read || r.source.read.Valid && r.place < r.source.read.Int64
		list = append(list, e)
	}
	return list, nil
}

func (r *entrySource) unpack() {
	r.Title = r.URL
	for _, t := range []string{r.title.String, r.name.String} {
		if t != "" {
			r.Title = t
		}
	}
	if r.categories.Valid {
		r.Categories = unpackCategories(r.categories.String)
	}
}
