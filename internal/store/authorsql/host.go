package authorsql

import (
	"context"
	"database/sql"
	"time"

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

// PastAuthorHosts implements ownhost.Store.
func (s *siteStore) PastAuthorHosts(ctx context.Context) ([]ownhost.Past, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]ownhost.Past, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, p *ownhost.Past) error {
			return rows.Scan(&p.Name, &p.User, (*sqldb.Time)(&p.Until))
		}, `SELECT p.name, p.owner, p.until FROM author_host_past AS p ORDER BY p.name`)
	})
}

// keepAuthorHost stores the verified host name of a user as a past name, valid until a time, unless
// the name is except.
func keepAuthorHost(ctx context.Context, c sqldb.Conn, user, except string, until time.Time) error {
	_, err := c.Exec(ctx, `INSERT INTO author_host_past (name, owner, until)
		SELECT h.name, h.owner, CAST($1 AS BIGINT) FROM author_host AS h WHERE h.owner = $2 AND h.name <> $3 AND h.verified_at > 0
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until`, sqldb.Millis(until), sqldb.Clean(user), sqldb.Clean(except))
	return err
}

// PutAuthorHost implements ownhost.Store.
func (s *siteStore) PutAuthorHost(ctx context.Context, h ownhost.Host, until time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		used, err := sqldb.Count(ctx, c, `SELECT COUNT(*) FROM author_host WHERE name = $1 AND owner <> $2 AND verified_at > 0`, sqldb.Clean(h.Name), sqldb.Clean(h.User))
		if err == nil && used > 0 {
			err = fault.New(fault.Conflict, "The domain %s is in use by another author.", h.Name)
		}
		if err == nil {
			err = keepAuthorHost(ctx, c, h.User, h.Name, until)
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
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM author_host_past WHERE name = $1`, name)
		}
		return err
	})
}

// DeleteAuthorHost implements ownhost.Store.
func (s *siteStore) DeleteAuthorHost(ctx context.Context, user string, until time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if err := keepAuthorHost(ctx, c, user, "", until); err != nil {
			return err
		}
		n, err := c.Exec(ctx, `DELETE FROM author_host WHERE owner = $1`, sqldb.Clean(user))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "%s has no domain.", user)
		}
		return err
	})
}

// ForgetAuthorHosts implements ownhost.Store.
func (s *siteStore) ForgetAuthorHosts(ctx context.Context, user string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM author_host_past WHERE owner = $1`, sqldb.Clean(user))
		if err == nil {
			_, err = c.Exec(ctx, `DELETE FROM author_host WHERE owner = $1`, sqldb.Clean(user))
		}
		return err
	})
}

// TidyAuthorHosts implements ownhost.Store.
func (s *siteStore) TidyAuthorHosts(ctx context.Context, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM author_host_past WHERE until <= $1`, sqldb.Millis(now))
		return err
	})
}
