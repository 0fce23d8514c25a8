// Package sqldb is what the stores of all domains share: how they run statements, what a
// row and a column are in both databases, the schema and its migrations.
//
// What differs between the databases is behind an [Engine] (how a transaction is
// run, how many rows are sent at once) and a [Dialect] (a few words of SQL). Start
// with [DB], and [Conn], which runs statements.
package sqldb

import (
	"context"
	"database/sql"
)

// Conn runs statements. Texts may hold the tokens of a [Dialect]; placeholders
// are $1, $2 and so on.
type Conn interface {
	// Exec runs one statement and returns how many rows it changed.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Query runs one statement and calls row for each row.
	Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error
	// Bulk runs a statement that begins with a rows(…) header once for each row
	// of args, in whatever way is fastest. No two rows may touch the same key.
	Bulk(ctx context.Context, text string, args [][]any) (int64, error)
	// BulkQuery is Bulk for statements that return rows.
	BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, args [][]any) error
}

// Engine runs functions on a database. Both methods turn the database's own
// troubles into faults.
type Engine interface {
	// Read runs fn on a connection that does not write.
	Read(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
	// Write runs fn in one transaction that is on disk when nil is returned. fn
	// may run more than once; what it set before must not matter.
	Write(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
	// One is Write for an fn that runs one statement, which is a transaction by itself.
	One(ctx context.Context, fn func(ctx context.Context, c Conn) error) error
}

// DB is a database as the stores of all domains use it.
type DB struct {
	Engine
	// Shared means that other processes use the same database, which then locks rows.
	Shared bool
}

// Read is Engine.Read for functions with a result.
func Read[T any](ctx context.Context, db *DB, fn func(ctx context.Context, c Conn) (T, error)) (T, error) {
	var v T
	err := db.Read(ctx, func(ctx context.Context, c Conn) (err error) {
		v, err = fn(ctx, c)
		return err
	})
	return v, err
}

// Write is Engine.Write for functions with a result.
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
