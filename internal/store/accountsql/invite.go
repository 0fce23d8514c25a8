package accountsql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/account"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const inviteColumns = `i.id, i.created_at, i.created_by, i.note, i.expires_at, i.used_at, i.used_by`

func scanInvite(rows *sql.Rows, i *account.Invite) error {
	return rows.Scan(&i.ID, (*sqldb.Time)(&i.CreatedAt), &i.CreatedBy, &i.Note, (*sqldb.Time)(&i.ExpiresAt), (*sqldb.Time)(&i.UsedAt), &i.UsedBy)
}

// AddInvite implements account.Store.
func (s *inviteStore) AddInvite(ctx context.Context, i account.Invite) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		at := sqldb.Millis(i.CreatedAt)
		for ; ; at++ {
			n, err := sqldb.Count(ctx, c, `SELECT count(*) FROM account_invite WHERE created_at = $1`, at)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
		_, err := c.Exec(ctx, `INSERT INTO account_invite (id, created_at, created_by, note, expires_at, used_at, used_by) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			sqldb.Clean(i.ID), at, sqldb.Clean(i.CreatedBy), sqldb.Clean(i.Note), sqldb.Millis(i.ExpiresAt), sqldb.Millis(i.UsedAt), sqldb.Clean(i.UsedBy))
		return err
	})
}

// Invite implements account.Store.
func (s *inviteStore) Invite(ctx context.Context, id string) (account.Invite, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (account.Invite, error) {
		found, err := sqldb.Collect(ctx, c, scanInvite, `SELECT `+inviteColumns+` FROM account_invite AS i WHERE i.id = $1`, sqldb.Clean(id))
		return sqldb.First(found, err, "There is no such invitation.")
	})
}

// Invites implements account.Store.
func (s *inviteStore) Invites(ctx context.Context, before time.Time, limit int) ([]account.Invite, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]account.Invite, error) {
		var w sqldb.Where
		if !before.IsZero() {
			w.Add("i.created_at < ?", sqldb.Millis(before))
		}
		text := `SELECT ` + inviteColumns + ` FROM account_invite AS i` + w.String() + ` ORDER BY i.created_at DESC, i.id LIMIT ` + w.Arg(sqldb.Limit(limit))
		return sqldb.Collect(ctx, c, scanInvite, text, w.Args...)
	})
}

// RemoveInvite implements account.Store.
func (s *inviteStore) RemoveInvite(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM account_invite WHERE id = $1 AND used_at = 0`, sqldb.Clean(id))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "There is no such invitation, or it has already been used.")
		}
		return err
	})
}

// AddInvitedUser implements account.Store.
func (s *inviteStore) AddInvitedUser(ctx context.Context, u account.User, hash, invite string, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		// The row is locked until the transaction ends, so that only one of two callers uses it.
		n, err := c.Exec(ctx, `UPDATE account_invite SET used_at = $1, used_by = $2 WHERE id = $3 AND used_at = 0 AND expires_at > $1`,
			sqldb.Millis(now), sqldb.Clean(u.Name), sqldb.Clean(invite))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Refused, "The invitation is not valid.")
		}
		return insertUser(ctx, c, u, hash)
	})
}
