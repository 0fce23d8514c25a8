package riversql

import (
	"context"
	"database/sql"
	"math"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/river"
	"cloudburst/internal/store/sqldb"
)

// KeepUnfollowed implements river.Store.
func (s *subscriptionStore) KeepUnfollowed(ctx context.Context, reader string, sources []int64, now, before time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := c.Exec(ctx, `DELETE FROM river_unfollowed WHERE ended_at < $1`, sqldb.Millis(before)); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `INSERT INTO river_unfollowed (reader, source_id, ended_at, read_place, added_at, wish, list_id, title, categories, full_text)
			SELECT reader, source_id, $1, read_place, added_at, wish, list_id, title, categories, full_text FROM river_subscription
				WHERE reader = $2 AND source_id {ALL} $3 {END ALL}
			ON CONFLICT (reader, source_id) DO UPDATE SET ended_at = excluded.ended_at, read_place = excluded.read_place, added_at = excluded.added_at,
				wish = excluded.wish, list_id = excluded.list_id, title = excluded.title, categories = excluded.categories, full_text = excluded.full_text`,
			sqldb.Millis(now), sqldb.Clean(reader), idList(sources))
		return err
	})
}

// unfollowedRow is a subscription that was ended.
type unfollowedRow struct {
	sub             river.Subscription
	endedAt         time.Time
	readPlace, wish int64
	categories      string
}

// unfollowed reads a subscription that ended at the time since or later. If the reading list that
// added it no longer exists, ListID is 0.
func (s *subscriptionStore) unfollowed(ctx context.Context, reader string, source int64, since time.Time) (*unfollowedRow, error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]unfollowedRow, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *unfollowedRow) error {
			f := &r.sub
			return rows.Scan(&f.Reader, &f.SourceID, (*sqldb.Time)(&r.endedAt), &r.readPlace, (*sqldb.Time)(&f.AddedAt), &r.wish, &f.ListID, &f.Title, &r.categories, &f.FullText)
		}, `SELECT u.reader, u.source_id, u.ended_at, u.read_place, u.added_at, u.wish,
				CASE WHEN EXISTS (SELECT 1 FROM reading_list AS l WHERE l.id = u.list_id AND l.reader = u.reader) THEN u.list_id ELSE 0 END, u.title, u.categories, u.full_text
			FROM river_unfollowed AS u WHERE u.reader = $1 AND u.source_id = $2 AND u.ended_at >= $3`, sqldb.Clean(reader), source, sqldb.Millis(since))
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.NotFound, "You have not unfollowed this feed recently.")
	}
	r := &rows[0]
	r.sub.ReadTo, r.sub.Interval, r.sub.Categories = readTo(r.readPlace), time.Duration(r.wish), unpackCategories(r.categories)
	return r, nil
}

// Unfollowed implements river.Store.
func (s *subscriptionStore) Unfollowed(ctx context.Context, reader string, source int64, since time.Time) (time.Time, error) {
	r, err := s.unfollowed(ctx, reader, source, since)
	if err != nil {
		return time.Time{}, err
	}
	return r.endedAt, nil
}

// RiverResubscribe implements river.Store.
func (s *subscriptionStore) RiverResubscribe(ctx context.Context, reader string, source int64, since, now time.Time) error {
	r, err := s.unfollowed(ctx, reader, source, since)
	if err != nil {
		return err
	}
	src, err := readSource(ctx, s.db, source)
	if err != nil {
		return err
	}
	all, _, err := packAdditions([]river.Addition{{Subscription: r.sub, Source: src}})
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if err := holdSources(ctx, c, s.db.Shared, []int64{source}); err != nil {
			return err
		}
		kept, err := c.Exec(ctx, `DELETE FROM river_unfollowed WHERE reader = $1 AND source_id = $2 AND ended_at = $3`, sqldb.Clean(reader), source, sqldb.Millis(r.endedAt))
		if err != nil {
			return err
		}
		if err := addSubscriptions(ctx, c, all, math.MaxInt-1); err != nil {
			return err
		}
		if kept == 0 || !all[0].fresh {
			return fault.New(fault.Conflict, "The feed is followed again.")
		}
		if err := addSources(ctx, c, all, now); err != nil {
			return err
		}
		// Restore the exact place of the read marker, because ReadTo has only millisecond
		// precision.
		if _, err := c.Exec(ctx, `UPDATE river_subscription SET read_place = $1 WHERE reader = $2 AND source_id = $3`, r.readPlace, sqldb.Clean(reader), source); err != nil {
			return err
		}
		if err := recount(ctx, c, freshOf(all)); err != nil {
			return err
		}
		return addCategories(ctx, c, all)
	})
}
