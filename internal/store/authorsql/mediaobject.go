package authorsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// BeginObject implements author.FileStore.
func (s *fileStore) BeginObject(ctx context.Context, temp string, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO media_content (name, hash, kept, begun_at, object) VALUES ($1, '', false, $2, true)`,
			sqldb.Clean(temp), sqldb.Millis(now))
		return err
	})
}

// FileObject implements author.FileStore.
func (s *fileStore) FileObject(ctx context.Context, hash string) (string, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (string, error) {
		name, object, found := "", false, false
		err := c.Query(ctx, `SELECT d.name, d.object FROM media_content AS d WHERE d.hash = $1 AND d.hash <> '' AND d.kept`,
			func(rows *sql.Rows) error { found = true; return rows.Scan(&name, &object) }, sqldb.Clean(hash))
		switch {
		case err != nil:
			return "", err
		case !found:
			return "", fault.New(fault.NotFound, "There is no such file.")
		case !object:
			return "", nil
		}
		return name, nil
	})
}

// FilesInPieces implements author.FileStore. Of the users that have the same content, it returns the
// file of the first one.
func (s *fileStore) FilesInPieces(ctx context.Context, limit int) ([]author.File, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.File, error) {
		return sqldb.Collect(ctx, c, scanMedia, `SELECT `+mediaColumns+` FROM media_content AS d JOIN media AS m ON m.hash = d.hash
			WHERE d.kept AND NOT d.object AND NOT EXISTS (SELECT 1 FROM media AS o WHERE o.hash = m.hash AND o.owner < m.owner)
			ORDER BY d.hash LIMIT $1`, int64(limit))
	})
}

// ReplacePieces implements author.FileStore. It renames the row of the content, so that transactions
// that wait for its lock find it.
func (s *fileStore) ReplacePieces(ctx context.Context, hash, temp string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		name, object := "", false
		err := c.Query(ctx, `SELECT d.name, d.object FROM media_content AS d WHERE d.hash = $1 AND d.hash <> '' AND d.kept {LOCK}`,
			func(rows *sql.Rows) error { return rows.Scan(&name, &object) }, sqldb.Clean(hash))
		if err != nil {
			return err
		}
		if name == "" || object {
			return dropPieces(ctx, c, sqldb.Clean(temp))
		}
		n, err := c.Exec(ctx, `DELETE FROM media_content WHERE name = $1 AND hash = '' AND object AND begun_at > 0`, sqldb.Clean(temp))
		if err == nil && n == 0 {
			err = fault.New(fault.Conflict, "The upload %q ended before the file was stored.", temp)
		}
		if err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `UPDATE media_content SET name = $1, object = true WHERE name = $2`, sqldb.Clean(temp), name); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM media_piece WHERE name = $1`, name)
		return err
	})
}

// SweepFiles implements author.FileStore. It uses one transaction per content in pieces, and two
// per object.
func (s *fileStore) SweepFiles(ctx context.Context, before time.Time, remove func(ctx context.Context, name string) error) error {
	for {
		name, object, err := s.sweepFile(ctx, before, remove != nil)
		if err != nil || name == "" {
			return err
		}
		if !object {
			continue
		}
		if err := remove(ctx, name); err != nil {
			return err
		}
		err = s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
			_, err := c.Exec(ctx, `DELETE FROM media_content WHERE name = $1 AND hash = '' AND NOT kept`, name)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// sweepFile deletes one content in pieces, or marks one object as unused, so that no upload can use
// it any more. It returns the name of the content, or "" if nothing is left to sweep.
func (s *fileStore) sweepFile(ctx context.Context, before time.Time, objects bool) (name string, object bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		name, object = "", false
		err := c.Query(ctx, `SELECT d.name, d.object FROM media_content AS d WHERE NOT d.kept AND d.begun_at < $1 AND (NOT d.object OR $2)
			ORDER BY d.begun_at, d.name LIMIT 1 {TAKE}`,
			func(rows *sql.Rows) error { return rows.Scan(&name, &object) }, max(sqldb.Millis(before), 1), objects)
		if err != nil || name == "" {
			return err
		}
		if object {
			_, err := c.Exec(ctx, `UPDATE media_content SET hash = '', begun_at = 0 WHERE name = $1`, name)
			return err
		}
		if _, err := c.Exec(ctx, `DELETE FROM media_piece WHERE name = $1`, name); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM media_content WHERE name = $1`, name)
		return err
	})
	return name, object, err
}
