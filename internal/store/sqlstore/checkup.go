package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/checkup"
	"cloudburst/internal/store/sqldb"
)

// dues are the tables of work, their column of when it is due, and what people call it.
func dueColumns() [][3]string {
	return [][3]string{
		{"part", "due_at", "subscribers to tell of a change, in groups"},
		{"subscription", "next_at", "notifications to try again"},
		{"topic", "due_at", "feeds to check after a ping"},
		{"intent", "due_at", "requests for subscriptions to decide"},
		{"source", "next_at", "feeds to read"},
		{"reading_list", "next_at", "reading lists to read"},
		{"notice", "next_at", "webhooks and mailboxes to serve"},
		{"outping", "due_at", "other servers to tell"},
	}
}

// CheckupOn is Checkup with what ping took, and with the schema that db has and the one that
// this program would make of it.
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

// Checkup says what a database knows of the work that is done with it: what is late, how
// the last hour went. The package of the database adds what is its own.
func (s *Store) Checkup(ctx context.Context, now time.Time) (checkup.Database, error) {
	return sqldb.Read(ctx, s.DB, func(ctx context.Context, c sqldb.Conn) (d checkup.Database, err error) {
		before := sqldb.Millis(now.Add(-checkup.Patience))
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
