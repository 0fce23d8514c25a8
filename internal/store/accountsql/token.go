package accountsql

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const tokenColumns = `t.id, t.account, t.label, t.scopes, t.created_at, t.used_at, t.client`

func scanToken(rows *sql.Rows, t *account.Token) error {
	var scopes string
	err := rows.Scan(&t.ID, &t.User, &t.Label, &scopes, (*sqldb.Time)(&t.CreatedAt), (*sqldb.Time)(&t.UsedAt), &t.Client)
	t.Scopes = strings.Fields(scopes)
	return err
}

// AddToken implements account.Store.
func (s *tokenStore) AddToken(ctx context.Context, t account.Token, hash, app string, limit int) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := hold(ctx, c, t.User, false); err != nil {
			return err
		}
		n, err := sqldb.Count(ctx, c, `SELECT count(*) FROM account_token WHERE account = $1`, sqldb.Clean(t.User))
		if err == nil && n >= int64(limit) {
			err = fault.New(fault.Conflict, "The user %s already has %d tokens: revoke an unused token.", t.User, n)
		}
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO account_token (id, hash, account, label, scopes, created_at, used_at, app_key, client) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			sqldb.Clean(t.ID), hash, sqldb.Clean(t.User), sqldb.Clean(t.Label), strings.Join(t.Scopes, " "), sqldb.Millis(t.CreatedAt), sqldb.Millis(t.UsedAt), app, sqldb.Clean(t.Client))
		return err
	})
}

// TokenByHash implements account.Store.
func (s *tokenStore) TokenByHash(ctx context.Context, hash string) (account.Token, error) {
	return s.oneToken(ctx, `t.hash = $1`, hash)
}

// TokenByApp implements account.Store.
func (s *tokenStore) TokenByApp(ctx context.Context, app string) (account.Token, error) {
	return s.oneToken(ctx, `t.app_key = $1 AND t.app_key <> ''`, app)
}

func (s *tokenStore) oneToken(ctx context.Context, cond, hash string) (account.Token, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (account.Token, error) {
		found, err := sqldb.Collect(ctx, c, scanToken, `SELECT `+tokenColumns+` FROM account_token AS t
			JOIN account AS a ON a.name = t.account WHERE `+cond+` AND NOT a.disabled LIMIT 1`, sqldb.Clean(hash))
		return sqldb.First(found, err, "There is no such token.")
	})
}

// Tokens implements account.Store.
func (s *tokenStore) Tokens(ctx context.Context, user string) ([]account.Token, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.Token, error) {
		return sqldb.Collect(ctx, c, scanToken, `SELECT `+tokenColumns+` FROM account_token AS t
			WHERE t.account = $1 ORDER BY t.created_at, t.id LIMIT 1000`, sqldb.Clean(user))
	})
}

// TouchToken implements account.Store.
func (s *tokenStore) TouchToken(ctx context.Context, id string, at time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE account_token SET used_at = $1 WHERE id = $2`, sqldb.Millis(at), sqldb.Clean(id))
		return err
	})
}

// RemoveToken implements account.Store.
func (s *tokenStore) RemoveToken(ctx context.Context, user, id string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM account_token WHERE id = $1 AND account = $2`, sqldb.Clean(id), sqldb.Clean(user))
		if err == nil && n == 0 {
			return fault.New(fault.NotFound, "The user %q has no token %q.", user, id)
		}
		return err
	})
}
