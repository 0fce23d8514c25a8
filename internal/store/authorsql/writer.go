package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// writerRow is a writer as stored.
type writerRow struct {
	author.Writer
	lastID  int64
	profile string
}

const writerText = `SELECT w.owner, w.version, w.last_id, w.last_seq, w.posts, w.profile,
	COALESCE((SELECT s.written FROM saved AS s WHERE s.owner = w.owner AND s.name = 'rss'), false)
	FROM writer AS w WHERE w.owner = $1 AND w.owner <> ''`

// findWriter reads a writer; found is false if the user has never written.
func findWriter(ctx context.Context, c sqldb.Conn, user, lock string) (w writerRow, found bool, err error) {
	w.User = sqldb.Clean(user)
	err = c.Query(ctx, writerText+lock, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&w.User, &w.Version, &w.lastID, &w.LastSeq, &w.Posts, &w.profile, &w.Written)
	}, w.User)
	if err == nil && found {
		if err = json.Unmarshal([]byte(w.profile), &w.Profile); err != nil {
			err = fmt.Errorf("read the profile of %s: %w", w.User, err)
		}
	}
	return w, found, err
}

// lockWriter reads a writer and locks it until the transaction ends. A user who has never written
// gets a row, so that concurrent callers wait for each other.
func lockWriter(ctx context.Context, c sqldb.Conn, user string) (writerRow, error) {
	if user == "" {
		return writerRow{}, fault.New(fault.Invalid, "The post names no user.")
	}
	w, found, err := findWriter(ctx, c, user, ` {LOCK}`)
	if err != nil || found {
		return w, err
	}
	_, err = c.Exec(ctx, `INSERT INTO writer (owner, version, last_id, last_seq, posts, changed, profile)
		VALUES ($1, 0, 0, 0, 0, 0, '{}') ON CONFLICT (owner) DO NOTHING`, sqldb.Clean(user))
	if err != nil {
		return w, err
	}
	w, _, err = findWriter(ctx, c, user, ` {LOCK}`)
	return w, err
}

// saveWriter updates a locked writer.
func saveWriter(ctx context.Context, c sqldb.Conn, w *writerRow) error {
	_, err := c.Exec(ctx, `UPDATE writer SET version = $1, last_id = $2, last_seq = $3, posts = $4 WHERE owner = $5`,
		w.Version, w.lastID, w.LastSeq, w.Posts, w.User)
	return err
}

// stampWriter assigns a stamp to a visible change of a writer, later than all earlier stamps of
// this writer. It locks only this writer's row.
func stampWriter(ctx context.Context, c sqldb.Conn, user string, at time.Time) (stamp int64, err error) {
	if !at.IsZero() {
		stamp = at.UnixMicro()
	}
	err = c.Query(ctx, `UPDATE writer SET changed = CASE WHEN changed < $1 THEN $1 ELSE changed + 1 END WHERE owner = $2 RETURNING changed`,
		func(rows *sql.Rows) error { return rows.Scan(&stamp) }, stamp, user)
	return stamp, err
}

// StampUser marks the posts of a user as changed for readers, if the user has posts.
func StampUser(ctx context.Context, c sqldb.Conn, user string, at time.Time) error {
	if _, err := c.Exec(ctx, `UPDATE writer SET version = version + 1 WHERE owner = $1`, user); err != nil {
		return err
	}
	stamp, err := stampWriter(ctx, c, user, at)
	if err == nil {
		_, err = c.Exec(ctx, `UPDATE post_count SET changed = $1, version = version + 1 WHERE owner = $2`, stamp, user)
	}
	return err
}

// Writer implements author.PostStore.
func (s *postStore) Writer(ctx context.Context, user string) (author.Writer, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Writer, error) {
		w, _, err := findWriter(ctx, c, user, "")
		return w.Writer, err
	})
}

// SetProfile implements author.PostStore.
func (s *postStore) SetProfile(ctx context.Context, user string, change func(*author.Profile) error) (author.Writer, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Writer, error) {
		w, err := lockWriter(ctx, c, user)
		if err != nil {
			return author.Writer{}, err
		}
		before, err := sqldb.JSON(&w.Profile)
		if err != nil {
			return author.Writer{}, err
		}
		if err := change(&w.Profile); err != nil {
			return author.Writer{}, err
		}
		text, err := sqldb.JSON(&w.Profile)
		if err != nil {
			return author.Writer{}, err
		}
		w.Version++
		w.Profile = author.Profile{}
		if err := json.Unmarshal([]byte(text), &w.Profile); err != nil { // decode the profile as a read returns it
			return author.Writer{}, err
		}
		if _, err := c.Exec(ctx, `UPDATE writer SET version = $1, profile = $2 WHERE owner = $3`, w.Version, text, w.User); err != nil {
			return author.Writer{}, err
		}
		if err := hideFiles(ctx, c, w.User, before, text); err != nil {
			return author.Writer{}, err
		}
		_, err = stampWriter(ctx, c, w.User, time.Time{})
		return w.Writer, err
	})
}

// PostsChanged implements author.PostStore. For all users it returns the newest stamp plus the
// number of changes: the number also shows a change that is committed after another one with a
// later stamp.
func (s *postStore) PostsChanged(ctx context.Context, user, category string) (int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		switch {
		case user == "" && category == "":
			return sqldb.Count(ctx, c, `SELECT MAX(w.changed) + CAST(SUM(w.version) AS BIGINT) FROM writer AS w`)
		case user == "":
			return sqldb.Count(ctx, c, `SELECT COALESCE(MAX(n.changed) + CAST(SUM(n.version) AS BIGINT), 0) FROM post_count AS n
				WHERE n.kind = 'category' AND n.name = $1`, sqldb.Clean(category))
		case category == "":
			return sqldb.Count(ctx, c, `SELECT w.changed FROM writer AS w WHERE w.owner = $1`, sqldb.Clean(user))
		default:
			return sqldb.Count(ctx, c, `SELECT n.changed FROM post_count AS n WHERE n.owner = $1 AND n.kind = 'category' AND n.name = $2`,
				sqldb.Clean(user), sqldb.Clean(category))
		}
	})
}
