// Package sqlite keeps the hub's store in one SQLite file, owned by one process.
//
// A write is on disk when it is answered: the file is in WAL mode with
// synchronous=FULL, checked on every connection. One writer takes what has
// gathered while the commit before was under way into one transaction, so that
// many writers at a time share the wait for the disk and a lone one does not wait
// for others. Readers have connections of their own and never block the writer.
// Start with [Open] and [Store].
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
	Dir     string       // the data folder; made (0700) if it does not exist
	Log     *slog.Logger // nil: nothing is logged
	Readers int          // connections for reading [4]

	// MaxPages limits the size of the file, in pages of 4 KiB [no limit].
	MaxPages int64

	// CheckWhole is the size, in bytes, up to which a file is checked before it is
	// used; a larger one is checked while it is in use already [64 MiB].
	CheckWhole int64

	// Commit runs the commit of each transaction of the writer; nil: nothing more happens than commit.
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

	checked chan struct{}         // closed when the look at a large file is over
	damage  atomic.Pointer[error] // what it found
	stop    context.CancelFunc
	close   sync.Once
	closed  error
}

var _ hub.Store = (*Store)(nil)

// Open opens the store of a folder, and makes it if it does not exist yet. It
// refuses, without changing anything, a folder that another process uses and a
// schema that is newer than the program (fault.Conflict), and a file that is
// damaged (fault.Unavailable).
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

// forgetBackup takes the mark of a backup from a database that was made of one, because
// from now on it changes.
func forgetBackup(ctx context.Context, db *sql.DB) error {
	var id int64
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil || id == 0 {
		return err
	}
	return execAll(ctx, db, "PRAGMA application_id = 0")
}

// lookOver checks a file that was too large to be checked before it was opened.
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

// Ping implements hub.Store. A file that was found damaged counts as away.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.damage.Load(); err != nil {
		return openFault(*err, filepath.Dir(s.file))
	}
	return s.Store.Ping(ctx)
}

// Close ends what is under way, and gives the folder free.
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

// Backup implements hub.Store: a copy as of one moment, made while others write.
func (s *Store) Backup(ctx context.Context, file string) error {
	return WriteCopy(ctx, file, func(part string) error {
		// Made beforehand, so that nobody else can read it; it takes an empty file.
		if err := os.WriteFile(part, nil, 0o600); err != nil {
			return err
		}
		db := pool(s.file, copying, 1, 0) // readers may not write, not even elsewhere
		defer db.Close()
		_, err := db.ExecContext(ctx, "VACUUM INTO $1", part)
		return err
	})
}

// WriteCopy has a copy written to a file that must not exist yet, and adds the SHA-256 of
// its content. It is written under another name, FILE.part, so that a file of this name is
// always whole; what a writing that was broken off has left of it is written over.
//
// spec:cloudburst#backup-whole
func WriteCopy(ctx context.Context, file string, write func(part string) error) (err error) {
	part := file + ".part"
	if _, err := os.Lstat(file); err == nil {
		return fault.New(fault.Conflict, "The file %s exists already; a backup never overwrites anything. Name another file.", file)
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
		return fault.Wrap(fault.Unavailable, err, "The backup to %s failed, and what there was of it is removed again.", file)
	}
	return nil
}

// publish makes a file durable and gives it its name, which must be free.
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
		if err := os.Rename(part, file); err != nil { // a file system that has no links
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

// inspect looks at the file without changing it. large says that it is too large
// to be checked whole before the start.
func inspect(ctx context.Context, file string, checkWhole int64) (large bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if wal, err := os.Stat(file + "-wal"); err == nil && wal.Size() > 0 {
			return false, fault.New(fault.Unavailable, "The file %s is missing, but its journal %s-wal is there: put the file back, or restore a backup and remove the journal.", file, file)
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

// emptied refuses an empty file where there was a database once; SQLite itself
// would take it for a new one.
func emptied(file string) error {
	made, err := marked(filepath.Dir(file))
	if err == nil && made {
		err = damaged(file, errors.New("it is empty"))
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
	return fault.Wrap(fault.Unavailable, err, "The database %s is damaged. Nothing was changed in it: keep a copy, and restore a backup.", file)
}

func folderFault(err error, dir string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "The data folder %s cannot be used; give another with --data, or make it writable for this user.", dir)
}

// openFault gives every failure to open a sentence.
func openFault(err error, dir string) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	switch codeOf(err) & 0xff {
	case codeCorrupt, codeNotADB:
		return damaged(filepath.Join(dir, File), err)
	case codeFull:
		return fault.Wrap(fault.Unavailable, err, "There is no room left on the disk of the data folder %s: make some, or give another folder with --data.", dir)
	}
	return folderFault(fmt.Errorf("opening the database: %w", err), dir)
}
