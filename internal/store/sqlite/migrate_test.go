package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"cloudburst/internal/store/sqlstore"
	"cloudburst/internal/store/storetest"
)

// firstSchema makes a database as the first release of the program left it.
func firstSchema(ctx context.Context, file, schema string, rows []string) error {
	text, err := sqlstore.SQLite().Text(schema)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	db := pool(file, writing, 1, 0)
	run := func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, text.SQL); return err }
	p, err := goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()),
		goose.WithGoMigrations(goose.NewGoMigration(1, &goose.GoFunc{RunTx: run}, nil)))
	if err == nil {
		_, err = p.Up(ctx)
	}
	for _, row := range rows {
		if err == nil {
			_, err = db.ExecContext(ctx, row)
		}
	}
	return errors.Join(err, db.Close())
}

func TestADatabaseOfTheFirstSchemaKeepsItsRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := firstSchema(t.Context(), filepath.Join(dir, File), storetest.FirstSchema(t), storetest.FirstRows()); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Dir: dir})
	storetest.Migrated(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open(t, Options{Dir: dir}).CountChanges(t.Context()); err != nil || n != 1 {
		t.Errorf("opened once more: %d changes, %v", n, err)
	}
}
