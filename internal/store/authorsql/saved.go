package authorsql

import (
	"bytes"
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/store/sqldb"
)

const savedColumns = `owner, name, version, told, saved_at, type, size, moved_to, temporary, gone, title, items, push, add_cloud`

func savedFields(f *author.Feed) []any {
	return []any{&f.User, &f.Name, &f.Version, &f.Notified, (*sqldb.Time)(&f.SavedAt), &f.Type, &f.Size, &f.MovedTo, &f.Temporary, &f.Gone, &f.Title, (*sqldb.Int)(&f.Items), (*string)(&f.Push), &f.AddCloud}
}

func scanSaved(rows *sql.Rows, f *author.Feed) error { return rows.Scan(savedFields(f)...) }

// savedRow is a feed with the origin of its document.
type savedRow struct {
	author.Feed
	hash    []byte
	written bool // rendered from posts
}

// SaveDocument implements author.Store. From then on the feed is this document and is no longer
// rendered from posts.
func (s *savedStore) SaveDocument(ctx context.Context, d author.Saving) (f author.Feed, changed bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		was, err := lockSaved(ctx, c, d.User, d.Name)
		if err != nil {
			return err
		}
		f, changed, err = saveDocument(ctx, c, was, d, false)
		return err
	})
	if err != nil {
		return author.Feed{}, false, err
	}
	return f, changed, nil
}

// saveDocument stores a document as the next version of a locked feed. written means that it was
// rendered from posts.
func saveDocument(ctx context.Context, c sqldb.Conn, was savedRow, d author.Saving, written bool) (f author.Feed, changed bool, err error) {
	if d.Allow != nil {
		if err := d.Allow(was.Feed); err != nil {
			return f, false, err
		}
	}
	changed = was.Version == 0 || was.Type != sqldb.Clean(d.Type) || !bytes.Equal(was.hash, d.Hash)
	f = was.Feed
	f.Gone, f.Push = false, d.Push
	if !changed {
		if was.Gone || was.written != written || was.Push != d.Push {
			_, err = c.Exec(ctx, `UPDATE saved SET gone = false, written = $1, push = $2 WHERE owner = $3 AND name = $4`, written, string(f.Push), f.User, f.Name)
		}
		return f, false, err
	}
	f.Version++
	if d.Quiet {
		f.Notified = f.Version
	}
	if d.At.After(f.SavedAt) {
		f.SavedAt = d.At
	}
	f.Type, f.Size, f.Title, f.Items = sqldb.Clean(d.Type), int64(len(d.Bytes)), sqldb.Clean(d.Title), d.Items
	if err := writeSaved(ctx, c, f, d, written); err != nil {
		return f, false, err
	}
	if d.Events != nil {
		err = sqldb.AppendEvents(ctx, c, d.Events(f))
	}
	return f, true, err
}

// lockSaved reads a feed and locks it until the transaction ends. If the feed does not exist,
// lockSaved creates its version 0, so that concurrent callers wait for each other.
func lockSaved(ctx context.Context, c sqldb.Conn, user, name string) (savedRow, error) {
	user, name = sqldb.Clean(user), sqldb.Clean(name)
	_, err := c.Exec(ctx, `INSERT INTO saved (owner, name, version, told, saved_at, type, size, moved_to, gone, title, items)
		VALUES ($1, $2, 0, 0, 0, '', 0, '', false, '', 0) ON CONFLICT (owner, name) DO NOTHING`, user, name)
	if err != nil {
		return savedRow{}, err
	}
	found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, r *savedRow) error {
		return rows.Scan(append(savedFields(&r.Feed), &r.hash, &r.written)...)
	}, `SELECT `+savedColumns+`, hash, written FROM saved WHERE owner = $1 AND name = $2 {LOCK}`, user, name)
	if err != nil || len(found) == 0 {
		return savedRow{Feed: author.Feed{User: user, Name: name}}, err
	}
	return found[0], nil
}

func writeSaved(ctx context.Context, c sqldb.Conn, f author.Feed, d author.Saving, written bool) error {
	_, err := c.Exec(ctx, `UPDATE saved SET version = $1, told = $2, saved_at = $3, type = $4, size = $5, hash = $6, gone = false,
			title = $7, items = $8, written = $9, push = $10 WHERE owner = $11 AND name = $12`,
		f.Version, f.Notified, sqldb.Millis(f.SavedAt), f.Type, f.Size, d.Hash, f.Title, int64(f.Items), written, string(f.Push), f.User, f.Name)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO saved_document (owner, name, document) VALUES ($1, $2, $3)
		ON CONFLICT (owner, name) DO UPDATE SET document = excluded.document`, f.User, f.Name, d.Bytes)
	return err
}

// SavedFeed implements author.Store.
func (s *savedStore) SavedFeed(ctx context.Context, user, name string) (author.Feed, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Feed, error) {
		found, err := sqldb.Collect(ctx, c, scanSaved, `SELECT `+savedColumns+` FROM saved WHERE owner = $1 AND name = $2`, sqldb.Clean(user), sqldb.Clean(name))
		return oneSaved(found, err)
	})
}

func oneSaved(found []author.Feed, err error) (author.Feed, error) {
	return sqldb.First(found, err, "There is no such feed here.")
}

// SavedDocument implements author.Store.
func (s *savedStore) SavedDocument(ctx context.Context, user, name string) (author.Feed, []byte, error) {
	var doc []byte
	f, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Feed, error) {
		found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, f *author.Feed) error {
			return rows.Scan(append(savedFields(f), &doc)...)
		}, `SELECT `+savedColumns+`,
			(SELECT d.document FROM saved_document AS d WHERE d.owner = saved.owner AND d.name = saved.name)
			FROM saved WHERE owner = $1 AND name = $2`, sqldb.Clean(user), sqldb.Clean(name))
		return oneSaved(found, err)
	})
	if err != nil {
		return author.Feed{}, nil, err
	}
	return f, doc, nil
}

// PlaceSaved implements author.Store.
func (s *savedStore) PlaceSaved(ctx context.Context, user, name string, place author.Place) (author.Feed, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Feed, error) {
		found, err := sqldb.Collect(ctx, c, scanSaved, `UPDATE saved SET moved_to = $1, temporary = $2, gone = $3 WHERE owner = $4 AND name = $5 RETURNING `+savedColumns,
			sqldb.Clean(place.MovedTo), place.Temporary, place.Gone, sqldb.Clean(user), sqldb.Clean(name))
		return oneSaved(found, err)
	})
}

// CloudSaved implements author.Store.
func (s *savedStore) CloudSaved(ctx context.Context, user, name string, on bool, now time.Time) (author.Feed, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.Feed, error) {
		_, err := c.Exec(ctx, `UPDATE saved SET add_cloud = $1, version = version + 1, saved_at = CASE WHEN saved_at < $2 THEN $2 ELSE saved_at END
			WHERE owner = $3 AND name = $4 AND add_cloud <> $1 AND version > 0`, on, sqldb.Millis(now), sqldb.Clean(user), sqldb.Clean(name))
		if err != nil {
			return author.Feed{}, err
		}
		return oneSaved(sqldb.Collect(ctx, c, scanSaved, `SELECT `+savedColumns+` FROM saved WHERE owner = $1 AND name = $2 AND version > 0`, sqldb.Clean(user), sqldb.Clean(name)))
	})
}

// SavedFeeds implements author.Store.
func (s *savedStore) SavedFeeds(ctx context.Context, afterUser, afterName string, n int) ([]author.Feed, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.Feed, error) {
		return sqldb.Collect(ctx, c, scanSaved, `SELECT `+savedColumns+` FROM saved WHERE (owner, name) > ($1, $2)
			ORDER BY owner, name LIMIT $3`, sqldb.Clean(afterUser), sqldb.Clean(afterName), sqldb.Limit(n))
	})
}

// MarkNotified implements author.Store.
func (s *savedStore) MarkNotified(ctx context.Context, user, name string, version int64) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE saved SET told = $1 WHERE owner = $2 AND name = $3 AND told < $1`, version, sqldb.Clean(user), sqldb.Clean(name))
		return err
	})
}

// ListUnnotified implements author.Store.
func (s *savedStore) ListUnnotified(ctx context.Context, afterUser, afterName string, n int) ([]author.Feed, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.Feed, error) {
		return sqldb.Collect(ctx, c, scanSaved, `SELECT `+savedColumns+` FROM saved WHERE told < version AND (owner, name) > ($1, $2)
			AND moved_to = '' AND NOT gone ORDER BY owner, name LIMIT $3`, sqldb.Clean(afterUser), sqldb.Clean(afterName), sqldb.Limit(n))
	})
}
