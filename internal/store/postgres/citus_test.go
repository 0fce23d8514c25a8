package postgres

import (
	"errors"
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/accounttest"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
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

var citusFree emptied

// openCitus opens a store in an empty distributed database.
func openCitus(t testing.TB) *Store {
	t.Helper()
	s := open(t, citusDatabase(t))
	if !s.Distributed {
		t.Fatal("the store does not recognise the distributed tables")
	}
	return s
}

func citusDatabase(t testing.TB) string {
	t.Helper()
	return citusFree.take(t, func() string {
		url := storetest.Citus(t)
		w, err := Fill(t.Context(), url, false, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Finish(t.Context()), w.Close()); err != nil {
			t.Fatal(err)
		}
		return url
	})
}
