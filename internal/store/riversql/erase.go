package riversql

import (
	"context"
	"database/sql"
	"time"

	"cloudburst/internal/store/sqldb"
)

// EraseUser ends the subscriptions and forwardings of a user, before the rows of the user are
// deleted. Items stay, because other users may follow the same feeds.
func EraseUser(ctx context.Context, c sqldb.Conn, user string, _ time.Time) error {
	if user == "" {
		return nil // "" names the server's own river, which stays
	}
	var left, wished [][]any
	err := c.Query(ctx, `DELETE FROM river_subscription WHERE reader = $1 RETURNING source_id, wish`, func(rows *sql.Rows) error {
		var id, wish int64
		err := rows.Scan(&id, &wish)
		if left = append(left, []any{id}); wish > 0 {
			wished = append(wished, []any{id})
		}
		return err
	}, user)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		if err := leaveSources(ctx, c, left); err != nil {
			return err
		}
	}
	if len(wished) > 0 {
		if err := saveWishes(ctx, c, wished); err != nil {
			return err
		}
	}
	_, err = c.Exec(ctx, `DELETE FROM notice_queue WHERE notice_id IN (SELECT n.id FROM notice AS n WHERE n.reader = $1)`, user)
	return err
}
