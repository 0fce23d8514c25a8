package storetest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Migrations returns the SQL of the first n migrations, with the tokens of [sqldb.Dialect].
func Migrations(t *testing.T, n int) (texts []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "sqldb", "migrations", "*.sql"))
	Must(t, err)
	slices.Sort(names)
	for _, name := range names[:n] {
		raw, err := os.ReadFile(name)
		Must(t, err)
		texts = append(texts, string(raw))
	}
	return texts
}
