package postgres

import (
	"log/slog"
	"os"
	"testing"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

func TestKeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) hub.Store { return open(t, storetest.Postgres(t)) })
}

// open opens a store that is closed with the test.
func open(t testing.TB, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{URL: url, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
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
