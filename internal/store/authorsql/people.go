package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/people"
	"cloudburst/internal/store/sqldb"
)

type peopleStore struct{ db *sqldb.DB }

// Authors implements people.Store. It reads the last post of an author from the end of an index, so
// that no statement reads all posts of an author.
func (s *peopleStore) Authors(ctx context.Context, after string, limit int) ([]people.Row, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]people.Row, error) {
		return sqldb.Collect(ctx, c, scanAuthor, `SELECT s.owner, s.title, s.saved_at, COALESCE(w.profile, '{}'), COALESCE(w.posts, 0), a.preferences,
				COALESCE((SELECT p.published_at FROM post AS p WHERE p.owner = s.owner AND p.state = 'published' ORDER BY p.published_at DESC, p.id DESC LIMIT 1), 0)
			FROM saved AS s JOIN account AS a ON a.name = s.owner LEFT JOIN writer AS w ON w.owner = s.owner
			WHERE s.owner > $1 AND s.name = 'rss' AND s.version > 0 AND NOT s.gone AND s.moved_to = '' AND NOT a.disabled
			ORDER BY s.owner LIMIT $2`, sqldb.Clean(after), sqldb.Limit(limit))
	})
}

func scanAuthor(rows *sql.Rows, r *people.Row) error {
	var profile string
	var saved, last sqldb.Time
	if err := rows.Scan(&r.User, &r.Title, &saved, &profile, &r.Posts, &r.Preferences, &last); err != nil {
		return err
	}
	if r.LastAt = time.Time(last); r.LastAt.IsZero() {
		r.LastAt = time.Time(saved)
	}
	if err := json.Unmarshal([]byte(profile), &r.Profile); err != nil {
		return fmt.Errorf("read the profile of %s: %w", r.User, err)
	}
	return nil
}

// PreferencesOf implements people.Store.
func (s *peopleStore) PreferencesOf(ctx context.Context, users ...string) (map[string]string, error) {
	rows := make([][]any, len(users))
	for i, name := range users {
		rows[i] = []any{sqldb.Clean(name)}
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]string, error) {
		all := make(map[string]string, len(users))
		err := c.BulkQuery(ctx, `rows(user_name t) SELECT a.name, a.preferences FROM account AS a {AND ROWS} WHERE a.name = :user_name AND NOT a.disabled`, func(rows *sql.Rows) error {
			var name, encoded string
			err := rows.Scan(&name, &encoded)
			all[name] = encoded
			return err
		}, rows)
		return all, err
	})
}
