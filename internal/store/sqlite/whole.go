package sqlite

import (
	"context"
	"database/sql"
	"errors"
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

// Incomplete is the file name of a database that is being installed in a data folder. While the
// file exists, the folder cannot be opened.
const Incomplete = File + ".incomplete"

// Whole is a database that is read or created as a whole. Call Close when done.
type Whole struct {
	sqldb.Whole
	file string
	db   *sql.DB
	lock io.Closer // lock of the folder; nil for a single file
}

// OpenWhole opens the database of a folder for reading all of it and locks the folder. Its schema
// must be the newest (fault.Conflict).
func OpenWhole(ctx context.Context, dir string) (*Whole, error) {
	w, err := openFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := w.read(ctx, sqldb.UpdateByStart); err != nil {
		return nil, errors.Join(openFault(err, dir), w.Close())
	}
	return w, nil
}

// openFolder opens the database of a folder for copying it and locks the folder.
func openFolder(ctx context.Context, dir string) (*Whole, error) {
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
	return w, nil
}

// OpenCopy opens a file that [Store.Backup] or [Create] wrote, for reading all of it. The caller
// has verified the file with [Examine], and no process writes to it.
func OpenCopy(ctx context.Context, file string) (*Whole, error) {
	w := &Whole{file: file, db: pool(file, frozen, 1, 0)}
	if err := w.read(ctx, updateCopy); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// updateCopy is the instruction for updating the older schema of a backup.
const updateCopy = "restore it to a data folder, start the server on it, then use \"cloudburst migrate\""

// read prepares w for reading if its schema is the newest. The error names update, see
// [sqldb.IsNewest].
func (w *Whole) read(ctx context.Context, update string) error {
	w.Whole = sqldb.Whole{Dialect: sqldb.SQLite(), Rows: w.db}
	have, err := schemaOf(ctx, w.db)
	if err != nil {
		return err
	}
	return sqldb.IsNewest(have, w.file, update)
}

// Create creates an empty database with the newest schema in a file that must not exist yet.
func Create(ctx context.Context, file string) (*Whole, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return create(ctx, f, file, err)
}

// create creates the database of Create in the new file f. err is the error of creating f.
func create(ctx context.Context, f *os.File, file string, err error) (*Whole, error) {
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "The file %s cannot be created.", file)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	w := &Whole{file: file, db: pool(file, writing, 1, 0)}
	if err := sqldb.Migrate(ctx, w.db, goose.DialectSQLite3, sqldb.SQLite(), false); err != nil {
		return nil, errors.Join(openFault(err, filepath.Dir(file)), w.Close())
	}
	w.Whole = sqldb.Whole{Dialect: sqldb.SQLite(), Rows: w.db, Insert: w.insert}
	return w, nil
}

// CreateIn creates an empty database. [Whole.Place] installs it in place of the folder's database.
// CreateIn deletes leftovers of an earlier attempt. A folder that already has a database is
// rejected (fault.Conflict) unless replace is set.
func CreateIn(ctx context.Context, dir string, replace bool) (*Whole, error) {
	lock, err := seize(dir, replace)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, Incomplete)
	f, err := newFile(file)
	w, err := create(ctx, f, file, err)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	w.lock = lock
	return w, nil
}

func (w *Whole) insert(ctx context.Context, t sqldb.Table, rows [][]any) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after the commit
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

// Settle ends writing. Afterwards all data is durable and in the one file, without a journal.
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

// Place ends writing and installs the database in its folder, in one step. The previous database is
// renamed to aside; aside is "" if there was none.
func (w *Whole) Place(ctx context.Context, now time.Time) (aside string, err error) {
	if err := w.Settle(ctx); err != nil {
		return "", openFault(err, filepath.Dir(w.file))
	}
	return place(filepath.Dir(w.file), w.lock.(*folderLock), now)
}

// place moves the complete file to the name of the database. Until the last step the folder
// contains the file [Incomplete], so that an interrupted call is never mistaken for a complete one.
func place(dir string, lock *folderLock, now time.Time) (aside string, err error) {
	file := filepath.Join(dir, File)
	used, err := occupied(dir)
	if err != nil {
		return "", err
	}
	if used {
		aside = file + now.UTC().Format(".20060102T150405.000Z") + ".old"
		// Rename the database before its journal: SQLite never opens a journal without its
		// database.
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

// Close closes the database and unlocks the folder. An incomplete database remains incomplete.
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

// schemaOf returns the schema version of a database. A database of another program is
// fault.Invalid.
func schemaOf(ctx context.Context, db *sql.DB) (int64, error) {
	var ours int
	err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('goose_db_version', 'topic', 'subscription')`).Scan(&ours)
	if err != nil {
		return 0, err
	}
	if ours != 3 {
		return 0, fault.New(fault.Invalid, "It is an SQLite database of another program.")
	}
	return sqldb.SchemaOf(ctx, db)
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
