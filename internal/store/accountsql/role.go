package accountsql

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

// SetAdministrator implements account.Store.
func (s *userStore) SetAdministrator(ctx context.Context, name string, on bool) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `UPDATE account SET administrator = $1 WHERE name = $2`, on, sqldb.Clean(name))
		if err == nil && n == 0 {
			err = noUser(name)
		}
		return err
	})
}

// FindUsers implements account.Store.
func (s *userStore) FindUsers(ctx context.Context, q account.UserQuery) ([]account.User, error) {
	var w sqldb.Where
	if q.After != "" {
		w.Add("a.name > ?", sqldb.Clean(q.After))
	}
	if q.Administrators {
		w.Add("a.administrator")
	}
	if err := w.Like(q.Match, "a.name"); err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.User, error) {
		text := `SELECT ` + userColumns + ` FROM account AS a` + w.String() + ` ORDER BY a.name LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
		return sqldb.Collect(ctx, c, scanUser, text, w.Args...)
	})
}

// IsDeleted implements account.Store.
func (s *userStore) IsDeleted(ctx context.Context, name string) (bool, error) {
	n, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) { return deletedNames(ctx, c, name) })
	return n > 0, err
}

// deletedNames counts the deleted users with a name: 0 or 1.
func deletedNames(ctx context.Context, c sqldb.Conn, name string) (int64, error) {
	return sqldb.Count(ctx, c, `SELECT count(*) FROM account_deleted WHERE name = $1`, sqldb.Clean(name))
}

// DeleteUser implements account.Store.
func (s *userStore) DeleteUser(ctx context.Context, name string, at time.Time) error {
	name = sqldb.Clean(name)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if _, err := hold(ctx, c, name, false); err != nil {
			return err
		}
		older, err := sqldb.Count(ctx, c, `SELECT count(*) FROM account AS a JOIN account AS b ON b.name = $1
			WHERE a.created_at < b.created_at OR a.created_at = b.created_at AND a.name < b.name`, name)
		if err != nil {
			return err
		}
		if older == 0 {
			return fault.New(fault.Conflict, "%s is the first user of this server and owns its river, so this account cannot be deleted. You can disable it.", name)
		}
		for _, erase := range s.erase {
			if err := erase(ctx, c, name, at); err != nil {
				return err
			}
		}
		if err := eraseOwned(ctx, c, name); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `DELETE FROM account WHERE name = $1`, name); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `INSERT INTO account_deleted (name, deleted_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, sqldb.Millis(at))
		return err
	})
}

// eraseOwned deletes the rows of a user from every table that has a column for the user, so new
// tables are included. The tables in kept stay: they number the changes of the feed of all users,
// and authorsql.EraseUser empties their rows.
func eraseOwned(ctx context.Context, c sqldb.Conn, user string) error {
	kept := []string{"writer", "post_count"}
	tables, err := sqldb.Schema()
	if err != nil {
		return err
	}
	for _, t := range tables {
		column := t.UserColumn()
		if column == "" || slices.Contains(kept, t.Name) {
			continue
		}
		if _, err := c.Exec(ctx, `DELETE FROM `+t.Name+` WHERE `+column+` = $1`, user); err != nil {
			return err
		}
	}
	return nil
}
