package accountsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const userColumns = `a.name, a.created_at, a.password_at, a.seen_at, a.disabled, a.administrator`

func scanUser(rows *sql.Rows, u *account.User) error {
	return rows.Scan(&u.Name, (*sqldb.Time)(&u.CreatedAt), (*sqldb.Time)(&u.PasswordAt), (*sqldb.Time)(&u.SeenAt), &u.Disabled, &u.Administrator)
}

func noUser(name string) error {
	return fault.New(fault.NotFound, "There is no user %q.", name)
}

// AddUser implements account.Store.
func (s *userStore) AddUser(ctx context.Context, u account.User, hash string, first bool) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		// A concurrent second caller waits here until the first one's transaction ends.
		n, err := c.Exec(ctx, `INSERT INTO account_first (id, name) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, sqldb.Clean(u.Name))
		if err != nil {
			return err
		}
		if first && n == 0 {
			return fault.New(fault.Conflict, "A user already exists.")
		}
		u.Administrator = u.Administrator || n > 0
		return insertUser(ctx, c, u, hash)
	})
}

// insertUser adds the row of a user whose name was never used.
func insertUser(ctx context.Context, c sqldb.Conn, u account.User, hash string) error {
	deleted, err := deletedNames(ctx, c, u.Name)
	if err != nil {
		return err
	}
	if deleted > 0 {
		return fault.New(fault.Conflict, "The name %q belonged to a user who was deleted. Choose another name.", u.Name)
	}
	n, err := c.Exec(ctx, `INSERT INTO account (name, password, created_at, password_at, seen_at, disabled, administrator)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO NOTHING`,
		sqldb.Clean(u.Name), hash, sqldb.Millis(u.CreatedAt), sqldb.Millis(u.PasswordAt), sqldb.Millis(u.SeenAt), u.Disabled, u.Administrator)
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "The user name %q is taken.", u.Name)
	}
	return err
}

// User implements account.Store.
func (s *userStore) User(ctx context.Context, name string) (u account.User, hash string, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, c sqldb.Conn) error {
		found := false
		err := c.Query(ctx, `SELECT `+userColumns+`, a.password FROM account AS a WHERE a.name = $1`, func(rows *sql.Rows) error {
			found = true
			return rows.Scan(&u.Name, (*sqldb.Time)(&u.CreatedAt), (*sqldb.Time)(&u.PasswordAt), (*sqldb.Time)(&u.SeenAt), &u.Disabled, &u.Administrator, &hash)
		}, sqldb.Clean(name))
		if err == nil && !found {
			return noUser(name)
		}
		return err
	})
	return u, hash, err
}

// Users implements account.Store.
func (s *userStore) Users(ctx context.Context, after string, limit int) ([]account.User, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.User, error) {
		return sqldb.Collect(ctx, c, scanUser, `SELECT `+userColumns+` FROM account AS a WHERE a.name > $1 ORDER BY a.name LIMIT $2`, sqldb.Clean(after), sqldb.Limit(limit))
	})
}

// CountUsers implements account.Store.
func (s *userStore) CountUsers(ctx context.Context) (int64, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (n int64, err error) {
		err = c.Query(ctx, `SELECT count(*) FROM account`, func(rows *sql.Rows) error { return rows.Scan(&n) })
		return n, err
	})
}

// SetUserPassword implements account.Store.
func (s *userStore) SetUserPassword(ctx context.Context, name, hash string, at, was time.Time) (time.Time, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (time.Time, error) {
		before, err := hold(ctx, c, name, false)
		switch {
		case err != nil:
			return at, err
		case !was.IsZero() && !was.Equal(before):
			return at, passwordChanged()
		case !at.After(before):
			at = before.Add(time.Millisecond)
		}
		if _, err := c.Exec(ctx, `UPDATE account SET password = $1, password_at = $2 WHERE name = $3`, hash, sqldb.Millis(at), sqldb.Clean(name)); err != nil {
			return at, err
		}
		return at, endSessions(ctx, c, name)
	})
}

func passwordChanged() error {
	return fault.New(fault.Conflict, "The password has been changed in the meantime.")
}

// RehashUser implements account.Store.
func (s *userStore) RehashUser(ctx context.Context, name, old, hash string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE account SET password = $1 WHERE name = $2 AND password = $3`, hash, sqldb.Clean(name), old)
		return err
	})
}

// DisableUser implements account.Store.
func (s *userStore) DisableUser(ctx context.Context, name string, disabled bool, at time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE account SET disabled = $1 WHERE name = $2`, disabled, sqldb.Clean(name))
		if err == nil && n == 0 {
			return noUser(name)
		}
		// The feed of all users' posts gains or loses the posts of this user.
		if err == nil {
			err = s.noteVisibility(ctx, c, sqldb.Clean(name), at)
		}
		if err != nil || !disabled {
			return err
		}
		return endSessions(ctx, c, name)
	})
}

// SetPreferences implements account.Store.
func (s *userStore) SetPreferences(ctx context.Context, name, encoded string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE account SET preferences = $1 WHERE name = $2`, encoded, sqldb.Clean(name))
		if err == nil && n == 0 {
			return noUser(name)
		}
		return err
	})
}

// TouchUser implements account.Store.
func (s *userStore) TouchUser(ctx context.Context, name, place string, at time.Time, keep int) error {
	name, place = sqldb.Clean(name), sqldb.Clean(place)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE account SET seen_at = CASE WHEN seen_at > $1 THEN seen_at ELSE $1 END WHERE name = $2`, sqldb.Millis(at), name)
		if err != nil || n == 0 {
			return err // a user that does not exist has no places
		}
		_, err = c.Exec(ctx, `INSERT INTO account_place (account, place, seen_at) VALUES ($1, $2, $3)
			ON CONFLICT (account, place) DO UPDATE SET seen_at = excluded.seen_at`, name, place, sqldb.Millis(at))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, `DELETE FROM account_place WHERE account = $1 AND place NOT IN
			(SELECT p.place FROM account_place AS p WHERE p.account = $1 ORDER BY p.seen_at DESC, p.place LIMIT $2)`, name, max(keep, 0))
		return err
	})
}

// KnowsPlace implements account.Store.
func (s *userStore) KnowsPlace(ctx context.Context, name, place string) (bool, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (known bool, err error) {
		err = c.Query(ctx, `SELECT EXISTS (SELECT 1 FROM account_place WHERE account = $1 AND place = $2)`,
			func(rows *sql.Rows) error { return rows.Scan(&known) }, sqldb.Clean(name), sqldb.Clean(place))
		return known, err
	})
}

// hold locks a user's row against changes until the transaction ends, and returns the time when the
// password was set.
func hold(ctx context.Context, c sqldb.Conn, name string, enabled bool) (passwordAt time.Time, err error) {
	found, disabled := false, false
	err = c.Query(ctx, `SELECT a.disabled, a.password_at FROM account AS a WHERE a.name = $1 {LOCK}`, func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&disabled, (*sqldb.Time)(&passwordAt))
	}, sqldb.Clean(name))
	if err == nil && (!found || enabled && disabled) {
		err = noUser(name)
	}
	return passwordAt, err
}

// SweepAccounts implements account.Store.
func (s *userStore) SweepAccounts(ctx context.Context, now, old time.Time, limit int) (int64, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (all int64, err error) {
		for _, one := range []struct {
			text string
			at   time.Time
		}{
			{`DELETE FROM account_session WHERE id IN
				(SELECT s.id FROM account_session AS s WHERE s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2)`, now},
			{`DELETE FROM feed_nonce WHERE id IN
				(SELECT n.id FROM feed_nonce AS n WHERE n.expires_at <= $1 ORDER BY n.expires_at LIMIT $2)`, now},
			{`DELETE FROM account_place WHERE (account, place) IN
				(SELECT p.account, p.place FROM account_place AS p WHERE p.seen_at <= $1 ORDER BY p.account, p.place LIMIT $2)`, old},
			{`DELETE FROM account_invite WHERE id IN
				(SELECT i.id FROM account_invite AS i WHERE i.expires_at <= $1 ORDER BY i.created_at LIMIT $2)`, old},
		} {
			n, err := c.Exec(ctx, one.text, sqldb.Millis(one.at), max(limit, 0))
			if err != nil {
				return 0, err
			}
			all += n
		}
		return all, nil
	})
}
