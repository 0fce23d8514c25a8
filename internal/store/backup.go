package store

import (
	"context"
	"errors"

	"cloudburst/internal/store/postgres"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/store/sqlite"
)

// portable is a store on PostgreSQL that writes its backups as SQLite files.
type portable struct {
	*postgres.Store
	url string
}

// BackupFolder writes a backup of a data folder that no process uses, with the schema that it has.
func BackupFolder(ctx context.Context, dir, file string) error {
	return sqlite.BackupFolder(ctx, dir, file)
}

// Backup writes a consistent snapshot of the database to an SQLite file. The file can be restored
// to a folder or to PostgreSQL.
func (p *portable) Backup(ctx context.Context, file string) (err error) {
	from, err := postgres.Snapshot(ctx, p.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	return sqlite.WriteCopy(ctx, file, func(part string) error {
		to, err := sqlite.Create(ctx, part)
		if err != nil {
			return err
		}
		defer to.Close()
		if _, err := sqldb.Move(ctx, &from.Whole, &to.Whole, nil); err != nil {
			return err
		}
		return to.Settle(ctx)
	})
}
