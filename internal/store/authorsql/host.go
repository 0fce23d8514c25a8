package authorsql

import (
	"context"
	"database/sql"

	"cloudburst/internal/fault"
	"cloudburst/internal/ownhost"
	"cloudburst/internal/store/sqldb"
)

// AuthorHosts implements ownhost.Store.
func (s *siteStore) AuthorHosts(ctx context.Context) ([]ownhost.Host, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ownhost.Host, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, h *ownhost.Host) error {
			return rows.Scan(&h.User, &h.Name, &h.Token, (*sqldb.Time)(&h.CreatedAt), (*sqldb.Time)(&h.VerifiedAt))
		}, `SELECT h.owner, h.name, h.token, h.created_at, h.verified_at FROM author_host AS h ORDER BY h.name, h.owner`)
	})
}

// PutAuthorHost implements ownhost.Store.
func (s *siteStore) PutAuthorHost(ctx context.Context, h ownhost.Host) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		used, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM author_host WHERE name = $1 AND owner <> $2 AND verified_at > 0`, sqldb.Clean(h.Name), sqldb.Clean(h.User))
		if err == nil && used > 0 {
			err = fault.New(fault.Conflict, "The domain %s is in use by another author.", h.Name)
		}
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO author_host (owner, name, token, created_at, verified_at) VALUES ($1, $2, $3, $4, 0)
			ON CONFLICT (owner) DO UPDATE SET name = excluded.name, token = excluded.token, created_at = excluded.created_at, verified_at = 0`,
			sqldb.Clean(h.User), sqldb.Clean(h.Name), sqldb.Clean(h.Token), sqldb.Millis(h.CreatedAt))
		return err
	})
}

// VerifyAuthorHost implements ownhost.Store.
func (s *siteStore) VerifyAuthorHost(ctx context.Context, h ownhost.Host) error {
	name, user := sqldb.Clean(h.Name), sqldb.Clean(h.User)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		used, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM author_host WHERE name = $1 AND owner <> $2 AND verified_at > 0`, name, user)
		if err == nil && used > 0 {
			err = fault.New(fault.Conflict, "The domain %s is in use by another author.", h.Name)
		}
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, `UPDATE author_host SET verified_at = $1 WHERE owner = $2 AND name = $3 AND token = $4`,
			sqldb.Millis(h.VerifiedAt), user, name, sqldb.Clean(h.Token))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "The domain %s has changed in the meantime. Open the page again.", h.Name)
		}
		return err
	})
}

// DeleteAuthorHost implements ownhost.Store.
func (s *siteStore) DeleteAuthorHost(ctx context.Context, user string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM author_host WHERE owner = $1`, sqldb.Clean(user))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "%s has no domain.", user)
		}
		return err
	})
}
