package sqlite

import (
	"context"
	"log/slog"
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/accounttest"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/storetest"
)

func TestStorePassesTheContractTests(t *testing.T) {
	t.Parallel()
	empty := func(t *testing.T) hub.Store { return open(t, Options{}) }
	hubtest.Run(t, empty)
	accounttest.Run(t, empty)
	authortest.Run(t, empty)
	rivertest.Run(t, empty)
}

// open opens a store that is closed when the test ends, in a new folder unless o names one.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = storetest.Fill(t, t.TempDir(), File, func(dir string) error {
			s, err := Open(context.Background(), Options{Dir: dir})
			if err != nil {
				return err
			}
			return s.Close()
		})
	}
	o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
