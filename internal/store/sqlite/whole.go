package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// Incomplete is the name, in a data folder, of a database that is being put there: as
// long as the file exists, nothing opens the folder.
const Incomplete = File + ".incomplete"

// Whole is a database that is read or made as a whole. Close it.
type Whole struct {
	sqldb.Whole
	file string
	db   *sql.DB
	lock io.Closer // of the folder; nil: it is a file that stands alone
}

// OpenWhole opens the database of a folder to read all of it, and keeps everybody else
// from using it. Its schema must be the newest (fault.Conflict).
func OpenWhole(ctx context.Context, dir string) (*Whole, error) {
	file := filepath.Join(dir, File)
	if err := present(file); err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	w := &Whole{file: file, lock: lock}
	if err := complete(dir); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if _, err := inspect(ctx, file, 64<<20); err != nil {
		return nil, errors.Join(openFault(err, dir), w.Close())
	}
	w.db = pool(file, copying, 1, 0)
	if err := w.read(ctx); err != nil {
		return nil, errors.Join(openFault(err, dir), w.Close())
	}
	return w, nil
}

// OpenCopy opens a file that [Store.Backup] or [Create] has written, and that nobody
// writes to, to read all of it. It has been looked over, see [Examine].
func OpenCopy(ctx context.Context, file string) (*Whole, error) {
	w := &Whole{file: file, db: pool(file, frozen, 1, 0)}
	if err := w.read(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// read makes it one that is read, if its schema is the newest.
func (w *Whole) read(ctx context.Context) error {
	w.Whole = sqldb.Whole{Dialect: sqldb.SQLite(), Rows: w.db}
	have, err := schemaOf(ctx, w.db)
	if err != nil {
		return err
	}
	return sqldb.IsNewest(have, w.file)
}

// Create makes an empty database of the newest schema in a file that does not exist yet.
func Create(ctx context.Context, file string) (_ *Whole, err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "The file %s cannot be made.", file)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	w := &Whole{file: file, db: pool(file, writing, 1, 0)}
	if err := sqldb.Migrate(ctx, w.db, goose.DialectSQLite3, sqldb.SQLite()); err != nil {
		return nil, errors.Join(openFault(err, filepath.Dir(file)), w.Close())
	}
	w.Whole = sqldb.Whole{Dialect: sqldb.SQLite(), Rows: w.db, Exec: w.exec, Insert: w.insert}
	return w, nil
}

// CreateIn makes an empty database that takes the place of the folder's at [Whole.Place].
// What an earlier attempt left is removed. A folder that has a database already is
// refused (fault.Conflict) unless replace says otherwise.
func CreateIn(ctx context.Context, dir string, replace bool) (*Whole, error) {
	lock, err := seize(dir, replace)
	if err != nil {
		return nil, err
	}
	w, err := Create(ctx, filepath.Join(dir, Incomplete))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	w.lock = lock
	return w, nil
}

// seize locks a folder into which a database shall be put, and removes what an earlier
// attempt left there.
func seize(dir string, replace bool) (*folderLock, error) {
	if err := MakeFolder(dir); err != nil {
		return nil, folderFault(err, dir)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	if used, err := occupied(dir); err != nil || used && !replace {
		if err == nil {
			err = fault.New(fault.Conflict, "The data folder %s has a database already: name another folder, or say --replace, which keeps the old one beside the new.", dir)
		}
		return nil, errors.Join(err, lock.Close())
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(filepath.Join(dir, Incomplete) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(folderFault(err, dir), lock.Close())
		}
	}
	return lock, nil
}

// occupied reports whether a folder has a database with something in it.
func occupied(dir string) (bool, error) {
	for _, name := range []string{File, File + "-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Size() > 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, folderFault(err, dir)
		}
	}
	return false, nil
}

// present says that a folder has no database.
func present(file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return fault.New(fault.NotFound, "There is no database %s.", file)
	}
	if err != nil {
		return folderFault(err, filepath.Dir(file))
	}
	return nil
}

// whole refuses a folder into which a database was being put.
func complete(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, Incomplete)); err == nil {
		return fault.New(fault.Unavailable, "A database was being put into %s (by migrate or restore), and that was broken off: run the same command again. To go on with what was there before, remove the file %s.",
			dir, filepath.Join(dir, Incomplete))
	}
	return nil
}

func (w *Whole) exec(ctx context.Context, text string) error {
	_, err := w.db.ExecContext(ctx, text)
	return err
}

func (w *Whole) insert(ctx context.Context, t sqldb.Table, rows [][]any) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Columns)), ", ")
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO "+t.Name+" ("+strings.Join(t.Names(), ", ")+") VALUES ("+marks+")")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Settle ends writing: everything is in the one file, and on disk.
func (w *Whole) Settle(ctx context.Context) error {
	if err := execAll(ctx, w.db, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA journal_mode = DELETE"); err != nil {
		return err
	}
	if err := w.db.Close(); err != nil {
		return err
	}
	f, err := os.OpenFile(w.file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f, filepath.Dir(w.file)), f.Close())
}

func execAll(ctx context.Context, db *sql.DB, texts ...string) error {
	for _, text := range texts {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Place ends writing and gives the folder its database, in one step. The one that was
// there stays beside it; aside is where, "" when there was none.
func (w *Whole) Place(ctx context.Context, now time.Time) (aside string, err error) {
	if err := w.Settle(ctx); err != nil {
		return "", openFault(err, filepath.Dir(w.file))
	}
	return place(filepath.Dir(w.file), w.lock.(*folderLock), now)
}

// place puts the complete file in the database's place. Until its last step the folder
// counts as incomplete, so that nobody takes half of it for all.
func place(dir string, lock *folderLock, now time.Time) (aside string, err error) {
	file := filepath.Join(dir, File)
	used, err := occupied(dir)
	if err != nil {
		return "", err
	}
	if used {
		aside = file + now.UTC().Format(".20060102T150405.000Z") + ".old"
		// The file before its journal: without the one, the other is never taken for a whole.
		for _, end := range []string{"", "-wal"} {
			if err := os.Rename(file+end, aside+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", folderFault(err, dir)
			}
		}
	}
	for _, end := range []string{"-wal", "-shm"} {
		if err := os.Remove(file + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", folderFault(err, dir)
		}
	}
	if err := lock.mark(); err != nil {
		return "", err
	}
	if err := syncFolder(dir); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(dir, Incomplete), file); err != nil {
		return "", folderFault(err, dir)
	}
	return aside, syncFolder(dir)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close ends the use of it, and gives the folder free. An incomplete database stays so.
func (w *Whole) Close() error {
	var err error
	if w.db != nil {
		err = w.db.Close()
	}
	if w.lock != nil {
		err = errors.Join(err, w.lock.Close())
	}
	return err
}

// schemaOf is the version of a database's schema; a database that is not of this program
// is fault.Invalid.
func schemaOf(ctx context.Context, db *sql.DB) (int64, error) {
	var ours int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('goose_db_version', 'topic', 'subscription')`).Scan(&ours)
	if err != nil {
		return 0, err
	}
	if ours != 3 {
		return 0, fault.New(fault.Invalid, "It is an SQLite database, and not one of cloudburst.")
	}
	return sqldb.SchemaOf(ctx, db)
}

// Examined is what a copy of a database holds.
type Examined struct {
	SHA256 string           // of its content, which it carries and which was compared; "": it carries none
	Schema int64            // its version
	Rows   map[string]int64 // of the tables that people know
	Newest time.Time        // of the log; zero when it is empty
}

// Examine looks over a file from which a database shall be restored, without changing
// anything: its content has the SHA-256 that it carries, all of it can be read, it is a
// database of this program, of a schema that the program knows. What it is not is
// fault.Invalid, damage fault.Unavailable.
func Examine(ctx context.Context, file string) (*Examined, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fault.Wrap(fault.NotFound, err, "The file %s cannot be read.", file)
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, fault.New(fault.Invalid, "%s is no backup: it is empty, or no file.", file)
	}
	if wal, err := os.Stat(file + "-wal"); err == nil && wal.Size() > 0 {
		return nil, fault.New(fault.Invalid, "%s has a journal beside it, %s-wal, so it is a copy of the files of a server and no backup. Put both into an empty data folder, as %s and %s-wal, and start the server on that.", file, file, File, File)
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
		return nil, fault.Wrap(fault.Invalid, err, "%s is no backup: it is not an SQLite database.", file)
	}
	return nil, broken(file, err)
}

func broken(file string, err error) error {
	return fault.Wrap(fault.Unavailable, err, "The backup %s is damaged: use another one.", file)
}

func examine(ctx context.Context, db *sql.DB, file string) (*Examined, error) {
	schema, err := schemaOf(ctx, db)
	if fault.CodeOf(err) == fault.Invalid {
		return nil, fault.New(fault.Invalid, "%s is no backup. %s", file, fault.Message(err))
	} else if err != nil {
		return nil, err
	}
	newest, err := sqldb.Newest()
	if err != nil {
		return nil, err
	}
	if schema > newest {
		return nil, fault.New(fault.Conflict, "%s has schema %d, and this program knows only up to %d: it is of a newer cloudburst. Restore it with that one.", file, schema, newest)
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
		if there == 0 { // of an older schema
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

// Restore puts a copy, which [Examine] has found good, into a folder, whole or not at all.
// What was there before stays beside it, and only when replace allows it: aside is where.
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

// copyFile copies to a file that does not exist yet, and removes it when that fails.
func copyFile(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
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

// reader reads until its context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
