package postgres

import (
	"regexp"
	"testing"

	"cloudburst/internal/store/riversql"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

// The plan reads subscriptions and sources, and no table of items.
func TestUnreadCountsAreReadWithoutReadingItems(t *testing.T) {
	t.Parallel()
	s := open(t, storetest.Postgres(t))
	relation := regexp.MustCompile(` on (\w+)`)
	for name, text := range map[string]string{"counts": riversql.UnreadText, "rail": riversql.RailText, "total": riversql.RailTotalText} {
		rows, err := s.db.QueryContext(t.Context(), "EXPLAIN "+text, "ann")
		if err != nil {
			t.Fatal(err)
		}
		tables := 0
		for rows.Next() {
			var step string
			if err := rows.Scan(&step); err != nil {
				t.Fatal(err)
			}
			for _, m := range relation.FindAllStringSubmatch(step, -1) {
				switch m[1] {
				case "river_subscription", "source":
					tables++
				case "river_subscription_pkey", "river_subscription_read", "source_pkey": // bitmap scans of indexes
				default:
					t.Errorf("%s: the plan reads %s: %s", name, m[1], step)
				}
			}
		}
		if err := rows.Err(); err != nil || tables < 2 {
			t.Errorf("%s: %d tables, %v", name, tables, err)
		}
		rows.Close()
	}
}

func TestMigrationComputesUnreadCounts(t *testing.T) {
	t.Parallel()
	rivertest.UnreadMigrated(t, open(t, earlierSchema(t, storetest.Migrations(t, rivertest.BeforeUnread), rivertest.UnreadRows())))
}
