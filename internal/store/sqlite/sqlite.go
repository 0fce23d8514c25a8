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

	// KeepSchema makes Open reject an existing database with an older schema (fault.Unsupported)
	// instead of updating it.
	KeepSchema bool

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

	checked chan struct{}         // closed when the background check of a large file has ended
	damage  atomic.Pointer[error] // result of the background check
	stop    context.CancelFunc
	close   sync.Once
	closed  error
}

var _ hub.Store = (*Store)(nil)

// Open opens the store of a folder and creates it if it does not exist. It rejects, without
// changing anything, a folder that another process uses (fault.Conflict), a schema of a newer
// program (fault.Unsupported), and a damaged file (fault.Unavailable).
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
	if err := sqldb.Migrate(ctx, s.wdb, goose.DialectSQLite3, dialect, o.KeepSchema); fault.CodeOf(err) == fault.Unsupported {
		return nil, fault.New(fault.Unsupported, "%s It is the file %s.", fault.Message(err), file)
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

// checkLarge checks the database in the background if it was too large (large) to be checked before
// opening.
func (s *Store) checkLarge(ctx context.Context, large bool) {
	defer close(s.checked)
	if !large {
		return
	}
	if err := quickCheck(ctx, s.file); err != nil && ctx.Err() == nil {
		s.damage.Store(&err)
		s.log.Error("the database is damaged; stop the server and restore a backup", "file", s.file, "err", err)
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
		f, err := newFile(file)
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
	if name := foreignFile(os.Geteuid(), dir, lockName, File, File+"-wal", File+"-shm"); name != "" {
		return fault.Wrap(fault.Unavailable, err, "The data folder %s cannot be used, because the file %s belongs to another user: change its owner with chown --reference=%s %s.", dir, name, dir, name)
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
