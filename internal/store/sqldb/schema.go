package sqldb

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Table is a table as the migrations define it.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // columns of the primary key, in key order
}

// Column is a column of a table. Its values have the same Go type in all databases.
type Column struct {
	Name string
	Kind ColumnKind
	Null bool // may be NULL
}

// ColumnKind is the type of a column.
type ColumnKind int

// Column kinds with the Go type of their values. NULL is nil for every kind.
const (
	Integer ColumnKind = iota // int64
	Letters                   // string
	Bytes                     // []byte, never nil
	Truth                     // bool
	Real                      // float64
)

// Derived returns the tables whose rows are computed from other rows. They are rebuilt, never
// copied.
func Derived() []string { return []string{"item_word"} }

// Schema returns every table of the newest schema except derived ones, in the order of their
// creation. It parses the migrations, so that code for all tables covers new tables too. An unknown
// statement is an error.
func Schema() ([]Table, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var r schemaReader
	for _, name := range names {
		raw, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		if err := r.read(string(raw)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r.tables, nil
}

// Newest returns the schema version that this program works with.
func Newest() (int64, error) {
	steps, err := SQLite().steps() // the numbers are the same in both dialects
	if err != nil {
		return 0, err
	}
	return steps[len(steps)-1].Version, nil
}

// schemaReader applies the statements of migrations.
type schemaReader struct{ tables []Table }

func (r *schemaReader) read(text string) error {
	text = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "{SEARCH TABLE}", "") // derived tables
	for statement := range strings.SplitSeq(text, ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if err := r.statement(statement); err != nil {
			return fmt.Errorf("%.60q: %w", statement, err)
		}
	}
	return nil
}

func (r *schemaReader) statement(s string) error {
	first, rest, _ := strings.Cut(s, " ")
	switch {
	case s == "", first == "INSERT", first == "UPDATE", first == "DELETE":
		return nil
	case strings.HasPrefix(s, "CREATE INDEX "), strings.HasPrefix(s, "CREATE UNIQUE INDEX "), strings.HasPrefix(s, "DROP INDEX "):
		return nil
	case strings.HasPrefix(rest, "TABLE ") && first == "CREATE":
		return r.create(strings.TrimPrefix(rest, "TABLE "))
	case strings.HasPrefix(rest, "TABLE ") && first == "ALTER":
		name, change, _ := strings.Cut(strings.TrimPrefix(rest, "TABLE "), " ")
		column, ok := strings.CutPrefix(change, "ADD COLUMN ")
		i := slices.IndexFunc(r.tables, func(t Table) bool { return t.Name == name })
		if ok && i >= 0 {
			return r.tables[i].add(column)
		}
	}
	return fmt.Errorf("unknown statement")
}

func (r *schemaReader) create(s string) error {
	name, body, ok := strings.Cut(s, "(")
	end := strings.LastIndexByte(body, ')')
	if !ok || end < 0 {
		return fmt.Errorf("the table has no columns")
	}
	t := Table{Name: strings.TrimSpace(name)}
	for _, part := range splitTopLevel(body[:end]) {
		if err := t.add(part); err != nil {
			return err
		}
	}
	if len(t.Key) == 0 {
		return fmt.Errorf("the table has no primary key")
	}
	r.tables = append(r.tables, t)
	return nil
}

// add parses the definition of a column or a constraint and adds it to the table.
func (t *Table) add(part string) error {
	if key, ok := strings.CutPrefix(part, "PRIMARY KEY ("); ok {
		for name := range strings.SplitSeq(strings.TrimSuffix(key, ")"), ",") {
			t.Key = append(t.Key, strings.TrimSpace(name))
		}
		return nil
	}
	if strings.HasPrefix(part, "UNIQUE (") {
		return nil
	}
	name, rest, _ := strings.Cut(part, " ")
	word, _, _ := strings.Cut(rest, " ")
	kind, ok := map[string]ColumnKind{"{ID}": Integer, "BIGINT": Integer, "TEXT": Letters, "{BYTES}": Bytes, "BOOLEAN": Truth, "DOUBLE": Real}[word]
	if !ok {
		return fmt.Errorf("the column %s has the unknown type %q", name, word)
	}
	t.Columns = append(t.Columns, Column{name, kind, !strings.Contains(rest, "NOT NULL")})
	if strings.Contains(rest, "PRIMARY KEY") {
		t.Key = []string{name}
	}
	return nil
}

// splitTopLevel splits at commas outside of parentheses.
func splitTopLevel(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts = append(parts, strings.TrimSpace(s[from:i]))
			from = i + 1
		}
	}
	return append(parts, strings.TrimSpace(s[from:]))
}

// Names returns the names of the columns.
func (t Table) Names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// UserColumn returns the name of the column that contains the user to whom a row belongs, or "".
// The column account takes precedence, because a table with account may use reader for something
// else.
func (t Table) UserColumn() string {
	for _, name := range []string{"account", "owner", "reader"} {
		if slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == name && c.Kind == Letters }) {
			return name
		}
	}
	return ""
}

// kind returns the kind of a column.
func (t Table) kind(name string) ColumnKind {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Integer
	}
	return t.Columns[i].Kind
}

// selectAll returns a query for all rows in key order. The order is the same in both databases:
// texts are compared by bytes, whatever the collation of the column.
func (t Table) selectAll() string {
	order := make([]string, len(t.Key))
	for i, name := range t.Key {
		order[i] = name
		if t.kind(name) == Letters {
			order[i] += " {BYTEWISE}"
		}
	}
	return "SELECT " + strings.Join(t.Names(), ", ") + " FROM " + t.Name + " ORDER BY " + strings.Join(order, ", ")
}
