package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/hubsql"
)

// batchColumns is the number of columns of hubsql.BatchText.
const batchColumns = 11

// Batch implements hub.Store. It calls the driver directly: on this path database/sql costs as much
// as the database.
func (s *Store) Batch(ctx context.Context, p hub.Shard, after int64, now time.Time, limit int) ([]hub.Subscription, error) {
	args := hubsql.BatchArgs(p, after, now, limit)
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	subs := make([]hub.Subscription, 0, min(max(limit, 0), 500))
	conn, err := s.rdb.Conn(ctx)
	if err != nil {
		return nil, translate(err, filepath.Dir(s.file))
	}
	defer conn.Close()
	err = conn.Raw(func(dc any) error {
		rows, err := dc.(driver.QueryerContext).QueryContext(ctx, hubsql.BatchText, named)
		if err != nil {
			return err
		}
		defer rows.Close()
		row := make([]driver.Value, batchColumns)
		for {
			if err := rows.Next(row); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			sub := hub.Subscription{TopicID: p.TopicID}
			if err := scanBatch(&sub, row); err != nil {
				return err
			}
			subs = append(subs, sub)
		}
	})
	if err != nil {
		return nil, translate(err, filepath.Dir(s.file))
	}
	return subs, nil
}

// scanBatch reads the columns of hubsql.BatchText.
func scanBatch(s *hub.Subscription, row []driver.Value) error {
	ok := true
	number := func(i int) int64 {
		v, is := row[i].(int64)
		ok = ok && is
		return v
	}
	text := func(i int) string {
		v, is := row[i].(string)
		ok = ok && is
		return v
	}
	s.ID, s.Protocol, s.Callback, s.Procedure = number(0), text(1), text(2), text(3)
	s.Failures, s.Tries = int(number(4)), int(number(5))
	if row[6] != nil {
		s.NextAt = time.UnixMilli(number(6)).UTC()
	}
	s.Counted, s.Sent = number(7), number(8)
	switch secret := row[9].(type) {
	case nil:
	case []byte:
		s.Secret = string(secret)
	default:
		ok = false
	}
	if since := number(10); since != 0 {
		s.FailingSince = time.UnixMilli(since).UTC()
	}
	if !ok {
		return fmt.Errorf("a row of a subscription has unexpected types: %T", row)
	}
	return nil
}
