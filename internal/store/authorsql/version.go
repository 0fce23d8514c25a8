package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/author/version"
	"cloudburst/internal/store/sqldb"
)

// keepVersion stores the content that a change replaces as an earlier version, if Keep says so.
func (t *writing) keepVersion(ctx context.Context, now, next author.Post) error {
	if t.Keep == nil || now.Revision == 0 {
		return nil
	}
	of := author.VersionOf(now)
	var n int64
	var last time.Time
	err := t.c.Query(ctx, `SELECT v.n, v.saved_at FROM post_version AS v WHERE v.owner = $1 AND v.post_id = $2 ORDER BY v.n DESC LIMIT 1`,
		func(rows *sql.Rows) error { return rows.Scan(&n, (*sqldb.Time)(&last)) }, now.User, of)
	if err != nil || !t.Keep(now, next, last) {
		return err
	}
	body, err := sqldb.JSON(&now.Content)
	if err != nil {
		return err
	}
	n++
	_, err = t.c.Exec(ctx, `INSERT INTO post_version (owner, post_id, n, saved_at, state, body) VALUES ($1, $2, $3, $4, $5, $6)`,
		now.User, of, n, sqldb.Millis(now.UpdatedAt), string(now.State), body)
	if err == nil && n > author.MaxVersions {
		_, err = t.c.Exec(ctx, `DELETE FROM post_version WHERE owner = $1 AND post_id = $2 AND n <= $3`, now.User, of, n-author.MaxVersions)
	}
	return err
}

type versionRow struct {
	version.Version
	body string
}

// versions reads earlier versions; rest is the end of the query.
func (s *postStore) versions(ctx context.Context, rest string, args ...any) ([]version.Version, error) {
	rows, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]versionRow, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, r *versionRow) error {
			return rows.Scan(&r.N, (*sqldb.Time)(&r.At), &r.State, &r.body)
		}, `SELECT v.n, v.saved_at, v.state, v.body FROM post_version AS v WHERE v.owner = $1 AND v.post_id = $2 `+rest, args...)
	})
	if err != nil {
		return nil, err
	}
	var all []version.Version
	for i := range rows {
		if err := json.Unmarshal([]byte(rows[i].body), &rows[i].Content); err != nil {
			return nil, fmt.Errorf("read version %d of a post: %w", rows[i].N, err)
		}
		all = append(all, rows[i].Version)
	}
	return all, nil
}

// Versions implements version.Store.
func (s *postStore) Versions(ctx context.Context, user string, post int64) ([]version.Version, error) {
	return s.versions(ctx, `ORDER BY v.n DESC`, sqldb.Clean(user), post)
}

// Version implements version.Store.
func (s *postStore) Version(ctx context.Context, user string, post, n int64) (version.Version, error) {
	all, err := s.versions(ctx, `AND v.n = $3`, sqldb.Clean(user), post, n)
	return sqldb.First(all, err, "There is no such version of the post.")
}
