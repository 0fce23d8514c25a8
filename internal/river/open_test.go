package river_test

import (
	"context"
	"io"
	"testing"

	"cloudburst/internal/river"
	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/sqlite/sqlitetest"
)

// opener returns a function that opens the store of a harness. All calls use the same folder, so
// that a restarted program finds its data.
func opener(t *testing.T) func(t *testing.T) river.Store {
	t.Helper()
	dir := t.TempDir()
	return func(t *testing.T) river.Store {
		st, err := sqlite.Open(context.WithoutCancel(t.Context()), sqlite.Options{Dir: sqlitetest.Fill(t, dir)})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
}

// shut closes a store if it is on disk.
func shut(t *testing.T, st river.Store) {
	t.Helper()
	if c, ok := st.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
