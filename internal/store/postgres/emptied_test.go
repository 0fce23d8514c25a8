package postgres

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/store/sqldb"
)

// emptied contains databases with tables but no rows, which tests released. To create the tables
// takes much longer than to delete the rows.
type emptied struct {
	mu   sync.Mutex
	urls []string
}

// take returns the URL of a released database, or of a new one. The database belongs to the test
// until it ends.
func (e *emptied) take(t testing.TB, create func() string) string {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock() // also if create skips the test
	var url string
	if n := len(e.urls); n > 0 {
		url, e.urls = e.urls[n-1], e.urls[:n-1]
	} else {
		url = create()
	}
	t.Cleanup(func() {
		if deleteRows(t, url) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.urls = append(e.urls, url)
		}
	})
	return url
}

// deleteRows deletes all rows except those that migrations insert.
func deleteRows(t testing.TB, url string) bool {
	ctx := context.WithoutCancel(t.Context())
	tables, err := sqldb.Schema()
	if err != nil {
		t.Error(err)
		return false
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Error(err)
		return false
	}
	defer conn.Close(ctx)
	names := sqldb.Derived()
	for _, table := range tables {
		names = append(names, table.Name)
	}
	texts := []string{`DELETE FROM writer WHERE owner <> ''`, `UPDATE writer SET version = 0, last_id = 0, last_seq = 0, posts = 0, changed = 0, profile = '{}'`}
	for _, name := range names {
		if name != "writer" {
			texts = append(texts, "DELETE FROM "+name)
		}
	}
	for _, text := range texts {
		if _, err := conn.Exec(ctx, text); err != nil {
			t.Error(err)
			return false
		}
	}
	return true
}
