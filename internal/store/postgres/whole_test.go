package postgres

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"cloudburst/internal/fulltest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

// TestSchemaMatchesDatabase checks that code for all tables covers every table, column and key.
func TestSchemaMatchesDatabase(t *testing.T) {
	t.Parallel()
	fulltest.SkipUnderRace(t)
	s := open(t, storetest.Postgres(t))
	want, err := sqldb.Schema()
	if err != nil {
		t.Fatal(err)
	}
	texts := func(text string, args ...any) (all []string) {
		rows, err := s.db.QueryContext(t.Context(), text, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var v string
			if err := rows.Scan(&v); err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return all
	}
	kinds := map[string]sqldb.ColumnKind{"bigint": sqldb.Integer, "text": sqldb.Letters, "bytea": sqldb.Bytes,
		"boolean": sqldb.Truth, "double precision": sqldb.Real}
	var have []sqldb.Table
	for _, name := range texts(`SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('goose_db_version', 'item_word')`) {
		t := sqldb.Table{Name: name, Key: texts(`SELECT a.attname FROM pg_index AS i, unnest(i.indkey) WITH ORDINALITY AS k (num, place)
			JOIN pg_attribute AS a ON a.attnum = k.num WHERE i.indrelid = $1::regclass AND a.attrelid = $1::regclass AND i.indisprimary ORDER BY k.place`, name)}
		for _, column := range texts(`SELECT column_name || '|' || data_type || '|' || is_nullable FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`, name) {
			parts := strings.Split(column, "|")
			t.Columns = append(t.Columns, sqldb.Column{Name: parts[0], Kind: kinds[parts[1]], Null: parts[2] == "YES"})
		}
		have = append(have, t)
	}
	byName := func(a, b sqldb.Table) int { return strings.Compare(a.Name, b.Name) }
	slices.SortFunc(want, byName)
	slices.SortFunc(have, byName)
	if d := cmp.Diff(have, want); d != "" {
		t.Errorf("schema from the migrations (- database, + migrations):\n%s", d)
	}
}

// A busy PostgreSQL may report the lock of a server that has just stopped.
func TestMoveWaitsForLockOfStoppedServer(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	holder, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_lock_shared($1::bigint)`, useLock); err != nil {
		t.Fatal(err)
	}
	filled := make(chan error, 1)
	go func() {
		w, err := Fill(t.Context(), url, false, false)
		if err == nil {
			err = w.Close()
		}
		filled <- err
	}()
	for tries := 0; tries == 0; { // the first attempt to lock the database has failed
		err := holder.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
			AND pid <> pg_backend_pid() AND state = 'idle' AND query LIKE '%pg_try_advisory_lock(%'`).Scan(&tries)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := holder.Exec(t.Context(), `SELECT pg_advisory_unlock_shared($1::bigint)`, useLock); err != nil {
		t.Fatal(err)
	}
	if err := <-filled; err != nil {
		t.Error(err)
	}
}
