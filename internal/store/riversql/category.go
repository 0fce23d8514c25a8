package riversql

import (
	"context"
	"database/sql"
	"slices"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/text"
)

// Categories implements river.Store.
func (s *subscriptionStore) Categories(ctx context.Context, reader string, unread bool) ([]river.Category, error) {
	reader = sqldb.Clean(reader)
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]river.Category, error) {
		list, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, one *river.Category) error {
			return rows.Scan(&one.Name, &one.Public, &one.Sources)
		}, `SELECT k.name, k.shown, k.sources FROM (SELECT c.name, c.shown, c.made, (SELECT COUNT(*) FROM river_category_source AS m
				WHERE m.reader = c.reader AND m.category = c.name) AS sources FROM river_category AS c WHERE c.reader = $1) AS k
			WHERE k.made OR k.sources > 0`, reader)
		slices.SortFunc(list, func(a, b river.Category) int { return text.CompareNames(a.Name, b.Name) })
		if err != nil || !unread {
			return list, err
		}
		counts, err := countUnread(ctx, c, reader)
		if err != nil {
			return nil, err
		}
		sum := map[string]int64{}
		err = c.Query(ctx, `SELECT category, source_id FROM river_category_source WHERE reader = $1`, func(rows *sql.Rows) error {
			var name string
			var id int64
			err := rows.Scan(&name, &id)
			sum[name] += counts[id].Items
			return err
		}, reader)
		for i := range list {
			list[i].Unread = sum[list[i].Name]
		}
		return list, err
	})
}

// PutCategory implements river.Store.
func (s *subscriptionStore) PutCategory(ctx context.Context, reader, name string, public bool) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO river_category (reader, name, shown, made) VALUES ($1, $2, $3, TRUE)
			ON CONFLICT (reader, name) DO UPDATE SET shown = excluded.shown, made = TRUE`, sqldb.Clean(reader), sqldb.Clean(name), public)
		return err
	})
}

// RenameCategory implements river.Store. Forwardings and reading lists of the category change with
// it. If a category named to exists, its visibility stays.
func (s *subscriptionStore) RenameCategory(ctx context.Context, reader, from, to string) error {
	return s.retireCategory(ctx, sqldb.Clean(reader), sqldb.Clean(from), sqldb.Clean(to))
}

// DropCategory implements river.Store.
func (s *subscriptionStore) DropCategory(ctx context.Context, reader, name string) error {
	return s.retireCategory(ctx, sqldb.Clean(reader), sqldb.Clean(name), "")
}

// retireCategory deletes a category and moves its sources to the category to. If to is "", the
// sources have no category.
func (s *subscriptionStore) retireCategory(ctx context.Context, reader, from, to string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM river_category WHERE reader = $1 AND name = $2`, reader, from)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "There is no category %q.", from)
		}
		if from == to {
			return nil
		}
		members, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT source_id FROM river_category_source WHERE reader = $1 AND category = $2 ORDER BY source_id`, reader, from)
		if err != nil {
			return err
		}
		if to != "" {
			if err := replaceCategory(ctx, c, reader, from, to, members); err != nil {
				return err
			}
		}
		for _, id := range members {
			if err := recategorize(ctx, c, follower{reader, id}, from, to); err != nil {
				return err
			}
		}
		if _, err := c.Exec(ctx, `DELETE FROM river_category_source WHERE reader = $1 AND category = $2`, reader, from); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM river_category WHERE reader = $1 AND name = $2`, reader, from)
		return err
	})
}

// replaceCategory creates the new category and updates all references to the old one.
func replaceCategory(ctx context.Context, c sqldb.Conn, reader, from, to string, members []int64) error {
	_, err := c.Exec(ctx, `INSERT INTO river_category (reader, name, shown, made)
		SELECT reader, $1, shown, made FROM river_category WHERE reader = $2 AND name = $3
		ON CONFLICT (reader, name) DO NOTHING`, to, reader, from)
	if err != nil {
		return err
	}
	rows := make([][]any, len(members))
	for i, id := range members {
		rows[i] = []any{reader, to, id}
	}
	if err := putMembers(ctx, c, nil, rows); err != nil {
		return err
	}
	for _, text := range []string{
		`UPDATE notice SET category = $1 WHERE reader = $2 AND category = $3`,
		`UPDATE reading_list SET category = $1 WHERE reader = $2 AND category = $3`,
		`UPDATE river_filter SET category = $1 WHERE reader = $2 AND category = $3`,
	} {
		if _, err := c.Exec(ctx, text, to, reader, from); err != nil {
			return err
		}
	}
	return nil
}

// recategorize updates the list of categories of one subscription.
func recategorize(ctx context.Context, c sqldb.Conn, f follower, from, to string) error {
	had, err := categoriesOf(ctx, c, f)
	if err != nil {
		return err
	}
	now := slices.DeleteFunc(append(had, to), func(name string) bool { return name == from })
	_, err = c.Exec(ctx, `UPDATE river_subscription SET categories = $1 WHERE reader = $2 AND source_id = $3`,
		packCategories(sortCategories(now)), f.reader, f.source)
	return err
}
