package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

// earlierSchema creates a database as an earlier release left it after the given migrations.
func earlierSchema(ctx context.Context, file string, migrations, rows []string) error {
	var steps []*goose.Migration
	for i, migration := range migrations {
		text, err := sqldb.SQLite().Text(migration)
		if err != nil {
			return err
		}
		run := func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, text.SQL); return err }
		steps = append(steps, goose.NewGoMigration(int64(i+1), &goose.GoFunc{RunTx: run}, nil))
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return err
	}
	db := pool(file, writing, 1, 0)
	p, err := goose.NewProvider(goose.DialectSQLite3, db, nil, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()),
		goose.WithGoMigrations(steps...))
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

func TestMigrationFromFirstSchemaKeepsRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, 1), hubtest.FirstRows()); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Dir: dir})
	hubtest.Migrated(t, s)
	authortest.FirstPost(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := open(t, Options{Dir: dir}).CountChanges(t.Context()); err != nil || n != 1 {
		t.Errorf("opened again: %d changes, %v", n, err)
	}
}

func TestMigrationConfirmsExistingForwardings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, rivertest.BeforeConsent), rivertest.ForwardingRows()); err != nil {
		t.Fatal(err)
	}
	rivertest.ForwardingsMigrated(t, open(t, Options{Dir: dir}))
}

func TestMigrationMakesTopicsSearchableByTitle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := hubtest.TitleRows(func(hex string) string { return `x'` + hex + `'` })
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, hubtest.BeforeTitles), rows); err != nil {
		t.Fatal(err)
	}
	hubtest.TitlesMigrated(t, open(t, Options{Dir: dir}))
}

func TestMigrationRemovesPrivateFeedsFromTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := earlierSchema(t.Context(), filepath.Join(dir, File), storetest.Migrations(t, hubtest.BeforePrivateEvents), hubtest.PrivateEventRows()); err != nil {
		t.Fatal(err)
	}
	hubtest.PrivateEventsMigrated(t, open(t, Options{Dir: dir}))
}
