// Package sqlitetest creates folders with an empty SQLite store for tests. Start with [Dir] and
// [Fill].
package sqlitetest

import (
	"context"
	"testing"

	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/storetest"
)

// Dir returns a new folder with an empty store.
func Dir(t testing.TB) string {
	t.Helper()
	return Fill(t, t.TempDir())
}

// Fill puts an empty store into a folder without one and returns the folder. It copies a store that
// is created once per process: creating the tables takes ten times as long.
func Fill(t testing.TB, dir string) string {
	t.Helper()
	return storetest.Fill(t, dir, sqlite.File, func(dir string) error {
		s, err := sqlite.Open(context.Background(), sqlite.Options{Dir: dir})
		if err != nil {
			return err
		}
		return s.Close()
	})
}
