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

// Whole is a database as tables full of rows, which nobody serves meanwhile, or which is
// seen as of one moment: what [Move] goes between. The package of a database makes it.
type Whole struct {
	Dialect *Dialect
	// Rows reads.
	Rows interface {
		QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	}
	// Exec changes; nil: this one is only read.
	Exec func(ctx context.Context, text string) error
	// Insert adds rows to a table in one transaction, values in the order of its columns.
	Insert func(ctx context.Context, t Table, rows [][]any) error
	// Plain means that its texts have neither NUL nor broken UTF-8.
	Plain bool
}

// Progress is how far a move has come.
type Progress struct {
	Stage       string // copy, check, search
	Table       string // "" for search
	Done, Total int64  // rows of the stage
}

// Moved is what became of one table.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Hash  string `json:"hash"` // SHA-256 of all rows in the order of their key, the same on both sides
	// Mended is how many texts had bytes that the other database cannot hold, NUL or
	// broken UTF-8, which are U+FFFD there.
	Repaired int64 `json:"mended,omitempty"`
}

// Rows and bytes that are written at once.
const (
	moveRows  = 1000
	moveBytes = 4 << 20
)

// Move copies every table to a database of the newest schema, whose rows it removes
// first, and then reads both for a check: the same number of rows, and the same hash of
// them. A difference is fault.Internal. What is searched by is left to be made anew: all
// items wait for that afterwards. It holds some megabytes, whatever there is to move.
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
			return nil, fmt.Errorf("copying the table %s: %w", t.Name, err)
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

// forgetWords leaves every item to be made searchable.
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

// each reads all rows of a table in the order of its key. A row belongs to the caller.
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
				return fmt.Errorf("the column %s.%s: %w", t.Name, c.Name, err)
			}
		}
		if err := row(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// value gives what a driver read the type of the column: SQLite has no truth values, and
// lets a column hold what it likes.
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
			return append([]byte{}, have...), nil // an empty one is no NULL
		}
	}
	return nil, fmt.Errorf("a %T is no value for it", v)
}

// mover is one move.
type mover struct {
	from, to    *Whole
	report      func(Progress)
	done, total int64
}

func (m *mover) copy(ctx context.Context, t Table) (Moved, error) {
	moved := Moved{Table: t.Name}
	if err := m.to.Exec(ctx, "DELETE FROM "+t.Name); err != nil { // what the migrations put there
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

// mend makes texts plain.
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

// check reads what was written.
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
		return fmt.Errorf("checking the table %s: %w", t.Name, err)
	}
	m.report(Progress{Stage: "check", Table: t.Name, Done: m.done, Total: m.total})
	if have := hexSum(sum); rows != want.Rows || have != want.Hash {
		return fault.New(fault.Internal, "The table %s did not arrive as it was: %d rows with the hash %.12s were read, and %d with %.12s are there now.",
			t.Name, want.Rows, want.Hash, rows, have)
	}
	return nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// writeRow writes a row so that two rows have the same bytes only when they are the same.
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
