package hubsql

import (
	"context"
	"slices"
	"time"

	"cloudburst/internal/event"
	"cloudburst/internal/hub"
	"cloudburst/internal/store/sqldb"
)

// Sweep implements hub.Store. It removes every expired subscription. Only rssCloud subscriptions
// are also removed because of errors.
func (s *subscriptionStore) Sweep(ctx context.Context, now time.Time, maxErrors, limit int, idle time.Time, events func([]hub.SubscriptionInfo) []event.Event) (gone []hub.SubscriptionInfo, more bool, err error) {
	// Search before the transaction, so that the search does not block writers.
	found, err := sqldb.Read(ctx, s.db, func(ctx context.Context, c sqldb.Conn) (orphans, error) { return orphansAt(ctx, c, now, limit) })
	if err != nil {
		return nil, false, err
	}
	gone, err = sqldb.Write(ctx, s.db, func(ctx context.Context, c sqldb.Conn) ([]hub.SubscriptionInfo, error) {
		gone, err := sweepable(ctx, c, now, maxErrors, limit)
		if err != nil {
			return nil, err
		}
		keys := make([]hub.Key, len(gone))
		topics := make([]int64, len(gone))
		for i, g := range gone {
			keys[i], topics[i] = g.Key(), g.TopicID
		}
		_, err = c.Bulk(ctx, deleteText, keyRows(keys))
		if err != nil {
			return nil, err
		}
		if err := touchTopics(ctx, c, topics, sqldb.Millis(now)); err != nil {
			return nil, err
		}
		topicsGone, err := sweepTopics(ctx, c, sqldb.Millis(now), sqldb.Millis(idle), limit)
		if err != nil {
			return nil, err
		}
		removed, err := found.sweep(ctx, c)
		if err != nil {
			return nil, err
		}
		// If nothing was deleted, another transaction has locked the rows, and the next sweep finds
		// them.
		more = limit > 0 && (len(gone) >= limit || topicsGone >= limit || removed > 0 && found.largest() >= limit)
		if events != nil && len(gone) > 0 {
			err = sqldb.AppendEvents(ctx, c, events(gone))
		}
		return gone, err
	})
	return gone, more && err == nil, err
}

// sweepable finds up to limit subscriptions to remove, expired ones first.
func sweepable(ctx context.Context, c sqldb.Conn, now time.Time, maxErrors, limit int) ([]hub.SubscriptionInfo, error) {
	const from = `SELECT ` + subscriptionColumns + `, t.url FROM subscription AS s JOIN topic AS t ON t.id = s.topic_id WHERE `
	gone, err := sqldb.Collect(ctx, c, scanSubscriptionInfo, from+`s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2 {TAKE S}`,
		sqldb.Millis(now), max(limit, 0))
	if err != nil || maxErrors <= 0 || len(gone) >= limit {
		return gone, err
	}
	// spec:rsscloud-2009#drop-after-three-errors — this rule belongs to rssCloud; other protocols
	// have their own.
	failing, err := sqldb.Collect(ctx, c, scanSubscriptionInfo, from+`s.failures > 0 AND s.failures >= $1 AND s.expires_at > $2
		AND s.protocol IN ($3, $4, $5, $6) LIMIT $7 {TAKE S}`,
		maxErrors, sqldb.Millis(now), hub.HTTPPost, hub.HTTPSPost, hub.XMLRPC, hub.SOAP, limit-len(gone))
	return append(gone, failing...), err
}

// sweepTopics removes topics without subscriptions that were last used before idle. A followed
// topic counts as used now. It returns how many topics it processed.
func sweepTopics(ctx context.Context, c sqldb.Conn, now, idle int64, limit int) (looked int, err error) {
	if idle <= 0 {
		return 0, nil
	}
	ids, err := sqldb.Collect(ctx, c, sqldb.ScanID, `SELECT t.id FROM topic AS t WHERE t.used_at < $1 AND t.due_at IS NULL
		ORDER BY t.used_at LIMIT $2 {TAKE}`, idle, max(limit, 0))
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	slices.Sort(ids)
	rows := make([][]any, len(ids))
	for i, id := range ids {
		rows[i] = []any{id, now}
	}
	// Check only now that the rows are locked: a transaction that was adding a subscription either
	// held the lock, or its row is visible now.
	_, err = c.Bulk(ctx, `rows(id i, now i) UPDATE topic AS t SET used_at = :now {FROM ROWS}
		WHERE t.id = :id AND EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = t.id)`, rows)
	if err != nil {
		return 0, err
	}
	rows = sqldb.Rows(ids)
	_, err = c.Bulk(ctx, `rows(id i) DELETE FROM topic AS t {USING ROWS}
		WHERE t.id = :id AND NOT EXISTS (SELECT 1 FROM subscription AS s WHERE s.topic_id = t.id)`, rows)
	if err != nil {
		return 0, err
	}
	for _, table := range []string{"part", "body", "alias"} {
		_, err = c.Bulk(ctx, `rows(id i) DELETE FROM `+table+` AS p {USING ROWS}
			WHERE p.topic_id = :id AND NOT EXISTS (SELECT 1 FROM topic AS t WHERE t.id = p.topic_id)`, rows)
		if err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
