package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/checkup"
	"cloudburst/internal/store/sqldb"
)

// dueColumns returns the tables of pending work, their due column and a description.
func dueColumns() [][3]string {
	return [][3]string{
		{"part", "due_at", "subscribers to notify of a change, in shards"},
		{"subscription", "next_at", "notifications to try again"},
		{"topic", "due_at", "feeds to check after a ping"},
		{"intent", "due_at", "requests for subscriptions to decide"},
		{"source", "next_at", "feeds to read"},
		{"reading_list", "next_at", "reading lists to read"},
		{"notice", "next_at", "webhooks and mailboxes to serve"},
		{"outping", "due_at", "other servers to notify"},
		{"mention", "due_at", "pages that link to posts, to read"},
		{"mention_sent", "due_at", "webmentions of posts to send"},
		{"thread_work", "due_at", "replies to place in their threads"},
	}
}

// CheckupOn is Checkup plus the duration of a ping, the current schema version and the version that
// this program requires.
func (s *Store) CheckupOn(ctx context.Context, db *sql.DB, ping func(context.Context) error, now time.Time) (checkup.Database, error) {
	begin := time.Now()
	if err := ping(ctx); err != nil {
		return checkup.Database{}, err
	}
	took := time.Since(begin)
	d, err := s.Checkup(ctx, now)
	if err != nil {
		return d, err
	}
	d.Took = took
	if d.Newest, err = sqldb.Newest(); err != nil {
		return d, err
	}
	d.Schema, err = sqldb.SchemaOf(ctx, db)
	return d, err
}

// Checkup returns the figures of a database about its work: overdue rows and the last hour. The
// package of the database adds its own figures.
func (s *Store) Checkup(ctx context.Context, now time.Time) (checkup.Database, error) {
	return sqldb.Read(ctx, s.DB, func(ctx context.Context, c sqldb.Conn) (d checkup.Database, err error) {
		before := sqldb.Millis(now.Add(-checkup.LateAfter))
		for _, due := range dueColumns() {
			l := checkup.Late{What: due[2]}
			err := c.Query(ctx, `SELECT COUNT(*), MIN(`+due[1]+`) FROM `+due[0]+` WHERE `+due[1]+` <= $1`, func(rows *sql.Rows) error {
				return rows.Scan(&l.N, (*sqldb.Time)(&l.Oldest))
			}, before)
			if err != nil {
				return d, err
			}
			d.Late = append(d.Late, l)
		}
		err = c.Query(ctx, `SELECT due_at FROM task WHERE name = 'sweep'`, func(rows *sql.Rows) error { return rows.Scan((*sqldb.Time)(&d.SweepDue)) })
		if err != nil {
			return d, err
		}
		if err := c.Query(ctx, `SELECT MAX(at) FROM event`, func(rows *sql.Rows) error { return rows.Scan((*sqldb.Time)(&d.LastEvent)) }); err != nil {
			return d, err
		}
		err = c.Query(ctx, `SELECT kind, COUNT(*), CAST(SUM(CASE WHEN ok THEN 0 ELSE 1 END) AS BIGINT) FROM event WHERE at >= $1 GROUP BY kind ORDER BY kind`,
			func(rows *sql.Rows) error {
				var k checkup.Kind
				err := rows.Scan(&k.Name, &k.N, &k.Failed)
				d.Hour = append(d.Hour, k)
				return err
			}, sqldb.Millis(now.Add(-time.Hour)))
		return d, err
	})
}
