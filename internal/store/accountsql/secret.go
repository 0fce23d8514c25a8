package accountsql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const secretColumns = `f.selector, f.account, f.feed, f.reader, f.sealed, f.mac, f.sealed_by, f.created_at, f.used_at`

// openSecrets selects the secrets that currently grant access.
const openSecrets = `SELECT ` + secretColumns + ` FROM feed_secret AS f JOIN account AS a ON a.name = f.account WHERE NOT a.disabled AND `

func scanSecret(rows *sql.Rows, f *account.SealedSecret) error {
	return rows.Scan(&f.Selector, &f.User, &f.Feed, &f.Reader, &f.Sealed, &f.MAC, &f.Key, (*sqldb.Time)(&f.CreatedAt), (*sqldb.Time)(&f.UsedAt))
}

// AddSecret implements account.Store.
func (s *secretStore) AddSecret(ctx context.Context, f account.SealedSecret, limit int) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := hold(ctx, c, f.User, false); err != nil {
			return err
		}
		n, err := sqldb.Count(ctx, c, `SELECT count(*) FROM feed_secret WHERE account = $1 AND feed = $2`, sqldb.Clean(f.User), sqldb.Clean(f.Feed))
		if err == nil && n >= int64(limit) {
			err = fault.New(fault.Conflict, "The feed has %d readers with secrets, which is the limit: revoke an unused secret.", n)
		}
		if err != nil {
			return err
		}
		n, err = c.Exec(ctx, `INSERT INTO feed_secret (selector, account, feed, reader, sealed, mac, sealed_by, created_at, used_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (account, feed, reader) DO NOTHING`,
			sqldb.Clean(f.Selector), sqldb.Clean(f.User), sqldb.Clean(f.Feed), sqldb.Clean(f.Reader), f.Sealed, f.MAC, f.Key, sqldb.Millis(f.CreatedAt), sqldb.Millis(f.UsedAt))
		if err == nil && n == 0 {
			return fault.New(fault.Conflict, "The reader %q already has a secret for this feed: revoke it first, or choose another name.", f.Reader)
		}
		return err
	})
}

// SecretBySelector implements account.Store.
func (s *secretStore) SecretBySelector(ctx context.Context, selector string) (account.SealedSecret, error) {
	return s.oneSecret(ctx, `f.selector = $1`, sqldb.Clean(selector))
}

// SecretByMAC implements account.Store.
func (s *secretStore) SecretByMAC(ctx context.Context, user, feed string, mac []byte) (account.SealedSecret, error) {
	return s.oneSecret(ctx, `f.mac = $1 AND f.account = $2 AND f.feed = $3`, mac, sqldb.Clean(user), sqldb.Clean(feed))
}

func (s *secretStore) oneSecret(ctx context.Context, cond string, args ...any) (account.SealedSecret, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (account.SealedSecret, error) {
		found, err := sqldb.Collect(ctx, c, scanSecret, openSecrets+cond+` LIMIT 1`, args...)
		return sqldb.First(found, err, "There is no such secret.")
	})
}

// SecretsOf implements account.Store.
func (s *secretStore) SecretsOf(ctx context.Context, user, feed string) ([]account.SealedSecret, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.SealedSecret, error) {
		return sqldb.Collect(ctx, c, scanSecret, `SELECT `+secretColumns+` FROM feed_secret AS f
			WHERE f.account = $1 AND f.feed = $2 ORDER BY f.created_at, f.selector`, sqldb.Clean(user), sqldb.Clean(feed))
	})
}

// SecretsFor implements account.Store.
func (s *secretStore) SecretsFor(ctx context.Context, user, feed, who string) ([]account.SealedSecret, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.SealedSecret, error) {
		text, args := openSecrets+`f.account = $1 AND f.feed = $2`, []any{sqldb.Clean(user), sqldb.Clean(feed)}
		if who != "" {
			text, args = text+` AND (f.selector = $3 OR f.reader = $3)`, append(args, sqldb.Clean(who))
		}
		return sqldb.Collect(ctx, c, scanSecret, text+` ORDER BY f.created_at, f.selector`, args...)
	})
}

// TouchSecret implements account.Store.
func (s *secretStore) TouchSecret(ctx context.Context, selector string, at time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE feed_secret SET used_at = $1 WHERE selector = $2`, sqldb.Millis(at), sqldb.Clean(selector))
		return err
	})
}

// RemoveSecret implements account.Store.
func (s *secretStore) RemoveSecret(ctx context.Context, user, selector string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM feed_secret WHERE selector = $1 AND account = $2`, sqldb.Clean(selector), sqldb.Clean(user))
		if err == nil && n == 0 {
			return fault.New(fault.NotFound, "The user %q has no secret %q.", user, selector)
		}
		return err
	})
}

// SecretKeys implements account.Store.
func (s *secretStore) SecretKeys(ctx context.Context) (map[string]int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (map[string]int64, error) {
		keys := map[string]int64{}
		err := c.Query(ctx, `SELECT f.sealed_by, count(*) FROM feed_secret AS f GROUP BY f.sealed_by`, func(rows *sql.Rows) error {
			var key string
			var n int64
			err := rows.Scan(&key, &n)
			keys[key] = n
			return err
		})
		return keys, err
	})
}

// UseNonce implements account.Store.
func (s *secretStore) UseNonce(ctx context.Context, ids [][]byte, until time.Time) (bool, error) {
	ids = slices.SortedFunc(slices.Values(ids), bytes.Compare) // a fixed order, so that no two callers wait for each other
	known := errors.New("used before")
	err := s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		for _, id := range ids {
			n, err := c.Exec(ctx, `INSERT INTO feed_nonce (id, expires_at) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, id, sqldb.Millis(until))
			if err != nil {
				return err
			}
			if n == 0 {
				return known // rolls back the transaction
			}
		}
		return nil
	})
	if errors.Is(err, known) {
		return false, nil
	}
	return err == nil, err
}
