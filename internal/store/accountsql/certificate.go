package accountsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// Certificate implements store.Certificates.
func (s *certificateStore) Certificate(ctx context.Context, name string) ([]byte, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]byte, error) {
		all, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, b *[]byte) error { return rows.Scan(b) },
			`SELECT sealed FROM certificate WHERE name = $1`, sqldb.Clean(name))
		if err == nil && len(all) == 0 {
			err = fault.New(fault.NotFound, "Nothing is stored under the name %s.", name)
		}
		if err != nil {
			return nil, err
		}
		return all[0], nil
	})
}

// PutCertificate implements store.Certificates.
func (s *certificateStore) PutCertificate(ctx context.Context, name string, sealed []byte, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO certificate (name, sealed, saved_at) VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed, saved_at = excluded.saved_at`, sqldb.Clean(name), sealed, sqldb.Millis(now))
		return err
	})
}

// DeleteCertificate implements store.Certificates.
func (s *certificateStore) DeleteCertificate(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM certificate WHERE name = $1`, sqldb.Clean(name))
		return err
	})
}
