package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// statement is a statement as the server received it.
type statement struct {
	sql  string
	args []any
}

type transaction []statement

func (tx transaction) has(part string) bool {
	return slices.ContainsFunc(tx, func(st statement) bool { return strings.Contains(flat(st.sql), part) })
}

// recorder is a pgx.QueryTracer that records statements by transaction.
type recorder struct {
	mu   sync.Mutex
	on   bool
	open map[*pgx.Conn]transaction
	list []transaction
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.open, r.list = true, map[*pgx.Conn]transaction{}, nil
}

func (r *recorder) end() []transaction {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = false
	return r.list
}

func (r *recorder) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	word := strings.ToLower(strings.TrimSpace(data.SQL))
	open, inside := r.open[conn]
	switch {
	case !r.on || strings.Contains(word, "set_config") || strings.Contains(word, "pg_") || strings.HasPrefix(word, "listen"):
	case strings.HasPrefix(word, "begin"):
		r.open[conn] = transaction{}
	case word == "commit":
		r.list = append(r.list, open)
		delete(r.open, conn)
	case word == "rollback":
		delete(r.open, conn)
	case inside:
		r.open[conn] = append(open, statement{data.SQL, values(data.Args)})
	case word != "" && !strings.HasPrefix(word, "--"):
		r.list = append(r.list, transaction{{data.SQL, values(data.Args)}})
	}
	return ctx
}

// values returns args without the query options of the pgx driver.
func values(args []any) []any {
	return slices.DeleteFunc(slices.Clone(args), func(v any) bool {
		switch v.(type) {
		case pgx.QueryResultFormatsByOID, pgx.QueryResultFormats, pgx.QueryExecMode:
			return true
		}
		return false
	})
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// openTraced is like open with a tracer.
func openTraced(t *testing.T, url string, tracer pgx.QueryTracer) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var (
	tableRE  = regexp.MustCompile(`(?i)\b(?:(INTO)|FROM|JOIN|UPDATE)\s+([a-z_]+)\b(?:\s+AS\s+([a-z]+)\b)?`)
	unnestRE = regexp.MustCompile(`unnest\(([^)]*)\) AS r\(([^)]*)\)`)
	insertRE = regexp.MustCompile(`INSERT INTO [a-z_]+ \(([^)]*)\)\s*(?:SELECT (.*)|VALUES \((.*))$`)
)

// keys returns the values of the keys in a statement by the kind of key, and a problem for each table
// that the statement uses without a key.
func (st statement) keys() (values map[string][]any, problems map[string]string) {
	text := flat(st.sql)
	values, problems = map[string][]any{}, map[string]string{}
	for _, m := range tableRE.FindAllStringSubmatch(text, -1) {
		table, alias := m[2], m[3]
		key, known := keyOf[table]
		if !known {
			if !unpartitioned(table) && table != "unnest" && table != "OF" && table != "SET" {
				problems[table] = "the rule does not list the table " + table
			}
			continue
		}
		var expr string
		if m[1] != "" {
			expr = inserted(text, key)
		} else {
			expr = compared(text, alias, key, nil)
		}
		vals, ok := st.value(text, expr)
		if !ok {
			problems[table] = fmt.Sprintf("has no value for %s of %s", key, table)
			continue
		}
		kind := "topic"
		if key == "owner" {
			kind = "owner"
		} else if table == "event" && slices.Equal(vals, []any{int64(0)}) {
			continue // a log entry without a topic
		}
		values[kind] = append(values[kind], vals...)
	}
	return values, problems
}

// inserted returns the expression that an INSERT writes to a key column.
func inserted(text, key string) string {
	m := insertRE.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	cols := strings.Split(m[1], ",")
	for i, c := range cols {
		if exprs := split(m[2] + m[3]); strings.TrimSpace(c) == key && i < len(exprs) {
			return exprs[i]
		}
	}
	return ""
}

// split splits a list at commas outside of parentheses, up to the end of the list.
func split(text string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range text + "," {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return append(out, strings.TrimSpace(text[from:i]))
			}
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	for i := range out { // the last column of a SELECT is followed by its FROM
		out[i], _, _ = strings.Cut(out[i], " FROM ")
	}
	return out
}

// compared returns the expression that the key of a table is compared with: a placeholder, a column
// of the sent rows, or the key of a joined table.
func compared(text, alias, key string, seen []string) string {
	name := `\b` + key
	if alias != "" {
		name = `\b` + alias + `\.` + key
	}
	seen = append(seen, alias+"."+key)
	for _, m := range regexp.MustCompile(name+`\s*=\s*(?:ANY\(ARRAY\[)?(\$\d+|[a-z]+\.[a-z_]+)`).FindAllStringSubmatch(text, -1) {
		to, column, joined := strings.Cut(m[1], ".")
		if !joined || to == "r" {
			return m[1]
		}
		if !slices.Contains(seen, m[1]) {
			if expr := compared(text, to, column, seen); expr != "" {
				return expr
			}
		}
	}
	return ""
}

// value returns the values of a placeholder or of a column of the sent rows.
func (st statement) value(text, expr string) ([]any, bool) {
	if column, ok := strings.CutPrefix(expr, "r."); ok {
		m := unnestRE.FindStringSubmatch(text)
		if m == nil {
			return nil, false
		}
		i := slices.Index(strings.Split(strings.ReplaceAll(m[2], " ", ""), ","), column)
		if i < 0 {
			return nil, false
		}
		expr, _, _ = strings.Cut(strings.Split(strings.ReplaceAll(m[1], " ", ""), ",")[i], "::")
	} else if to, column, ok := strings.Cut(expr, "."); ok {
		return st.value(text, compared(text, to, column, nil))
	}
	n, err := strconv.Atoi(strings.TrimPrefix(expr, "$"))
	if err != nil || n < 1 || n > len(st.args) {
		return nil, false
	}
	v := reflect.ValueOf(st.args[n-1])
	if v.Kind() != reflect.Slice {
		return []any{st.args[n-1]}, true
	}
	all := make([]any, v.Len())
	for i := range all {
		all[i] = v.Index(i).Interface()
	}
	return all, true
}

// distinct returns the statements of all transactions in list. The key is the SQL text.
func distinct(list []transaction) map[string]statement {
	all := map[string]statement{}
	for _, tx := range list {
		for _, st := range tx {
			all[st.sql] = st
		}
	}
	return all
}

// plansOf returns the statements of a list whose generic plan scans a whole table or index.
func plansOf(t *testing.T, s *Store, list []transaction) []string {
	t.Helper()
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `SET plan_cache_mode = force_generic_plan`); err != nil {
		t.Fatal(err)
	}
	keys := indexKeys(t.Context(), t, conn)
	found := map[string]bool{}
	for text, st := range distinct(list) {
		if e, _ := exceptionOf(text, exceptions); e.all {
			continue
		}
		plan, _, err := planOf(t.Context(), conn, text, st.args)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range plan.scans(keys) {
			found[fmt.Sprintf("%s scans all of %s: %s", n.Type, n.Table, flat(text))] = true
		}
	}
	if _, err := conn.ExecContext(t.Context(), `RESET plan_cache_mode`); err != nil {
		t.Fatal(err)
	}
	return sorted(found)
}

// withoutStatistics keeps the server from counting rows during a test. If the planner knows that a
// table is small, it reads the whole table, whatever its indexes.
func withoutStatistics(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), `DO $$ DECLARE name text; BEGIN
		FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace LOOP
			EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = false)', name);
		END LOOP; END $$`); err != nil {
		t.Fatal(err)
	}
}

// planOf returns the plan of a statement, and its JSON.
func planOf(ctx context.Context, conn *sql.Conn, text string, args []any) (scanNode, string, error) {
	var raw []byte
	if err := conn.QueryRowContext(ctx, `EXPLAIN (FORMAT JSON) `+text, args...).Scan(&raw); err != nil {
		return scanNode{}, "", fmt.Errorf("%w: %s", err, flat(text))
	}
	var plans []struct{ Plan scanNode }
	if err := json.Unmarshal(raw, &plans); err != nil {
		return scanNode{}, "", err
	}
	return plans[0].Plan, string(raw), nil
}

// indexKeys returns the key columns of each index.
func indexKeys(ctx context.Context, t *testing.T, conn *sql.Conn) map[string][]string {
	t.Helper()
	rows, err := conn.QueryContext(ctx, `SELECT c.relname, a.attname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
		CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
		JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
		WHERE c.relnamespace = current_schema()::regnamespace ORDER BY k.place`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	keys := map[string][]string{}
	for rows.Next() {
		var index, column string
		if err := rows.Scan(&index, &column); err != nil {
			t.Fatal(err)
		}
		keys[index] = append(keys[index], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// scanNode is a plan node.
type scanNode struct {
	Type     string     `json:"Node Type"`
	Parent   string     `json:"Parent Relationship"`
	Table    string     `json:"Relation Name"`
	Function string     `json:"Function Name"`
	Index    string     `json:"Index Name"`
	Cond     string     `json:"Index Cond"`
	Filter   string     `json:"Filter"`
	Plans    []scanNode `json:"Plans"`
}

// scans returns the nodes that scan an index without a condition on its first column. It skips
// nodes below a LIMIT, which end soon.
func (n scanNode) scans(keys map[string][]string) (all []scanNode) {
	if n.Type == "Limit" {
		return nil
	}
	if n.Table != "" && strings.HasSuffix(n.Type, "Scan") && (len(keys[n.Index]) == 0 || !strings.Contains(n.Cond, keys[n.Index][0])) {
		all = append(all, n)
	}
	for _, p := range n.Plans {
		all = append(all, p.scans(keys)...)
	}
	return all
}
