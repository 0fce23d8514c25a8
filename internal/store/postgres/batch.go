package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/hubsql"
)

// Batch implements hub.Store. It calls the driver directly: on this path database/sql costs as much
// as the query.
func (s *Store) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) (subs []hub.Subscription, err error) {
	text, err := s.engine.dialect.Text(hubsql.BatchText)
	if err != nil {
		return nil, err
	}
	args := hubsql.BatchArgs(p, after, now, limit)
	err = s.engine.run(ctx, func(ctx context.Context) error {
		return s.engine.raw(ctx, func(conn *pgx.Conn) error {
			rows, err := conn.Query(ctx, text.SQL, args...)
			if err == nil {
				subs, err = scanBatch(rows, p.TopicID, make([]hub.Subscription, 0, min(max(limit, 0), 500)))
			}
			if err != nil {
				return &databaseError{err}
			}
			return nil
		})
	})
	return subs, err
}

// raw calls fn with a driver connection, without database/sql.
func (e *engine) raw(ctx context.Context, fn func(conn *pgx.Conn) error) error {
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return &databaseError{err}
	}
	defer conn.Close()
	return conn.Raw(func(dc any) error { return fn(dc.(*stdlib.Conn).Conn()) })
}

// scanBatch adds the rows of hubsql.BatchText to subs.
func scanBatch(rows pgx.Rows, topicID int64, subs []hub.Subscription) ([]hub.Subscription, error) {
	defer rows.Close()
	var v hub.Subscription
	var failures, tries, since int64
	var next pgtype.Int8
	var secret []byte
	into := []any{&v.ID, &v.Protocol, &v.Callback, &v.Procedure, &failures, &tries, &next, &v.Counted, &v.Sent, &secret, &since}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		v.TopicID, v.Failures, v.Tries, v.Secret = topicID, int(failures), int(tries), string(secret)
		v.NextAt, v.FailingSince = timeOf(next.Int64), timeOf(since)
		subs = append(subs, v)
	}
	return subs, rows.Err()
}

// timeOf converts a stored time; 0 is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
