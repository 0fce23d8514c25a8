package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// useLock is the advisory lock that says how a database is used: whoever serves it shares
// the lock, with each connection; whoever moves all of it has the lock alone.
const useLock = 0x636c6f7564 // "cloud"

// incomplete is the table that is there as long as a database is being filled.
const incomplete = "cloudburst_incomplete"

// errIncomplete is that it was not filled to the end.
var errIncomplete = errors.New("the database is incomplete")

// errMoved is why a connection was not made.
var errMoved = errors.New("all of the database is being moved")

// Whole is a database that is read or filled as a whole. Close it.
type Whole struct {
	sqldb.Whole
	db   *sql.DB
	lock *sql.Conn // nil: nobody is kept away
	tx   *sql.Tx   // of reading; nil: it is filled
}

// OpenWhole opens a database to read all of it, as it is at this moment, and keeps every
// server away until it is closed: one that runs is fault.Conflict, and so is a schema
// that is not the newest.
func OpenWhole(ctx context.Context, url string) (*Whole, error) {
	return openWhole(ctx, url, func(w *Whole) error {
		if err := w.lockExclusively(ctx); err != nil {
			return err
		}
		return w.read(ctx, url)
	})
}

// Snapshot opens a database to read all of it as it is at this moment, while others write.
func Snapshot(ctx context.Context, url string) (*Whole, error) {
	return openWhole(ctx, url, func(w *Whole) error { return w.read(ctx, url) })
}

// Fill opens a database to be filled from empty, and keeps every server away until it is
// closed; afterwards too, unless [Whole.Finish] was called. What an earlier attempt left is
// removed. One that has the program's tables already is fault.Conflict, unless replace says
// that they shall be removed; other tables of those names are never touched.
func Fill(ctx context.Context, url string, replace bool) (*Whole, error) {
	return openWhole(ctx, url, func(w *Whole) error {
		if err := w.lockExclusively(ctx); err != nil {
			return err
		}
		if err := w.empty(ctx, url, replace); err != nil {
			return err
		}
		config, err := parse(url, openConnect)
		if err != nil {
			return err
		}
		if err := migrateFor(ctx, config, true); err != nil {
			return err
		}
		w.Whole = sqldb.Whole{Dialect: sqldb.Postgres(), Rows: w.db, Plain: true, Exec: w.exec, Insert: w.insert}
		return nil
	})
}

// openWhole connects, and closes again when prepare fails.
func openWhole(ctx context.Context, url string, prepare func(*Whole) error) (*Whole, error) {
	config, err := parse(url, openConnect)
	if err != nil {
		return nil, err
	}
	w := &Whole{db: stdlib.OpenDB(*config)}
	if err := prepare(w); err != nil {
		return nil, openFault(errors.Join(err, w.Close()), url)
	}
	return w, nil
}

// alone takes the lock that nobody else may have then.
func (w *Whole) lockExclusively(ctx context.Context) (err error) {
	if w.lock, err = w.db.Conn(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(freedTick)
	defer tick.Stop()
	for end := time.Now().Add(freedWithin); ; {
		var free bool
		if err := w.lock.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, useLock).Scan(&free); err != nil || free {
			return err
		}
		if time.Now().After(end) {
			return fault.New(fault.Conflict, "A cloudburst uses the database now: stop every server and command that does, on all machines, and try again.")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// freedWithin is how long a busy PostgreSQL may take to notice that a process that used the
// database has disconnected.
const (
	freedWithin = 5 * time.Second
	freedTick   = 100 * time.Millisecond
)

// read makes it one that is read.
func (w *Whole) read(ctx context.Context, url string) error {
	tx, err := w.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	w.tx = tx
	state, err := stateOf(ctx, tx)
	switch {
	case err != nil:
		return err
	case state.incomplete:
		return errIncomplete
	case !state.ours:
		return fault.New(fault.NotFound, "The database %s holds nothing of cloudburst.", redact(url))
	}
	w.Whole = sqldb.Whole{Dialect: sqldb.Postgres(), Rows: tx, Plain: true}
	var have int64
	if err := tx.QueryRowContext(ctx, `SELECT MAX(version_id) FROM goose_db_version WHERE is_applied`).Scan(&have); err != nil {
		return err
	}
	return sqldb.IsNewest(have, redact(url))
}

// state is what a database has of ours.
type state struct {
	ours       bool     // the program made tables there
	incomplete bool     // and they are not all filled
	tables     []string // those that are there with the names of ours
}

type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// names are the tables of the program, besides the marks.
func names() ([]string, error) {
	tables, err := sqldb.Schema()
	if err != nil {
		return nil, err
	}
	all := sqldb.Derived()
	for _, t := range tables {
		all = append(all, t.Name)
	}
	return all, nil
}

const versions = "goose_db_version"

func stateOf(ctx context.Context, q querier) (s state, err error) {
	all, err := names()
	if err != nil {
		return s, err
	}
	rows, err := q.QueryContext(ctx, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	versioned := false
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return s, err
		}
		switch {
		case name == incomplete:
			s.incomplete = true
		case name == versions:
			versioned = true
		case slices.Contains(all, name):
			s.tables = append(s.tables, name)
		}
	}
	s.ours = versioned && slices.Contains(s.tables, "topic") && slices.Contains(s.tables, "subscription")
	return s, rows.Err()
}

// empty removes what is ours, if it may, and marks the database.
func (w *Whole) empty(ctx context.Context, url string, replace bool) error {
	s, err := stateOf(ctx, w.db)
	if err != nil {
		return err
	}
	where := redact(url)
	switch {
	case s.incomplete: // what an earlier attempt left
	case len(s.tables) == 0:
	case !s.ours:
		return fault.New(fault.Conflict, "The database %s has tables that are not of cloudburst and are called like some of its own (%s): make a database for it alone.", where, strings.Join(s.tables, ", "))
	case !replace:
		return fault.New(fault.Conflict, "The database %s has the tables of a cloudburst already: name an empty one, or say --replace, which removes everything that is in them.", where)
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after the commit it does nothing
	for _, table := range append(s.tables, versions) {
		if _, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS "+table+" CASCADE"); err != nil {
			return err
		}
	}
	for _, text := range []string{"DROP FUNCTION IF EXISTS item_found", "CREATE TABLE IF NOT EXISTS " + incomplete + " (since_pid BIGINT)"} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (w *Whole) exec(ctx context.Context, text string) error {
	_, err := w.db.ExecContext(ctx, text)
	return err
}

// insert sends rows by COPY, which is one transaction.
func (w *Whole) insert(ctx context.Context, t sqldb.Table, rows [][]any) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(dc any) error {
		n, err := dc.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{t.Name}, t.Names(), pgx.CopyFromRows(rows))
		if err == nil && n != int64(len(rows)) {
			err = fmt.Errorf("%d rows were sent and %d arrived", len(rows), n)
		}
		return err
	})
}

// Finish ends filling: figures for the planner are gathered, and servers may come.
func (w *Whole) Finish(ctx context.Context) error {
	// A lock that was lost would mean that somebody may have served it meanwhile.
	if err := w.lock.PingContext(ctx); err != nil {
		return fmt.Errorf("the lock of the database was lost: %w", err)
	}
	if err := w.exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	return w.exec(ctx, "DROP TABLE "+incomplete)
}

// Close ends the use of it.
func (w *Whole) Close() error {
	var errs []error
	if w.tx != nil {
		errs = append(errs, w.tx.Rollback())
	}
	if w.lock != nil {
		// The server would notice the end of the connection a moment later.
		ctx, cancel := context.WithTimeout(context.Background(), callConnect)
		defer cancel()
		_, _ = w.lock.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, useLock) // without the connection there is no lock
		errs = append(errs, w.lock.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// usable refuses a database that is being filled or was not filled to the end.
func usable(ctx context.Context, db *sql.DB) error {
	s, err := stateOf(ctx, db)
	if err == nil && s.incomplete {
		err = errIncomplete
	}
	return err
}

// useFault gives the two reasons why a database may not be used their sentences, where
// they are what err is about.
func useFault(err error, where string) error {
	switch {
	case errors.Is(err, errIncomplete):
		return fault.New(fault.Unavailable, "The database %s is incomplete: a migrate or restore into it was interrupted: run the same command again.", where)
	case errors.Is(err, errMoved):
		return fault.New(fault.Unavailable, "The database %s is being moved (by migrate or restore): wait for the end of that.", where)
	}
	return nil
}

// share takes part in the lock of those who serve.
func share(ctx context.Context, conn *pgx.Conn) error {
	var free bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock_shared($1)`, useLock).Scan(&free); err != nil {
		return err
	}
	if !free {
		return errMoved
	}
	return nil
}

// unshare closes a pool and releases the locks of its idle connections first: the server
// notices the end of a connection only later, so that a move that begins at once
// would find the database in use.
func unshare(db *sql.DB) error {
	ctx, cancel := context.WithTimeout(context.Background(), callConnect)
	defer cancel()
	for range db.Stats().Idle {
		conn, err := db.Conn(ctx)
		if err != nil {
			break // the lock ends with its connection
		}
		defer conn.Close() // after the pool, which thus never uses it without the lock
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock_shared($1)`, useLock); err != nil {
			break
		}
	}
	return db.Close()
}
