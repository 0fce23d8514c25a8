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

// useLock is the advisory lock for the use of a database. Each connection of a server holds it
// shared; a move of the whole database holds it exclusively.
const useLock = 0x636c6f7564 // "cloud"

// incomplete is a table that exists while a database is being filled.
const incomplete = "cloudburst_incomplete"

// errIncomplete means that filling the database was interrupted.
var errIncomplete = errors.New("the database is incomplete")

// errMoved means that a connection was rejected because of a move.
var errMoved = errors.New("the database is being moved")

// Whole is a database that is read or filled as a whole. Call Close when done.
type Whole struct {
	sqldb.Whole
	db   *sql.DB
	lock *sql.Conn // nil: not locked
	tx   *sql.Tx   // for reading; nil: the database is being filled
}

// OpenWhole opens a snapshot of a database for reading all of it, and locks out servers until it is
// closed. If a server uses the database, or its schema is not the newest, the result is
// fault.Conflict.
func OpenWhole(ctx context.Context, url string) (*Whole, error) {
	return openWhole(url, func(w *Whole) error {
		if err := w.lockExclusively(ctx); err != nil {
			return err
		}
		return w.read(ctx, url)
	})
}

// Snapshot opens a snapshot of a database for reading all of it, while other processes write.
func Snapshot(ctx context.Context, url string) (*Whole, error) {
	return openWhole(url, func(w *Whole) error { return w.read(ctx, url) })
}

// Fill opens an empty database for filling, and locks out servers until it is closed. Without
// [Whole.Finish] the database remains unusable afterwards. Fill deletes leftovers of an earlier
// attempt. If the program's tables already exist, the result is fault.Conflict unless replace is
// set. Tables of other programs with the same names are never changed. If spread is set, Fill
// distributes the tables over a Citus cluster.
func Fill(ctx context.Context, url string, replace, spread bool) (*Whole, error) {
	return openWhole(url, func(w *Whole) error {
		if spread {
			if err := needCluster(ctx, w.db, redact(url)); err != nil {
				return err
			}
		}
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
		if err := migrateFor(ctx, config, true, false); err != nil {
			return err
		}
		if spread {
			if err := distribute(ctx, w.db); err != nil {
				return err
			}
		}
		w.Whole = sqldb.Whole{Dialect: sqldb.Postgres(), Rows: w.db, Plain: true, Insert: w.insert}
		return nil
	})
}

// openWhole connects, and closes the connection if prepare fails.
func openWhole(url string, prepare func(*Whole) error) (*Whole, error) {
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

// lockExclusively takes the exclusive advisory lock, or returns fault.Conflict while a server uses
// the database.
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
			return fault.New(fault.Conflict, "A cloudburst process uses the database: stop every server and command that uses it, on all machines, and try again.")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Limits for waiting until a lock is released: a busy PostgreSQL notices late that a process has
// disconnected.
const (
	freedWithin = 5 * time.Second
	freedTick   = 100 * time.Millisecond
)

// read prepares w for reading.
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
		return fault.New(fault.NotFound, "The database %s contains no cloudburst data.", redact(url))
	}
	w.Whole = sqldb.Whole{Dialect: sqldb.Postgres(), Rows: tx, Plain: true}
	var have int64
	if err := tx.QueryRowContext(ctx, `SELECT MAX(version_id) FROM goose_db_version WHERE is_applied`).Scan(&have); err != nil {
		return err
	}
	return sqldb.IsNewest(have, redact(url), sqldb.UpdateByStart)
}

// state describes which tables of the program a database has.
type state struct {
	ours       bool     // the program created tables
	incomplete bool     // the tables are not completely filled
	tables     []string // existing tables with names of the program's tables
}

type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// names returns the tables of the program, except the marker tables.
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

// empty deletes the program's tables, if allowed, and marks the database as incomplete.
func (w *Whole) empty(ctx context.Context, url string, replace bool) error {
	s, err := stateOf(ctx, w.db)
	if err != nil {
		return err
	}
	where := redact(url)
	switch {
	case s.incomplete: // left by an earlier attempt
	case len(s.tables) == 0:
	case !s.ours:
		return fault.New(fault.Conflict, "The database %s has tables of another program with the same names as cloudburst's (%s): create a separate database.", where, strings.Join(s.tables, ", "))
	case !replace:
		return fault.New(fault.Conflict, "The database %s already contains the tables of a cloudburst server: name an empty database, or use --replace, which deletes all data in them.", where)
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after the commit
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
			err = fmt.Errorf("%d rows were sent, but %d were stored", len(rows), n)
		}
		return err
	})
}

// Finish ends filling: it updates the planner statistics and lets servers connect.
func (w *Whole) Finish(ctx context.Context) error {
	// If the connection and its lock were lost, a server may have used the database in the
	// meantime.
	if err := w.lock.PingContext(ctx); err != nil {
		return fmt.Errorf("the lock of the database was lost: %w", err)
	}
	if err := w.Exec(ctx, "ANALYZE"); err != nil {
		return err
	}
	return w.Exec(ctx, "DROP TABLE "+incomplete)
}

// Close closes the database and releases the lock.
func (w *Whole) Close() error {
	var errs []error
	if w.tx != nil {
		errs = append(errs, w.tx.Rollback())
	}
	if w.lock != nil {
		// Release the lock explicitly, because the server notices the end of the connection only
		// later.
		ctx, cancel := context.WithTimeout(context.Background(), callConnect)
		defer cancel()
		_, _ = w.lock.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, useLock) // if the connection is broken, the lock is released anyway
		errs = append(errs, w.lock.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// usable rejects a database that is being filled or is incomplete.
func usable(ctx context.Context, db *sql.DB) error {
	s, err := stateOf(ctx, db)
	if err == nil && s.incomplete {
		err = errIncomplete
	}
	return err
}

// useFault converts errIncomplete and errMoved to faults with instructions.
func useFault(err error, where string) error {
	switch {
	case errors.Is(err, errIncomplete):
		return fault.New(fault.Unavailable, "The database %s is incomplete: a migrate or restore into it was interrupted: run the same command again.", where)
	case errors.Is(err, errMoved):
		return fault.New(fault.Unavailable, "The database %s is being moved (by migrate or restore): wait until the move is complete.", where)
	}
	return nil
}

// share takes the shared lock of a server.
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

// unshare closes a pool after it released the locks of its idle connections. The server notices the
// end of a connection only later, so a move that starts at once would find the database in use.
func unshare(db *sql.DB) error {
	ctx, cancel := context.WithTimeout(context.Background(), callConnect)
	defer cancel()
	for range db.Stats().Idle {
		conn, err := db.Conn(ctx)
		if err != nil {
			break // the connection is broken, which has released its lock
		}
		defer conn.Close() // after the pool, so that the pool never uses the connection without the lock
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock_shared($1)`, useLock); err != nil {
			break
		}
	}
	return db.Close()
}
