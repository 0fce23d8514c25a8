package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// railRow is a feed of a rail as stored.
type railRow struct {
	river.RailFeed
	categories string
	about      sql.NullString
}

// RailText reads the feeds of a rail.
const RailText = `SELECT f.source_id, CASE WHEN f.title <> '' THEN f.title WHEN s.title <> '' THEN s.title ELSE s.url END,
		s.items - f.read_items, f.categories, d.about
	FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id LEFT JOIN source_document AS d ON d.id = s.id WHERE f.reader = $1`

// RiverRail implements river.Store.
func (s *subscriptionStore) RiverRail(ctx context.Context, reader string) ([]river.RailFeed, error) {
	reader = sqldb.Clean(reader)
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]railRow, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *railRow) error {
			return rows.Scan(&r.ID, &r.Title, &r.Unread, &r.categories, &r.about)
		}, RailText, reader)
	})
	if err != nil {
		return nil, err
	}
	list, keys := make([]river.RailFeed, len(rows)), make(map[int64]string, len(rows))
	for i := range rows {
		if list[i], err = rows[i].unpack(); err != nil {
			return nil, err
		}
		keys[list[i].ID] = strings.ToLower(list[i].Title)
	}
	slices.SortFunc(list, func(a, b river.RailFeed) int {
		return cmp.Or(cmp.Compare(keys[a.ID], keys[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

func (r *railRow) unpack() (river.RailFeed, error) {
	f := r.RailFeed
	f.Categories = unpackCategories(r.categories)
	var err error
	if f.Icon, err = aboutText(r.about.String, "icon"); err != nil {
		return f, fmt.Errorf("read source %d: %w", f.ID, err)
	}
	return f, nil
}

// aboutText returns one text of a river.About in JSON. A page needs it of hundreds of feeds, and
// little else of them. Quotes within strings are escaped, so the key is found without parsing.
func aboutText(about, key string) (string, error) {
	_, rest, found := strings.Cut(about, `"`+key+`":"`)
	if !found {
		return "", nil
	}
	text, _, _ := strings.Cut(rest, `"`)
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var all map[string]any
	err := json.Unmarshal([]byte(about), &all)
	text, _ = all[key].(string)
	return text, err
}
