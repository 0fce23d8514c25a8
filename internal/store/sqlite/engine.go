package sqlite

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"

	"cloudburst/internal/store/sqldb"
)

// engine is the sqldb.Engine of one file.
type engine struct {
	writer *writer
	reader *statements
	dir    string
}

func (e *engine) Read(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return translate(fn(ctx, &conn{stmts: e.reader}), e.dir)
}

func (e *engine) Write(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return translate(e.writer.write(ctx, fn), e.dir)
}

// One is the same as Write, because the writer commits the statements of several calls together
// anyway.
func (e *engine) One(ctx context.Context, fn func(ctx context.Context, c sqldb.Conn) error) error {
	return e.Write(ctx, fn)
}

// PageState implements sqldb.Engine. This process is the only one that writes to the file, so the
// number of its transactions that wrote to these tables identifies the state.
func (e *engine) PageState(context.Context) (string, error) {
	return strconv.FormatUint(e.writer.shown.Load(), 36), nil
}

// UnreadState implements sqldb.Engine in the same way as PageState.
func (e *engine) UnreadState() string { return strconv.FormatUint(e.writer.counted.Load(), 36) }

// prepared is a statement with its translation.
type prepared struct {
	*sql.Stmt
	reads bool // read-only
	shown bool // writes what pages of authors show

	counted bool // writes unread counts
}

// maxStatements limits the number of prepared statements; list queries have many shapes.
const maxStatements = 256

// statements prepares each text once.
type statements struct {
	dialect *sqldb.Dialect
	prepare func(ctx context.Context, text string) (*sql.Stmt, error)

	mu    sync.Mutex
	known map[string]prepared
}

func newReader(db *sql.DB, d *sqldb.Dialect) *statements {
	return &statements{dialect: d, prepare: db.PrepareContext, known: map[string]prepared{}}
}

// get returns the statement of a text and a function that releases it.
func (s *statements) get(ctx context.Context, text string) (prepared, func(), error) {
	s.mu.Lock()
	p, ok := s.known[text]
	s.mu.Unlock()
	if ok {
		return p, func() {}, nil
	}
	t, err := s.dialect.Text(text)
	if err != nil {
		return p, nil, err
	}
	stmt, err := s.prepare(ctx, t.SQL)
	if err != nil {
		return p, nil, err
	}
	p = prepared{stmt, strings.HasPrefix(t.SQL, "SELECT"), sqldb.IsShown(t.SQL), sqldb.IsCounted(t.SQL)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, raced := s.known[text]; raced || len(s.known) >= maxStatements {
		return p, func() { stmt.Close() }, nil
	}
	s.known[text] = p
	return p, func() {}, nil
}

func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.known {
		p.Close()
	}
	clear(s.known)
}

// conn is the sqldb.Conn of one operation.
type conn struct {
	stmts *statements
	wrote bool // the operation may have changed data
	shown bool // the operation may have changed tables that pages of authors show

	counted bool // the operation may have changed unread counts
}

func (c *conn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	p, done, err := c.stmts.get(ctx, text)
	if err != nil {
		return 0, err
	}
	defer done()
	return c.exec(ctx, p, args)
}

func (c *conn) exec(ctx context.Context, p prepared, args []any) (int64, error) {
	r, err := p.ExecContext(ctx, args...)
	if err != nil {
		c.changed(p) // a statement that failed may have changed some rows
		return 0, err
	}
	n, err := r.RowsAffected()
	if n > 0 || err != nil {
		c.changed(p)
	}
	return n, err
}

// changed records that a statement may have changed data.
func (c *conn) changed(p prepared) {
	c.wrote, c.shown, c.counted = true, c.shown || p.shown, c.counted || p.counted
}

func (c *conn) Query(ctx context.Context, text string, row func(*sql.Rows) error, args ...any) error {
	p, done, err := c.stmts.get(ctx, text)
	if err != nil {
		return err
	}
	defer done()
	return c.query(ctx, p, row, args)
}

func (c *conn) query(ctx context.Context, p prepared, row func(*sql.Rows) error, args []any) error {
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		c.changed(p)
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if !p.reads {
			c.changed(p)
		}
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *conn) Bulk(ctx context.Context, text string, rows [][]any) (int64, error) {
	if len(rows) == 0 {
		return 0, nil
	}
	p, done, err := c.stmts.get(ctx, text)
	if err != nil {
		return 0, err
	}
	defer done()
	var total int64
	for _, args := range rows {
		n, err := c.exec(ctx, p, args)
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

func (c *conn) BulkQuery(ctx context.Context, text string, row func(*sql.Rows) error, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	p, done, err := c.stmts.get(ctx, text)
	if err != nil {
		return err
	}
	defer done()
	for _, args := range rows {
		if err := c.query(ctx, p, row, args); err != nil {
			return err
		}
	}
	return nil
}
