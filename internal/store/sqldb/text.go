package sqldb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Dialect contains the words in which the databases differ. A statement contains {NAME} in the
// place of such a word.
//
// A bulk statement begins with a header of column names and types (i for BIGINT, t for text, b for
// bytes, o for boolean):
//
//	rows(topic_id i, id i) DELETE FROM subscription AS s {USING ROWS} WHERE s.id = :id …
//
// With Arrays it becomes one statement over unnest, otherwise a statement that runs once per row.
type Dialect struct {
	Tokens map[string]string
	Arrays bool
	// Distributed makes bulk statements on distributed tables run once per row, because Citus sends
	// a statement to a single worker only if it contains the value of the distribution column.
	Distributed bool

	cache sync.Map // statement → Text
}

// O IS PRIVATE is the condition that the URL of o gives access to a private feed: event.IsPrivate.
var (
	privateSQLite = `(o.url GLOB '*/private/*' AND (o.url GLOB '*/private/topic/*' OR o.url GLOB '*/` +
		strings.Repeat("[a-z0-9]", 12) + "." + strings.Repeat("[A-Za-z0-9_-]", 32) + `/*'))`
	privatePostgres = `(o.url LIKE '%/private/%' AND o.url ~ '/private/topic/|/[a-z0-9]{12}[.][A-Za-z0-9_-]{32}/')`
)

// SQLite returns the dialect of SQLite: one process, so no row locks.
func SQLite() *Dialect {
	return &Dialect{Tokens: map[string]string{
		"ID": "INTEGER", "BYTES": "BLOB", "BYTEWISE": "", "WITHOUT ROWID": "WITHOUT ROWID",
		"LOCK": "", "SHARE": "", "CLAIM": "", "TAKE": "", "TAKE S": "", "TAKE T": "", "HOLD S": "", "KEEP S": "", "HOLD S F": "", "LIKE": "LIKE", "O IS PRIVATE": privateSQLite,
		"SEARCH TABLE": fts5Table, "DOC": "rowid", "ALL": "IN (SELECT value FROM json_each(", "END ALL": "))",
		"TEXT OF ABOUT": "CAST(about AS TEXT)", "TITLE OF ABOUT": "COALESCE(json_extract(CAST(about AS TEXT), '$.title'), '')",
		"ICON OF SOURCE": "COALESCE(json_extract(d.about, '$.icon'), '')", "HOME OF SOURCE": "COALESCE(json_extract(d.about, '$.home'), '')",
	}}
}

// Postgres returns the dialect of PostgreSQL.
func Postgres() *Dialect {
	return &Dialect{Arrays: true, Tokens: map[string]string{
		"ID": "BIGINT", "BYTES": "BYTEA", "BYTEWISE": `COLLATE "C"`, "WITHOUT ROWID": "",
		"LOCK":     "FOR NO KEY UPDATE",             // to change a row
		"SHARE":    "FOR KEY SHARE",                 // to keep a row from being deleted
		"CLAIM":    "FOR NO KEY UPDATE SKIP LOCKED", // to change rows that no other transaction has locked
		"TAKE":     "FOR UPDATE SKIP LOCKED",        // to delete rows that no other transaction has locked
		"HOLD S":   "FOR UPDATE OF s",
		"KEEP S":   "FOR SHARE OF s",                        // to keep s unchanged
		"HOLD S F": "FOR SHARE OF s FOR NO KEY UPDATE OF f", // to change f while s stays unchanged
		"TAKE S":   "FOR UPDATE OF s SKIP LOCKED",
		"TAKE T":   "FOR UPDATE OF t SKIP LOCKED",
		"LIKE":     `COLLATE "C" ILIKE`, // folds ASCII only, as SQLite does

		"O IS PRIVATE": privatePostgres,

		"SEARCH TABLE": tsvectorTable, "DOC": "place",
		// Usage: x {ALL} $1 {END ALL}. It is true if x is in the JSON list of numbers $1.
		"ALL": "= ANY(ARRAY(SELECT CAST(v AS BIGINT) FROM json_array_elements_text(CAST(", "END ALL": " AS json)) AS v))",

		"TEXT OF ABOUT": "convert_from(about, 'UTF8')", "TITLE OF ABOUT": "COALESCE(CAST(convert_from(about, 'UTF8') AS json)->>'title', '')",
		"ICON OF SOURCE": "COALESCE(CAST(d.about AS json)->>'icon', '')", "HOME OF SOURCE": "COALESCE(CAST(d.about AS json)->>'home', '')",
	}}
}

// Citus returns the dialect of PostgreSQL with distributed tables.
func Citus() *Dialect {
	d := Postgres()
	d.Distributed = true
	return d
}

// Text is a statement in the SQL of one database.
type Text struct {
	SQL   string
	Types string // column types of a bulk statement, one letter each
	Each  bool   // the bulk statement runs once per row
	Many  string // SQL over arrays for many rows of a statement that runs once per row; "": none
}

// Text translates a statement and caches the result.
func (d *Dialect) Text(text string) (Text, error) {
	if t, ok := d.cache.Load(text); ok {
		return t.(Text), nil
	}
	t, err := d.translate(text)
	if err == nil {
		d.cache.Store(text, t)
	}
	return t, err
}

func (d *Dialect) translate(text string) (Text, error) {
	if !d.Distributed || !isDistributed(text) {
		return d.render(text, d.Arrays)
	}
	t, err := d.render(text, false)
	if err == nil && strings.HasPrefix(t.SQL, "INSERT") && t.Each {
		// With arrays, Citus sorts the rows by worker, which is slower than a few separate
		// statements.
		many, bad := d.render(text, true)
		t.Many, err = many.SQL, bad
	}
	return t, err
}

// render translates a statement. arrays is whether a bulk statement uses unnest.
func (d *Dialect) render(text string, arrays bool) (Text, error) {
	var cols, types []string
	if head, rest, ok := strings.Cut(text, ")"); ok && strings.HasPrefix(head, "rows(") {
		for col := range strings.SplitSeq(strings.TrimPrefix(head, "rows("), ",") {
			name, typ, _ := strings.Cut(strings.TrimSpace(col), " ")
			cols, types = append(cols, name), append(types, typ)
		}
		text = strings.TrimSpace(rest)
	}
	if arrays {
		text = rowsFirst(text)
	}
	for i, name := range cols {
		to := Placeholder(i + 1)
		switch {
		case arrays:
			to = "r." + name
		case d.Arrays:
			to = "CAST(" + to + " AS " + sqlTypes[types[i]] + ")" // the position of a placeholder does not always determine its type
		}
		text = regexp.MustCompile(`:`+name+`\b`).ReplaceAllLiteralString(text, to)
	}
	source := ""
	if arrays && cols != nil {
		source = d.unnest(cols, types)
	}
	if cols != nil && !arrays {
		// For a single row use VALUES: for INSERT … SELECT, SQLite creates a journal, and Citus an
		// intermediate result.
		text = regexp.MustCompile(`(?s)SELECT ([^{]*)\{FROM ROWS\} WHERE true`).ReplaceAllString(text, "VALUES ($1)")
	}
	var bad error
	token := func(s string) string {
		name := s[1 : len(s)-1]
		if before, ok := strings.CutSuffix(name, " ROWS"); ok {
			if source == "" {
				return ""
			}
			each := ""
			if before == "EACH" { // a subquery follows, which runs for each row
				each = " CROSS JOIN LATERAL"
			}
			return map[string]string{"FROM": "FROM ", "USING": "USING ", "AND": ", ", "EACH": ""}[before] + source + each
		}
		word, ok := d.Tokens[name]
		if !ok {
			bad = fmt.Errorf("sqldb: no token %s in this dialect", s)
		}
		return word
	}
	text = regexp.MustCompile(`\{[A-Z ]+\}`).ReplaceAllStringFunc(text, token)
	return Text{SQL: text, Types: strings.Join(types, ""), Each: cols != nil && d.Arrays && !arrays}, bad
}

// rowsFirst makes PostgreSQL look up each row of a bulk statement in the table. If the planner
// believes that the table is almost empty, it would otherwise read the whole table, and compare each
// row of the table with each row of the statement. A table looks empty until the server counts its
// rows again, which can be a minute after they were written. To read the whole table, the planner
// would use an index in the order of the compared columns (sequential scans are off); a comparison
// with an array has no order. Before version 17 of PostgreSQL, the planner may use arrays only for the
// first column of an index; it then uses the range for the others. The range alone is not enough,
// because the planner cannot estimate its size.
func rowsFirst(text string) string {
	at := joinedRows.FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[1]] + comparedWithRow.ReplaceAllString(text[at[1]:], "$1 BETWEEN $2 AND $2 AND $1 = ANY(ARRAY[$2])")
}

var (
	joinedRows      = regexp.MustCompile(`\{(FROM|USING|AND) ROWS\}`)
	comparedWithRow = regexp.MustCompile(`(\+?\b\w+\.\w+) = (:\w+)\b`) // a + before a column keeps it from being looked up in an index
)

func (d *Dialect) unnest(cols, types []string) string {
	arrays := make([]string, len(cols))
	for i, t := range types {
		arrays[i] = Placeholder(i+1) + "::" + sqlTypes[t] + "[]"
	}
	return "unnest(" + strings.Join(arrays, ", ") + ") AS r(" + strings.Join(cols, ", ") + ")"
}

// sqlTypes are the PostgreSQL types of the columns of bulk rows.
var sqlTypes = map[string]string{"i": "bigint", "t": "text", "b": "bytea", "o": "boolean"}

func Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Placeholders returns the placeholders of n arguments, of which the first has the number first, for
// an IN list.
func Placeholders(first, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = Placeholder(first + i)
	}
	return strings.Join(marks, ", ")
}
