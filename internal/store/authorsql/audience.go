package authorsql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cloudburst/internal/audience"
	"cloudburst/internal/store/sqldb"
)

const dayLong = 24 * time.Hour

// AddSeen implements audience.Store.
func (s *audienceStore) AddSeen(ctx context.Context, list []audience.Seen) error {
	type day struct {
		feed string
		at   time.Time
	}
	// Write in a fixed order, so that concurrent writers of the same rows do not wait for each
	// other.
	list = slices.SortedFunc(slices.Values(list), func(a, b audience.Seen) int { return cmp.Or(cmp.Compare(a.Feed, b.Feed), cmp.Compare(a.Key, b.Key)) })
	rows := make([][]any, len(list))
	hits, modified := map[day]int64{}, map[day]int64{}
	for i, v := range list {
		rows[i] = []any{sqldb.Clean(v.Feed), sqldb.Clean(v.Key), string(v.Kind), sqldb.Clean(v.Name), v.Form, v.Address, v.Subscribers, v.Hits, v.NotModified,
			sqldb.Millis(v.FirstAt), sqldb.Millis(v.LastAt)}
		d := day{sqldb.Clean(v.Feed), v.LastAt.UTC().Truncate(dayLong)}
		hits[d] += v.Hits
		modified[d] += v.NotModified
	}
	var days [][]any
	for d, n := range hits {
		days = append(days, []any{d.feed, sqldb.Millis(d.at), n, modified[d]})
	}
	slices.SortFunc(days, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[0].(string), b[0].(string)), cmp.Compare(a[1].(int64), b[1].(int64)))
	})
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Bulk(ctx, `rows(feed t, key t, kind t, name t, form t, address t, subscribers i, hits i, modified i, first i, last i)
			INSERT INTO seen (feed, key, kind, name, form, address, subscribers, hits, modified, first_at, last_at)
			SELECT :feed, :key, :kind, :name, :form, :address, :subscribers, :hits, :modified, :first, :last
			{FROM ROWS} WHERE true
			ON CONFLICT (feed, key) DO UPDATE SET hits = seen.hits + excluded.hits, modified = seen.modified + excluded.modified,
				name = CASE WHEN excluded.last_at >= seen.last_at THEN excluded.name ELSE seen.name END,
				address = CASE WHEN excluded.last_at >= seen.last_at THEN excluded.address ELSE seen.address END,
				subscribers = CASE WHEN excluded.last_at >= seen.last_at THEN excluded.subscribers ELSE seen.subscribers END,
				first_at = CASE WHEN excluded.first_at < seen.first_at THEN excluded.first_at ELSE seen.first_at END,
				last_at = CASE WHEN excluded.last_at > seen.last_at THEN excluded.last_at ELSE seen.last_at END`, rows)
		if err != nil || len(days) == 0 {
			return err
		}
		_, err = c.Bulk(ctx, `rows(feed t, day i, requests i, modified i)
			INSERT INTO reader_day (feed, day, readers, services, programs, push, private, requests, modified)
			SELECT :feed, :day, 0, 0, 0, 0, 0, :requests, :modified {FROM ROWS} WHERE true
			ON CONFLICT (feed, day) DO UPDATE SET requests = reader_day.requests + excluded.requests,
				modified = reader_day.modified + excluded.modified`, days)
		return err
	})
}

func scanSeen(rows *sql.Rows, v *audience.Seen) error {
	return rows.Scan(&v.Feed, &v.Key, &v.Kind, &v.Name, &v.Form, &v.Address, &v.Subscribers, &v.Hits, &v.NotModified,
		(*sqldb.Time)(&v.FirstAt), (*sqldb.Time)(&v.LastAt))
}

// SeenOf implements audience.Store.
func (s *audienceStore) SeenOf(ctx context.Context, feed string, since time.Time, limit int) ([]audience.Seen, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]audience.Seen, error) {
		return sqldb.Collect(ctx, c, scanSeen, `SELECT feed, key, kind, name, form, address, subscribers, hits, modified, first_at, last_at
			FROM seen WHERE feed = $1 AND last_at >= $2 ORDER BY subscribers DESC, last_at DESC, key LIMIT $3`, sqldb.Clean(feed), sqldb.Millis(since), limit)
	})
}

// SeenFeeds implements audience.Store.
func (s *audienceStore) SeenFeeds(ctx context.Context, since time.Time, after string, limit int) ([]string, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]string, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, feed *string) error { return rows.Scan(feed) },
			`SELECT DISTINCT feed FROM seen WHERE feed > $1 AND last_at >= $2 ORDER BY feed LIMIT $3`, sqldb.Clean(after), sqldb.Millis(since), limit)
	})
}

// TrimSeen implements audience.Store.
func (s *audienceStore) TrimSeen(ctx context.Context, before time.Time, limit int) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		n, err := c.Exec(ctx, `DELETE FROM seen WHERE (feed, key) IN
			(SELECT feed, key FROM seen WHERE last_at < $1 ORDER BY last_at LIMIT $2)`, sqldb.Millis(before), limit)
		return int(n), err
	})
}

// SaveDay implements audience.Store.
func (s *audienceStore) SaveDay(ctx context.Context, d audience.Day) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO reader_day (feed, day, readers, services, programs, push, private, requests, modified)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0)
			ON CONFLICT (feed, day) DO UPDATE SET readers = excluded.readers, services = excluded.services,
				programs = excluded.programs, push = excluded.push, private = excluded.private`,
			sqldb.Clean(d.Feed), sqldb.Millis(d.Day), d.Readers, d.Services, d.Programs, d.Push, d.Private)
		return err
	})
}

// Days implements audience.Store.
func (s *audienceStore) Days(ctx context.Context, feed string, since time.Time) ([]audience.Day, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]audience.Day, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, d *audience.Day) error {
			return rows.Scan(&d.Feed, (*sqldb.Time)(&d.Day), &d.Readers, &d.Services, &d.Programs, &d.Push, &d.Private, &d.Requests, &d.NotModified)
		}, `SELECT feed, day, readers, services, programs, push, private, requests, modified
			FROM reader_day WHERE feed = $1 AND day >= $2 ORDER BY day`, sqldb.Clean(feed), sqldb.Millis(since))
	})
}

// TrimDays implements audience.Store.
func (s *audienceStore) TrimDays(ctx context.Context, before time.Time, limit int) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		n, err := c.Exec(ctx, `DELETE FROM reader_day WHERE (feed, day) IN
			(SELECT feed, day FROM reader_day WHERE day < $1 ORDER BY day LIMIT $2)`, sqldb.Millis(before), limit)
		return int(n), err
	})
}
