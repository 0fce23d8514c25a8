package hubsql

import (
	"context"
	"time"

	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// ClaimRetries implements hub.Store.
func (s *deliveryStore) ClaimRetries(ctx context.Context, now, until time.Time, limit int, claim int64) ([]hub.Retry, error) {
	table := sqldb.DueTable{Name: "subscription", Alias: "s", Due: "next_at"}
	return sqldb.Claim(ctx, s.db, table, now, limit, func(ctx context.Context, c sqldb.Conn, d sqldb.Due) ([]hub.Retry, error) {
		var claimed []hub.Subscription
		// Expired subscriptions do not count towards the limit. The number of rounds is bounded, so
		// that a mass expiry does not cause one long transaction.
		for range 16 {
			free := d.Limit - len(claimed)
			if free <= 0 {
				break
			}
			text, args := d.Oldest(table, free)
			due, err := sqldb.Collect(ctx, c, scanSubscription, `SELECT `+subscriptionColumns+` `+text, args...)
			if err != nil {
				return nil, err
			}
			live, err := takeRetries(ctx, c, due, now, until, claim)
			if err != nil {
				return nil, err
			}
			claimed = append(claimed, live...)
			if len(due) < free || len(live) == len(due) {
				break
			}
		}
		ids := make([]int64, len(claimed))
		for i, sub := range claimed {
			ids[i] = sub.TopicID
		}
		topics, err := topicsByID(ctx, c, ids)
		if err != nil {
			return nil, err
		}
		retries := make([]hub.Retry, len(claimed))
		for i, sub := range claimed {
			retries[i] = hub.Retry{Subscription: sub, Topic: topics[sub.TopicID]}
		}
		return retries, nil
	})
}

// takeRetries claims the unexpired subscriptions and returns them. Expired subscriptions stop being
// due.
func takeRetries(ctx context.Context, c sqldb.Conn, due []hub.Subscription, now, until time.Time, claim int64) ([]hub.Subscription, error) {
	var live []hub.Subscription
	var rows [][]any
	for _, sub := range due {
		if sqldb.Millis(sub.ExpiresAt) <= sqldb.Millis(now) {
			rows = append(rows, keyRow(sub.Key(), 0, 0))
			continue
		}
		sub.Claim, sub.NextAt = claim, time.UnixMilli(sqldb.Millis(until)).UTC()
		rows = append(rows, keyRow(sub.Key(), sqldb.Millis(until), claim))
		live = append(live, sub)
	}
	_, err := c.Bulk(ctx, `rows(`+keyHead+`, next_at i, claim i)
		UPDATE subscription AS s SET next_at = NULLIF(:next_at, 0), claim = :claim {FROM ROWS} WHERE `+keyMatch, rows)
	return live, err
}
