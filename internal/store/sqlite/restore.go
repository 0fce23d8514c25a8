package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// Examined is the content of a copy of a database.
type Examined struct {
	SHA256 string           // SHA-256 of the content, which equals the embedded sum; "": no sum is embedded
	Schema int64            // schema version
	Rows   map[string]int64 // number of rows of the tables whose content users know
	Newest time.Time        // newest event in the log; zero if empty
}

// Examine checks a file to restore from, without changing it: its content matches the embedded
// SHA-256, it is readable, and it is a database of this program with a known schema. The error is
// fault.Invalid for a file of another kind, and fault.Unavailable for a damaged file.
func Examine(ctx context.Context, file string) (*Examined, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "The file %s cannot be read.", file)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fault.New(fault.Invalid, "%s is not a backup: it is empty or not a file.", file)
	}
	if wal, err := os.Stat(file + "-wal"); err == nil && wal.Size() > 0 {
		return nil, fault.New(fault.Invalid, "%s has a journal, %s-wal, so it is a copy of a server's files and not a backup. Put both into an empty data folder, as %s and %s-wal, and start the server with it.", file, file, File, File)
	}
	sum, err := Verify(ctx, file)
	if err != nil {
		return nil, err
	}
	db := pool(file, frozen, 1, 0)
	defer db.Close()
	e, err := examine(ctx, db, file)
	if err == nil {
		e.SHA256 = sum
		return e, nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok || ctx.Err() != nil {
		return nil, err
	}
	if codeOf(err)&0xff == codeNotADB {
		return nil, fault.Wrap(fault.Invalid, err, "%s is not a backup: it is not an SQLite database.", file)
	}
	return nil, broken(file, err)
}

func broken(file string, err error) error {
	return fault.Wrap(fault.Unavailable, err, "The backup %s is damaged: use another one.", file)
}

func examine(ctx context.Context, db *sql.DB, file string) (*Examined, error) {
	schema, err := schemaOf(ctx, db)
	if fault.CodeOf(err) == fault.Invalid {
		return nil, fault.New(fault.Invalid, "%s is not a backup. %s", file, fault.Message(err))
	} else if err != nil {
		return nil, err
	}
	newest, err := sqldb.Newest()
	if err != nil {
		return nil, err
	}
	if schema > newest {
		return nil, fault.New(fault.Conflict, "%s has schema %d, but this program supports only up to %d: a newer cloudburst wrote it. Restore it with that version.", file, schema, newest)
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return nil, err
	}
	if verdict != "ok" {
		return nil, broken(file, errors.New(verdict))
	}
	e := &Examined{Schema: schema, Rows: map[string]int64{}}
	for _, table := range []string{"account", "post", "saved", "topic", "subscription", "source", "item", "event"} {
		var there int
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`, table).Scan(&there); err != nil {
			return nil, err
		}
		if there == 0 { // an older schema lacks the table
			continue
		}
		var n int64
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
			return nil, err
		}
		e.Rows[table] = n
	}
	var at sql.NullInt64
	if err := db.QueryRowContext(ctx, "SELECT MAX(at) FROM event").Scan(&at); err != nil {
		return nil, err
	}
	if at.Int64 > 0 {
		e.Newest = time.UnixMilli(at.Int64).UTC()
	}
	return e, nil
}

// Restore installs a copy that [Examine] has verified in a folder, atomically. A previous database
// is only replaced if replace is set; it is renamed to aside.
func Restore(ctx context.Context, file, dir string, replace bool, now time.Time) (aside string, err error) {
	lock, err := seize(dir, replace)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := copyFile(ctx, file, filepath.Join(dir, Incomplete)); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "The backup %s could not be copied to %s, which is as it was before.", file, dir)
	}
	return place(dir, lock, now)
}

// copyFile copies to a file that must not exist yet, and deletes it on failure.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := newFile(to)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	defer out.Close()
	if _, err := io.Copy(out, &reader{ctx, in}); err != nil {
		return fmt.Errorf("copying: %w", err)
	}
	return syncFile(out, filepath.Dir(to))
}
