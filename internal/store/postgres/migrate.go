package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"cloudburst/internal/store/sqldb"
)

// migrateFor migrates the schema with a pool of its own, because a migration may take longer than
// the statement timeout. filling is set if the caller has exclusive use of the database to fill it; keep as in [sqldb.Migrate].
func migrateFor(ctx context.Context, config *pgx.ConnConfig, filling, keep bool) error {
	use := []stdlib.OptionOpenDB{stdlib.OptionAfterConnect(share)}
	if filling {
		use = nil
	}
	db := stdlib.OpenDB(*config, use...)
	defer unshare(db)
	if !filling {
		if err := usable(ctx, db); err != nil {
			return err
		}
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300), lock.WithUnlockTimeout(1, 30))
	if err != nil {
		return err
	}
	if err := sqldb.Migrate(ctx, db, goose.DialectPostgres, sqldb.Postgres(), keep, goose.WithSessionLocker(locker)); err != nil {
		return err
	}
	// A migration may have created tables that must be distributed to the workers.
	spread, err := isDistributed(ctx, db)
	if err != nil || !spread {
		return err
	}
	return distribute(ctx, db)
}
