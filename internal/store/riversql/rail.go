package riversql

import (
	"context"
	"database/sql"

	"cloudburst/internal/river/rail"
	"cloudburst/internal/store/sqldb"
)

const (
	// RailText is the statement that reads the feeds of a reader for the list next to the river.
	RailText = `SELECT f.source_id, CASE WHEN f.title <> '' THEN f.title WHEN s.title <> '' THEN s.title ELSE s.url END,
		s.items - f.read_items, f.categories, s.icon` + railFrom

	// RailTotalText is the statement that sums the unread counts of a reader.
	RailTotalText = `SELECT '[]', CAST(COALESCE(SUM(s.items - f.read_items), 0) AS BIGINT)` + railFrom

	// railSumsText sums the unread counts by categories. Only feeds with categories are sorted.
	railSumsText = RailTotalText + ` AND f.categories = '[]' UNION ALL
		SELECT f.categories, CAST(SUM(s.items - f.read_items) AS BIGINT)` + railFrom + ` AND f.categories <> '[]' GROUP BY f.categories`

	railFrom = ` FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id WHERE f.reader = $1`
)

// RiverRail implements river.Store.
func (s *subscriptionStore) RiverRail(ctx context.Context, q rail.Query) (rail.List, error) {
	q.User, q.Category = sqldb.Clean(q.User), sqldb.Clean(q.Category)
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (l rail.List, err error) {
		if q.Most > 0 {
			n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM (SELECT 1 FROM river_subscription WHERE reader = $1 LIMIT $2) AS f`, q.User, q.Most+1)
			if err != nil {
				return l, err
			}
			l.Many = n > int64(q.Most)
		}
		if !l.Many {
			l.Feeds, err = railFeeds(ctx, c, RailText, q.User)
			return l, err
		}
		if q.Total || q.ByCategory {
			l.Unread, err = s.unreadSums(ctx, c, railKey{q.User, q.ByCategory})
		}
		if err == nil && (q.Category != "" || q.Source != 0) {
			l.Feeds, err = railFeeds(ctx, c, RailText+` AND f.source_id IN (SELECT m.source_id FROM river_category_source AS m
				WHERE m.reader = $1 AND m.category = $2 UNION SELECT CAST($3 AS BIGINT))`, q.User, q.Category, q.Source)
		}
		return l, err
	})
}

// railFeeds reads feeds and sorts them by title.
func railFeeds(ctx context.Context, c sqldb.Conn, statement string, args ...any) ([]rail.Feed, error) {
	var categories string
	unpacked := map[string][]string{"[]": nil} // many feeds have the same categories
	list, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, f *rail.Feed) error {
		err := rows.Scan(&f.ID, &f.Title, &f.Unread, &categories, &f.Icon)
		if _, ok := unpacked[categories]; !ok {
			unpacked[categories] = unpackCategories(categories)
		}
		f.Categories = unpacked[categories]
		return err
	}, statement, args...)
	rail.Sort(list)
	return list, err
}

const maxRailSums = 1 << 20 // maximum size of the cached sums in bytes

// railKey identifies the cached sums of a reader.
type railKey struct {
	reader     string
	byCategory bool
}

// railSums contains the sums of unread counts in a state of the database.
type railSums struct {
	state string
	list  []rail.Sum
}

// unreadSums sums the unread counts of a reader. It reads them again only if a count of any reader
// has changed.
func (s *subscriptionStore) unreadSums(ctx context.Context, c sqldb.Conn, key railKey) ([]rail.Sum, error) {
	now := railSums{state: s.db.UnreadState()} // before the counts are read, so that the state is never newer than the counts
	if kept, ok := s.sums.Get(key); ok && now.state != "" && kept.state == now.state {
		return kept.list, nil
	}
	statement, size := RailTotalText, 200
	if key.byCategory {
		statement = railSumsText
	}
	var err error
	now.list, err = sqldb.Collect(ctx, c, func(rows *sql.Rows, n *rail.Sum) error {
		var categories string
		err := rows.Scan(&categories, &n.Unread)
		n.Categories = unpackCategories(categories)
		size += 100 + 4*len(categories)
		return err
	}, statement, key.reader)
	if err == nil && now.state != "" {
		s.sums.Put(key, now, size)
	}
	return now.list, err
}
