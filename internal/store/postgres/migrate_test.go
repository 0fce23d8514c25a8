package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"cloudburst/internal/store/sqlstore"
	"cloudburst/internal/store/storetest"
)

// TestADatabaseOfTheFirstSchemaKeepsItsRows makes a database as the first release
// of the program left it.
func TestADatabaseOfTheFirstSchemaKeepsItsRows(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	text, err := sqlstore.Postgres().Text(storetest.FirstSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, text.SQL); return err }
	p, err := goose.NewProvider(goose.DialectPostgres, db, nil, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()),
		goose.WithGoMigrations(goose.NewGoMigration(1, &goose.GoFunc{RunTx: run}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, row := range storetest.FirstRows() {
		if _, err := db.ExecContext(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Migrated(t, open(t, url))
}
