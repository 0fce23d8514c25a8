package postgres

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkRowOrder checks that bulk statements look up each of their rows in the tables, also while
// the planner believes that the tables are empty. Otherwise their time grows with the number of
// rows of the statement times the number of rows of the table.
func checkRowOrder(t *testing.T, s *Store, bulk map[string][]any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // cleanups run after the end of the context
	conn, err := s.db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `UPDATE pg_class SET reltuples = 0, relpages = 1
		WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace`); err != nil {
		t.Fatal(err)
	}
	keys := indexKeys(ctx, t, conn)
	for text, args := range bulk {
		plan, raw, err := planOf(ctx, conn, text, longer(args, 1000))
		if err != nil {
			t.Error(err)
			continue
		}
		if plan.readsRowsAgain() {
			t.Errorf("reads the rows of the statement for each row of a table: %s\n%s", flat(text), raw)
		}
		if column := plan.unusedKey(keys); column != "" {
			t.Errorf("reads more of an index than the column %s of the rows allows: %s\n%s", column, flat(text), raw)
		}
	}
}

// longer returns a copy of arguments in which the elements of each array are repeated, to at least n.
func longer(args []any, n int) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() != reflect.Uint8 {
			all := reflect.MakeSlice(v.Type(), 0, n)
			for all.Len() < n {
				all = reflect.AppendSlice(all, v)
			}
			args[i] = all.Interface()
		}
	}
	return args
}

// readsRowsAgain reports whether a join reads the rows of a bulk statement in its inner loop.
func (n scanNode) readsRowsAgain() bool {
	if n.Parent == "Inner" && n.Type == "Function Scan" && n.Function == "unnest" {
		return true
	}
	for _, p := range n.Plans {
		if p.readsRowsAgain() {
			return true
		}
	}
	return false
}

// unusedKey returns a key column of an index that the plan compares with the rows of a bulk
// statement only after it has read the entries of the index, or "" if there is none.
func (n scanNode) unusedKey(keys map[string][]string) string {
	for _, m := range comparedWithRow.FindAllStringSubmatch(n.Filter, -1) {
		if column := m[1]; slices.Contains(keys[n.Index], column) && !strings.Contains(n.Cond, "("+column+" ") {
			return column
		}
	}
	for _, p := range n.Plans {
		if column := p.unusedKey(keys); column != "" {
			return column
		}
	}
	return ""
}

var comparedWithRow = regexp.MustCompile(`\((\w+) = (?:ANY \(ARRAY\[)?r\.`)
