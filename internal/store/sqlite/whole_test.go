package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/sqldb"
)

// TestSchemaMatchesDatabase checks that code for all tables covers every table, column and key.
func TestSchemaMatchesDatabase(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	file := filepath.Join(t.TempDir(), "x.db")
	w, err := Create(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want, err := sqldb.Schema()
	if err != nil {
		t.Fatal(err)
	}
	// Omit the tables in which SQLite stores the rows of the virtual table.
	names := texts(t, w, `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'item_word' AND name NOT LIKE 'item\_word\_%' ESCAPE '\'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version' ORDER BY rowid`)
	var have []sqldb.Table
	for _, name := range names {
		have = append(have, sqldb.Table{Name: name,
			Key: texts(t, w, `SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk`, name)})
		for _, column := range texts(t, w, `SELECT name FROM pragma_table_info($1) ORDER BY cid`, name) {
			kind := texts(t, w, `SELECT type || "notnull" FROM pragma_table_info($1) WHERE name = $2`, name, column)[0]
			kinds := map[string]sqldb.ColumnKind{"INTEGER": sqldb.Integer, "BIGINT": sqldb.Integer, "TEXT": sqldb.Letters,
				"BLOB": sqldb.Bytes, "BOOLEAN": sqldb.Truth, "DOUBLE PRECISION": sqldb.Real}
			last := &have[len(have)-1]
			last.Columns = append(last.Columns, sqldb.Column{Name: column, Kind: kinds[kind[:len(kind)-1]], Null: kind[len(kind)-1] == '0'})
		}
	}
	byName := func(a, b sqldb.Table) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(have, byName)
	if d := cmp.Diff(have, want); d != "" {
		t.Errorf("schema from the migrations (- database, + migrations):\n%s", d)
	}
}

func texts(t *testing.T, w *Whole, text string, args ...any) (all []string) {
	t.Helper()
	rows, err := w.Rows.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
