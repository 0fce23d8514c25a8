package postgres

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/authortest"
	"cloudburst/internal/store/hubtest"
	"cloudburst/internal/store/rivertest"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/storetest"
)

// earlierSchema creates a database as an earlier release left it after the given migrations.
func earlierSchema(t *testing.T, migrations, rows []string) (url string) {
	t.Helper()
	url = storetest.Postgres(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	var steps []*goose.Migration
	for i, migration := range migrations {
		text, err := sqldb.Postgres().Text(migration)
		if err != nil {
			t.Fatal(err)
		}
		run := func(ctx context.Context, tx *sql.Tx) error { _, err := tx.ExecContext(ctx, text.SQL); return err }
		steps = append(steps, goose.NewGoMigration(int64(i+1), &goose.GoFunc{RunTx: run}, nil))
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, nil, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()),
		goose.WithGoMigrations(steps...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if _, err := db.ExecContext(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	return url
}

func TestMigrationFromFirstSchemaKeepsRows(t *testing.T) {
	t.Parallel()
	s := open(t, earlierSchema(t, storetest.Migrations(t, 1), hubtest.FirstRows()))
	hubtest.Migrated(t, s)
	authortest.FirstPost(t, s)
}

func TestMigrationConfirmsExistingForwardings(t *testing.T) {
	t.Parallel()
	rivertest.ForwardingsMigrated(t, open(t, earlierSchema(t, storetest.Migrations(t, rivertest.BeforeConsent), rivertest.ForwardingRows())))
}

func TestMigrationMakesTopicsSearchableByTitle(t *testing.T) {
	t.Parallel()
	rows := hubtest.TitleRows(func(hex string) string { return `'\x` + hex + `'` })
	hubtest.TitlesMigrated(t, open(t, earlierSchema(t, storetest.Migrations(t, hubtest.BeforeTitles), rows)))
}

func TestOlderSchemaIsKeptOnRequest(t *testing.T) {
	t.Parallel()
	url := earlierSchema(t, storetest.Migrations(t, 1), hubtest.FirstRows())
	_, err := Open(t.Context(), Options{URL: url, KeepSchema: true})
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "has schema 1,") {
		t.Error(err)
	}
	hubtest.Migrated(t, open(t, url))
}

func TestMigrationRemovesPrivateFeedsFromTheLog(t *testing.T) {
	t.Parallel()
	hubtest.PrivateEventsMigrated(t, open(t, earlierSchema(t, storetest.Migrations(t, hubtest.BeforePrivateEvents), hubtest.PrivateEventRows())))
}
