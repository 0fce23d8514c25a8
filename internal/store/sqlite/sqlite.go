// Package sqlite implements the store in one SQLite file that one process owns.
//
// A write is durable when it returns: the file uses WAL mode with synchronous=FULL, verified on
// every connection. One writer combines all operations that queued up during the previous commit
// into one transaction. Concurrent writers thus share one sync, and a single writer never waits for
// others. Readers have their own connections and never block the writer. Start with [Open] and
// [Store].
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/pressly/goose/v3"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlstore"
)

// File is the name of the database within its folder.
const File = "cloudburst.db"

// Options of a store.
type Options struct {
	Dir     string       // the data folder; created (0700) if it does not exist
	Log     *slog.Logger // nil: no logging
	Readers int          // number of connections for reading [4]

	// MaxPages limits the size of the file, in pages of 4 KiB [no limit].
	MaxPages int64

	// CheckWhole is the maximum size, in bytes, of a file that is checked before use. A larger file
	// is checked in the background [64 MiB].
	CheckWhole int64

	// Commit runs the commit of each transaction of the writer; nil: call commit only.
	Commit func(commit func() error) error
}

// Store is a hub.Store in a folder of its own. Use [Open].
type Store struct {
	*sqlstore.Store
	file   string
	lock   io.Closer
	log    *slog.Logger
	writer *writer
	wdb    *sql.DB
	rdb    *sql.DB

	checked chan struct{}         // closed when the background check has ended
	damage  atomic.Pointer[error] // result of the background check
	stop    context.CancelFunc
	close   sync.Once
	closed  error
}

var _ hub.Store = (*Store)(nil)

// Open opens the store of a folder and creates it if it does not exist. It rejects, without
// changing anything, a folder that another process uses and a schema of a newer program
// (fault.Conflict), and a damaged file (fault.Unavailable).
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.CheckWhole <= 0 {
		o.CheckWhole = 64 << 20
	}
	if err := MakeFolder(o.Dir); err != nil {
		return nil, folderFault(err, o.Dir)
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.Dir, File)
	s := &Store{file: file, lock: lock, log: o.Log, checked: make(chan struct{})}
	var background context.Context
	background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			s.release()
			err = openFault(err, o.Dir)
		}
	}()
	if err := complete(o.Dir); err != nil {
		return nil, err
	}
	large, err := inspect(ctx, file, o.CheckWhole)
	if err != nil {
		return nil, err
	}
	dialect := sqldb.SQLite()
	s.wdb = pool(file, writing, 1, o.MaxPages)
	if err := sqldb.Migrate(ctx, s.wdb, goose.DialectSQLite3, dialect); fault.CodeOf(err) == fault.Conflict {
		return nil, fault.New(fault.Conflict, "%s It is the file %s.", fault.Message(err), file)
	} else if err != nil {
		return nil, err
	}
	if err := forgetBackup(ctx, s.wdb); err != nil {
		return nil, err
	}
	if err := lock.mark(); err != nil {
		return nil, err
	}
	s.rdb = pool(file, reading, o.Readers, 0)
	if s.writer, err = newWriter(ctx, s.wdb, dialect, o.Commit); err != nil {
		return nil, err
	}
	s.Store = sqlstore.New(&sqldb.DB{Engine: &engine{writer: s.writer, reader: newReader(s.rdb, dialect), dir: o.Dir}}, riversql.FTS5)
	go s.checkLarge(background, large)
	return s, nil
}

// forgetBackup clears the application ID of a restored backup, because the database changes from
// now on.
func forgetBackup(ctx context.Context, db *sql.DB) error {
	var id int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id == 0 {
		return err
	}
	return execAll(ctx, db, "PRAGMA application_id = 0")
}

// checkLarge checks a file that was too large for a check before opening.
func (s *Store) checkLarge(ctx context.Context, large bool) {
	defer close(s.checked)
	if !large {
		return
	}
	if err := quickCheck(ctx, s.file); err != nil && ctx.Err() == nil {
		s.damage.Store(&err)
		s.log.Error("the database is damaged; stop the server and restore a backup", "file", s.file, "error", err)
	}
}

// Ping implements hub.Store. It fails if the file was found damaged.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.damage.Load(); err != nil {
		return openFault(*err, filepath.Dir(s.file))
	}
	return s.Store.Ping(ctx)
}

// Close finishes pending operations and unlocks the folder.
func (s *Store) Close() error {
	s.close.Do(func() { s.closed = s.release() })
	return s.closed
}

func (s *Store) release() error {
	var errs []error
	s.stop()
	if s.writer != nil {
		<-s.checked
		errs = append(errs, s.writer.close())
	}
	if s.rdb != nil {
		errs = append(errs, s.rdb.Close())
	}
	if s.wdb != nil {
		errs = append(errs, s.wdb.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Backup implements hub.Store. It copies a consistent snapshot while other operations write.
func (s *Store) Backup(ctx context.Context, file string) error {
	return WriteCopy(ctx, file, func(part string) error {
		// Create the file first, so that no other user can read it; VACUUM INTO accepts an empty
		// file.
		if err := os.WriteFile(part, nil, 0o600); err != nil {
			return err
		}
		db := pool(s.file, copying, 1, 0) // readers may not write, not even to another file
		defer db.Close()
		_, err := db.ExecContext(ctx, "VACUUM INTO $1", part)
		return err
	})
}

// WriteCopy lets write create a copy and appends the SHA-256 of its content. file must not exist
// yet. The copy is written to FILE.part first, so that a file with the final name is always
// complete. A leftover .part file is overwritten.
//
// spec:cloudburst#backup-complete
func WriteCopy(ctx context.Context, file string, write func(part string) error) (err error) {
	part := file + ".part"
	if _, err := os.Lstat(file); err == nil {
		return fault.New(fault.Conflict, "The file %s already exists, and a backup never overwrites a file. Name another file.", file)
	}
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Unavailable, err, "The backup cannot be written to %s.", file)
	}
	defer os.Remove(part)
	if err = write(part); err == nil {
		err = seal(ctx, part)
	}
	if err == nil {
		err = publish(part, file)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "The backup to %s failed; the incomplete file was removed.", file)
	}
	return nil
}

// publish makes a file durable and renames it to a name that must be free.
func publish(part, file string) error {
	if err := os.Chmod(part, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(part, file); err != nil {
		if _, there := os.Lstat(file); !errors.Is(there, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(part, file); err != nil { // a file system without hard links
			return err
		}
	}
	return syncFolder(filepath.Dir(file))
}

// syncFile makes a file and its name durable.
func syncFile(f *os.File, dir string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// inspect checks the file without changing it. large means that it is too large for a full check
// before the start.
func inspect(ctx context.Context, file string, checkWhole int64) (large bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if wal, err := os.Stat(file + "-wal"); err == nil && wal.Size() > 0 {
			return false, fault.New(fault.Unavailable, "The file %s is missing, but its journal %s-wal exists: put the file back, or restore a backup and delete the journal.", file, file)
		}
		f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return false, err
		}
		return false, errors.Join(syncFile(f, filepath.Dir(file)), f.Close())
	}
	if err != nil {
		return false, err
	}
	if info.Size() == 0 {
		return false, emptied(file)
	}
	if info.Size() > checkWhole {
		return true, nil
	}
	return false, quickCheck(ctx, file)
}

// emptied rejects an empty file in a folder that had a database; SQLite would treat it as a new
// database.
func emptied(file string) error {
	made, err := marked(filepath.Dir(file))
	if err == nil && made {
		err = damaged(file, errors.New("the file is empty"))
	}
	return err
}

func quickCheck(ctx context.Context, file string) error {
	db := pool(file, checking, 1, 0)
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return damaged(file, errors.New(verdict))
	}
	return nil
}

func damaged(file string, err error) error {
	return fault.Wrap(fault.Unavailable, err, "The database %s is damaged. It was not changed: keep a copy, and restore a backup.", file)
}

func folderFault(err error, dir string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The data folder %s cannot be used; make it writable for this user, or set another folder with --data.", dir)
}

// openFault converts an error of Open to a fault with instructions.
func openFault(err error, dir string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch codeOf(err) & 0xff {
	case codeCorrupt, codeNotADB:
		return damaged(filepath.Join(dir, File), err)
	case codeFull:
		return fault.Wrap(fault.Unavailable, err, "The disk of the data folder %s is full: free some space, or set another folder with --data.", dir)
	}
	return folderFault(fmt.Errorf("open the database: %w", err), dir)
}
