package riversql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/text"
)

// followedRow is a subscription with its source, as stored.
type followedRow struct {
	sourceRow
	sub        river.Subscription
	readPlace  int64
	wish       int64
	categories string
	readItems  int64
	counted    bool // the query asks for the unread count
}

const followedColumns = `f.reader, f.source_id, f.read_place, f.added_at, f.wish, f.list_id, f.title, f.categories, f.read_items, f.full_text`

func scanFollowed(rows *sql.Rows, r *followedRow) error {
	f := &r.sub
	return rows.Scan(append([]any{&f.Reader, &f.SourceID, &r.readPlace, (*sqldb.Time)(&f.AddedAt), &r.wish, &f.ListID, &f.Title, &r.categories, &r.readItems, &f.FullText},
		r.sourceRow.fields()...)...)
}

func (r *followedRow) subscription() river.Subscription {
	f := r.sub
	f.ReadTo, f.Interval, f.Categories = readTo(r.readPlace), time.Duration(r.wish), unpackCategories(r.categories)
	return f
}

func (r *followedRow) followed() (river.Followed, error) {
	src, err := r.source()
	f := river.Followed{Subscription: r.subscription(), Source: src}
	if r.counted {
		f.Unread = src.Items - r.readItems
	}
	return f, err
}

// oneFollowed reads a subscription and locks it until the transaction ends.
func oneFollowed(ctx context.Context, c sqldb.Conn, reader string, source int64) (followedRow, error) {
	if _, err := categoriesOf(ctx, c, follower{reader, source}); err != nil {
		return followedRow{}, err
	}
	found, err := sqldb.Collect(ctx, c, scanFollowed, `SELECT `+followedColumns+`, `+sourceHead+` FROM river_subscription AS f
		JOIN source AS s ON s.id = f.source_id LEFT JOIN source_document AS d ON d.id = s.id WHERE f.reader = $1 AND f.source_id = $2`, reader, source)
	return sqldb.First(found, err, "You do not follow this feed.")
}

// ChangeSubscription implements river.Store. It returns the source without Last.
func (s *subscriptionStore) ChangeSubscription(ctx context.Context, reader string, source int64, change func(*river.Subscription) error) (river.Followed, error) {
	reader = sqldb.Clean(reader)
	r, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (followedRow, error) {
		if err := holdSources(ctx, c, s.db.Shared, []int64{source}); err != nil {
			return followedRow{}, err
		}
		r, err := oneFollowed(ctx, c, reader, source)
		if err != nil {
			return r, err
		}
		was, now := r.subscription(), r.subscription()
		now.Categories = slices.Clone(was.Categories)
		if err := change(&now); err != nil {
			return r, err
		}
		place := r.readPlace
		if !now.ReadTo.Equal(was.ReadTo) { // only if changed: places are more precise than ReadTo, which has milliseconds
			place = readPlace(now.ReadTo)
		}
		now.Categories = sortCategories(now.Categories)
		_, err = c.Exec(ctx, `UPDATE river_subscription SET title = $1, categories = $2, wish = $3, read_place = $4, list_id = $5, full_text = $6
			WHERE reader = $7 AND source_id = $8`,
			sqldb.Clean(now.Title), packCategories(now.Categories), int64(now.Interval), place, now.ListID, now.FullText, reader, source)
		if err != nil {
			return r, err
		}
		if place != r.readPlace {
			if err := recount(ctx, c, []follower{{reader, source}}); err != nil {
				return r, err
			}
		}
		if err := moveMember(ctx, c, follower{reader, source}, was.Categories, now.Categories); err != nil {
			return r, err
		}
		if now.Interval != was.Interval {
			if err := saveWishes(ctx, c, [][]any{{source}}); err != nil {
				return r, err
			}
		}
		return oneFollowed(ctx, c, reader, source)
	})
	if err != nil {
		return river.Followed{}, err
	}
	return r.followed()
}

// moveMember removes a source from categories and adds it to others.
func moveMember(ctx context.Context, c sqldb.Conn, f follower, from, to []string) error {
	var out, in [][]any
	names := map[[2]string]bool{}
	for _, name := range from {
		if !slices.Contains(to, name) {
			out = append(out, []any{f.reader, name, f.source})
		}
	}
	for _, name := range to {
		if !slices.Contains(from, name) {
			names[[2]string{f.reader, name}] = true
			in = append(in, []any{f.reader, name, f.source})
		}
	}
	_, err := c.Bulk(ctx, `rows(reader t, category t, source i) DELETE FROM river_category_source AS m {USING ROWS}
		WHERE m.reader = :reader AND m.category = :category AND m.source_id = :source`, out)
	if err != nil {
		return err
	}
	return putMembers(ctx, c, names, in)
}

// RiverSubscriptions implements river.Store. It returns sources without Last. It reads the names
// first, then only the rows of the page.
func (s *subscriptionStore) RiverSubscriptions(ctx context.Context, q river.SubscriptionQuery) ([]river.Followed, error) {
	w, err := followedWhere(q)
	if err != nil {
		return nil, err
	}
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]followedRow, error) {
		names, err := subscriptionOrder(ctx, c, q, &w)
		if err != nil {
			return nil, err
		}
		names = names[min(max(q.Skip, 0), len(names)):]
		if q.Limit > 0 {
			names = names[:min(q.Limit, len(names))]
		}
		ids := make([]int64, len(names))
		for i, n := range names {
			ids[i] = n.id
		}
		return followedByID(ctx, c, sqldb.Clean(q.Reader), ids, q.Unread)
	})
	if err != nil {
		return nil, err
	}
	var list []river.Followed
	for i := range rows {
		f, err := rows[i].followed()
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// namedSource is a source with the values by which lists are sorted.
type namedSource struct {
	id, key int64
	name    string // title or URL in lowercase
}

// subscriptionOrder lists the sources that match, in the order of q.Sort.
func subscriptionOrder(ctx context.Context, c sqldb.Conn, q river.SubscriptionQuery, w *sqldb.Where) ([]namedSource, error) {
	key := "0"
	switch q.Sort {
	case river.SortNewest:
		key = "COALESCE(s.newest, 0)"
	case river.SortFailure:
		key = "CASE WHEN s.failing OR s.gone THEN s.checked_at + 1 ELSE 0 END"
	case river.SortAdded:
		key = "f.added_at"
	}
	names, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, n *namedSource) error {
		err := rows.Scan(&n.id, &n.key, &n.name)
		n.name = text.SortKey(n.name)
		return err
	}, `SELECT f.source_id, `+key+`, CASE WHEN f.title <> '' THEN f.title WHEN s.title <> '' THEN s.title ELSE s.url END
		FROM river_subscription AS f JOIN source AS s ON s.id = f.source_id`+w.String(), w.Args...)
	if err == nil && q.Sort == river.SortUnread {
		var counts map[int64]river.Unread
		counts, err = countUnread(ctx, c, sqldb.Clean(q.Reader))
		for i := range names {
			names[i].key = counts[names[i].id].Items
		}
	}
	slices.SortFunc(names, func(a, b namedSource) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
	})
	return names, err
}

func followedWhere(q river.SubscriptionQuery) (w sqldb.Where, err error) {
	w.Add("f.reader = ?", sqldb.Clean(q.Reader))
	if q.Category != "" {
		w.Add(`f.source_id IN (SELECT m.source_id FROM river_category_source AS m WHERE m.reader = f.reader AND m.category = ?)`, sqldb.Clean(q.Category))
	}
	if q.SourceID != 0 {
		w.Add("f.source_id = ?", q.SourceID)
	}
	if q.ListID != 0 {
		w.Add("f.list_id = ?", q.ListID)
	}
	if q.Broken {
		w.Add("(s.failing OR s.gone OR s.moved)")
	}
	if q.None {
		w.Add("f.categories = '[]'")
	}
	if q.Waiting {
		w.Add("s.checked_at = 0")
	}
	return w, w.Like(q.Match, "f.title", "s.title", "s.url")
}

// followedByID reads subscriptions in the order of ids.
func followedByID(ctx context.Context, c sqldb.Conn, reader string, ids []int64, unread bool) ([]followedRow, error) {
	at, rows := make(map[int64]int, len(ids)), make([][]any, len(ids))
	for i, id := range ids {
		at[id], rows[i] = i, []any{reader, id}
	}
	all := make([]followedRow, len(ids))
	err := c.BulkQuery(ctx, `rows(reader t, source i) SELECT `+followedColumns+`, `+sourceHead+` FROM river_subscription AS f
		JOIN source AS s ON s.id = f.source_id LEFT JOIN source_document AS d ON d.id = s.id
		{AND ROWS} WHERE f.reader = :reader AND f.source_id = :source`, func(rows *sql.Rows) error {
		r := followedRow{counted: unread}
		err := scanFollowed(rows, &r)
		all[at[r.sub.SourceID]] = r
		return err
	}, rows)
	all = slices.DeleteFunc(all, func(r followedRow) bool { return r.ID == 0 }) // drop subscriptions that were deleted in the meantime
	return all, err
}

// RiverFollowing implements river.Store.
func (s *subscriptionStore) RiverFollowing(ctx context.Context, reader string) (map[int64]bool, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[int64]bool, error) {
		set := map[int64]bool{}
		err := c.Query(ctx, `SELECT source_id FROM river_subscription WHERE reader = $1`, func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			set[id] = true
			return err
		}, sqldb.Clean(reader))
		return set, err
	})
}
