package hubsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// RecordPing implements hub.Store.
func (s *checkStore) RecordPing(ctx context.Context, url string, now, due time.Time, events []event.Event) error {
	return s.db.Write(ctx, func(ctx context.Context, c sqldb.Conn) error {
		if err := recordPings(ctx, c, []string{url}, now, due); err != nil {
			return err
		}
		return sqldb.AppendEvents(ctx, c, events)
	})
}

// recordPings stores pings. A topic with an earlier due time keeps that time; otherwise a feed that
// is pinged continuously would never be read.
func recordPings(ctx context.Context, c sqldb.Conn, urls []string, now, due time.Time) error {
	byID := topicURLs(urls, nil)
	rows := make([][]any, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) { // a fixed order of locks
		rows = append(rows, []any{id, sqldb.Clean(byID[id]), sqldb.Millis(now), sqldb.Millis(due)})
	}
	_, err := c.Bulk(ctx, `rows(id i, url t, now i, due i) INSERT INTO topic (id, url, pinged_at, due_at, used_at)
		SELECT :id, :url, :now, :due, :now {FROM ROWS} WHERE true
		ON CONFLICT (id) DO UPDATE SET
			pinged_at = CASE WHEN topic.pinged_at > excluded.pinged_at THEN topic.pinged_at ELSE excluded.pinged_at END,
			due_at = CASE WHEN topic.due_at <= excluded.due_at THEN topic.due_at ELSE excluded.due_at END,
			used_at = CASE WHEN topic.used_at > excluded.used_at THEN topic.used_at ELSE excluded.used_at END`, rows)
	return err
}

// ClaimChecks implements hub.Store.
func (s *checkStore) ClaimChecks(ctx context.Context, now, until time.Time, limit int) ([]hub.Topic, error) {
	table := sqldb.DueTable{Name: "topic", Alias: "t", Due: "due_at"}
	return sqldb.Claim(ctx, s.db, table, now, limit, func(ctx context.Context, c sqldb.Conn, d sqldb.Due) ([]hub.Topic, error) {
		text, args := d.Oldest(table, d.Limit)
		topics, err := sqldb.Collect(ctx, c, scanTopic, `SELECT `+topicColumns+` `+text, args...)
		if err != nil {
			return nil, err
		}
		rows := make([][]any, len(topics))
		for i, t := range topics {
			rows[i] = []any{t.ID, sqldb.Millis(until)}
		}
		_, err = c.Bulk(ctx, `rows(id i, until i) UPDATE topic AS t SET due_at = :until, held = 1 {FROM ROWS} WHERE t.id = :id`, rows)
		return topics, err
	})
}
