package store_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"cloudburst/internal/fault"
	"cloudburst/internal/hub"
	"cloudburst/internal/store"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/storetest"
)

var moment = time.UnixMilli(1_790_000_000_123).UTC()

// edgeValues are values that the databases treat differently.
var edgeValues = map[sqldb.ColumnKind][]any{
	sqldb.Integer: {int64(0), int64(-1), int64(math.MaxInt64), int64(math.MinInt64)},
	sqldb.Letters: {"", " ", "a", "A", "_", "Ä", "z", "ß", "日本", "a b", "a\tb\nc", `"'\`, "\u0001", "😀", "\uFFFD", "\uffff"},
	sqldb.Bytes:   {[]byte{}, []byte{0}, []byte{0xff, 0, 1}, []byte("text")},
	sqldb.Truth:   {true, false},
	sqldb.Real:    {0.0, -1.5, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3},
}

// randomRows returns n rows of any table, with distinct keys and distinct unique values.
func randomRows(r *rand.Rand, t sqldb.Table, n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		for _, c := range t.Columns {
			rows[i] = append(rows[i], randomValue(r, t, c, i))
		}
	}
	return rows
}

func randomValue(r *rand.Rand, t sqldb.Table, c sqldb.Column, i int) any {
	trap := edgeValues[c.Kind][r.IntN(len(edgeValues[c.Kind]))]
	switch {
	case t.Name == "item_content" && c.Name == "content":
		return fmt.Sprintf(`{"text":"word%d"}`, i) // read when the search index is rebuilt
	case t.Name == "item" && c.Name != "title" && c.Kind != sqldb.Truth || slices.Contains(t.Key, c.Name):
	case c.Null && r.IntN(3) == 0:
		return nil
	case c.Kind != sqldb.Letters && r.IntN(2) == 0:
		return trap
	}
	switch c.Kind { // a distinct value
	case sqldb.Integer:
		return r.Int64() - math.MaxInt64/2
	case sqldb.Letters:
		return fmt.Sprint(trap, i, trap)
	case sqldb.Bytes:
		return fmt.Append(nil, trap, i)
	}
	return trap
}

// fullFolder returns a data folder with rows in every table.
func fullFolder(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	w, err := sqlite.CreateIn(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	for _, table := range schema(t) {
		if err := w.Exec(t.Context(), "DELETE FROM "+table.Name); err != nil {
			t.Fatal(err)
		}
		if err := w.Insert(t.Context(), table, randomRows(r, table, rows)); err != nil {
			t.Fatalf("%s: %v", table.Name, err)
		}
	}
	if _, err := w.Place(t.Context(), moment); err != nil {
		t.Fatal(err)
	}
	return dir
}

func schema(t *testing.T) []sqldb.Table {
	t.Helper()
	tables, err := sqldb.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func move(t *testing.T, from, to string) *store.Result {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		r, err := store.Move(t.Context(), store.MoveOptions{From: from, To: to, Now: moment})
		if err == nil {
			return r
		}
		// A busy database server may need some time to notice that a process was killed.
		if !strings.Contains(err.Error(), "A cloudburst process uses") || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// allRows reads all rows as text, without the code of a move.
func allRows(t *testing.T, dir string) map[string][]string {
	t.Helper()
	w, err := sqlite.OpenWhole(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	all := map[string][]string{}
	for _, table := range schema(t) {
		columns := make([]string, len(table.Columns))
		for i, c := range table.Columns {
			columns[i] = "quote(" + c.Name + ") || typeof(" + c.Name + ")"
		}
		rows, err := w.Rows.QueryContext(t.Context(), "SELECT "+strings.Join(columns, " || ', ' || ")+" FROM "+table.Name)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			all[table.Name] = append(all[table.Name], row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all[table.Name])
	}
	return all
}

func TestMoveOfDatabaseToPostgreSQLAndBackKeepsAllRows(t *testing.T) {
	t.Parallel()
	const rows = 120
	dir, url, back := fullFolder(t, rows), storetest.Postgres(t), filepath.Join(t.TempDir(), "back")
	there := move(t, dir, url)
	var names []string
	for _, m := range there.Tables {
		names = append(names, m.Table)
		if m.Rows != rows || m.Repaired != 0 {
			t.Errorf("%s: %d rows, %d repaired", m.Table, m.Rows, m.Repaired)
		}
	}
	var want []string
	for _, table := range schema(t) {
		want = append(want, table.Name)
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("tables that were moved (- want, + got):\n%s", d)
	}
	move(t, url, back)
	before, after := allRows(t, dir), allRows(t, back)
	// Items that were indexed in between are no longer listed here.
	delete(before, "item_unindexed")
	delete(after, "item_unindexed")
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("rows after the move back (- want, + got):\n%s", d)
	}
}

func TestMoveRepairsAndCountsInvalidTexts(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), storetest.Postgres(t)
	w, err := sqlite.CreateIn(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Exec(t.Context(), `INSERT INTO task (name, due_at) VALUES ('a' || char(0) || 'b', 1), (CAST(x'ff' AS TEXT), 2)`); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Place(t.Context(), moment); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, m := range move(t, dir, url).Tables {
		if m.Table == "task" && m.Repaired != 2 {
			t.Errorf("%+v", m)
		}
	}
}

func TestMovedStoreCanBeReadAndWritten(t *testing.T) {
	t.Parallel()
	dir, url, back := t.TempDir(), storetest.Postgres(t), t.TempDir()
	w, err := sqlite.CreateIn(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range hubtest.FirstRows() {
		if err := w.Exec(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Place(t.Context(), moment); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	move(t, dir, url)
	move(t, url, back)
	for _, o := range []store.Options{{DatabaseURL: url}, {Dir: back}, {Dir: dir}} {
		s, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		hubtest.Migrated(t, hub.Store(s))
		authortest.FirstPost(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// killedMove runs a process that moves a store and is killed.
func killedMove(t *testing.T, stage, from, to string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], from, to)
	c.Env = append(os.Environ(), crashStage+"="+stage)
	var output bytes.Buffer
	c.Stderr = &output
	if err := c.Run(); err == nil || c.ProcessState.ExitCode() != -1 {
		t.Fatalf("the process was not killed: %v\n%s", err, output.String())
	}
}

// openReleased opens a store. A database server may need a moment to notice that the owner of the
// lock was killed.
func openReleased(t *testing.T, o store.Options) (store.Store, error) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		s, err := store.Open(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), "is being moved") || time.Now().After(end) {
			return s, err
		}
	}
}

func TestStoreOfAnInterruptedMoveCannotBeOpened(t *testing.T) {
	t.Parallel()
	full := fullFolder(t, 1100)
	url := storetest.Postgres(t)
	for _, to := range []string{url, filepath.Join(t.TempDir(), "data")} {
		options := store.Options{Dir: to}
		if store.IsDatabaseURL(to) {
			options = store.Options{DatabaseURL: to}
		}
		for _, stage := range []string{"copy", "check"} {
			killedMove(t, stage, full, to)
			for range 2 { // the second attempt fails too
				s, err := openReleased(t, options)
				if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "interrupted") {
					t.Fatalf("%s, killed at %s: opened: %v, %v", to, stage, s != nil, err)
				}
			}
			if _, err := store.Move(t.Context(), store.MoveOptions{From: to, To: t.TempDir(), Now: moment}); err == nil {
				t.Errorf("%s: an incomplete store was moved", to)
			}
		}
		move(t, full, to) // without --replace: the destination had no database
		killedMove(t, "search", full, to)
		s, err := openReleased(t, options)
		if err != nil {
			t.Fatalf("killed after the copy was complete: %v", err)
		}
		if n, err := s.IndexItems(t.Context(), 10_000); err != nil || n == 0 {
			t.Errorf("%d items are not indexed, %v", n, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStoreOfARunningServerCannotBeMoved(t *testing.T) {
	t.Parallel()
	dir, url := t.TempDir(), storetest.Postgres(t)
	for _, o := range []store.Options{{Dir: dir}, {DatabaseURL: url}} {
		place := o.Dir + o.DatabaseURL
		s, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []store.MoveOptions{{From: place, To: filepath.Join(t.TempDir(), "x")}, {From: fullFolder(t, 1), To: place, Replace: true}} {
			m.Now = moment
			if _, err := store.Move(t.Context(), m); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "cloudburst process uses") {
				t.Errorf("%s: %v", place, err)
			}
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("%s was damaged: %v", place, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMoveRejectsURLsOfOtherDatabasesWithoutShowingThePassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, url := range []string{"postgress://u:secret@h/db", "mysql://u:secret@h/db", "POSTGRES://u:secret@h/db"} {
		for _, o := range []store.MoveOptions{{From: fullFolder(t, 1), To: url}, {From: url, To: filepath.Join(dir, "to")}} {
			o.Now = moment
			if _, err := store.Move(t.Context(), o); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), "is not the scheme of a database") || strings.Contains(err.Error(), "secret") {
				t.Errorf("from %s to %s: %v", o.From, o.To, err)
			}
		}
	}
}

func TestStoreCannotBeOpenedDuringMove(t *testing.T) {
	t.Parallel()
	dir, url := fullFolder(t, 5), storetest.Postgres(t)
	asked := 0
	_, err := store.Move(t.Context(), store.MoveOptions{From: dir, To: url, Now: moment, OnProgress: func(p store.Progress) {
		if p.Stage == "search" || asked > 3 {
			return
		}
		asked++
		for _, o := range []store.Options{{Dir: dir}, {DatabaseURL: url}} {
			want := fault.Conflict
			if o.DatabaseURL != "" {
				want = fault.Unavailable // a server waits for the end of the move
			}
			if _, err := store.Open(t.Context(), o); fault.CodeOf(err) != want {
				t.Errorf("%v was opened during the move: %v, want %s", o, err, want)
			}
		}
	}})
	if err != nil || asked == 0 {
		t.Error(asked, err)
	}
}

func TestMoveReplacesDatabaseOnlyOnRequest(t *testing.T) {
	t.Parallel()
	full, url, dir := fullFolder(t, 3), storetest.Postgres(t), fullFolder(t, 2)
	move(t, full, url)
	for _, to := range []string{url, dir} {
		o := store.MoveOptions{From: full, To: to, Now: moment}
		if _, err := store.Move(t.Context(), o); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "--replace") {
			t.Errorf("%s: %v", to, err)
		}
		o.Replace = true
		r, err := store.Move(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if to == dir {
			old := t.TempDir()
			if err := os.Rename(r.Aside, filepath.Join(old, sqlite.File)); err != nil {
				t.Fatal(err)
			}
			if n := len(allRows(t, old)["topic"]); n != 2 {
				t.Errorf("the old database has %d topics", n)
			}
			if n := len(allRows(t, dir)["topic"]); n != 3 {
				t.Errorf("the new database has %d topics", n)
			}
		}
	}
}

func TestTablesOfOtherProgramsAreNeverRemoved(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	storetest.Execute(t, url, "CREATE TABLE post (mine TEXT); INSERT INTO post VALUES ('kept')")
	o := store.MoveOptions{From: fullFolder(t, 1), To: url, Replace: true, Now: moment}
	if _, err := store.Move(t.Context(), o); fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "another program") {
		t.Error(err)
	}
	storetest.Execute(t, url, "UPDATE post SET mine = 'still' WHERE mine = 'kept'")
}

func TestMoveOfDatabaseRequiresNewestSchema(t *testing.T) {
	t.Parallel()
	dir := fullFolder(t, 1)
	url := storetest.Postgres(t)
	move(t, dir, url)
	storetest.Execute(t, url, "DELETE FROM goose_db_version WHERE version_id > 3")
	_, err := store.Move(t.Context(), store.MoveOptions{From: url, To: t.TempDir(), Now: moment})
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "has schema 3") {
		t.Error(err)
	}
}

func TestMoveCopiesTheServerKey(t *testing.T) {
	t.Parallel()
	from, to := fullFolder(t, 1), filepath.Join(t.TempDir(), "to")
	write(t, filepath.Join(from, store.KeyFile), "the key\n")
	if r := move(t, from, to); r.Key != filepath.Join(to, store.KeyFile) || read(t, r.Key) != "the key\n" {
		t.Errorf("%+v", r)
	}
	other := t.TempDir()
	write(t, filepath.Join(other, store.KeyFile), "another\n")
	_, err := store.Move(t.Context(), store.MoveOptions{From: from, To: other, Now: moment})
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "differs from") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(other, sqlite.File)); err == nil {
		t.Error("the database was moved")
	}
}

func TestMovedSnapshotExcludesConcurrentWrites(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	s, err := store.Open(t.Context(), store.Options{DatabaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := postgres.Snapshot(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
