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

// KeyFile is the default name, in the data folder, of the key of the readers' secrets. The key is
// not stored in the database.
const KeyFile = "secret.key"

// Progress and Moved describe a move: Progress is reported during the move, Moved for each table at
// the end.
type (
	Progress = sqldb.Progress
	Moved    = sqldb.Moved
)

// MoveOptions are the options of a move. From and To are folders or URLs of PostgreSQL databases
// (postgres://…). No server may use them during the move.
type MoveOptions struct {
	From, To   string
	Replace    bool           // replace an existing database at To
	Distribute bool           // distribute the tables at To over its Citus cluster
	Now        time.Time      // used in the name of a replaced database
	OnProgress func(Progress) // nil: no progress reports
}

// Result is the result of a move or a restore.
type Result struct {
	Tables []Moved `json:"tables,omitempty"`
	Aside  string  `json:"aside,omitempty"` // location of the replaced database, or "" if none was replaced
	Key    string  `json:"key,omitempty"`   // location of the copied key of the secrets, or "" if none was copied
}

// IsDatabaseURL reports whether a location is the URL of a database, not a folder.
func IsDatabaseURL(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// CheckLocation returns an error if a location is the URL of something else than a PostgreSQL
// database. The error contains no password.
func CheckLocation(place string) error {
	scheme, _, ok := strings.Cut(place, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, "./ ") || IsDatabaseURL(place) { // "C:" is a drive
		return nil
	}
	return fault.New(fault.Invalid, "%s: is not the scheme of a database: use postgres:// or the name of a folder.", scheme)
}

// Move copies all data from one store to another and verifies the copy. The source remains
// unchanged. The destination cannot be opened before the move is complete. If a move is
// interrupted, run it again; it starts from the beginning. The errors contain instructions.
func Move(ctx context.Context, o MoveOptions) (_ *Result, err error) {
	for _, place := range []string{o.From, o.To} {
		if err := CheckLocation(place); err != nil {
			return nil, err
		}
	}
	if sameLocation(o.From, o.To) {
		return nil, fault.New(fault.Invalid, "--from and --to are the same.")
	}
	if o.Distribute && !IsDatabaseURL(o.To) {
		return nil, fault.New(fault.Invalid, "--distributed needs the URL of a Citus cluster in --to.")
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

// moveTo fills o.To and indexes its items for search.
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
	w, err := postgres.Fill(ctx, o.To, o.Replace, o.Distribute)
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

// makeSearchable indexes the items of a complete store for search. The server would do this in the
// background, so an interruption loses nothing.
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
