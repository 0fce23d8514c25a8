package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
)

const sessionColumns = `s.id, s.account, s.agent, s.created_at, s.seen_at, s.expires_at`

func scanSession(rows *sql.Rows, n *account.Session) error {
	return rows.Scan(&n.ID, &n.User, &n.Agent, (*millis)(&n.CreatedAt), (*millis)(&n.SeenAt), (*millis)(&n.ExpiresAt))
}

// AddSession is account.Store.AddSession.
func (s *Store) AddSession(ctx context.Context, n account.Session, passwordAt time.Time, most int) error {
	return s.Write(ctx, func(ctx context.Context, c Conn) error {
		at, err := hold(ctx, c, n.User, true)
		if err != nil {
			return err
		}
		if !at.Equal(passwordAt) {
			return newPassword()
		}
		_, err = c.Exec(ctx, `DELETE FROM account_session WHERE account = $1 AND id NOT IN
			(SELECT s.id FROM account_session AS s WHERE s.account = $1 ORDER BY s.created_at DESC, s.id LIMIT $2)`, clean(n.User), max(most-1, 0))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO account_session (id, account, agent, created_at, seen_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
			clean(n.ID), clean(n.User), clean(n.Agent), ms(n.CreatedAt), ms(n.SeenAt), ms(n.ExpiresAt))
		return err
	})
}

// Session is account.Store.Session.
func (s *Store) Session(ctx context.Context, id string) (account.Session, error) {
	return read(ctx, s.DB, func(ctx context.Context, c Conn) (account.Session, error) {
		found, err := collect(ctx, c, scanSession, `SELECT `+sessionColumns+` FROM account_session AS s
			JOIN account AS a ON a.name = s.account WHERE s.id = $1 AND NOT a.disabled`, clean(id))
		if err == nil && len(found) == 0 {
			err = fault.New(fault.NotFound, "There is no such session.")
		}
		if err != nil {
			return account.Session{}, err
		}
		return found[0], nil
	})
}

// Sessions is account.Store.Sessions.
func (s *Store) Sessions(ctx context.Context, user string, now time.Time) ([]account.Session, error) {
	return read(ctx, s.DB, func(ctx context.Context, c Conn) ([]account.Session, error) {
		return collect(ctx, c, scanSession, `SELECT `+sessionColumns+` FROM account_session AS s
			WHERE s.account = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id LIMIT 1000`, clean(user), ms(now))
	})
}

// SeeSession is account.Store.SeeSession.
func (s *Store) SeeSession(ctx context.Context, id string, seen, expires time.Time) error {
	return s.Write(ctx, func(ctx context.Context, c Conn) error {
		_, err := c.Exec(ctx, `UPDATE account_session SET seen_at = $1, expires_at = $2 WHERE id = $3`, ms(seen), ms(expires), clean(id))
		return err
	})
}

// EndSession is account.Store.EndSession.
func (s *Store) EndSession(ctx context.Context, id string) error {
	return s.Write(ctx, func(ctx context.Context, c Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM account_session WHERE id = $1`, clean(id))
		return err
	})
}
