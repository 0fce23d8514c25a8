package authorsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/author"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const mediaColumns = `m.owner, m.hash, m.name, m.type, m.size, m.width, m.height, m.added_at, m.private`

func scanMedia(rows *sql.Rows, f *author.File) error {
	return rows.Scan(&f.User, &f.Hash, &f.Name, &f.Type, &f.Size, (*sqldb.Int)(&f.Width), (*sqldb.Int)(&f.Height), (*sqldb.Time)(&f.AddedAt), &f.Private)
}

func oneFile(found []author.File, err error) (author.File, error) {
	return sqldb.First(found, err, "There is no such file.")
}

// PutFilePiece implements author.FileStore.
func (s *fileStore) PutFilePiece(ctx context.Context, temp string, n int, piece []byte, now time.Time) error {
	if len(piece) > author.PieceSize || temp == "" || n < 0 {
		return fault.New(fault.Invalid, "Piece %d of the file %q has %d bytes; pieces have at most %d.", n, temp, len(piece), author.PieceSize)
	}
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO media_content (name, hash, kept, begun_at) VALUES ($1, '', false, $2) ON CONFLICT (name) DO NOTHING`,
			sqldb.Clean(temp), sqldb.Millis(now))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO media_piece (name, n, piece) VALUES ($1, $2, $3)
			ON CONFLICT (name, n) DO UPDATE SET piece = excluded.piece`, sqldb.Clean(temp), int64(n), piece)
		return err
	})
}

// KeepFile implements author.FileStore. It returns the file as stored: the existing one if the user
// already had it.
func (s *fileStore) KeepFile(ctx context.Context, f author.File, temp string, quota int64) (author.File, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (author.File, error) {
		w, err := lockWriter(ctx, c, f.User) // serializes the user's uploads, so that the quota holds
		if err != nil {
			return author.File{}, err
		}
		f.User, f.Hash, f.AddedAt = w.User, sqldb.Clean(f.Hash), f.AddedAt.UTC().Truncate(time.Millisecond)
		f.Name, f.Type = sqldb.Clean(f.Name), sqldb.Clean(f.Type)
		if err := keepContent(ctx, c, &f, sqldb.Clean(temp)); err != nil {
			return author.File{}, err
		}
		have, err := sqldb.Collect(ctx, c, scanMedia, `SELECT `+mediaColumns+` FROM media AS m WHERE m.owner = $1 AND m.hash = $2`, f.User, f.Hash)
		if err != nil || len(have) > 0 {
			return oneFile(have, err)
		}
		used, err := sqldb.Count(ctx, c, `SELECT COALESCE(SUM(m.size), 0) FROM media AS m WHERE m.owner = $1`, f.User)
		if err == nil && quota > 0 && used+f.Size > quota {
			err = fault.New(fault.TooMany, "The file %q of %d bytes exceeds your quota: %d of %d bytes are in use. Remove files that you no longer need.", f.Name, f.Size, used, quota)
		}
		if err != nil {
			return author.File{}, err
		}
		_, err = c.Exec(ctx, `INSERT INTO media (owner, hash, name, type, size, width, height, added_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			f.User, f.Hash, f.Name, f.Type, f.Size, int64(f.Width), int64(f.Height), sqldb.Millis(f.AddedAt))
		return f, err
	})
}

// keepContent assigns the hash of the file to the content uploaded as temp, or deletes the upload
// if the content already exists. Afterwards the row of the content is locked.
func keepContent(ctx context.Context, c sqldb.Conn, f *author.File, temp string) error {
	name := ""
	err := c.Query(ctx, `SELECT d.name FROM media_content AS d WHERE d.hash = $1 AND d.hash <> '' {LOCK}`,
		func(rows *sql.Rows) error { return rows.Scan(&name) }, f.Hash)
	if err != nil {
		return err
	}
	if name != "" {
		if _, err := c.Exec(ctx, `UPDATE media_content SET kept = true WHERE name = $1 AND NOT kept`, name); err != nil {
			return err
		}
		return dropPieces(ctx, c, temp)
	}
	var object bool
	err = c.Query(ctx, `SELECT d.object FROM media_content AS d WHERE d.name = $1 AND d.hash = '' AND d.begun_at > 0 {LOCK}`,
		func(rows *sql.Rows) error { return rows.Scan(&object) }, temp)
	if err == nil && !object {
		err = checkPieces(ctx, c, f, temp)
	}
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `INSERT INTO media_content (name, hash, kept, begun_at) VALUES ($1, $2, true, $3)
		ON CONFLICT (name) DO UPDATE SET hash = excluded.hash, kept = true`, temp, f.Hash, sqldb.Millis(f.AddedAt))
	return err
}

// checkPieces returns a fault if the pieces of an upload are incomplete.
func checkPieces(ctx context.Context, c sqldb.Conn, f *author.File, temp string) error {
	var pieces, end, size int64
	err := c.Query(ctx, `SELECT COUNT(*), COALESCE(MAX(p.n) + 1, 0), COALESCE(SUM(length(p.piece)), 0) FROM media_piece AS p WHERE p.name = $1`,
		func(rows *sql.Rows) error { return rows.Scan(&pieces, &end, &size) }, temp)
	if err != nil {
		return err
	}
	if size != f.Size || pieces != end || pieces != (size+author.PieceSize-1)/author.PieceSize {
		return fault.New(fault.Conflict, "The upload of the file %q is incomplete: %d of %d bytes arrived. Upload it again.", f.Name, size, f.Size)
	}
	return nil
}

// dropPieces deletes an upload, unless it became the content of a file. For an upload in an object,
// it only makes the upload due, and the next sweep deletes the object.
func dropPieces(ctx context.Context, c sqldb.Conn, temp string) error {
	n, err := c.Exec(ctx, `DELETE FROM media_content WHERE name = $1 AND hash = '' AND NOT object`, temp)
	if err == nil && n == 0 {
		_, err = c.Exec(ctx, `UPDATE media_content SET begun_at = 0 WHERE name = $1 AND hash = '' AND object`, temp)
	}
	if err != nil || n == 0 {
		return err
	}
	_, err = c.Exec(ctx, `DELETE FROM media_piece WHERE name = $1`, temp)
	return err
}

// DropFilePieces implements author.FileStore.
func (s *fileStore) DropFilePieces(ctx context.Context, temp string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error { return dropPieces(ctx, c, sqldb.Clean(temp)) })
}

// shortHash is the minimum number of digits of a hash that identify a file.
const shortHash = 16

// File implements author.FileStore.
func (s *fileStore) File(ctx context.Context, user, hash string) (author.File, error) {
	if len(hash) < shortHash {
		return oneFile(nil, nil)
	}
	return oneFile(sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.File, error) {
		return sqldb.Collect(ctx, c, scanMedia, `SELECT `+mediaColumns+` FROM media AS m
			WHERE m.owner = $1 AND m.hash >= $2 AND m.hash < $3 ORDER BY m.hash LIMIT 1`, sqldb.Clean(user), sqldb.Clean(hash), sqldb.Clean(hash)+"g")
	}))
}

// FilePieceAt implements author.FileStore.
func (s *fileStore) FilePieceAt(ctx context.Context, hash string, n int) ([]byte, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]byte, error) {
		var piece []byte
		found := false
		err := c.Query(ctx, `SELECT p.piece FROM media_content AS d JOIN media_piece AS p ON p.name = d.name
			WHERE d.hash = $1 AND d.hash <> '' AND d.kept AND p.n = $2`, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&piece)
		}, sqldb.Clean(hash), int64(n))
		if err == nil && !found {
			err = fault.New(fault.NotFound, "There is no such file.")
		}
		return piece, err
	})
}

// Files implements author.FileStore.
func (s *fileStore) Files(ctx context.Context, user string, after *author.File, n int) ([]author.File, error) {
	var w sqldb.Where
	w.Add("m.owner = ?", sqldb.Clean(user))
	if after != nil {
		w.Add("(m.added_at, m.hash) < (?, ?)", sqldb.Millis(after.AddedAt), sqldb.Clean(after.Hash))
	}
	text := `SELECT ` + mediaColumns + ` FROM media AS m` + w.String() + ` ORDER BY m.added_at DESC, m.hash DESC LIMIT ` + w.Arg(sqldb.Limit(n))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]author.File, error) {
		return sqldb.Collect(ctx, c, scanMedia, text, w.Args...)
	})
}

// RemoveFile implements author.FileStore.
func (s *fileStore) RemoveFile(ctx context.Context, user, hash string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		// Lock the content first, in the same order as a transaction that stores a file with this
		// content.
		err := c.Query(ctx, `SELECT d.name FROM media_content AS d WHERE d.hash = $1 AND d.hash <> '' {LOCK}`,
			func(rows *sql.Rows) error { return rows.Scan(new(string)) }, sqldb.Clean(hash))
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, `DELETE FROM media WHERE owner = $1 AND hash = $2`, sqldb.Clean(user), sqldb.Clean(hash))
		if err == nil && n == 0 {
			_, err = oneFile(nil, nil)
		}
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE media_content SET kept = false, begun_at = 0 WHERE hash = $1 AND hash <> ''
			AND NOT EXISTS (SELECT 1 FROM media AS m WHERE m.hash = $1)`, sqldb.Clean(hash))
		return err
	})
}
