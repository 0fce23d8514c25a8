package accountsql

import (
	"context"

	"cloudburst/internal/account"
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
