package accountsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/store/sqldb"
)

const sessionColumns = `s.id, s.account, s.agent, s.created_at, s.seen_at, s.expires_at, a.administrator`

func scanSession(rows *sql.Rows, n *account.Session) error {
	return rows.Scan(&n.ID, &n.User, &n.Agent, (*sqldb.Time)(&n.CreatedAt), (*sqldb.Time)(&n.SeenAt), (*sqldb.Time)(&n.ExpiresAt), &n.Administrator)
}

// AddSession implements account.Store.
func (s *sessionStore) AddSession(ctx context.Context, n account.Session, passwordAt time.Time, limit int) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		at, err := hold(ctx, c, n.User, true)
		if err != nil {
			return err
		}
		if !at.Equal(passwordAt) {
			return passwordChanged()
		}
		_, err = c.Exec(ctx, `DELETE FROM account_session WHERE account = $1 AND id NOT IN
			(SELECT s.id FROM account_session AS s WHERE s.account = $1 ORDER BY s.created_at DESC, s.id LIMIT $2)`, sqldb.Clean(n.User), max(limit-1, 0))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO account_session (id, account, agent, created_at, seen_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			sqldb.Clean(n.ID), sqldb.Clean(n.User), sqldb.Clean(n.Agent), sqldb.Millis(n.CreatedAt), sqldb.Millis(n.SeenAt), sqldb.Millis(n.ExpiresAt))
		return err
	})
}

// Session implements account.Store.
func (s *sessionStore) Session(ctx context.Context, id string) (account.Session, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (account.Session, error) {
		found, err := sqldb.Collect(ctx, c, func(rows *sql.Rows, n *account.Session) error {
			var preferences string
			err := rows.Scan(&n.ID, &n.User, &n.Agent, (*sqldb.Time)(&n.CreatedAt), (*sqldb.Time)(&n.SeenAt), (*sqldb.Time)(&n.ExpiresAt), &n.Administrator, &preferences)
			n.Preferences = account.DecodePreferences(preferences)
			return err
		}, `SELECT `+sessionColumns+`, a.preferences FROM account_session AS s
			JOIN account AS a ON a.name = s.account WHERE s.id = $1 AND NOT a.disabled`, sqldb.Clean(id))
		return sqldb.First(found, err, "There is no such session.")
	})
}

// Sessions implements account.Store.
func (s *sessionStore) Sessions(ctx context.Context, user string, now time.Time) ([]account.Session, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.Session, error) {
		return sqldb.Collect(ctx, c, scanSession, `SELECT `+sessionColumns+` FROM account_session AS s
			JOIN account AS a ON a.name = s.account WHERE s.account = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id LIMIT 1000`, sqldb.Clean(user), sqldb.Millis(now))
	})
}

// TouchSession implements account.Store.
func (s *sessionStore) TouchSession(ctx context.Context, id string, seen, expires time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE account_session SET seen_at = $1, expires_at = $2 WHERE id = $3`, sqldb.Millis(seen), sqldb.Millis(expires), sqldb.Clean(id))
		return err
	})
}

// EndSession implements account.Store.
func (s *sessionStore) EndSession(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM account_session WHERE id = $1`, sqldb.Clean(id))
		return err
	})
}

func endSessions(ctx context.Context, c sqldb.Conn, user string) error {
	_, err := c.Exec(ctx, `DELETE FROM account_session WHERE account = $1`, sqldb.Clean(user))
	return err
}
