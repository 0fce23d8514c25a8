package authorsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"cloudburst/internal/conversation"
	"cloudburst/internal/store/sqldb"
)

const sentColumns = `o.owner, o.post_id, o.target, o.due_at, o.tries, o.lease, o.data`

func scanSent(rows *sql.Rows, o *conversation.Sent) error {
	var data string
	err := rows.Scan(&o.User, &o.Post, &o.Target, (*sqldb.Time)(&o.DueAt), (*sqldb.Int)(&o.Tries), &o.Lease, &data)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(data), &o.Sending)
}

// remindSent schedules a comparison of the links of a post with the webmentions that were sent for
// it.
func remindSent(ctx context.Context, c sqldb.Conn, user string, post int64, at time.Time) error {
	_, err := c.Exec(ctx, `INSERT INTO mention_sent (owner, post_id, target, due_at, tries, lease, data) VALUES ($1, $2, '', $3, 0, 0, '{}')
		ON CONFLICT (owner, post_id, target) DO UPDATE SET due_at = excluded.due_at, lease = 0`, user, post, sqldb.Millis(at))
	return err
}

// ChangeSent implements conversation.SendStore. It locks the rows in the order of their targets, so
// that concurrent callers do not wait for each other.
func (s *mentionStore) ChangeSent(ctx context.Context, user string, post int64, change func([]conversation.Sent) []conversation.Sent) error {
	user = sqldb.Clean(user)
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		was, err := sqldb.Collect(ctx, c, scanSent, `SELECT `+sentColumns+` FROM mention_sent AS o
			WHERE o.owner = $1 AND o.post_id = $2 ORDER BY o.target {LOCK}`, user, post)
		if err != nil {
			return err
		}
		kept := map[string]bool{}
		for _, o := range change(slices.Clone(was)) {
			o.Target = sqldb.Clean(o.Target)
			kept[o.Target] = true
			if slices.Contains(was, o) {
				continue
			}
			data, err := sqldb.JSON(o.Sending)
			if err != nil {
				return err
			}
			_, err = c.Exec(ctx, `INSERT INTO mention_sent (owner, post_id, target, due_at, tries, lease, data) VALUES ($1, $2, $3, $4, $5, $6, $7)
				ON CONFLICT (owner, post_id, target) DO UPDATE SET due_at = excluded.due_at, tries = excluded.tries, lease = excluded.lease, data = excluded.data`,
				user, post, o.Target, dueOrNull(o.DueAt), int64(o.Tries), o.Lease, data)
			if err != nil {
				return err
			}
		}
		for _, o := range was {
			if kept[o.Target] {
				continue
			}
			if _, err := c.Exec(ctx, `DELETE FROM mention_sent WHERE owner = $1 AND post_id = $2 AND target = $3`, user, post, o.Target); err != nil {
				return err
			}
		}
		return nil
	})
}

// ClaimSent implements conversation.SendStore.
func (s *mentionStore) ClaimSent(ctx context.Context, now, until time.Time, limit int, lease int64) ([]conversation.Sent, error) {
	table := sqldb.DueTable{Name: "mention_sent", Alias: "o", Columns: sentColumns, Key: "owner t, post_id i, target t", Due: "due_at", Claim: "lease"}
	return sqldb.ClaimDue(ctx, s.db, table, scanSent, now, until, limit, lease, func(o *conversation.Sent, until time.Time) []any {
		o.Lease, o.DueAt = lease, until
		return []any{o.User, o.Post, o.Target}
	})
}

// NextSent implements conversation.SendStore.
func (s *mentionStore) NextSent(ctx context.Context) (time.Time, error) {
	return s.db.Earliest(ctx, `SELECT due_at FROM mention_sent WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`)
}

// SentMentions implements conversation.SendStore.
func (s *mentionStore) SentMentions(ctx context.Context, q conversation.SentQuery) ([]conversation.Sent, error) {
	var w sqldb.Where
	w.Add("o.owner = ?", sqldb.Clean(q.User))
	w.Add("o.target <> ''")
	if q.Post != 0 {
		w.Add("o.post_id = ?", q.Post)
	}
	if q.BeforePost != 0 {
		w.Add("(o.post_id < ? OR o.post_id = ? AND o.target > ?)", q.BeforePost, q.BeforePost, sqldb.Clean(q.AfterTarget))
	}
	text := `SELECT ` + sentColumns + ` FROM mention_sent AS o` + w.String() + ` ORDER BY o.post_id DESC, o.target LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]conversation.Sent, error) {
		return sqldb.Collect(ctx, c, scanSent, text, w.Args...)
	})
}

// TidySent implements conversation.SendStore.
func (s *mentionStore) TidySent(ctx context.Context) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM mention_sent WHERE due_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM post AS p WHERE p.owner = mention_sent.owner AND p.id = mention_sent.post_id)`)
		return err
	})
}
