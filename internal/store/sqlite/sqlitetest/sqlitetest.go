// Package sqlitetest gives tests folders with an empty SQLite store in them. Start with [Dir]
// and [Fill].
package sqlitetest

import (
	"context"
	"testing"

	"cloudburst/internal/store/sqlite"
	"cloudburst/internal/store/storetest"
)

// Dir is a new folder of the test, with an empty store.
func Dir(t testing.TB) string {
	t.Helper()
	return Fill(t, t.TempDir())
}

// Fill puts an empty store into a folder that has none, and returns the folder. It copies one
// store, which is made once in a process: making the tables takes ten times as long.
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
