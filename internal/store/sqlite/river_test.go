package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

// The plan has one step for each table: no step of items, and no scan.
func TestUnreadCountsAreReadWithoutReadingItems(t *testing.T) {
	t.Parallel()
	s := open(t, Options{Dir: t.TempDir()})
	for name, text := range map[string]string{"counts": riversql.UnreadText, "rail": riversql.RailText, "total": riversql.RailTotalText} {
		rows, err := s.rdb.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, "ann")
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			of, found := strings.CutPrefix(step, "SEARCH ")
			if of, _, _ = strings.Cut(of, " "); !found || of != "f" && of != "s" {
				t.Errorf("%s: step %q; want searches of river_subscription and source", name, step)
			}
			steps++
		}
		if err := rows.Err(); err != nil || steps < 2 {
			t.Errorf("%s: %d steps, %v", name, steps, err)
		}
		rows.Close()
	}
}

func TestMigrationComputesUnreadCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, rivertest.BeforeUnread), rivertest.UnreadRows()); err != nil {
		t.Fatal(err)
	}
	rivertest.UnreadMigrated(t, open(t, Options{Dir: dir}))
}
