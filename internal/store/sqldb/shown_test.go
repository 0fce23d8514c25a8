package sqldb

import (
	"slices"
	"testing"
)

func TestOnlyWritesToTablesShownOnPagesInvalidateCachedPages(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		`SELECT 1 FROM post`: false, `SELECT 1 FROM post FOR NO KEY UPDATE`: false,
		`INSERT INTO post (id) VALUES ($1)`: true, `UPDATE writer SET version = 1`: true, "DELETE FROM\n\tmention AS m WHERE true": true,
		`INSERT INTO event (id) VALUES ($1)`: false, `UPDATE topic SET url = ''`: false, `DELETE FROM item_word`: false,
		`INSERT INTO task (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET due_at = 1`:   false,
		`INSERT OR IGNORE INTO post (id) VALUES ($1)`:                                       true,
		`WITH x AS (SELECT 1) UPDATE post SET id = 1`:                                       true,
		`WITH x AS (DELETE FROM post RETURNING id) INSERT INTO event (id) SELECT id FROM x`: true,
		`DROP TABLE post`: true, ``: true,
	} {
		if got := IsShown(statement); got != want {
			t.Errorf("%q: %v", statement, got)
		}
	}
}

func TestOnlyWritesOfCountsInvalidateCachedCounts(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		`SELECT items FROM source`: false, `UPDATE source SET claim = 1`: false, `INSERT INTO item_mark (place) VALUES ($1)`: false,
		`INSERT INTO event (id) VALUES ($1)`: false, `UPDATE topic SET url = ''`: false,
		`UPDATE source SET items = items - 1`: true, "DELETE FROM\n\tsource WHERE id = $1": true, `INSERT INTO source (id, items) VALUES ($1, 0)`: true,
		`UPDATE river_subscription AS f SET read_items = 0`: true, `INSERT OR IGNORE INTO river_subscription (reader) VALUES ($1)`: true,
		`WITH x AS (SELECT 1) DELETE FROM river_subscription`: true, `DROP TABLE source`: true, ``: true,
	} {
		if got := IsCounted(statement); got != want {
			t.Errorf("%q: %v", statement, got)
		}
	}
}

func TestTablesExcludedFromPageStateExist(t *testing.T) {
	t.Parallel()
	tables, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	names := Derived()
	for _, table := range tables {
		names = append(names, table.Name)
	}
	for name := range hidden() {
		if !slices.Contains(names, name) {
			t.Errorf("there is no table %s", name)
		}
	}
}
