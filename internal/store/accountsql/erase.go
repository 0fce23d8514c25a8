package accountsql

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

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
			return fault.New(fault.Conflict, "%s is the first user of this server and owns its river, so this account cannot be deleted. An administrator can disable it.", name)
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
