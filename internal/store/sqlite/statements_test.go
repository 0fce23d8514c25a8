package sqlite

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"

	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlstore"
)

// countingEngine counts the statements that an engine runs.
type countingEngine struct {
	sqldb.Engine
	n atomic.Int64
}

func (e *countingEngine) Read(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Engine.Read(ctx, e.counted(fn))
}

func (e *countingEngine) Write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Engine.Write(ctx, e.counted(fn))
}

func (e *countingEngine) One(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Engine.One(ctx, e.counted(fn))
}

func (e *countingEngine) counted(fn func(ctx context.Context, c sqldb.Conn) error) func(ctx context.Context, c sqldb.Conn) error {
	return func(ctx context.Context, c sqldb.Conn) error { return fn(ctx, countingConn{c, &e.n}) }
}

type countingConn struct {
	sqldb.Conn
	n *atomic.Int64
}

func (c countingConn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	c.n.Add(1)
	return c.Conn.Exec(ctx, text, args...)
}

func (c countingConn) Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error {
	c.n.Add(1)
	return c.Conn.Query(ctx, text, row, args...)
}

func (c countingConn) Bulk(ctx context.Context, text string, args [][]any) (int64, error) {
	c.n.Add(int64(len(args)))
	return c.Conn.Bulk(ctx, text, args)
}

func (c countingConn) BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, args [][]any) error {
	c.n.Add(int64(len(args)))
	return c.Conn.BulkQuery(ctx, text, row, args)
}

// counting returns a store and a function that counts the statements of do.
func counting(t *testing.T) (*Store, func(do func()) int) {
	s := open(t, Options{})
	e := &countingEngine{Engine: s.DB.Engine}
	s.Store = sqlstore.New(&sqldb.DB{Engine: e}, riversql.FTS5)
	return s, func(do func()) int {
		before := e.n.Load()
		do()
		return int(e.n.Load() - before)
	}
}

// Lower a bound when the code needs fewer statements; never raise it.
func TestFrequentWorkTakesFewStatements(t *testing.T) {
	t.Parallel()
	t.Run("hub", func(t *testing.T) {
		t.Parallel()
		s, count := counting(t)
		hubtest.Statements(t, s, map[string]int{"ping of an unchanged feed": 5, "ping of a changed feed": 7}, count)
	})
	t.Run("river", func(t *testing.T) {
		t.Parallel()
		s, count := counting(t)
		rivertest.Statements(t, s, map[string]int{"claim of 50 feeds": 5, "unchanged feed": 2, "feed with one new item": 15, "page of a river": 4}, count)
	})
}
