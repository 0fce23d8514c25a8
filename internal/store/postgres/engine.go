package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// engine is the sqldb.Engine of one connection pool.
type engine struct {
	db      *sql.DB
	dialect *sqldb.Dialect
	timeout time.Duration
	around  func(commit func() error) error // Options.Commit
}

// attempts limits the runs of a transaction that the server aborts for temporary reasons. Each time,
// another transaction succeeded. All pauses together take about a second.
const attempts = 20

func (e *engine) Read(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.run(ctx, func(ctx context.Context) error {
		return fn(ctx, &conn{on: e.db, dialect: e.dialect})
	})
}

func (e *engine) Write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.run(ctx, func(ctx context.Context) error {
		tx, err := e.db.BeginTx(ctx, nil)
		if err != nil {
			return &databaseError{err}
		}
		if err := fn(ctx, &conn{on: tx, dialect: e.dialect}); err != nil {
			_ = tx.Rollback() // err is the cause; a connection that cannot roll back is closed
			return err
		}
		commit := tx.Commit
		if e.around != nil {
			commit = func() error { return e.around(tx.Commit) }
		}
		if err := commit(); err != nil {
			return &databaseError{err}
		}
		return nil
	})
}

// One is like Write without BEGIN and COMMIT: it takes one round trip instead of three.
func (e *engine) One(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Read(ctx, fn)
}

// PageState implements sqldb.Engine. It returns the snapshot of the database: two statements with
// the same snapshot see the same rows. Writes to other tables change the snapshot too.
func (e *engine) PageState(ctx context.Context) (state string, err error) {
	err = e.Read(ctx, func(ctx context.Context, c sqldb.Conn) error {
		return c.Query(ctx, `SELECT CAST(txid_current_snapshot() AS TEXT)`, func(rows *sql.Rows) error { return rows.Scan(&state) })
	})
	return state, err
}

// UnreadState implements sqldb.Engine. Other nodes can change counts at any time.
func (e *engine) UnreadState() string { return "" }

// run runs fn until it succeeds or fails permanently.
func (e *engine) run(ctx context.Context, fn func(ctx context.Context) error) error {
	inner := ctx
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, e.timeout)
		defer cancel()
	}
	for try := 1; ; try++ {
		err := fn(inner)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil && errors.As(err, new(*databaseError)) {
			return fmt.Errorf("use the database: %w", ctx.Err())
		}
		if try >= attempts || !isTemporary(err) {
			return translate(err)
		}
		pause := time.NewTimer(time.Duration(1+rand.IntN(10*try)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-inner.Done():
			pause.Stop()
			return translate(err)
		}
	}
}

// databaseError marks an error as one of the database.
type databaseError struct{ err error }

func (t *databaseError) Error() string { return t.err.Error() }
func (t *databaseError) Unwrap() error { return t.err }

// isTemporary reports whether another attempt of the same transaction may succeed.
func isTemporary(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch e.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"23505",          // unique violation: ON CONFLICT covers one key, and a concurrent insert of the same row may violate another
		"0A000", "26000": // the schema changed under a prepared statement, or the statement is missing
		return true
	}
	return false
}

// translate converts database errors to faults. It returns other errors unchanged.
func translate(err error) error {
	if !errors.As(err, new(*databaseError)) {
		return err
	}
	unavailable := func(msg string) error {
		return &fault.Error{Code: fault.Unavailable, Msg: msg, Err: err, RetryAfter: 2 * time.Second}
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return unavailable("The server's database is currently unreachable.")
	}
	switch e.Code[:2] {
	case "08", "28", "3D", "57", "58": // connection, authentication, missing database, operator, system
		return unavailable("The server's database is currently unreachable.")
	case "53": // resources
		return unavailable("The server's database has no disk space or no connection left.")
	case "40", "55": // aborted, locked
		return unavailable("The server's database is busy; please try again.")
	case "XX":
		return unavailable("The server's database is damaged.")
	}
	if e.Code == "25P03" { // the server aborted an idle transaction
		return unavailable("The server's database is busy; please try again.")
	}
	if e.Code == "25006" {
		return unavailable("The server's database is currently read-only.")
	}
	return err
}

// statementer is a pool or a transaction.
type statementer interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// conn is the sqldb.Conn of one call. The driver caches prepared statements.
type conn struct {
	on      statementer
	dialect *sqldb.Dialect
}

func (c *conn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	t, err := c.dialect.Text(text)
	if err != nil {
		return 0, err
	}
	r, err := c.on.ExecContext(ctx, t.SQL, args...)
	if err != nil {
		return 0, &databaseError{err}
	}
	return r.RowsAffected()
}

func (c *conn) Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error {
	t, err := c.dialect.Text(text)
	if err != nil {
		return err
	}
	rows, err := c.on.QueryContext(ctx, t.SQL, args...)
	if err != nil {
		return &databaseError{err}
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return &databaseError{err}
	}
	return nil
}

// maxRows is the maximum number of rows per statement.
const maxRows = 5000

func (c *conn) Bulk(ctx context.Context, text string, rows [][]any) (int64, error) {
	var total int64
	if c.eachRow(text, len(rows)) {
		for _, row := range rows {
			n, err := c.Exec(ctx, text, row...)
			if err != nil {
				return total, err
			}
			total += n
		}
		return total, nil
	}
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		args, err := c.columns(text, rows[:n])
		if err != nil {
			return total, err
		}
		done, err := c.execMany(ctx, text, args)
		if err != nil {
			return total, err
		}
		total, rows = total+done, rows[n:]
	}
	return total, nil
}

func (c *conn) BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, rows [][]any) error {
	if c.eachRow(text, 0) {
		for _, args := range rows {
			if err := c.Query(ctx, text, row, args...); err != nil {
				return err
			}
		}
		return nil
	}
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		args, err := c.columns(text, rows[:n])
		if err != nil {
			return err
		}
		if err := c.Query(ctx, text, row, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// manyRows is the number of rows from which one statement (Text.Many) is faster than a statement
// per row.
const manyRows = 64

// eachRow reports whether a bulk statement runs once per row.
func (c *conn) eachRow(text string, rows int) bool {
	t, err := c.dialect.Text(text) // if the text is invalid, the statement itself returns the error
	return err == nil && t.Each && (rows < manyRows || t.Many == "")
}

// execMany runs a bulk statement with arrays.
func (c *conn) execMany(ctx context.Context, text string, args []any) (int64, error) {
	t, err := c.dialect.Text(text)
	if err != nil {
		return 0, err
	}
	r, err := c.on.ExecContext(ctx, cmp.Or(t.Many, t.SQL), args...)
	if err != nil {
		return 0, &databaseError{err}
	}
	return r.RowsAffected()
}

// columns converts rows to one array per column.
func (c *conn) columns(text string, rows [][]any) ([]any, error) {
	t, err := c.dialect.Text(text)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(t.Types))
	for i, typ := range t.Types {
		switch typ {
		case 'i':
			args[i], err = column(rows, i, integer)
		case 't':
			args[i], err = column(rows, i, same[string])
		case 'b':
			args[i], err = column(rows, i, same[[]byte])
		case 'o':
			args[i], err = column(rows, i, same[bool])
		}
		if err != nil {
			return nil, fmt.Errorf("column %d of %.60q: %w", i+1, t.SQL, err)
		}
	}
	return args, nil
}

func column[T any](rows [][]any, i int, as func(any) (T, bool)) ([]T, error) {
	all := make([]T, len(rows))
	for n, row := range rows {
		v, ok := as(row[i])
		if !ok {
			return nil, fmt.Errorf("unexpected type %T", row[i])
		}
		all[n] = v
	}
	return all, nil
}

func same[T any](v any) (T, bool) { t, ok := v.(T); return t, ok }

func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	}
	return 0, false
}
