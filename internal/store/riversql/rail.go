package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/text"
)

// railRow is a feed in the list of feeds next to the river, as stored.
type railRow struct {
	river.RailFeed
	categories, key string
}

// RailText is the statement that reads the feeds of a reader for the list next to the river.
const RailText = `SELECT f.source_id, CASE WHEN f.title <> '' THEN f.title WHEN s.title <> '' THEN s.title ELSE s.url END,
		s.items - f.read_items, f.categories, s.icon
	FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id WHERE f.reader = $1`

// RiverRail implements river.Store.
func (s *subscriptionStore) RiverRail(ctx context.Context, reader string) ([]river.RailFeed, error) {
	reader = sqldb.Clean(reader)
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]railRow, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *railRow) error {
			return rows.Scan(&r.ID, &r.Title, &r.Unread, &r.categories, &r.Icon)
		}, RailText, reader)
	})
	if err != nil {
		return nil, err
	}
	unpacked := map[string][]string{"[]": nil} // many feeds have the same categories
	for i := range rows {
		r := &rows[i]
		list, ok := unpacked[r.categories]
		if !ok {
			list = unpackCategories(r.categories)
			unpacked[r.categories] = list
		}
		r.Categories, r.key = list, text.SortKey(r.Title)
	}
	slices.SortFunc(rows, func(a, b railRow) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.ID, b.ID)) })
	list := make([]river.RailFeed, len(rows))
	for i := range rows {
		list[i] = rows[i].RailFeed
	}
	return list, nil
}
