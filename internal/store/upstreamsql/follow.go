// Package upstreamsql stores in SQL which feeds this server follows at other hubs. Start with
// [Store].
package upstreamsql

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/store/sqldb"
	"cloudburst/internal/upstream"
)

var _ upstream.Store = (*Store)(nil)

// Store implements upstream.Store.
type Store struct{ db *sqldb.DB }

// New returns a store that uses db.
func New(db *sqldb.DB) *Store { return &Store{db} }

const followColumns = `f.id, f.feed, f.protocol, f.topic, f.hub, f.wire, f.proc, f.named, f.wanted, f.token, f.secret, f.base, f.state,
	f.created_at, f.requested_at, f.confirmed_at, f.heard_at, f.expires_at, f.next_at, f.claim, f.asked, f.missed,
	f.failures, f.rejected, f.last_error, f.last_error_at, f.since_at, f.notify_by`

func scanFollow(rows *sql.Rows, f *upstream.Follow) error {
	var wanted string
	err := rows.Scan(&f.ID, &f.Feed, &f.Protocol, &f.Topic, &f.Hub, &f.Wire, &f.Proc, &f.Named, &wanted, &f.Token, &f.Secret, &f.Base, &f.State,
		(*sqldb.Time)(&f.CreatedAt), (*sqldb.Time)(&f.RequestedAt), (*sqldb.Time)(&f.ConfirmedAt), (*sqldb.Time)(&f.ReceivedAt), (*sqldb.Time)(&f.ExpiresAt),
		(*sqldb.Time)(&f.NextAt), &f.Claim, &f.Asked, &f.Missed, (*sqldb.Int)(&f.Failures), &f.Rejected, &f.LastError, (*sqldb.Time)(&f.LastErrorAt),
		(*sqldb.Time)(&f.SinceAt), &f.Notify)
	f.For = strings.Fields(wanted)
	if len(f.For) == 0 {
		f.For = nil
	}
	return err
}

// wantedText returns names as the text of a column. Each name can be found as " name ".
func wantedText(names []string) string { return " " + strings.Join(names, " ") + " " }

func saveFollow(ctx context.Context, c sqldb.Conn, f *upstream.Follow) error {
	_, err := c.Exec(ctx, `INSERT INTO follow (id, feed, protocol, topic, hub, wire, proc, named, wanted, token, secret, base, state,
			created_at, requested_at, confirmed_at, heard_at, expires_at, next_at, claim, asked, missed,
			failures, rejected, last_error, last_error_at, since_at, notify_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
		ON CONFLICT (id) DO UPDATE SET topic = excluded.topic, hub = excluded.hub, wire = excluded.wire, proc = excluded.proc,
			named = excluded.named, wanted = excluded.wanted, token = excluded.token, secret = excluded.secret, base = excluded.base,
			state = excluded.state, created_at = excluded.created_at, requested_at = excluded.requested_at,
			confirmed_at = excluded.confirmed_at, heard_at = excluded.heard_at, expires_at = excluded.expires_at,
			next_at = excluded.next_at, claim = excluded.claim, asked = excluded.asked, missed = excluded.missed,
			failures = excluded.failures, rejected = excluded.rejected, last_error = excluded.last_error,
			last_error_at = excluded.last_error_at, since_at = excluded.since_at, notify_by = excluded.notify_by`,
		f.ID, sqldb.Clean(f.Feed), f.Protocol, sqldb.Clean(f.Topic), sqldb.Clean(f.Hub), sqldb.Clean(f.Wire), sqldb.Clean(f.Proc), f.Named, wantedText(f.For),
		f.Token, f.Secret, sqldb.Clean(f.Base), f.State, sqldb.Millis(f.CreatedAt), sqldb.Millis(f.RequestedAt), sqldb.Millis(f.ConfirmedAt), sqldb.Millis(f.ReceivedAt), sqldb.Millis(f.ExpiresAt),
		sqldb.Millis(f.NextAt), f.Claim, f.Asked, f.Missed, int64(f.Failures), f.Rejected, sqldb.Clean(f.LastError), sqldb.Millis(f.LastErrorAt),
		sqldb.Millis(f.SinceAt), f.Notify)
	return err
}

// ChangeFollow implements upstream.Store.
func (s *Store) ChangeFollow(ctx context.Context, id int64, change func(*upstream.Follow, bool) (upstream.Verdict, []event.Event)) (upstream.Follow, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (upstream.Follow, error) {
		rows, err := sqldb.Collect(ctx, c, scanFollow, `SELECT `+followColumns+` FROM follow AS f WHERE f.id = $1 {LOCK}`, id)
		if err != nil {
			return upstream.Follow{}, err
		}
		f := upstream.Follow{ID: id}
		found := len(rows) > 0
		if found {
			f = rows[0]
		}
		was := f
		verdict, events := change(&f, found)
		switch verdict {
		case upstream.Leave:
			f = was
		case upstream.Keep:
			err = saveFollow(ctx, c, &f)
		case upstream.Delete:
			_, err = c.Exec(ctx, `DELETE FROM follow WHERE id = $1`, id)
		}
		if err != nil {
			return upstream.Follow{}, err
		}
		return f, sqldb.AppendEvents(ctx, c, events)
	})
}

// Follow implements upstream.Store.
func (s *Store) Follow(ctx context.Context, id int64) (upstream.Follow, error) {
	return s.oneFollow(ctx, `f.id = $1`, id)
}

// FollowByToken implements upstream.Store.
func (s *Store) FollowByToken(ctx context.Context, token string) (upstream.Follow, error) {
	return s.oneFollow(ctx, `f.token = $1`, sqldb.Clean(token))
}

func (s *Store) oneFollow(ctx context.Context, cond string, arg any) (upstream.Follow, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (upstream.Follow, error) {
		found, err := sqldb.Collect(ctx, c, scanFollow, `SELECT `+followColumns+` FROM follow AS f WHERE `+cond, arg)
		return sqldb.First(found, err, "This server does not follow such a feed.")
	})
}

// FollowsOf implements upstream.Store.
func (s *Store) FollowsOf(ctx context.Context, url string) ([]upstream.Follow, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]upstream.Follow, error) {
		return sqldb.Collect(ctx, c, scanFollow, `SELECT `+followColumns+` FROM follow AS f
			WHERE f.feed = $1 OR f.topic = $1 ORDER BY f.protocol, f.feed LIMIT 100`, sqldb.Clean(url))
	})
}

// Follows implements upstream.Store.
func (s *Store) Follows(ctx context.Context, q upstream.Query) ([]upstream.Follow, error) {
	var w sqldb.Where
	if q.Protocol != "" {
		w.Add("f.protocol = ?", q.Protocol)
	}
	if q.State != "" {
		w.Add("f.state = ?", q.State)
	}
	if q.For != "" {
		w.Add(`f.wanted LIKE ?`, "% "+sqldb.Clean(q.For)+" %")
	}
	if q.After.Feed != "" {
		w.Add("(f.feed, f.protocol) > (?, ?)", q.After.Feed, q.After.Protocol)
	}
	if err := w.Like(q.Match, "f.feed", "f.hub"); err != nil {
		return nil, err
	}
	text := `SELECT ` + followColumns + ` FROM follow AS f` + w.String() + ` ORDER BY f.feed, f.protocol LIMIT ` + w.Arg(sqldb.Limit(q.Limit))
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]upstream.Follow, error) {
		return sqldb.Collect(ctx, c, scanFollow, text, w.Args...)
	})
}

// ClaimFollows implements upstream.Store.
func (s *Store) ClaimFollows(ctx context.Context, now, until time.Time, limit int, claim int64) ([]upstream.Follow, error) {
	table := sqldb.DueTable{Name: "follow", Alias: "f", Columns: followColumns, Key: "id i", Due: "next_at", Claim: "claim"}
	return sqldb.ClaimDue(ctx, s.db, table, scanFollow, now, until, limit, claim, func(f *upstream.Follow, until time.Time) []any {
		f.Claim, f.NextAt = claim, until
		return []any{f.ID}
	})
}

// PutOffFollows implements upstream.Store.
func (s *Store) PutOffFollows(ctx context.Context, list []upstream.PutOff) error {
	rows := make([][]any, len(list))
	for i, p := range list {
		rows[i] = []any{p.ID, p.Claim, sqldb.Millis(p.NextAt)}
	}
	_, err := sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return c.Bulk(ctx, `rows(id i, claim i, next i) UPDATE follow AS f SET claim = 0, next_at = :next {FROM ROWS} WHERE f.id = :id AND f.claim = :claim`, rows)
	})
	return err
}

// CountFollows implements upstream.Store.
func (s *Store) CountFollows(ctx context.Context, from, to time.Time, step time.Duration) (overdue int64, n []int64, err error) {
	size := max(step.Milliseconds(), 1)
	n = make([]int64, max((to.Sub(from).Milliseconds()+size-1)/size, 0))
	_, err = sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (struct{}, error) {
		return struct{}{}, c.Query(ctx, `SELECT CASE WHEN next_at < $1 THEN -1 ELSE (next_at - $1) / $3 END AS step, COUNT(*)
			FROM follow WHERE next_at < $2 GROUP BY step`, func(rows *sql.Rows) error {
			var i, k int64
			err := rows.Scan(&i, &k)
			switch {
			case i < 0:
				overdue = k
			case i < int64(len(n)):
				n[i] = k
			}
			return err
		}, sqldb.Millis(from), sqldb.Millis(to), size)
	})
	return overdue, n, err
}

// HastenFollows implements upstream.Store.
func (s *Store) HastenFollows(ctx context.Context, r upstream.Hasten) (int64, error) {
	var w sqldb.Where
	now := w.Arg(sqldb.Millis(r.Now))
	w.Add("state <> ? AND requested_at > 0", upstream.Ending)
	conds := []string{"base <> " + w.Arg(sqldb.Clean(r.Base))}
	for _, p := range r.Protocols {
		conds = append(conds, "protocol = "+w.Arg(p))
	}
	w.Conds = append(w.Conds, "("+strings.Join(conds, " OR ")+")")
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return c.Exec(ctx, `UPDATE follow SET next_at = `+now+`, claim = 0, missed = true`+w.String(), w.Args...)
	})
}

// RenewFollows implements upstream.Store. It spreads the renewals over time by the ids of the
// follows, which are hashes and therefore evenly distributed.
func (s *Store) RenewFollows(ctx context.Context, r upstream.Renew) (int64, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (int64, error) {
		return c.Exec(ctx, `UPDATE follow SET next_at = $1 + id % $2, asked = (asked OR protocol = $5)
			WHERE state <> $3 AND claim = 0 AND requested_at > 0 AND requested_at < $4 AND next_at > $1 + id % $2`,
			sqldb.Millis(r.Now), max(r.Over.Milliseconds(), 1), upstream.Ending, sqldb.Millis(r.AskedBefore), upstream.CNWS)
	})
}

// NextFollow implements upstream.Store.
func (s *Store) NextFollow(ctx context.Context) (time.Time, error) {
	return sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (next time.Time, err error) {
		err = c.Query(ctx, `SELECT next_at FROM follow ORDER BY next_at LIMIT 1`, func(rows *sql.Rows) error {
			return rows.Scan((*sqldb.Time)(&next))
		})
		return next, err
	})
}

// FollowsAlive implements upstream.Store.
func (s *Store) FollowsAlive(ctx context.Context, now time.Time) (time.Time, error) {
	return sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (before time.Time, err error) {
		err = c.Query(ctx, `SELECT at FROM follow_alive WHERE id = 1`, func(rows *sql.Rows) error { return rows.Scan((*sqldb.Time)(&before)) })
		if err == nil && before.Before(now) {
			_, err = c.Exec(ctx, `INSERT INTO follow_alive (id, at) VALUES (1, $1)
				ON CONFLICT (id) DO UPDATE SET at = CASE WHEN follow_alive.at > excluded.at THEN follow_alive.at ELSE excluded.at END`, sqldb.Millis(now))
		}
		return before, err
	})
}
