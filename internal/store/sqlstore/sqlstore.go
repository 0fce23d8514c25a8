// Package sqlstore is the hub's store in SQL: the statements, what they mean and
// how rows become values, written once for both databases.
//
// What differs between the databases is behind an [Engine] (how a transaction is
// run, how many rows are sent at once) and a [Dialect] (a few words of SQL). Start
// with [Store], whose methods are the contract of hub.Store, and [Conn], the
// hand that they write with.
//
// The rows are the truth: a part, a subscription or a topic that is owed work has
// a due time, which is schedule and lease in one; whoever claims it moves the due
// time ahead and takes a number (epoch, claim) that fences off everyone before.
package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"cloudburst/internal/fault"
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

// Store implements the hub's store over an Engine; Backup and Close are the
// business of the package that makes the Engine.
type Store struct {
	Engine
	// Shared means that other processes use the same database, which then locks rows.
	Shared bool
	// Words is how the database finds words.
	Words Words
}

// MaxMatch is the length, in bytes, of the longest text that can be searched for.
const MaxMatch = 2000

// collect runs a query and gathers what scan makes of each row.
func collect[T any](ctx context.Context, c Conn, scan func(*sql.Rows, *T) error, text string, args ...any) ([]T, error) {
	var all []T
	err := c.Query(ctx, text, func(rows *sql.Rows) error {
		var v T
		if err := scan(rows, &v); err != nil {
			return err
		}
		all = append(all, v)
		return nil
	}, args...)
	return all, err
}

// read is Engine.Read for functions with a result.
func read[T any](ctx context.Context, s *Store, fn func(ctx context.Context, c Conn) (T, error)) (T, error) {
	var v T
	err := s.Read(ctx, func(ctx context.Context, c Conn) (err error) {
		v, err = fn(ctx, c)
		return err
	})
	return v, err
}

// write is Engine.Write for functions with a result.
func write[T any](ctx context.Context, s *Store, fn func(ctx context.Context, c Conn) (T, error)) (T, error) {
	var v T
	err := s.Write(ctx, func(ctx context.Context, c Conn) (err error) {
		v, err = fn(ctx, c)
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

// ms is t as the tables hold it; the zero time is 0.
func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// millis scans a time: NULL and 0 are the zero time.
type millis time.Time

func (m *millis) Scan(src any) error {
	v, _ := src.(int64)
	if v == 0 {
		*m = millis{}
		return nil
	}
	*m = millis(time.UnixMilli(v).UTC())
	return nil
}

// number scans an int without the detour over text that database/sql takes.
type number int

func (n *number) Scan(src any) error {
	v, _ := src.(int64)
	*n = number(v)
	return nil
}

// verbatim scans bytes that strangers gave us as text; NULL is "". They are kept
// as bytes because text must be UTF-8 in PostgreSQL.
type verbatim string

func (v *verbatim) Scan(src any) error {
	b, _ := src.([]byte)
	*v = verbatim(b)
	return nil
}

// clean makes text that both databases take: PostgreSQL has no NUL and no broken UTF-8.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// limit is what a list query means by its Limit.
func limit(n int) int { return atMost(n, 1000) }

func atMost(n, most int) int {
	if n <= 0 {
		return 100
	}
	return min(n, most)
}

// where gathers the conditions of a list query.
type where struct {
	conds []string
	args  []any
}

// add adds a condition in which each ? is the next of args.
func (w *where) add(cond string, args ...any) {
	var b strings.Builder
	for part := range strings.SplitSeq(cond, "?") {
		b.WriteString(part)
		if len(args) > 0 {
			b.WriteString(w.arg(args[0]))
			args = args[1:]
		}
	}
	w.conds = append(w.conds, b.String())
}

// arg adds an argument and returns its placeholder.
func (w *where) arg(v any) string {
	w.args = append(w.args, v)
	return placeholder(len(w.args))
}

// like asks for a substring in any of the columns, whatever the case. Both
// databases fold only ASCII by themselves; other letters are looked for as they
// are, in lower and in upper case.
func (w *where) like(match string, columns ...string) error {
	if match == "" {
		return nil
	}
	if len(match) > MaxMatch {
		return fault.New(fault.Invalid, "The text to search for has %d bytes; at most %d can be searched for.", len(match), MaxMatch)
	}
	match = clean(match)
	var conds []string
	for i, m := range []string{match, strings.ToLower(match), strings.ToUpper(match)} {
		if i > 0 && asciiFold(m) == asciiFold(match) {
			continue
		}
		p := w.arg("%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(m) + "%")
		for _, c := range columns {
			conds = append(conds, c+` {LIKE} `+p+` ESCAPE '\'`)
		}
	}
	w.conds = append(w.conds, "("+strings.Join(conds, " OR ")+")")
	return nil
}

func asciiFold(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// String is the WHERE clause, or nothing.
func (w *where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}
