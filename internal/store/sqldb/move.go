package sqldb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"cloudburst/internal/fault"
)

// Whole is a database seen as a set of tables. Either no server uses the database, or the Whole is
// a snapshot. [Move] copies one Whole to another. Packages sqlite and postgres create them.
type Whole struct {
	Dialect *Dialect
	// Rows runs queries, and statements if the database is not read-only.
	Rows interface {
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
		ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	}
	// Insert adds rows to a table in one transaction, with values in the order of its columns.
	Insert func(ctx context.Context, t Table, rows [][]any) error
	// Plain means that texts contain neither NUL nor invalid UTF-8.
	Plain bool
}

// Exec runs a statement; the database must not be read-only.
func (w *Whole) Exec(ctx context.Context, text string) error {
	_, err := w.Rows.ExecContext(ctx, text)
	return err
}

// Progress is the progress of a move.
type Progress struct {
	Stage       string // copy, check or search
	Table       string // "" for search
	Done, Total int64  // rows of the stage
}

// Moved is the result of a move for one table.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Hash  string `json:"hash"` // SHA-256 of all rows in key order, equal in both databases
	// Repaired is the number of texts with NUL or invalid UTF-8, which the destination cannot
	// store. These bytes were replaced by U+FFFD.
	Repaired int64 `json:"mended,omitempty"`
}

// Limits of rows and bytes per transaction.
const (
	moveRows  = 1000
	moveBytes = 4 << 20
)

// Move copies every table to a database with the newest schema, replacing its rows. Then it reads
// both databases and compares the number of rows and their hash. A difference is fault.Internal.
// The search index is not copied: all items are marked as unindexed. Memory use is a few megabytes,
// whatever the size of the data.
//
// spec:cloudburst#move-checked
func Move(ctx context.Context, from, to *Whole, report func(Progress)) ([]Moved, error) {
	tables, err := Schema()
	if err != nil {
		return nil, err
	}
	m := mover{from: from, to: to, report: report}
	if m.report == nil {
		m.report = func(Progress) {}
	}
	for _, t := range tables {
		n, err := from.count(ctx, t)
		if err != nil {
			return nil, err
		}
		m.total += n
	}
	all := make([]Moved, len(tables))
	for i, t := range tables {
		if all[i], err = m.copy(ctx, t); err != nil {
			return nil, fmt.Errorf("copy the table %s: %w", t.Name, err)
		}
	}
	m.done = 0
	for i, t := range tables {
		if err := m.check(ctx, t, all[i]); err != nil {
			return nil, err
		}
	}
	return all, to.markUnindexed(ctx)
}

// markUnindexed queues every item for the search index.
func (w *Whole) markUnindexed(ctx context.Context) error {
	return w.Exec(ctx, `INSERT INTO item_unindexed (place, seq) SELECT i.place, i.seq FROM item AS i
		WHERE NOT EXISTS (SELECT 1 FROM item_unindexed AS u WHERE u.place = i.place)`)
}

func (w *Whole) count(ctx context.Context, t Table) (n int64, err error) {
	rows, err := w.Rows.QueryContext(ctx, "SELECT COUNT(*) FROM "+t.Name)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			return 0, err
		}
	}
	return n, rows.Err()
}

// each calls row for all rows of a table in key order. The callee may keep the slice.
func (w *Whole) each(ctx context.Context, t Table, row func([]any) error) error {
	text, err := w.Dialect.Text(t.selectAll())
	if err != nil {
		return err
	}
	rows, err := w.Rows.QueryContext(ctx, text.SQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	into := make([]any, len(t.Columns))
	for rows.Next() {
		values := make([]any, len(t.Columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.Columns {
			if values[i], err = c.value(values[i]); err != nil {
				return fmt.Errorf("column %s.%s: %w", t.Name, c.Name, err)
			}
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// value converts a driver's value to the Go type of the column. SQLite has no booleans and does not
// enforce column types.
func (c Column) value(v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch have := v.(type) {
	case int64:
		switch c.Kind {
		case Integer:
			return have, nil
		case Truth:
			return have != 0, nil
		case Real:
			return float64(have), nil
		}
	case bool:
		if c.Kind == Truth {
			return have, nil
		}
	case float64:
		if c.Kind == Real {
			return have, nil
		}
	case string:
		switch c.Kind {
		case Letters:
			return have, nil
		case Bytes:
			return []byte(have), nil
		}
	case []byte:
		switch c.Kind {
		case Letters:
			return string(have), nil
		case Bytes:
			return append([]byte{}, have...), nil // an empty value is not NULL
		}
	}
	return nil, fmt.Errorf("unexpected type %T", v)
}

// mover is the state of one move.
type mover struct {
	from, to    *Whole
	report      func(Progress)
	done, total int64
}

func (m *mover) copy(ctx context.Context, t Table) (Moved, error) {
	moved := Moved{Table: t.Name}
	if err := m.to.Exec(ctx, "DELETE FROM "+t.Name); err != nil { // delete rows that the migrations inserted
		return moved, err
	}
	sum, size := sha256.New(), 0
	var batch [][]any
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := m.to.Insert(ctx, t, batch)
		m.done += int64(len(batch))
		m.report(Progress{Stage: "copy", Table: t.Name, Done: m.done, Total: m.total})
		clear(batch)
		batch, size = batch[:0], 0
		return err
	}
	var buf bytes.Buffer
	err := m.from.each(ctx, t, func(row []any) error {
		if m.to.Plain && !m.from.Plain {
			moved.Repaired += repairRow(row)
		}
		buf.Reset()
		encodeRow(&buf, row)
		_, _ = sum.Write(buf.Bytes()) // never fails
		moved.Rows++
		batch, size = append(batch, row), size+buf.Len()
		if len(batch) < moveRows && size < moveBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	moved.Hash = hexSum(sum)
	return moved, err
}

// repairRow replaces texts that PostgreSQL cannot store and returns their number.
func repairRow(row []any) (repaired int64) {
	for i, v := range row {
		if text, ok := v.(string); ok {
			if plain := Clean(text); plain != text {
				row[i] = plain
				repaired++
			}
		}
	}
	return repaired
}

// check reads the written rows and compares them with the source.
func (m *mover) check(ctx context.Context, t Table, want Moved) error {
	sum, rows := sha256.New(), int64(0)
	var buf bytes.Buffer
	err := m.to.each(ctx, t, func(row []any) error {
		buf.Reset()
		encodeRow(&buf, row)
		_, _ = sum.Write(buf.Bytes()) // never fails
		rows++
		if m.done++; m.done%moveRows == 0 {
			m.report(Progress{Stage: "check", Table: t.Name, Done: m.done, Total: m.total})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check the table %s: %w", t.Name, err)
	}
	m.report(Progress{Stage: "check", Table: t.Name, Done: m.done, Total: m.total})
	if have := hexSum(sum); rows != want.Rows || have != want.Hash {
		return fault.New(fault.Internal, "The copy of the table %s differs: %d rows with the hash %.12s were read, but %d rows with %.12s are in the copy.",
			t.Name, want.Rows, want.Hash, rows, have)
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// encodeRow encodes a row so that only equal rows have equal bytes.
func encodeRow(b *bytes.Buffer, row []any) {
	var n [8]byte
	number := func(kind byte, v uint64) {
		binary.BigEndian.PutUint64(n[:], v)
		b.WriteByte(kind)
		b.Write(n[:])
	}
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b.WriteByte('0')
		case int64:
			number('i', uint64(v))
		case float64:
			number('f', math.Float64bits(v))
		case bool:
			if v {
				b.WriteByte('y')
			} else {
				b.WriteByte('n')
			}
		case string:
			number('t', uint64(len(v)))
			b.WriteString(v)
		case []byte:
			number('b', uint64(len(v)))
			b.Write(v)
		}
	}
}
