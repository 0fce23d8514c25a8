// Package sqldb contains the code that the stores of all domains share: statement execution,
// conversion of rows and columns, the schema and its migrations.
//
// An [Engine] and a [Dialect] hide the differences between the databases. The Engine runs
// transactions and bulk statements; the Dialect replaces a few words of SQL. Start with [DB] and
// with [Conn], which runs statements.
package sqldb

import (
	"context"
	"database/sql"
)

// Conn runs statements. Texts may contain the tokens of a [Dialect]; placeholders are $1, $2 and so
// on.
type Conn interface {
	// Exec runs one statement and returns how many rows it changed.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Query runs one statement and calls row for each row.
	Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error
	// Bulk runs a statement that begins with a rows(…) header once for each row of args, in the
	// fastest way available. No two rows may touch the same key.
	Bulk(ctx context.Context, text string, args [][]any) (int64, error)
	// BulkQuery is Bulk for statements that return rows.
	BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, args [][]any) error
}

// Engine runs functions on a database. All methods convert database errors to faults.
type Engine interface {
	// Read runs fn on a read-only connection.
	Read(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
	// Write runs fn in one transaction, which is durable when Write returns nil. fn may run more
	// than once, so it must not depend on results of an earlier run.
	Write(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
	// One is Write for an fn that runs a single statement, which needs no explicit transaction.
	One(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
	// PageState identifies the state of the tables that pages of authors show, see [IsShown]. If
	// the state is the same before and after some reads, these reads missed no completed write to
	// these tables.
	PageState(ctx context.Context) (string, error)
	// UnreadState is like PageState for the unread counts of all users, see [IsCounted]; "": the
	// database does not know the state.
	UnreadState() string
}

// DB is a database as the stores of all domains use it.
type DB struct {
	Engine
	// Shared means that other processes use the same database, so statements lock rows.
	Shared bool
	// Distributed means that the database is a Citus cluster with the tables of [Placements].
	Distributed bool
}

// Read is like Engine.Read for functions with a result.
func Read[T any](ctx context.Context, db *DB, fn func(ctx context.Context, c Conn) (T, error)) (T, error) {
	var v T
	err := db.Read(ctx, func(ctx context.Context, c Conn) (err error) {
		v, err = fn(ctx, c)
		return err
	})
	return v, err
}

// Write is like Engine.Write for functions with a result.
func Write[T any](ctx context.Context, db *DB, fn func(ctx context.Context, c Conn) (T, error)) (T, error) {
	var v T
	err := db.Write(ctx, func(ctx context.Context, c Conn) (err error) {
		v, err = fn(ctx, c)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}
