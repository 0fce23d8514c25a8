package sqldb

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"cloudburst/internal/fault"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate migrates the schema to the newest version that this program knows. It rejects a newer
// schema with fault.Unsupported and leaves it unchanged. If keep is set, it also does so with an
// older schema, unless the database is empty.
func Migrate(ctx context.Context, db *sql.DB, kind goose.Dialect, d *Dialect, keep bool, opts ...goose.ProviderOption) error {
	steps, err := d.steps()
	if err != nil {
		return err
	}
	newest := steps[len(steps)-1].Version
	opts = append(opts, goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	p, err := goose.NewProvider(kind, db, nil, opts...)
	if err != nil {
		return fmt.Errorf("prepare the migrations: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if have > newest {
		return fault.New(fault.Unsupported, "The database has schema %d, but this program supports only up to %d: a newer cloudburst wrote it. Start that version, or restore an earlier backup.", have, newest)
	}
	if keep && 0 < have && have < newest {
		return fault.New(fault.Unsupported, "The database has schema %d, but this program requires %d: start the server with this cloudburst, which updates the schema, or use the version that wrote the data.", have, newest)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the schema from version %d to %d: %w", have, newest, err)
	}
	return nil
}

// SchemaOf returns the schema version of an initialized database.
func SchemaOf(ctx context.Context, db *sql.DB) (version int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT MAX(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version, err
}

// UpdateByStart is the instruction for updating an older schema of a database that a server can open.
const UpdateByStart = "start this cloudburst on it once, which updates the schema, and try again"

// IsNewest returns a fault.Conflict if the schema version have is not the one that this program
// works with. The error names the database with where, and how to update an older schema.
func IsNewest(have int64, where, update string) error {
	newest, err := Newest()
	switch {
	case err != nil:
		return err
	case have > newest:
		return fault.New(fault.Conflict, "The database %s has schema %d, but this program supports only up to %d: a newer cloudburst wrote it. Use that version.", where, have, newest)
	case have < newest:
		return fault.New(fault.Conflict, "The database %s has schema %d, but this program requires %d: %s.", where, have, newest, update)
	}
	return nil
}

// steps returns the migrations in this dialect, in order.
func (d *Dialect) steps() ([]*goose.Migration, error) {
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	var steps []*goose.Migration
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number", e.Name())
		}
		raw, err := fs.ReadFile(migrations, "migrations/"+e.Name())
		if err != nil {
			return nil, err
		}
		text, err := d.translate(string(raw))
		if err != nil {
			return nil, err
		}
		run := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, text.SQL)
			return err
		}
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return steps, nil
}
