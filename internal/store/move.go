package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlite"
)

// KeyFile is the name, in the data folder, of the key of the readers' secrets, where
// nobody configured one. It is not in the database.
const KeyFile = "secret.key"

// Progress and Moved are what a move tells, while it goes on and of each table at the end.
type (
	Progress = sqldb.Progress
	Moved    = sqldb.Moved
)

// MoveOptions say what is moved. From and To are folders, or addresses of PostgreSQL
// databases (postgres://…), which nobody may serve meanwhile.
type MoveOptions struct {
	From, To   string
	Replace    bool           // what is at To already may go
	Now        time.Time      // names what is put aside
	OnProgress func(Progress) // nil: nobody wants to know
}

// Result is what a move or a restoring came to.
type Result struct {
	Tables []Moved `json:"tables,omitempty"`
	Aside  string  `json:"aside,omitempty"` // the database that was there before; "": none
	Key    string  `json:"key,omitempty"`   // where the key of the secrets was put; "": nowhere
}

// IsDatabaseURL reports whether a place is the address of a database, not a folder.
func IsDatabaseURL(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Move copies everything from one store to another, and checks that it arrived. The one
// that is read stays as it is. Until the end the other cannot be opened, and a move that
// was broken off is begun anew by the next. Faults say what to do.
func Move(ctx context.Context, o MoveOptions) (_ *Result, err error) {
	if sameLocation(o.From, o.To) {
		return nil, fault.New(fault.Invalid, "--from and --to are the same.")
	}
	if err := sameFolderKey(o.From, o.To); err != nil {
		return nil, err
	}
	from, err := openFrom(ctx, o.From)
	if err != nil {
		return nil, err
	}
	r, err := moveTo(ctx, from.whole, o)
	if closing := from.close(); err == nil && closing != nil {
		err = closing
	}
	if err != nil {
		return nil, err
	}
	if !IsDatabaseURL(o.From) && !IsDatabaseURL(o.To) {
		if r.Key, err = copyKey(filepath.Join(o.From, KeyFile), o.To); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func sameLocation(a, b string) bool {
	if IsDatabaseURL(a) || IsDatabaseURL(b) {
		return a == b
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// source is an open database to read from.
type source struct {
	whole *sqldb.Whole
	close func() error
}

func openFrom(ctx context.Context, place string) (*source, error) {
	if IsDatabaseURL(place) {
		w, err := postgres.OpenWhole(ctx, place)
		if err != nil {
			return nil, err
		}
		return &source{&w.Whole, w.Close}, nil
	}
	w, err := sqlite.OpenWhole(ctx, place)
	if err != nil {
		return nil, err
	}
	return &source{&w.Whole, w.Close}, nil
}

// moveTo fills o.To, and makes it searchable when it is complete.
func moveTo(ctx context.Context, from *sqldb.Whole, o MoveOptions) (*Result, error) {
	fill := fillFolder
	if IsDatabaseURL(o.To) {
		fill = fillDatabase
	}
	r, err := fill(ctx, from, o)
	if err != nil {
		return nil, err
	}
	return r, makeSearchable(ctx, o)
}

func fillFolder(ctx context.Context, from *sqldb.Whole, o MoveOptions) (_ *Result, err error) {
	w, err := sqlite.CreateIn(ctx, o.To, o.Replace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r := &Result{}
	if r.Tables, err = sqldb.Move(ctx, from, &w.Whole, o.OnProgress); err != nil {
		return nil, err
	}
	r.Aside, err = w.Place(ctx, o.Now)
	return r, err
}

func fillDatabase(ctx context.Context, from *sqldb.Whole, o MoveOptions) (_ *Result, err error) {
	w, err := postgres.Fill(ctx, o.To, o.Replace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r := &Result{}
	if r.Tables, err = sqldb.Move(ctx, from, &w.Whole, o.OnProgress); err != nil {
		return nil, err
	}
	return r, w.Finish(ctx)
}

// makeSearchable makes the items of a store that is complete searchable. A server would do
// so itself in the course of time: what is broken off here is not lost.
func makeSearchable(ctx context.Context, o MoveOptions) (err error) {
	options := Options{Dir: o.To}
	if IsDatabaseURL(o.To) {
		options = Options{DatabaseURL: o.To}
	}
	s, err := Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for done := int64(0); ; {
		n, err := s.IndexItems(ctx, 1000)
		if err != nil || n == 0 {
			return err
		}
		done += int64(n)
		if o.OnProgress != nil {
			o.OnProgress(Progress{Stage: "search", Done: done})
		}
	}
}

// Examined is what a backup holds.
type Examined = sqlite.Examined

// RestoreOptions say what is restored: a file that Backup wrote, to a folder or to a
// PostgreSQL database that nobody serves meanwhile.
type RestoreOptions struct {
	File, To   string
	Replace    bool
	Now        time.Time
	OnProgress func(Progress)        // of what takes long; nil: nobody wants to know
	Found      func(*Examined) error // what the file holds, before anything is done; nil: nobody wants to know
}

// VerifyBackup compares the content of a backup with the SHA-256 that it carries, and returns
// it; "" for a file that carries none because an earlier version wrote it. Damage is
// fault.Unavailable, a file that is not there fault.NotFound.
func VerifyBackup(ctx context.Context, file string) (sum string, err error) {
	return sqlite.Verify(ctx, file)
}

// Restore looks over a backup and puts it in its place, whole or not at all. A key beside
// the file (FILE.key) is put into the folder. Faults say what to do.
//
// spec:cloudburst#restore-whole
func Restore(ctx context.Context, o RestoreOptions) (*Result, error) {
	e, err := sqlite.Examine(ctx, o.File)
	if err != nil {
		return nil, err
	}
	if o.Found != nil {
		if err := o.Found(e); err != nil {
			return nil, err
		}
	}
	if IsDatabaseURL(o.To) {
		w, err := sqlite.OpenCopy(ctx, o.File)
		if err != nil {
			return nil, err
		}
		r, err := moveTo(ctx, &w.Whole, MoveOptions{From: o.File, To: o.To, Replace: o.Replace, Now: o.Now, OnProgress: o.OnProgress})
		return r, errors.Join(err, w.Close())
	}
	if err := compareKeys(o.File+keySuffix, filepath.Join(o.To, KeyFile)); err != nil {
		return nil, err
	}
	r := &Result{}
	if r.Aside, err = sqlite.Restore(ctx, o.File, o.To, o.Replace, o.Now); err != nil {
		return nil, err
	}
	r.Key, err = copyKey(o.File+keySuffix, o.To)
	return r, err
}

// portable is a store on PostgreSQL that writes its backups as SQLite files.
type portable struct {
	*postgres.Store
	url string
}

// Backup writes all of the database, as of one moment, to an SQLite file that can be
// restored to a folder and to PostgreSQL alike.
func (p *portable) Backup(ctx context.Context, file string) (err error) {
	from, err := postgres.Snapshot(ctx, p.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return sqlite.WriteCopy(ctx, file, func(part string) error {
		to, err := sqlite.Create(ctx, part)
		if err != nil {
			return err
		}
		defer to.Close()
		if _, err := sqldb.Move(ctx, &from.Whole, &to.Whole, nil); err != nil {
			return err
		}
		return to.Settle(ctx)
	})
}
