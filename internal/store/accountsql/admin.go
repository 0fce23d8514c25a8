package accountsql

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"cloudburst/internal/admin"
	"cloudburst/internal/fault"
	"cloudburst/internal/store/sqldb"
)

const auditColumns = `e.id, e.actor, e.action, e.object, e.detail, e.address, e.via, e.failed`

func scanAudit(rows *sql.Rows, e *admin.Entry) error {
	return rows.Scan(&e.ID, &e.Actor, &e.Action, &e.Object, &e.Detail, &e.Address, &e.Via, &e.Failed)
}

// AddAudit implements admin.Store.
func (s *adminStore) AddAudit(ctx context.Context, e admin.Entry) (int64, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		for id := e.ID; ; id++ {
			n, err := c.Exec(ctx, `INSERT INTO admin_audit (id, actor, action, object, detail, address, via, failed)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
				id, sqldb.Clean(e.Actor), sqldb.Clean(e.Action), sqldb.Clean(e.Object), sqldb.Clean(e.Detail), sqldb.Clean(e.Address), sqldb.Clean(e.Via), sqldb.Clean(e.Failed))
			if err != nil || n > 0 {
				return id, err
			}
		}
	})
}

// FailAudit implements admin.Store.
func (s *adminStore) FailAudit(ctx context.Context, id int64, reason string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `UPDATE admin_audit SET failed = $1 WHERE id = $2`, sqldb.Clean(reason), id)
		return err
	})
}

// Audit implements admin.Store.
func (s *adminStore) Audit(ctx context.Context, q admin.AuditQuery) ([]admin.Entry, error) {
	var w sqldb.Where
	switch q.Actor {
	case "":
	case admin.Operator:
		w.Add("e.actor = ''")
	default:
		w.Add("e.actor = ?", sqldb.Clean(q.Actor))
	}
	switch {
	case q.Action == "":
	case strings.Contains(q.Action, "."):
		w.Add("e.action = ?", sqldb.Clean(q.Action))
	default: // q.Action is a prefix such as "user": match "user.…"; '/' is the character after '.'
		w.Add("e.action >= ?", sqldb.Clean(q.Action)+".")
		w.Add("e.action < ?", sqldb.Clean(q.Action)+"/")
	}
	if q.Before > 0 {
		w.Add("e.id < ?", q.Before)
	}
	if err := w.Like(q.Match, "e.object", "e.detail"); err != nil {
		return nil, err
	}
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]admin.Entry, error) {
		text := `SELECT ` + auditColumns + ` FROM admin_audit AS e` + w.String() + ` ORDER BY e.id DESC LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
		return sqldb.Collect(ctx, c, scanAudit, text, w.Args...)
	})
}

const blockColumns = `b.kind, b.value, b.reason, b.created_at, b.created_by`

func scanBlock(rows *sql.Rows, b *admin.Block) error {
	return rows.Scan(&b.Kind, &b.Value, &b.Reason, (*sqldb.Time)(&b.CreatedAt), &b.CreatedBy)
}

// SweepAudit implements admin.Store.
func (s *adminStore) SweepAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int, error) {
		n, err := c.Exec(ctx, `DELETE FROM admin_audit WHERE id IN
			(SELECT e.id FROM admin_audit AS e WHERE e.id < $1 ORDER BY e.id LIMIT $2)`, before.UnixMicro(), max(limit, 0))
		return int(n), err
	})
}

// PutBlock implements admin.Store.
func (s *adminStore) PutBlock(ctx context.Context, b admin.Block) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO admin_block (kind, value, reason, created_at, created_by) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (kind, value) DO UPDATE SET reason = excluded.reason`,
			sqldb.Clean(b.Kind), sqldb.Clean(b.Value), sqldb.Clean(b.Reason), sqldb.Millis(b.CreatedAt), sqldb.Clean(b.CreatedBy))
		return err
	})
}

// RemoveBlock implements admin.Store.
func (s *adminStore) RemoveBlock(ctx context.Context, kind, value string) (admin.Block, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (admin.Block, error) {
		found, err := sqldb.Collect(ctx, c, scanBlock, `SELECT `+blockColumns+` FROM admin_block AS b WHERE b.kind = $1 AND b.value = $2`, sqldb.Clean(kind), sqldb.Clean(value))
		b, err := sqldb.First(found, err, "%q is not blocked.", value)
		if err != nil {
			return b, err
		}
		_, err = c.Exec(ctx, `DELETE FROM admin_block WHERE kind = $1 AND value = $2`, b.Kind, b.Value)
		return b, err
	})
}

// Blocks implements admin.Store.
func (s *adminStore) Blocks(ctx context.Context) ([]admin.Block, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]admin.Block, error) {
		return sqldb.Collect(ctx, c, scanBlock, `SELECT `+blockColumns+` FROM admin_block AS b ORDER BY b.kind, b.value`)
	})
}

// PutOverride implements admin.Store.
func (s *adminStore) PutOverride(ctx context.Context, o admin.Override) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO admin_setting (name, value, changed_at, changed_by) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at, changed_by = excluded.changed_by`,
			sqldb.Clean(o.Name), sqldb.Clean(o.Value), sqldb.Millis(o.ChangedAt), sqldb.Clean(o.ChangedBy))
		return err
	})
}

// RemoveOverride implements admin.Store.
func (s *adminStore) RemoveOverride(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		n, err := c.Exec(ctx, `DELETE FROM admin_setting WHERE name = $1`, sqldb.Clean(name))
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "The setting %q was not changed while the server ran.", name)
		}
		return err
	})
}

// Overrides implements admin.Store.
func (s *adminStore) Overrides(ctx context.Context) ([]admin.Override, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]admin.Override, error) {
		return sqldb.Collect(ctx, c, func(rows *sql.Rows, o *admin.Override) error {
			return rows.Scan(&o.Name, &o.Value, (*sqldb.Time)(&o.ChangedAt), &o.ChangedBy)
		}, `SELECT s.name, s.value, s.changed_at, s.changed_by FROM admin_setting AS s ORDER BY s.name`)
	})
}
