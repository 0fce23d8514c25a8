package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/accounttest"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

func TestStoreOnCitusMeetsTheContract(t *testing.T) {
	t.Parallel()
	empty := func(t *testing.T) hub.Store { return openCitus(t) }
	hubtest.Run(t, empty)
	accounttest.Run(t, empty)
	authortest.Run(t, empty)
	rivertest.Run(t, empty)
}

// citusFree contains distributed databases for reuse. Tests released and emptied them: creating one
// takes many seconds.
var citusFree = struct {
	sync.Mutex
	urls []string
}{}

// openCitus opens a store in an empty distributed database.
func openCitus(t testing.TB) *Store {
	t.Helper()
	url := citusDatabase(t)
	s := open(t, url)
	if !s.Distributed {
		t.Fatal("the store does not recognise the distributed tables")
	}
	return s
}

func citusDatabase(t testing.TB) string {
	t.Helper()
	citusFree.Lock()
	defer citusFree.Unlock()
	var url string
	if n := len(citusFree.urls); n > 0 {
		url, citusFree.urls = citusFree.urls[n-1], citusFree.urls[:n-1]
	} else {
		url = storetest.Citus(t)
		w, err := Fill(t.Context(), url, false, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Finish(t.Context()), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if emptyCitus(t, url) {
			citusFree.Lock()
			defer citusFree.Unlock()
			citusFree.urls = append(citusFree.urls, url)
		}
	})
	return url
}

// emptyCitus deletes the rows of all tables but those that migrations inserted.
func emptyCitus(t testing.TB, url string) bool {
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
