package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"cloudburst/internal/fault"
	"cloudburst/internal/store"
	"cloudburst/internal/store/storetest"
)

func TestOptionsSelectTheDatabase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	url := storetest.Postgres(t)
	for name, o := range map[string]store.Options{
		"a folder":                {Dir: dir},
		"a database":              {DatabaseURL: url},
		"both, the database wins": {Dir: filepath.Join(t.TempDir(), "unused"), DatabaseURL: url},
	} {
		s, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, hints := s.(store.Hinter); hints != (o.DatabaseURL != "") {
			t.Errorf("%s: implements Hinter: %v", name, hints)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if o.DatabaseURL != "" && o.Dir != "" {
			if _, err := os.Stat(o.Dir); !os.IsNotExist(err) {
				t.Errorf("%s: the folder was created (%v)", name, err)
			}
		}
	}
}

func TestOpenReturnsNilStoreOnFailure(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]store.Options{
		"nothing":          {},
		"a file as folder": {Dir: os.Args[0]},
		"nobody's address": {DatabaseURL: "postgres://127.0.0.1:1/x"},
		"not a URL":        {DatabaseURL: "postgres://127.0.0.1:x/x"},
	} {
		s, err := store.Open(t.Context(), o)
		if err == nil || s != store.Store(nil) || fault.CodeOf(err) == fault.Internal {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
